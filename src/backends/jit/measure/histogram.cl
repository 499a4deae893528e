// Histograms: counts of codes (integer classes) or bins in the local memory of each group, or in
// global memory where there are too many; then bins as doubles.
//   $items       of a group
//   $counters    one a pixel value or one a bin
//   $copies      of each counter
//   $groups      of a launch
//   $span        counters that are added up at once
//   $slice       copies that a work-item adds up
//   $one_launch  whether the last group ends it
//   $bin         of counter i
//   $scalars     what is computed from the bins alone
//   $vectors     of 16 codes
//   $locals      its local memory but for the counters
//   $runs        whether equal places one after the other are added at once
//   $kept        whether the next launch finds zeros

// Alone: behind what counts.
KERNEL($items) void last_group(GLOBAL uint* $ticket, GLOBAL uint* $totals, GLOBAL double* $out) {
  LOCAL uint bins[$bins];
  LOCAL int is_last;
  // -- part: last_group(buffer ticket, expr bins = 64, int items, int counters, buffer totals,
  //    expr bin, buffer out, stmt scalars)
  // The counts of all groups, which lie behind the ticket, by the last group. It leaves zeros.
  if (is_last_group($ticket, GROUPS_X, &is_last)) {
    {
      for (int i = ITEM; i < $bins; i += $items) bins[i] = 0;
      BARRIER;
      for (int i = ITEM; i < $counters; i += $items) {
        GLOBAL volatile uint* const total = $totals + i;
        const uint count = *total;
        *total = 0;
        const int bin = $bin;
        if (bin >= 0 && count != 0) ADD_LOCAL(&bins[bin], count);
      }
      BARRIER;
      for (int i = ITEM; i < $bins; i += $items) $out[i] = (double)bins[i];
      BARRIER;
    }
    $scalars
  }
  // -- end
}

// Alone: what a kernel that counts begins with.
KERNEL($items) void with_table(GLOBAL const uchar* $table, GLOBAL uchar* $out) {
  // -- part: bins_of_codes(name table_words, int vectors, int items, buffer table, name table_here)
  // The bins of all codes, in local memory.
  DYNAMIC_LOCAL(uint4, $table_words, $vectors);
  for (int i = ITEM; i < $vectors; i += $items) {
    $table_words[i] = ((GLOBAL const uint4*)$table)[i];
  }
  IN_LOCAL const uchar* const $table_here = (IN_LOCAL const uchar*)$table_words;
  // -- end
  BARRIER;
  $out[ITEM] = $table_here[ITEM];
}

// -- part: in_local(stmt locals, int counters, int copies, bool one_launch, expr bins, int items,
//    stmt rows, int span, int slice, buffer parts, buffer totals)
// Counts in local memory. Copies of the counters lie interleaved, one a bank: neighbours that are
// equal don't wait for one another.
KERNEL($items) void in_local(GLOBAL uint* $parts, GLOBAL uint* $totals) {
  $locals
  LOCAL uint counts[$counters * $copies];
#if $one_launch
  LOCAL uint bins[$bins];
  LOCAL uint sums[$counters];
  LOCAL int is_last;
#endif
  const int copy = ITEM % $copies;
  const uint own_byte = 4u * (uint)copy;
  {
    for (int i = ITEM; i < $counters * $copies; i += $items) counts[i] = 0;
#if $one_launch
    for (int i = ITEM; i < $counters; i += $items) sums[i] = 0;
#endif
    BARRIER;
    $rows
    BARRIER;
    for (int i = ITEM % $span; i < $counters; i += $span) {
      uint count = 0;
      for (int k = ITEM / $span * $slice; k < (ITEM / $span + 1) * $slice; ++k) {
        count += counts[i * $copies + (k + i) % $copies];
      }
#if $one_launch
      if (count != 0) ADD_LOCAL(&sums[i], count);
#else
      $parts[GROUP_X * $counters + i] = count;
#endif
    }
    BARRIER;
#if $one_launch
    // Global memory adds to one place at a time: each group once a counter.
    for (int i = ITEM; i < $counters; i += $items) {
      if (sums[i] != 0) ADD_GLOBAL(&$totals[i], sums[i]);
    }
    BARRIER;
#endif
  }
}

// -- part: local_end(int counters, bool apart, expr bins, int items, int span, expr groups,
//    stmt unroll, buffer parts, buffer codes, expr bin, buffer out)
// One group: the groups' counts together, each counter by several work-items, then bins, unless
// there are too many for that.
KERNEL($items) void local_end(GLOBAL const uint* $parts, GLOBAL double* $out,
                              GLOBAL uint* $codes) {
  LOCAL uint counts[$counters];
#if !$apart
  LOCAL uint bins[$bins];
#endif
  {
    for (int i = ITEM; i < $counters; i += $items) counts[i] = 0;
#if !$apart
    for (int i = ITEM; i < $bins; i += $items) bins[i] = 0;
#endif
    BARRIER;
    for (int i = ITEM % $span; i < $counters; i += $span) {
      uint count = 0;
      // Many loads are under way before the first is used.
      for (int g = ITEM / $span; g < $groups; g += 16 * ($items / $span)) {
        uint part[16];
        $unroll
        for (int k = 0; k < 16; ++k) {
          const int from = g + k * ($items / $span);
          part[k] = $parts[smaller(from, $groups - 1) * $counters + i];
          part[k] = from < $groups ? part[k] : 0;
        }
        $unroll
        for (int k = 0; k < 16; ++k) count += part[k];
      }
      ADD_LOCAL(&counts[i], count);
    }
    BARRIER;
#if $apart
    for (int i = ITEM; i < $counters; i += $items) $codes[i] = counts[i];
#else
    for (int i = ITEM; i < $counters; i += $items) {
      const int bin = $bin;
      if (bin >= 0 && counts[i] != 0) ADD_LOCAL(&bins[bin], counts[i]);
    }
    BARRIER;
    for (int i = ITEM; i < $bins; i += $items) $out[i] = (double)bins[i];
    BARRIER;
#endif
  }
}

// -- part: in_global(bool runs, expr height, expr width, int items, expr place, buffer counts)
// Counts in global memory, which adds to one place at a time.
KERNEL($items) void in_global(GLOBAL uint* $counts) {
  {
#if $runs
    int last = -1;
    uint count = 0;
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
      for (int x = ITEM; x < $width; x += $items) {
        const int place = $place;
        if (place != last) {
          if (last >= 0) ADD_GLOBAL(&$counts[last], count);
          last = place;
          count = 0;
        }
        ++count;
      }
    }
    if (last >= 0) ADD_GLOBAL(&$counts[last], count);
#else
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
      for (int x = ITEM; x < $width; x += $items) {
        const int place = $place;
        if (place >= 0) ADD_GLOBAL(&$counts[place], 1u);
      }
    }
#endif
  }
}

// -- part: tagged(int slice, int items, expr height, expr width, expr place, int counters,
//    buffer counts)
// Counts of a slice of the counters in local memory, as before there were atomic additions to it: a
// count has its writer's number in its highest bits, and a work-item that does not find its own
// there writes again. The groups of a slice share the rows; none of them counts 2^27 pixels.
KERNEL($items) void tagged(GLOBAL uint* $counts) {
  LOCAL volatile uint tagged_counts[$slice];
  LOCAL volatile int waiting[2];
  const int first = GROUP_Y * $slice;
  const uint tag = (uint)ITEM << 27;
  {
    for (int i = ITEM; i < $slice; i += $items) tagged_counts[i] = 0;
    if (ITEM < 2) waiting[ITEM] = 0;
    BARRIER;
    int turn = 0;
    for (int y = GROUP_X; y < $height; y += GROUPS_X) {
      for (int x0 = 0; x0 < $width; x0 += $items) {
        const int x = x0 + ITEM;
        int place = -1;
        if (x < $width) place = $place - first;
        int own = place >= 0 && place < $slice, others = 1;
        while (others != 0) {
          uint count = 0;
          if (own != 0) count = tag | ((tagged_counts[place] & 0x7ffffffu) + 1u);
          BARRIER;
          if (own != 0) tagged_counts[place] = count;
          BARRIER;
          if (own != 0 && tagged_counts[place] == count) own = 0;
          if (own != 0) waiting[turn] = 1;
          BARRIER;
          others = waiting[turn];
          turn = 1 - turn;
          if (ITEM == 0) waiting[turn] = 0;
        }
      }
    }
    BARRIER;
    for (int i = ITEM; i < $slice && first + i < $counters; i += $items) {
      const uint count = tagged_counts[i] & 0x7ffffffu;
      if (count != 0u) ADD_GLOBAL(&$counts[first + i], count);
    }
  }
}

// -- part: bins(int items, int counters, buffer counts, bool kept, expr bin, expr bins = $bins)
// The counts of codes as those of bins.
KERNEL($items) void bins(GLOBAL uint* $counts, GLOBAL uint* $bins) {
  const int code = GROUP_X * $items + ITEM;
  if (code >= $counters) return;
  const uint count = $counts[code];
#if $kept
  $counts[code] = 0;
#endif
  const int bin = $bin;
  if (bin >= 0 && count != 0) ADD_GLOBAL(&$bins[bin], count);
}

// -- part: end(int items, int total, buffer out, expr bins = $bins)
// Bins as doubles.
KERNEL($items) void end(GLOBAL const uint* $bins, GLOBAL double* $out) {
  const int i = GROUP_X * $items + ITEM;
  if (i < $total) $out[i] = (double)$bins[i];
}
