// Helpers of the operators that use Fourier transforms.
#pragma once

#include <functional>
#include <string_view>

#include "core/plan_builder.hpp"
#include "core/plane_fft.hpp"
#include "core/spectral_work.hpp"

namespace impipe::ops {

ComplexPart part_argument(const Call& call);
Parameter parts_parameter(std::string_view fallback);
Parameter shift_parameter(std::string_view help);

// A single result without a white.
inline Result numbers(int channels) {
  return {.cls = PixelClass::single, .white = 0, .channels = channels};
}

inline constexpr NotFinite nan_fills{NotFinite::Rule::other,
                                     "NaN and Inf make NaN of the whole channel"};
// Bytes per pixel of the spectrum of a real image.
inline constexpr double bytes_of_spectrum = 8;

// Whether a channel has neither NaN nor Inf, and the result of one that has.
bool is_finite(const Plane& plane);
void fill_with_nan(Plane& plane);

// Reads the rows of a plane that is padded to `size` at the right and at the bottom.
enum class Filling { zeros, symmetric };
ReadRow rows_of(const Plane& plane, Size size, Filling filling = Filling::zeros);
inline ReadRow rows_of(const Plane& plane) { return rows_of(plane, plane.size()); }
// Writes rows into a plane; what lies outside it is dropped.
WriteRow rows_to(Plane& plane);

// Writes complex numbers, which copy_row(y, re, im) returns, to channel `first`, or to two from
// there on. shifted: number (0, 0) goes to (H/2, W/2), rounded down.
using CopyRow = std::function<void(std::int64_t y, double* re, double* im)>;
void store_part(const CopyRow& copy_row, ComplexPart part, bool shifted, Planes& to,
                std::size_t first);
// The same of the spectrum of a real image; imaginary parts that are 0 by symmetry are exactly 0.
void store_spectrum(const Spectrum& spectrum, ComplexPart part, bool shifted, Planes& to,
                    std::size_t first);

// The spectrum of a kernel whose middle, floor(side / 2), is at (0, 0). The kernel must not be
// larger than the transform.
Spectrum transfer_of(const Matrix& kernel, const PlaneFft& fft);

}  // namespace impipe::ops
