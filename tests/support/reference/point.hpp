// Point operators, class conversion and geometry as semantics 1 and 2 define them, in double.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "support/reference/image.hpp"

namespace impipe::reference {

// 1.2, one channel: sorted samples.
std::pair<double, double> stretchlim(const Image& a, int channel, double tol1, double tol2);
// 1.3; limits by channel.
Image imadjust(const Image& a, const std::vector<std::pair<double, double>>& in, double lo,
               double ho, double gamma);
Image intlut(const Image& a, const Image& table);
Image imlincomb(const std::vector<double>& k, const std::vector<Image>& images, double add,
                PixelClass cls);
// 1.5, one channel
Image im2bw(const Image& a, double level);
// 1.6, one channel: the threshold T in codes, and T / (n - 1)
struct Otsu {
  double code, level;
};
Otsu graythresh(const Image& a);
Image imcomplement(const Image& a);
Image rgb2gray(const Image& a);
Image convert(const Image& a, PixelClass cls);
Image mat2gray(const Image& a, std::optional<std::pair<double, double>> limits);

Image transpose(const Image& a);
Image fliplr(const Image& a);
Image flipud(const Image& a);
Image rot90(const Image& a, int k);

}  // namespace impipe::reference
