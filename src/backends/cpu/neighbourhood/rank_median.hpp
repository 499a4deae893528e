// Medians of 3x3 and 5x5 windows, row by row, by networks that the compiler knows: values stay in
// registers. Sorted columns and sorted pairs of columns are shared by neighbouring windows.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// Medians of 5x5, two rows of results at a time. For each of n neighbouring windows its ten values
// of a pair of input rows are stored sorted, and the five of the second row.
template <class T>
struct MedianPairs5x5 {
  // kept: kept_of_pair values; the rows at the first value under the first window.
  void (*keep)(T* kept, const T* first, const T* second, std::int64_t n);
  // Of rows 0 to 4 of the first windows, kept as row 0 (with one above), 1 with 2, and 3 with 4;
  // rows 5 and 6 take the place of row 0.
  void (*two_medians)(T* out0, T* out1, T* above, const T* upper, const T* lower, const T* row5,
                      const T* row6, std::int64_t n);
};

// T: of pixels, or std::int32_t of keys of floats. rows: 3 or 5, at the first value under the first
// window. n results; work: median_work values. ahead: rows that are read later, one for each row of
// results, which are asked for on the way.
template <class T>
struct MedianRows {
  void (*median_3x3)(T* out, const T* const* rows, std::int64_t n, T* work, const T* ahead);
  void (*median_5x5)(T* out, const T* const* rows, std::int64_t n, T* work);
  const MedianPairs5x5<T>* pairs_5x5;  // of `pixels` or more; null without vectors
  std::int64_t pixels;                 // of a vector; 0: rows are not worked on in parts
};

template <class T>
const MedianRows<T>& median_rows(CpuLevel level);

std::int64_t median_work(int side, std::int64_t n);
std::int64_t kept_of_pair(std::int64_t n);

}  // namespace impipe::cpu
