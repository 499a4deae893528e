// Row operations of an extremum, compiled per class, direction and instruction set.
#pragma once

#include <cstdint>

#include "core/body.hpp"

namespace impipe::cpu {

inline constexpr int max_sources = 8;

// NaN in a source is ignored, -0 in a result is 0. No row overlaps another unless said.
template <class T>
struct ExtremumRows {
  // out[i] = the extremum of sources[j][i], j < count; 1 <= count.
  void (*combine)(T* out, const T* const* sources, int count, std::int64_t n);
  // out0 of sources 0 to count - 1, out1 of 1 to count; 2 <= count <= max_sources.
  void (*combine_pair)(T* out0, T* out1, const T* const* sources, int count, std::int64_t n);
  // so_far = extremum(so_far, row); out = extremum(out, so_far). Both hold no NaN.
  void (*fold)(T* out, T* so_far, const T* row, std::int64_t n);
  T nothing;  // the class's lowest (largest) or highest value
};

template <class T>
const ExtremumRows<T>& extremum_rows(bool largest, CpuLevel level);

}  // namespace impipe::cpu
