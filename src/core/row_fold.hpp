// Rows of equal length become one, value by value: sums, weighted sums, largest and smallest
// values.
#pragma once

#include <cstdint>
#include <span>

namespace impipe {

// Sums start with the first row and go on in the order of the rows; no operation is contracted, so
// that results are the same on every processor. `out` may be one of the rows.
// T: float, double, int32.
template <class T>
void sum_rows(std::span<const T* const> rows, T* out, std::int64_t count);
// Each row times its weight, added by fma into 0. T: float.
template <class T>
void sum_rows(std::span<const T* const> rows, const T* weights, T* out, std::int64_t count);
// No value is NaN. T: uint8, uint16, float.
template <class T>
void extremum_of_rows(bool largest, std::span<const T* const> rows, T* out, std::int64_t count);

}  // namespace impipe
