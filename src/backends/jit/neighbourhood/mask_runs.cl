// Extrema over large masks of any shape. A work-item goes down a strip of one column. Of each row
// there are the extrema of 1, 2, 4 ... pixels side by side, two of which cover a run of the mask;
// what a row has for the windows that it is in is taken into those: best[k] is the window whose
// last row is k rows further down.
//   $items    of a group
//   $type     a pixel of each of two strips, or one float
//   $nothing  no pixel
//   $two      whether there are two strips, one below the other
//   $all      fours of pixels of all levels
//   $words    fours of a row, with those around
//   $tasks    of all rows of a level
//   $turns    in which a group takes them
//   $rows     at a time
//   $left     pixels of a row before the group's own
//   $keeps    whether the first of two levels is stored
//   $next     whether there is a second one
//   $apart    distance of two extrema of the level before, in units of 4 pixels
//   $tall     rows of the mask
//   $above    how far above its pixel they begin
//   $below    how far below it they end
//   $strip    its rows

// -- part: kernel(type quad = uint4, int all, type type, int items, expr strip, int strips,
//    int tall, stmt unroll, expr nothing, int above, int below, int rows, int turns, int words,
//    int left, int tasks, bool two, expr width, expr height, stmt load, stmt around, stmt runs,
//    stmt windows)
// A strip of one column for each work-item, or two.
KERNEL($items) void mask_runs(GLOBAL uchar* $image) {
  LOCAL $quad lines[$all];
  IN_LOCAL const $type* const pixels = (IN_LOCAL const $type*)lines;
  const int own_x = GROUP_X * $items + ITEM, strip = $strip, begin = GROUP_Y * strip * $strips;
  $type best[$tall];
  $unroll
  for (int k = 0; k < $tall; ++k) best[k] = $nothing;
  for (int top = begin - $above; top < begin + strip + $below; top += $rows) {
    BARRIER;
    $unroll
    for (int k = 0; k < $turns; ++k) {
      const int t = ITEM + k * $items, y = top + t / $words;
      const int x = GROUP_X * $items - $left + t % $words * 4;
      if (t < $tasks) {
        $quad v;
#if $two
        if (x >= 0 && x + 4 <= $width && y >= 0 && y + strip < $height) {
#else
        if (x >= 0 && x + 4 <= $width && y >= 0 && y < $height) {
#endif
          $load
        } else {
          $around
        }
        lines[t] = v;
      }
    }
    BARRIER;
    // -- part: first(stmt unroll, int turns, int items, int tasks, type quad, int words,
    //    name better = packed_max, bool keeps, int to_level, bool next, int to_next_level)
    // Of two and of four pixels.
    $unroll
    for (int k = 0; k < $turns; ++k) {
      const int t = ITEM + k * $items;
      if (t < $tasks) {
        const $quad a = lines[t], b = lines[t + (t % $words + 1 < $words ? 1 : 0)];
        $quad v;
        v.x = $better(a.x, a.y);
        v.y = $better(a.y, a.z);
        v.z = $better(a.z, a.w);
        v.w = $better(a.w, b.x);
#if $keeps
        lines[$to_level + t] = v;
#endif
#if $next
        v.x = $better(v.x, v.z);
        v.y = $better(v.y, v.w);
        v.z = $better(v.z, $better(b.x, b.y));
        v.w = $better(v.w, $better(b.y, b.z));
        lines[$to_next_level + t] = v;
#endif
      }
    }
    BARRIER;
    // -- end
    // -- part: wider(stmt unroll, int turns, int items, int words, type quad, int from_level,
    //    int tasks, int apart, name better, bool keeps, int to_level, bool next, int to_next_level)
    // Of twice and of four times as many pixels. Those beyond the end of the row are in no window.
    $unroll
    for (int k = 0; k < $turns; ++k) {
      const int t = ITEM + k * $items, beyond = $words - 1 - t % $words;
      IN_LOCAL const $quad* const from = lines + $from_level + t;
      if (t < $tasks) {
        const $quad a = from[0], b = from[smaller($apart, beyond)];
        $quad v;
        v.x = $better(a.x, b.x);
        v.y = $better(a.y, b.y);
        v.z = $better(a.z, b.z);
        v.w = $better(a.w, b.w);
#if $keeps
        lines[$to_level + t] = v;
#endif
#if $next
        const $quad c = from[smaller(2 * $apart, beyond)], d = from[smaller(3 * $apart, beyond)];
        v.x = $better(v.x, $better(c.x, d.x));
        v.y = $better(v.y, $better(c.y, d.y));
        v.z = $better(v.z, $better(c.z, d.z));
        v.w = $better(v.w, $better(c.w, d.w));
        lines[$to_next_level + t] = v;
#endif
      }
    }
    BARRIER;
    // -- end
    for (int r = 0; r < $rows; ++r) {
      const int at = r * ($words * 4) + ITEM + $left, out_y = top + r - $below;
      $runs
      $windows
      if (out_y >= begin && out_y < begin + strip && own_x < $width) {
        const int x = own_x;
        // -- part: store(expr row, expr height, expr stored = $image[(long)y * 1024 + x],
        //    type pixel, expr value)
        // The window whose last row this was.
        {
          const int y = $row;
          if (y < $height) $stored = ($pixel)$value;
        }
        // -- end
      }
    }
  }
}
