// What bodies that a group of work-items runs together may call beside the vocabulary, as the CPU
// has it: one work-item. For GPUs the same words stand in backends/jit/measure/scalar.cl.
//
// All work-items of a group call them, in the same order.
#pragma once

#include "core/vocabulary.hpp"

namespace impipe::bodies::group_words {

inline constexpr int item = 0;   // which work-item
inline constexpr int items = 1;  // of how many, a power of two
inline constexpr int group = 0;  // which group
inline constexpr int groups = 1;

// The sum of the values of the work-items before this one, and of all in `total`. Of whole numbers
// below 2^53, sums in any order are equal.
IMPIPE_INLINE double sum_before(double own, double* total) {
  *total = own;
  return 0;
}
// The largest value of any work-item.
IMPIPE_INLINE double largest_of_group(double own) { return own; }

}  // namespace impipe::bodies::group_words
