// Scalar nodes: the measurements are put side by side, then one work-item runs the body.
#define $items 128   // of a group
#define $inputs 1    // measurements
#define $counts 256  // values of each
#define $arguments 1
#define $values 0.5
FUNCTION void $body(GLOBAL const double* in, const long* count, const double* args,
                    GLOBAL double* out) {
  out[0] = in[count[0] - 1] * args[0];
}

// -- part: group
// The words of core/group_words.hpp.
FUNCTION double group_sum_before(const double own, double* total, IN_LOCAL double* memory,
                                 const int items) {
  memory[ITEM] = own;
  BARRIER;
  for (int step = 1; step < items; step *= 2) {
    const double before = ITEM >= step ? memory[ITEM - step] : 0.0;
    BARRIER;
    memory[ITEM] += before;
    BARRIER;
  }
  const double up_to = memory[ITEM];
  *total = memory[items - 1];
  BARRIER;
  return up_to - own;
}
FUNCTION double group_largest(const double own, IN_LOCAL double* memory, const int items) {
  memory[ITEM] = own;
  BARRIER;
  for (int step = items / 2; step > 0; step /= 2) {
    if (ITEM < step && memory[ITEM + step] > memory[ITEM]) memory[ITEM] = memory[ITEM + step];
    BARRIER;
  }
  const double all = memory[0];
  BARRIER;
  return all;
}
#define sum_before(own, total) group_sum_before(own, total, group_memory, items)
#define largest_of_group(own) group_largest(own, group_memory, items)
// -- end

// -- part: steps
// By all work-items of a group.
#define $count 256
#define $at 0
#define $in $inputs_side_by_side
#define $one_item 1  // runs the body; else all of them do
KERNEL($items) void steps(GLOBAL const double* $from, GLOBAL double* $inputs_side_by_side,
                          GLOBAL double* $out) {
  {
    GLOBAL double* in = $in;
    // -- part: gather
    // The values of a measurement, beside those of the others.
    for (int i = ITEM; i < $count; i += $items) {
      in[$at + i] = $from[i];
    }
    // -- end
    GLOBAL_BARRIER;
#if $one_item
    if (ITEM == 0) {
      const long count[$inputs] = {$counts};
      const double args[$arguments] = {$values};
      $body(in, count, args, $out);
    }
#else
    {
      const long count[$inputs] = {$counts};
      const double args[$arguments] = {$values};
      $body(in, count, args, $out, ITEM, $items, group_memory);
    }
#endif
    GLOBAL_BARRIER;
  }
}
