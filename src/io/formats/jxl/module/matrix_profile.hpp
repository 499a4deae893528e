// ICC profiles of one matrix and a curve for each channel, as those of cameras and displays are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace impipe::io {

// A tone curve of a profile: from a channel's value, 0 to 1, to light, 0 to 1.
class ToneCurve {
 public:
  // Of a tag of the types 'curv' and 'para'; nothing where it is damaged or of another type.
  static std::optional<ToneCurve> of_tag(const std::string& tag);
  double operator()(double value) const;

 private:
  // y = (a x + b)^gamma + e from x = d on, c x + f below; or the table, where there is one.
  double gamma_ = 1, a_ = 1, b_ = 0, c_ = 0, d_ = 0, e_ = 0, f_ = 0;
  std::vector<double> table_;
};

struct MatrixProfile {
  // Of red, green and blue, relative to D50; none of gray.
  std::optional<std::array<std::array<double, 2>, 3>> chromaticities;  // x, y
  std::vector<ToneCurve> curves;                                       // of each channel
};

// Nothing for profiles of other kinds: with tables of colours, CMYK, Lab, damaged ones.
std::optional<MatrixProfile> matrix_profile(std::span<const std::byte> icc);

// The integer pixel, 0 to `white`, that is nearest to each amount of light.
class LightToPixel {
 public:
  LightToPixel(const ToneCurve& curve, int white);
  int operator()(float light) const;

 private:
  std::vector<float> bounds_;  // pixel k + 1 begins at bounds_[k]
};

}  // namespace impipe::io
