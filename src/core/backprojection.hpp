// The numbers of filtered back projection, the same on every backend.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

// The angles in radians, one a column: those given in degrees, or `first` (degrees) and steps from
// there: of the only angle given, of 180 / columns without one. Throws Error when there are neither
// one nor as many as columns.
std::vector<double> backprojection_angles(std::span<const double> degrees, double first,
                                          std::int64_t columns);

// Samples of a projection of `rows`, with zeros on both sides, so many that every ray through a
// result of that side meets one. The projection stands in the middle.
std::int64_t backprojection_length(std::int64_t rows, std::int64_t side);

// Of the transform that filters a projection of `rows`: twice the next power of two.
std::int64_t filter_length(std::int64_t rows);

// The filter's response to each of `length` frequencies, real and even.
std::vector<double> filter_response(Project::Filter filter, std::int64_t length, double scaling);

// exp(-2 pi i k / length), k < length / 2.
std::vector<std::complex<double>> fourier_roots(std::int64_t length);

}  // namespace impipe
