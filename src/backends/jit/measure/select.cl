// Exact order statistics: a radix selection over ordered keys, some bits a round. Groups count these
// bits of the keys that begin as a wanted one does; the last group that is done, or a launch of its
// own, finds which each wanted one has.
//   $items         of a group
//   $digits        what the bits of a round can be
//   $counters      for each place that is asked for; of the first round for all together
//   $copies        of each counter
//   $run           digits that a work-item looks through
//   $first_places  of the first round: the places, clamped
//   $first         of the counters

// Alone: the word of measure/scalar.cl.
FUNCTION double group_sum_before(const double own, double* total, IN_LOCAL double* memory,
                                 const int items) {
  memory[ITEM] = own;
  BARRIER;
  *total = memory[items - 1];
  return memory[0];
}

// -- part: count(int counters, int copies, stmt begins, int items, stmt rows, buffer totals)
// Counts of a group, in copies that lie interleaved.
KERNEL($items) void count(GLOBAL const uint* $begun, GLOBAL uint* $totals) {
  LOCAL uint counts[$counters * $copies];
  const int copy = ITEM % $copies;
  {
    $begins
    for (int i = ITEM; i < $counters * $copies; i += $items) counts[i] = 0;
    BARRIER;
    $rows
    BARRIER;
    for (int i = ITEM; i < $counters; i += $items) {
      uint count = 0;
      for (int k = 0; k < $copies; ++k) count += counts[i * $copies + (k + i) % $copies];
      if (count != 0) ADD_GLOBAL(&$totals[i], count);
    }
    BARRIER;
  }
}

// -- part: last_group(buffer ticket, stmt choose)
// What the last group does that is done.
KERNEL($items) void last_group(GLOBAL uint* $ticket, GLOBAL uint* $totals) {
  LOCAL int is_last;
  if (is_last_group($ticket, GROUPS_X, &is_last)) {
    $choose
  }
}

// -- part: choose(buffer totals, stmt first_places, int counters, int items)
// By a group: the bits of each key that is looked for; the counts become zeros.
KERNEL($items) void choose(GLOBAL uint* $totals, GLOBAL uint* $begun, GLOBAL double* $rests,
                           GLOBAL double* $out, IN_LOCAL double* group_memory) {
  {
    GLOBAL volatile uint* const totals = $totals;
    $first_places
    // -- part: choose_one(expr rest, int run, int digits, int first, int items, buffer begun,
    //    int place, expr before, buffer rests, stmt put)
    // Of one place: the work-item among whose digits it is writes them.
    {
      const double rest = $rest;
      double own = 0.0, all;
      for (int i = ITEM * $run; i < (ITEM + 1) * $run && i < $digits; ++i) own += totals[$first + i];
      GLOBAL_BARRIER;  // all have read the rest before one writes it
      double before = group_sum_before(own, &all, group_memory, $items);
      if (before <= rest && rest < before + own) {
        int digit = ITEM * $run;
        while (before + totals[$first + digit] <= rest) before += totals[$first + digit++];
        $begun[$place] = $before | (uint)digit;
        $rests[$place] = rest - before;
        $put
      }
    }
    // -- end
    GLOBAL_BARRIER;
    for (int i = ITEM; i < $counters; i += $items) totals[i] = 0;
  }
}
