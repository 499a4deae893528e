// Fourier and cosine transforms of whole pages, each channel by itself, in double.
#pragma once

#include "core/volume.hpp"

namespace impipe {

// What of the complex numbers of a transform is written: both parts as two channels, or a function
// of them. log is ln(1 + magnitude), phase lies in (-pi, pi].
enum class ComplexPart { complex, real, magnitude, power, log, phase };

// F(k,l) = sum a(r,c) exp(-2 pi i (k r / H + l c / W)). shifted: frequency 0 at (H/2, W/2), rounded
// down, of the result.
Volume fourier_pages(ComplexPart part, bool shifted);
// a = 1 / (H W) sum F exp(+...) of pages whose channels are pairs of real and imaginary parts, or
// of one channel of real numbers. shifted: frequency 0 lies at (H/2, W/2).
Volume inverse_fourier_pages(ComplexPart part, bool shifted);
// The orthonormal cosine transform (type 2), and its inverse.
Volume cosine_pages(bool inverse);

}  // namespace impipe
