// Windows, resampling, equalisation and joint histograms as semantics 6.3, 6.6 and 8.3 and the
// operators' own descriptions define them, naively, in double.
#pragma once

#include <string_view>
#include <vector>

#include "support/reference/image.hpp"

namespace impipe::reference {

// The rectangle, cut to the image; must not be empty then.
Image crop(const Image& a, int left, int top, int width, int height);
// boundary: a word, or "" for the value.
Image pad(const Image& a, int top, int bottom, int left, int right, std::string_view boundary,
          double value);

// 8.3, from the size of the result and the scales.
Image resize(const Image& a, int rows, int columns, double scale_rows, double scale_columns,
             std::string_view method, bool antialias);

// Output (u, v) is the value at x = m[0] u + m[1] v + m[2], y = m[3] u + m[4] v + m[5].
Image warp(const Image& a, int rows, int columns, const std::vector<double>& m, bool nearest,
           double fill);

// 6.3, each channel.
Image histeq(const Image& a, int bins);
// 6.6: [channels][bins][bins].
std::vector<double> jointhist(const Image& a, const Image& b, int bins);

}  // namespace impipe::reference
