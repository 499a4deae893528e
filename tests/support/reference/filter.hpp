// Linear filters, edges, morphology and order statistics as semantics 3 to 7 define them, in
// double.
#pragma once

#include <string_view>
#include <vector>

#include "core/operator.hpp"
#include "support/reference/image.hpp"

namespace impipe::reference {

// Outside the image.
struct Outside {
  std::string_view rule = "constant";  // replicate, symmetric, circular
  double value = 0;
};
// The image at any place; one channel of it.
double sample(const Image& a, int r, int c, int k, Outside outside);

// 3.1; single, the white stays.
Image conv2(const Image& a, const Matrix& kernel, std::string_view shape);
// 3.2 with MATLAB's full
Image imfilter(const Image& a, const Matrix& kernel, Outside outside, bool conv, bool full);
// 3.4
Image imgradient(const Image& a, std::string_view method, bool direction);
// 4.1, 4.2, 4.3; threshold < 0: the default. One channel. kernel: of zerocross.
struct EdgeOptions {
  std::string_view method = "sobel";
  double threshold = -1;
  std::string_view direction = "both";
  bool thinning = true;
  double sigma = 2;
};
Image edge(const Image& a, const EdgeOptions& options);

// 7.1, 0-based
Matrix line_element(int length, double degrees);
// 7.2
Image imdilate(const Image& a, const Matrix& element);
Image imerode(const Image& a, const Matrix& element);
// x - y, saturating; logical: x and not y
Image difference(const Image& x, const Image& y);

// 5.1, 5.2
Image ordfilt2(const Image& a, int nth, const Matrix& domain, Outside outside);
Image medfilt2(const Image& a, int rows, int columns, Outside outside);

// 6.1, 6.2; channel -1: over all
double mean2(const Image& a, int channel);
double std2(const Image& a, int channel);
std::vector<double> imhist(const Image& a, int channel, int bins);

}  // namespace impipe::reference
