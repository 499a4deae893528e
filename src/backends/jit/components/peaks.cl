// The peaks of an image, for regional extrema; what is looked for among their components is in
// label.cl, and so are the words of pixels.
//   $items    of a group
//   $rows     of words
//   $corners  whether pixels that touch by a corner are neighbours
//   $peak     the value of pixel (x, y)
//   $further  of two values the one that is further up (or down, for minima)

FUNCTION int lowest_bit(const uint bits) { return 31 - LEADING_ZEROS(bits & (0u - bits)); }

// Alone: where label.cl has it.
KERNEL($items) void flags_of_peaks(GLOBAL const uint* $words, GLOBAL uint* flags, const uint word,
                                   const int x, const int at_row) {
#define PEAK(x, y) $peak
  {
    // -- part: lost_flags(stmt unroll, expr width, buffer words, expr rows, expr eight, type type,
    //    expr height)
    // Peaks with an equal neighbour that is none, and so has no bit: only neighbours without bits
    // are looked at.
    uint given_flags = 0u;
    if (word != 0u) {
      uint known[3][3], all = 0xffffffffu;
      $unroll
      for (int side = 0; side < 3; ++side) {
        const int to_x = x + side - 1;
        const bool inside = to_x >= 0 && to_x < $width;
        const long place = (long)at_row * $width + to_x;
        const uint mid = inside ? $words[place] : 0xffffffffu;
        const uint up = inside && at_row > 0 ? $words[place - $width] : 0xffffffffu;
        const uint down = inside && at_row + 1 < $rows ? $words[place + $width] : 0xffffffffu;
        known[side][0] = SHIFTED_WORD(up, mid, 31);
        known[side][1] = mid;
        known[side][2] = SHIFTED_WORD(mid, down, 1);
        if ($eight || side == 1) all &= known[side][0] & known[side][2];
        all &= mid;
      }
      for (uint e = word & ~all; e != 0u; e &= e - 1u) {
        const int bit = lowest_bit(e), y = at_row * 32 + bit;
        const $type own = PEAK(x, y);
        bool lost = false;
        $unroll
        for (int side = 0; side < 3; ++side) {
          $unroll
          for (int down = 0; down < 3; ++down) {
            if (!$eight && side != 1 && down != 1) continue;
            if ((known[side][down] >> bit & 1u) != 0u || y + down > $height) continue;
            lost |= PEAK(x + side - 1, y + down - 1) == own;
          }
        }
        if (lost) given_flags |= 1u << bit;
      }
    }
    // -- end
    flags[x] = given_flags;
  }
#undef PEAK
}

// -- part: peaks(expr peak, int items, expr width, expr height, type type, name further = larger,
//    bool corners, stmt unroll, expr reaches = >=, buffer words, buffer single)
// Pixels that no neighbour exceeds: peaks with an equal neighbour in one plane, those without in
// the other. Outside the image the edge is repeated, so that its peaks count as having one.
KERNEL($items) void peaks(GLOBAL uint* $words, GLOBAL uint* $single) {
#define PEAK(x, y) $peak
  const int x = GROUP_X * $items + ITEM;
  if (x >= $width) return;
  const int left = larger(x - 1, 0), right = smaller(x + 1, $width - 1);
  const int y0 = GROUP_Y * 32;
  uint tied = 0u, single = 0u;
  if (y0 < $height) {
    $type own = PEAK(x, y0), beside = $further(PEAK(left, y0), PEAK(right, y0));
    const int before = larger(y0 - 1, 0);
    $type over = PEAK(x, before);
#if $corners
    over = $further(over, $further(PEAK(left, before), PEAK(right, before)));
#endif
    // Eight rows are on their way at once.
    $unroll
    for (int block = 0; block < 32; block += 8) {
      $type owns[8], besides[8];
      $unroll
      for (int k = 0; k < 8; ++k) {
        const int next = smaller(y0 + block + k + 1, $height - 1);
        owns[k] = PEAK(x, next);
        besides[k] = $further(PEAK(left, next), PEAK(right, next));
      }
      $unroll
      for (int k = 0; k < 8; ++k) {
        $type under = owns[k], row = own;
#if $corners
        under = $further(under, besides[k]);
        row = $further(row, beside);
#endif
        const $type most = $further($further(over, under), beside);
        if (y0 + block + k < $height && own $reaches most) {
          if (own == most)
            tied |= 1u << (block + k);
          else
            single |= 1u << (block + k);
        }
        over = row;
        own = owns[k];
        beside = besides[k];
      }
    }
  }
  $words[(long)GROUP_Y * $width + x] = tied;
  $single[(long)GROUP_Y * $width + x] = single;
#undef PEAK
}
