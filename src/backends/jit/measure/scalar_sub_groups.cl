// The words of core/group_words.hpp for sub-groups that exchange registers.

// -- part: group
// Each sub-group by itself, then the first one what all of them have. The memory has their values,
// at most 32, then what is made of these, then the total: a word that follows writes nothing that
// others may still read.
FUNCTION double sum_up_to(const double own) {
  double sum = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const double other = beside_double(sum, -step);
    sum += ITEM % 32 >= step ? other : 0.0;
  }
  return sum;
}
FUNCTION double largest_from(const double own) {
  double most = own;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const double other = beside_double(most, step);
    most = other > most ? other : most;
  }
  return most;
}
FUNCTION double group_sum_before(const double own, double* total, IN_LOCAL double* memory,
                                 const int items) {
  const int lane = ITEM % 32, sub_group = ITEM / 32;
  const double up_to = sum_up_to(own);
  if (lane == 31) memory[sub_group] = up_to;
  BARRIER;
  if (ITEM < 32) {
    const double of_sub_group = lane < items / 32 ? memory[lane] : 0.0;
    const double sum = sum_up_to(of_sub_group);
    memory[32 + lane] = sum - of_sub_group;
    if (lane == 31) memory[64] = sum;
  }
  BARRIER;
  *total = memory[64];
  return memory[32 + sub_group] + up_to - own;
}
FUNCTION double group_largest(const double own, IN_LOCAL double* memory, const int items) {
  const double most = largest_from(own);
  if (ITEM % 32 == 0) memory[ITEM / 32] = most;
  BARRIER;
  if (ITEM < 32) {
    const double all = largest_from(memory[ITEM < items / 32 ? ITEM : 0]);
    if (ITEM == 0) memory[64] = all;
  }
  BARRIER;
  return memory[64];
}
#define sum_before(own, total) group_sum_before(own, total, group_memory, items)
#define largest_of_group(own) group_largest(own, group_memory, items)
