// Connected components, regional extrema, reconstruction and canny as the semantics (4.4, 5.3) and
// MATLAB define them, naively: floods, and sweeps until nothing changes.
#pragma once

#include <vector>

#include "support/reference/image.hpp"

namespace impipe::reference {

Image bwlabel(const Image& a, int conn);
Image bwareaopen(const Image& a, double least, int conn);
// Logical: floods of the background; other classes: reconstruction of what is turned round.
Image imfill(const Image& a, int conn);
Image imregional(const Image& a, bool largest, int conn);
Image imregional_strict(const Image& a, bool largest, int conn);
Image imreconstruct(const Image& marker, const Image& mask, int conn);
// thresholds: none, the upper one, or both. sigma: of the gaussian.
Image canny(const Image& a, const std::vector<double>& thresholds, double sigma);

}  // namespace impipe::reference
