// Ranks in large windows by a histogram for each work-item, which slides down a strip of rows:
// counts of the values' first eight bits. The other bits of wider classes are found by counting
// those of the window.
//   $width       of the image
//   $to_width    of the result
//   $per         counters of a word
//   $top         where the highest of them begins
//   $field_bits  of a counter
//   $high_bits   of a pixel value: those that a word of counters covers
//   $items       of a group
//   $words_each  of the counters of a work-item
//   $strip       rows
//   $left        of the window, around its pixel
//   $rest        bits of a key beyond the first
//   $has_digits  whether there are such bits

// -- part: rest(name rest_name, int left, int right, expr width, int up, int down, expr height,
//    int rest, stmt inner, stmt cells)
// The key whose first bits are `prefix` and that `rank` of the keys with these first bits precede:
// four bits at a time, for which all cells are counted. digits: a work-item's own counters.
#define DIGIT(d) digits[(int)((d) / 2 * 64 + (d) % 2)]
FUNCTION uint $rest_name(PARAMS, IN_LOCAL ushort* const digits, const int x, const int y,
                         const uint prefix, int rank) {
  const bool inside = x >= $left && x + $right < $width && y >= $up && y + $down < $height;
  uint found = prefix;
  for (int shift = $rest - 4; shift >= 0; shift -= 4) {
    for (uint d = 0; d < 16; ++d) DIGIT(d) = 0;
    if (inside) {
      $inner
    } else {
      $cells
    }
    uint digit = 0;
    for (int count = DIGIT(0u); rank >= count && digit < 15; count = DIGIT(digit)) {
      rank -= count;
      ++digit;
    }
    found = found << 4 | digit;
  }
  return found;
}
#undef DIGIT
// -- end

  // -- part: counters(int per, expr field_bits, expr field, expr ones, expr high_bits,
  //    expr high_times)
// The counters of a work-item lie beside those of its sub-group, some in a word.
// COUNT_UP, COUNT_DOWN: of a code. Nobody waits for what is added to words.
// SUMS: of $per codes from `code`, a multiple of $per: in field i the sum of the first i + 1, so in
// the highest the sum of all.
// PLACE_OF_BYTE: the place in bytes, in the order of the codes, of the word that counts byte k of a
// word; FIELD_OF_BYTE: where in it the counter begins.
#define WORD_OF(code) words[own + (int)((code) / $per * 32)]
#define FIELD_OF_CODE(code) ((code) % $per * $field_bits)
#define COUNT_UP(code) ADD_OWN(&WORD_OF(code), 1u << FIELD_OF_CODE(code))
#define COUNT_DOWN(code) ADD_OWN(&WORD_OF(code), 0xffffffffu << FIELD_OF_CODE(code))
#define COUNT(code) ((int)(WORD_OF(code) >> FIELD_OF_CODE(code) & $field))
#define SUMS(code) (WORD_OF(code) * $ones)
#define PLACE_OF_BYTE(word, k) times_byte((word) & $high_bits, k, $high_times, own_place)
#define FIELD_OF_BYTE(word, k) times_byte((word) & ~$high_bits, k, $field_bits, 0u)
#define WORD_AT(place) (IN_LOCAL uint*)((IN_LOCAL uchar*)words + (place))
  // -- end

KERNEL($items) void rank_histogram(GLOBAL uchar* $image) {
  // -- part: kernel(int items, int words_each, bool has_digits, expr strip, expr to_height,
  //    expr to_width, stmt loop = int y = first;)
  // A strip of one column for each work-item.
  LOCAL uint words[$items * $words_each];
#if $has_digits
  LOCAL ushort all_digits[$items * 16];
  IN_LOCAL ushort* const digits = all_digits + ITEM / 32 * (32 * 16) + ITEM % 32 * 2;
#endif
  const int own = ITEM / 32 * (32 * $words_each) + ITEM % 32;
  const int x = GROUP_X * $items + ITEM;
  const int first = GROUP_Y * $strip;
  const int last = smaller(first + $strip, $to_height);
  if (x >= $to_width) return;
  {
    for (int k = 0; k < $words_each; ++k) words[own + k * 32] = 0;
    // How many values of the window are in codes before `place`.
    uint place = 0;
    int below = 0;
    $loop
    // -- part: output(int rank, int per, int top, stmt unroll, int codes,
    //    stmt result = const uint found = place + sums;, expr stored)
    // Moves `place` to the counters that the rank is in. Content like a checkerboard's takes it over
    // all codes at edges, most of them empty: after some steps in vain, four at once.
    if (below > $rank) {
      place -= $per;
      below -= (int)(SUMS(place) >> $top);
      while (below > $rank && place >= 4 * $per) {
        int many = 0;
        $unroll
        for (int k = 1; k <= 4; ++k) many += (int)(SUMS(place - k * $per) >> $top);
        if (below - many <= $rank) break;
        place -= 4 * $per;
        below -= many;
      }
      while (below > $rank) {
        place -= $per;
        below -= (int)(SUMS(place) >> $top);
      }
    }
    uint sums = SUMS(place);
    for (int k = 0; k < 2 && below + (int)(sums >> $top) <= $rank; ++k) {
      below += (int)(sums >> $top);
      place += $per;
      sums = SUMS(place);
    }
    if (below + (int)(sums >> $top) <= $rank) {
      below += (int)(sums >> $top);
      place += $per;
      while (place <= $codes - 4 * $per) {
        int many = 0;
        $unroll
        for (int k = 0; k < 4; ++k) many += (int)(SUMS(place + k * $per) >> $top);
        if (below + many > $rank) break;
        place += 4 * $per;
        below += many;
      }
      sums = SUMS(place);
      while (below + (int)(sums >> $top) <= $rank) {
        below += (int)(sums >> $top);
        place += $per;
        sums = SUMS(place);
      }
    }
    $result
    $stored;
    // -- end
  }
  // -- end
}

KERNEL($items) void windows(GLOBAL uchar* $image) {
  LOCAL uint words[$items * $words_each];
  const int own = ITEM, x = ITEM, first = 0, last = $to_height;
  uint place = 0;
  int below = 0;
  // -- part: cells(stmt all, stmt leaving, stmt entering, stmt output)
  // By cells of any mask: those that the window gains and loses when it moves down.
  for (int y = first; y < last; ++y) {
    if (y == first) {
      $all
    } else {
      $leaving
      $entering
    }
    $output
  }
  // -- end
  {
    uint sums = SUMS(place);
    const uint more = (uint)$rank - (uint)below, lower = place;
    // -- part: next(int top, int per, expr codes_up_to = + sums_after)
    // The mean with the code that the next rank is in: of the same counters, or of the next that
    // are not empty.
    uint place_after = place, sums_after = sums, wanted = more + 1u;
    if (sums >> $top <= wanted) {
      wanted = 0u;
      do {
        place_after += $per;
        sums_after = SUMS(place_after);
      } while (sums_after >> $top == 0u);
    }
    const uint found = (lower + (place_after $codes_up_to) + 1u) / 2u;
    // -- end
    $image[x] = (uchar)found;
  }
  // -- part: steps(name code = place, name codes_below = below, int its_rank)
  // Moves a code up to the one that a rank is in.
  for (int count = COUNT($code); $codes_below + count <= $its_rank; count = COUNT($code)) {
    $codes_below += count;
    ++$code;
  }
  // -- end
  $image[x] = (uchar)(place + (uint)below);
}
