// Histograms of 65,536 codes in local memory: two counts of 16 bits a word, 134 KB for each group.
// measure/wide_histogram.cpp says why no count reaches the bits of its neighbour.
//   $items        of a group
//   $words        of local memory
//   $sliced       whether a group counts the codes of a slice only
//   $slice_codes  of words: each has two codes
//   $pixels       that a work-item takes at once
//   $between      times that it does so between two barriers
//   $in_memory    whether the codes themselves are in memory
//   $pairs        whether codes are of two bytes in memory: side * first + second
//   $kept         whether the next launch finds zeros

// -- part: add(name add, bool sliced, int slice_codes, name add_four, stmt unroll)
// How codes are counted. Codes 32,768 apart share a word. Rows of 256 words begin 267 words, so 11
// banks, apart: pairs of neighbouring values, as pictures have them, lie in different banks. `from`:
// the first code of the group's slice.
FUNCTION void $add(IN_LOCAL uint* words, GLOBAL uint* totals, const uint from, const uint code,
                   const uint count) {
#if $sliced
  const uint low = (code & 0x7fffu) - from;
  if (low >= (uint)$slice_codes) return;
#else
  const uint low = code & 0x7fffu;
#endif
  const uint word = low + 11u * (low >> 8);
  const uint more = count << (code >> 15 << 4);
  const uint before = ADD_LOCAL(&words[word], more);
  // 0x8000 of the count that has passed it: no other changes in this bit.
  const uint passed = ((before + more) ^ before) & 0x80008000u;
  if (passed != 0u) {
    ADD_LOCAL(&words[word], 0u - passed);
    ADD_GLOBAL(&totals[code], 0x8000u);
  }
}
// Four codes, of the bytes of p and q: 256 * p + q.
FUNCTION void $add_four(IN_LOCAL uint* words, GLOBAL uint* totals, const uint from, const uint p,
                        const uint q) {
#if $sliced
  $unroll
  for (int k = 0; k < 4; ++k) $add(words, totals, from, BYTE_OF(p, k) << 8 | BYTE_OF(q, k), 1u);
#else
  const uint low = p & 0x7f7f7f7fu, high = p >> 7 & 0x01010101u;
  uint before[4], more[4], word[4], passed = 0u;
  $unroll
  for (int k = 0; k < 4; ++k) {
    more[k] = BYTE_OF(high, k) * 0xffffu + 1u;
    word[k] = BYTE_OF(low, k) * 267u + BYTE_OF(q, k);
    before[k] = ADD_LOCAL(&words[word[k]], more[k]);
    passed |= (before[k] + more[k]) ^ before[k];
  }
  if ((passed & 0x80008000u) != 0u) {
    $unroll
    for (int k = 0; k < 4; ++k) {
      const uint own = ((before[k] + more[k]) ^ before[k]) & 0x80008000u;
      if (own != 0u) {
        ADD_LOCAL(&words[word[k]], 0u - own);
        ADD_GLOBAL(&totals[BYTE_OF(p, k) << 8 | BYTE_OF(q, k)], 0x8000u);
      }
    }
  }
#endif
}

// -- part: count(name array, int words, expr width, int pixels, int slices, int items,
//    int slice_codes, buffer totals, bool in_memory, expr height,
//    expr first_row = $first + (long)y * $width, int between, stmt unroll, bool pairs, expr side,
//    expr second_row = $second + (long)y * $width, name add, name add_four, expr code, int codes)
// Counts of a group.
KERNEL($items) void count(GLOBAL const uchar* $first, GLOBAL const uchar* $second,
                          GLOBAL uint* $totals) {
  DYNAMIC_LOCAL(uint, $array, $words);
  const int across = ($width + $pixels - 1) / $pixels;
  const int step = GROUPS_X / $slices * $items, step_y = step / across, step_chunk = step % across;
  const int own = GROUP_X / $slices, first = own * $items + ITEM;
  const uint from = (uint)(GROUP_X % $slices * $slice_codes);
  {
    GLOBAL uint* const totals = $totals;
    for (int i = ITEM; i < $words; i += $items) $array[i] = 0;
    BARRIER;
    int y = first / across, chunk = first % across;
#if $in_memory
    // The next sixteen codes, which are on their way while others are counted.
    uint4 next_a = {0, 0, 0, 0}, next_b = next_a;
    if (y < $height) {
      const int x0 = chunk * $pixels;
      next_a = *(GLOBAL const uint4*)($first_row + x0);
      next_b = *(GLOBAL const uint4*)($first_row + x0 + 8);
    }
#endif
    for (int begin = own * $items; begin < across * $height; begin += $between * step) {
      $unroll
      for (int k = 0; k < $between; ++k) {
        if (y < $height) {
          const int x0 = chunk * $pixels;
#if $pairs
          const uint bins = $side;
          // Pairs of bytes, sixteen at once. Four equal ones are one addition, two that alternate
          // are two; elsewhere neighbouring work-items begin at different bytes, so that regular
          // patterns don't make all of them wait for one count.
          const uint4 a = *(GLOBAL const uint4*)($first_row + x0);
          const uint4 b = *(GLOBAL const uint4*)($second_row + x0);
          if (x0 + $pixels <= $width) {
            const uint four_a[4] = {a.x, a.y, a.z, a.w}, four_b[4] = {b.x, b.y, b.z, b.w};
            $unroll
            for (int w = 0; w < 4; ++w) {
              uint p = four_a[w], q = four_b[w];
              if (p == ROTATE(p, 16) && q == ROTATE(q, 16)) {
                const uint p0 = p & 255u, p1 = p >> 8 & 255u, q0 = q & 255u, q1 = q >> 8 & 255u;
                const bool same = p0 == p1 && q0 == q1;
                $add($array, totals, from, p0 * bins + q0, same ? 4u : 2u);
                if (!same) $add($array, totals, from, p1 * bins + q1, 2u);
                continue;
              }
              p = ROTATE(p, 8 * (ITEM & 3));
              q = ROTATE(q, 8 * (ITEM & 3));
              if (bins == 256u) {
                $add_four($array, totals, from, p, q);
              } else {
                $unroll
                for (int byte = 0; byte < 32; byte += 8) {
                  $add($array, totals, from, (p >> byte & 255u) * bins + (q >> byte & 255u), 1u);
                }
              }
            }
          } else {
            for (int x = x0; x < $width; ++x) {
              const uint p = ($first_row)[x], q = ($second_row)[x];
              $add($array, totals, from, p * bins + q, 1u);
            }
          }
#else
#if $in_memory
          // Sixteen codes at once; equal ones side by side are one addition.
          const uint4 a = next_a, b = next_b;
          const int y_next = y + step_y + (chunk + step_chunk >= across ? 1 : 0);
          if (y_next < $height) {
            const int chunk_next = chunk + step_chunk - (chunk + step_chunk >= across ? across : 0);
            const int y = y_next, x_next = chunk_next * $pixels;
            next_a = *(GLOBAL const uint4*)($first_row + x_next);
            next_b = *(GLOBAL const uint4*)($first_row + x_next + 8);
          }
          const uint two[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
          if (x0 + $pixels <= $width) {
            $unroll
            for (int w = 0; w < 8; ++w) {
              const uint first_code = two[w] & 0xffffu, second_code = two[w] >> 16;
              const bool same = first_code == second_code;
              $add($array, totals, from, first_code, same ? 2u : 1u);
              if (!same) $add($array, totals, from, second_code, 1u);
            }
          } else {
            for (int x = x0; x < $width; ++x) $add($array, totals, from, ($first_row)[x], 1u);
          }
#else
          for (int x = x0; x < x0 + $pixels && x < $width; ++x) {
            // A bin that there is not is none of them.
            const uint place = $code;
            if (place < $codes) $add($array, totals, from, place, 1u);
          }
#endif
#endif
        }
        y += step_y;
        chunk += step_chunk;
        if (chunk >= across) {
          chunk -= across;
          ++y;
        }
      }
      BARRIER;
    }
    // Each group begins elsewhere, so that few add to the same counts at once.
    for (int k = ITEM; k < $slice_codes; k += $items) {
      const int i = (k + own * 256) % $slice_codes, code = (int)from + i;
      const uint both = $array[i + 11 * (i >> 8)];
      if ((both & 0xffffu) != 0) ADD_GLOBAL(&totals[code], both & 0xffffu);
      if (both >> 16 != 0) ADD_GLOBAL(&totals[code + $codes / 2], both >> 16);
    }
    BARRIER;
  }
}

// -- part: end(int items, int total, buffer out, buffer totals, int bins, int codes, bool kept)
// Counts as doubles.
KERNEL($items) void end(GLOBAL uint* $totals, GLOBAL double* $out) {
  const int i = GROUP_X * $items + ITEM;
  if (i < $total) $out[i] = (double)$totals[i / $bins * $codes + i % $bins];
#if $kept
  if (i < $codes) $totals[i] = 0;
#endif
}
