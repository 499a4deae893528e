// Extrema along lines that are cut into blocks: a work-item has a block, and the extrema of its
// first and of its last 1, 2 ... values. A window is the end of one block, whole blocks, and the
// beginning of another.
//   $items     of a group
//   $type      what pixels are in registers, of one row or more
//   $stored    and in local memory
//   $nothing   no pixel
//   $widen     from what is stored to what is in registers
//   $narrow    and back
//   $all       values of a block
//   $in_local  whether blocks of a line exchange through local memory
//   $values    of a group
//   $blocks    of a line
//   $made      blocks of a line whose windows are wanted
//   $before    and blocks before them
//   $rows      of a work-item
//   $two       whether there are two
//   $words     of a row of a block
//   $across    columns of a group
//   $word      what a work-item reads of a row

// -- part: bytes
// Bytes 0 and 2 of a word, and bytes 1 and 3, in the high bytes of 16-bit halves. What stands in
// the low halves decides between equal bytes only.
FUNCTION uint2 pairs_of_bytes(const uint word) {
  uint2 pairs;
  pairs.x = word << 8;
  pairs.y = word;
  return pairs;
}
FUNCTION uint bytes_of_pairs(const uint2 pairs) { return HIGH_BYTES(pairs.x, pairs.y); }
FUNCTION uint2 smaller_bytes(uint2 a, const uint2 b) {
  a.x = packed_min(a.x, b.x);
  a.y = packed_min(a.y, b.y);
  return a;
}
FUNCTION uint2 larger_bytes(uint2 a, const uint2 b) {
  a.x = packed_max(a.x, b.x);
  a.y = packed_max(a.y, b.y);
  return a;
}

// -- part: rows(bool in_local, type stored, int values, int blocks, int made, int before, int all,
//    int lines, int rows, type type, type pixel = uchar,
//    expr in_row_0 = $image + (long)smaller(y + 0, $height - 1) * 1024, bool two,
//    expr in_row_1 = $image + (long)smaller(y + 1, $height - 1) * 1024, expr width, int words,
//    stmt load, stmt unroll, expr nothing, expr wanted, stmt pack,
//    expr out_row_0 = $result + (long)(y + 0) * 1024, stmt store_0, expr height,
//    expr out_row_1 = $result + (long)(y + 1) * 1024, stmt store_1)
// Lines are rows; narrow pixels of two rows share a register. Rows are padded to more than a block.
KERNEL($items) void rows(GLOBAL const uchar* $image, GLOBAL uchar* $result) {
#if $in_local
  LOCAL $stored begins[$values], ends[$values];
#endif
  const int of_line = ITEM % $blocks;
  const int x0 = (GROUP_X * $made + of_line - $before) * $all;
  const int y = (GROUP_Y * $lines + ITEM / $blocks) * $rows;
  {
    $type v[$all];
    GLOBAL const $pixel* const from0 = $in_row_0 + x0;
#if $two
    GLOBAL const $pixel* const from1 = $in_row_1 + x0;
#endif
    if (x0 >= 0 && x0 < $width) {
#if $two
      uint row0[$words], row1[$words];
#endif
      $load
    } else {
      $unroll
      for (int i = 0; i < $all; ++i) v[i] = $nothing;
    }
    if (x0 + $all > $width) {
      $unroll
      for (int i = 0; i < $all; ++i) v[i] = x0 + i < $width ? v[i] : $nothing;
    }
    // -- part: windows(type type, int all, int last, stmt unroll, name better = packed_max,
    //    int before_last, bool in_local, int items, name narrow =, expr wanted, stmt best)
    // The windows of the block, by all work-items of a group.
    $type begin[$all], end[$all], best[$all];
    begin[0] = v[0];
    end[$last] = v[$last];
    $unroll
    for (int i = 0; i < $last; ++i) {
      begin[i + 1] = $better(begin[i], v[i + 1]);
      end[$before_last - i] = $better(end[$last - i], v[$before_last - i]);
    }
#if $in_local
    BARRIER;
    $unroll
    for (int i = 0; i < $all; ++i) {
      begins[i * $items + ITEM] = $narrow(begin[i]);
      ends[i * $items + ITEM] = $narrow(end[i]);
    }
    BARRIER;
    if ($wanted) {
      $best
    }
#else
    $best
#endif
    // -- end
    if ($wanted) {
#if $two
      uint row0[$words], row1[$words];
      $pack
#endif
      {
        GLOBAL $pixel* const to = $out_row_0 + x0;
        $store_0
      }
#if $two
      if (y + 1 < $height) {
        GLOBAL $pixel* const to = $out_row_1 + x0;
        $store_1
      }
#endif
    }
  }
}

// -- part: columns(bool in_local, type stored, int values, int across, int made, int before,
//    type type, type word, expr in, expr in_step, expr words_across, expr height, stmt unroll,
//    name widen =, expr nothing, stmt windows = uint best[8] = {v[0], begins[0], ends[0]};,
//    expr wanted, expr out, expr out_step, name narrow)
// Lines are columns, of words; a work-item has eight rows of one.
KERNEL($items) void columns(GLOBAL const uchar* $image, GLOBAL uchar* $result) {
#if $in_local
  LOCAL $stored begins[$values], ends[$values];
#endif
  const int x = GROUP_X * $across + ITEM % $across, of_line = ITEM / $across;
  const int y0 = (GROUP_Y * $made + of_line - $before) * 8;
  {
    $type v[8];
    GLOBAL const $word* const from = (GLOBAL const $word*)($in) + (long)y0 * $in_step + x;
    const long step = $in_step;
    if (x < $words_across && y0 >= 0 && y0 + 8 <= $height) {
      $unroll
      for (int i = 0; i < 8; ++i) v[i] = $widen(from[i * step]);
    } else {
      $unroll
      for (int i = 0; i < 8; ++i)
        v[i] = x < $words_across && y0 + i >= 0 && y0 + i < $height ? $widen(from[i * step])
                                                                    : $nothing;
    }
    $windows
    if ($wanted) {
      GLOBAL $word* const to = (GLOBAL $word*)($out) + (long)y0 * $out_step + x;
      const long made = $out_step;
      if (y0 + 8 <= $height) {
        $unroll
        for (int i = 0; i < 8; ++i) to[i * made] = $narrow(best[i]);
      } else {
        $unroll
        for (int i = 0; i < 8; ++i)
          if (y0 + i < $height) to[i * made] = $narrow(best[i]);
      }
    }
  }
}
