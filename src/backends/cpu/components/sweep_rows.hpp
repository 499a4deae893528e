// Rows of a reconstruction, for each instruction set: what spreads along them, and where it goes
// on.
#pragma once

#include <cstdint>

#include "backends/cpu/simd/level.hpp"

namespace impipe::cpu {

// Values of rows: codes, or the keys of floats, std::int32_t. Rows are padded: `row_padding` bytes
// before and at least as many behind have the lowest value, which stays.
inline constexpr std::int64_t row_padding = 64;

// Each value becomes the largest of itself, of those of the row beside it and of the one before it,
// but not more than the mask. out, mask: n values. beside: the row above or below; corners: also
// of its neighbours there. forward: the one before is that to the left, else to the right.
template <class T>
using SweepRow = void (*)(T* out, const T* beside, const T* mask, std::int64_t n, bool corners);
template <class T>
SweepRow<T> sweep_row(bool forward, CpuLevel level);

// Rows y - 1, y and y + 1 of what is open: values below their mask; others have the largest value.
template <class T>
struct OpenRows {
  T *above, *own, *below;
};
// For i in [-1, n].
template <class T>
using OpenRow = void (*)(T* open, const T* values, const T* mask, std::int64_t n);
template <class T>
OpenRow<T> open_row(CpuLevel level);
// Whether values[i] has a neighbour that is open and smaller, i in [0, n).
template <class T>
using LeadRow = void (*)(std::uint8_t* leads, const T* values, const OpenRows<T>& open,
                         std::int64_t n, bool corners);
template <class T>
LeadRow<T> lead_row(CpuLevel level);

}  // namespace impipe::cpu
