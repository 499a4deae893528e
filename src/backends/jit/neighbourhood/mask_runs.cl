// Extrema over large masks of any shape. A work-item goes down a strip of one column. Of each row
// there are the extrema of 1, 2, 4 ... pixels side by side, two of which cover a run of the mask;
// what a row has for the windows that it is in is taken into those: best[k] is the window whose
// last row is k rows further down.
#define $items 128        // of a group
#define $type uint        // a pixel of each of two strips, or one float
#define $quad uint4
#define $better packed_max
#define $nothing 0u       // no pixel
#define $unroll
#define $two 1            // whether there are two strips, one below the other
#define $strips 2
#define $load v.x = v.y = v.z = v.w = (uint)$image[(long)y * 1024 + x];
#define $around v.x = v.y = v.z = v.w = $nothing;
#define $levels 3         // lengths: 1, 2, 4
#define $all 408          // fours of pixels of all levels
#define $words 34         // fours of a row, with those around
#define $tasks 136        // of all rows of a level
#define $turns 2          // in which a group takes them
#define $rows 4           // at a time
#define $left 4           // pixels of a row before the group's own
#define $wider
#define $from_level 0
#define $to_level 136
#define $to_next_level 272
#define $keeps 1          // whether the first of two levels is stored
#define $next 1           // whether there is a second one
#define $apart 1          // distance of two extrema of the level before, in units of 4 pixels
#define $tall 3           // rows of the mask
#define $above 1          // how far above its pixel they begin
#define $below 1          // how far below it they end
#define $width 900
#define $height 600
#define $strip 64         // its rows
#define $runs const uint run_0 = $better(pixels[at - 4], pixels[at]);
#define $windows best[0] = $better(best[1], run_0); best[1] = best[2]; best[2] = run_0;
#define $row out_y
#define $value best[0]
#define $stored $image[(long)y * 1024 + x]
#define $pixel uchar

// -- part: kernel
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
    // -- part: first
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
    // -- part: wider
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
        // -- part: store
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
