// The words of core/group_words.hpp for sub-groups that exchange registers.

// -- part: group
// Each sub-group by itself, then the first one what all of them have. The memory has their values,
// at most 32, then what is made of these, then the total: a word that follows writes nothing that
// others may still read.
FUNCTION double sum_up_to(const double own) {
  double sum = own;
#pragma unroll
  for (int step = 1; step < SUB_GROUP; step *= 2) {
    const double other = beside_double(sum, -step);
    sum += ITEM % SUB_GROUP >= step ? other : 0.0;
  }
  return sum;
}
FUNCTION double largest_from(const double own) {
  double most = own;
#pragma unroll
  for (int step = 1; step < SUB_GROUP; step *= 2) {
    const double other = beside_double(most, step);
    most = other > most ? other : most;
  }
  return most;
}
FUNCTION double group_sum_before(const double own, double* total, IN_LOCAL double* memory,
                                 const int items) {
  const int lane = ITEM % SUB_GROUP, sub_group = ITEM / SUB_GROUP;
  const double up_to = sum_up_to(own);
  if (lane == SUB_GROUP - 1) memory[sub_group] = up_to;
  BARRIER;
  if (ITEM < SUB_GROUP) {
    const double of_sub_group = lane < items / SUB_GROUP ? memory[lane] : 0.0;
    const double sum = sum_up_to(of_sub_group);
    memory[SUB_GROUP + lane] = sum - of_sub_group;
    if (lane == SUB_GROUP - 1) memory[2 * SUB_GROUP] = sum;
  }
  BARRIER;
  *total = memory[2 * SUB_GROUP];
  return memory[SUB_GROUP + sub_group] + up_to - own;
}
FUNCTION double group_largest(const double own, IN_LOCAL double* memory, const int items) {
  const double most = largest_from(own);
  if (ITEM % SUB_GROUP == 0) memory[ITEM / SUB_GROUP] = most;
  BARRIER;
  if (ITEM < SUB_GROUP) {
    const double all = largest_from(memory[ITEM < items / SUB_GROUP ? ITEM : 0]);
    if (ITEM == 0) memory[2 * SUB_GROUP] = all;
  }
  BARRIER;
  return memory[2 * SUB_GROUP];
}
#define sum_before(own, total) group_sum_before(own, total, group_memory, items)
#define largest_of_group(own) group_largest(own, group_memory, items)
