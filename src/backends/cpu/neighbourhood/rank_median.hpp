// Medians of 3x3 and 5x5 windows, row by row, by networks that the compiler knows: values stay in
// registers. Sorted columns and sorted pairs of columns are shared by neighbouring windows.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

// rows: 3 or 5, at the first value under the first window. n results; work:
// median_work values.
template <class T>
struct MedianRows {
  void (*median_3x3)(T* out, const T* const* rows, std::int64_t n, T* work);
  void (*median_5x5)(T* out, const T* const* rows, std::int64_t n, T* work);
  // Two rows of results from four; null where that is no faster.
  void (*two_medians_3x3)(T* out0, T* out1, const T* const* rows, std::int64_t n, T* work);
  std::int64_t pixels;  // of a vector; 0: rows are not worked on in parts
};

template <class T>
const MedianRows<T>& median_rows(CpuLevel level);

std::int64_t median_work(int side, std::int64_t n);

}  // namespace impipe::cpu
