// Scalar nodes: the measurements are put side by side, then one work-item runs the body.
//   $items     of a group
//   $inputs    measurements
//   $counts    values of each
//   $one_item  runs the body; else all of them do
//   $alone     what a body for a group gets then
//   $group     which group runs it

FUNCTION void $body(GLOBAL const double* in, const long* count, const double* args,
                    GLOBAL double* out) {
  out[0] = in[count[0] - 1] * args[0];
}

// -- part: alone
// The words of core/group_words.hpp for one work-item.
FUNCTION double sum_before(const double own, double* total) {
  *total = own;
  return 0.0;
}
FUNCTION double largest_of_group(const double own) { return own; }
// -- end

// -- part: group
// The words of core/group_words.hpp, by 32 work-items first and then by each: no barrier stands in a
// loop, which not every compiler of OpenCL takes.
FUNCTION double group_sum_before(const double own, double* total, IN_LOCAL double* memory,
                                 const int items) {
  const int part = items / 32;
  memory[ITEM] = own;
  BARRIER;
  if (ITEM < 32) {
    for (int i = ITEM * part + 1; i < (ITEM + 1) * part; ++i) memory[i] += memory[i - 1];
  }
  BARRIER;
  double before = memory[ITEM] - own, all = 0;
  for (int k = 0; k < 32; ++k) {
    const double sum = memory[(k + 1) * part - 1];
    before += k < ITEM / part ? sum : 0.0;
    all += sum;
  }
  BARRIER;
  *total = all;
  return before;
}
FUNCTION double group_largest(const double own, IN_LOCAL double* memory, const int items) {
  const int part = items / 32;
  memory[ITEM] = own;
  BARRIER;
  if (ITEM < 32) {
    double most = memory[ITEM * part];
    for (int i = ITEM * part + 1; i < (ITEM + 1) * part; ++i) {
      most = memory[i] > most ? memory[i] : most;
    }
    memory[ITEM * part] = most;
  }
  BARRIER;
  double all = memory[0];
  for (int k = 1; k < 32; ++k) all = memory[k * part] > all ? memory[k * part] : all;
  BARRIER;
  return all;
}
#define sum_before(own, total) group_sum_before(own, total, group_memory, items)
#define largest_of_group(own) group_largest(own, group_memory, items)
// -- end

// -- part: steps(expr in, bool one_item, int inputs, list counts = 0, int arguments, expr values,
//    name body, buffer out, stmt alone, int items, expr group, int groups)
// By all work-items of a group.
KERNEL($items) void steps(GLOBAL const double* $from, GLOBAL double* $inputs_side_by_side,
                          GLOBAL double* $out) {
  {
    GLOBAL double* in = $in;
    // -- part: gather(int count, int items, int at, buffer from)
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
      $body(in, count, args, $out $alone);
    }
#else
    {
      const long count[$inputs] = {$counts};
      const double args[$arguments] = {$values};
      $body(in, count, args, $out, ITEM, $items, $group, $groups, group_memory);
    }
#endif
    GLOBAL_BARRIER;
  }
}
