// Distance transform, dithering and projections as semantics 7.4 and 8 define them, naively.
#pragma once

#include <string_view>
#include <vector>

#include "support/reference/image.hpp"

namespace impipe::reference {

// 7.4, one channel, against every pixel that is set. index: of several nearest pixels one in the
// leftmost column, there the one nearest in row, the upper of two; 1-based down the columns.
Image bwdist(const Image& a, std::string_view metric, bool index);
// 8.4: the raster loop.
Image dither(const Image& a);
// 8.1
Image radon(const Image& a, const std::vector<double>& degrees);
// 8.2; one angle a column; side 0: from the rows. Fourier transforms as sums.
struct IradonOptions {
  std::string_view interp = "linear";
  std::string_view filter = "ram-lak";
  double scaling = 1;
  int side = 0;
};
Image iradon(const Image& a, const std::vector<double>& degrees, const IradonOptions& options);

}  // namespace impipe::reference
