// Conversion between pixel classes relative to white, and the rule for what an output is written
// as.
#include <cmath>
#include <cstring>

#include "io/bytes/byte_source.hpp"
#include "io/picture/convert.hpp"

namespace impipe::io {
namespace {

// How values of a plane map to another class. Integers are rescaled in double, single in float32,
// as im2uint8 and its relatives do; both are rounded half away from zero and saturated.
struct Scale {
  double white;  // of the source; 0 when values are kept as they are
  double full;   // of the target
};

// x / white * full. The exact integer ratios (257 and 1/257) are multiplied or divided by as such.
float rescale(float x, Scale s) {
  if (s.white == s.full || s.white == 0) return x;
  return s.white < s.full ? x * static_cast<float>(s.full / s.white)
                          : x / static_cast<float>(s.white / s.full);
}

template <class From>
void to_integers(const Plane& from, Plane& to, Scale s, std::int64_t& clipped) {
  const std::int64_t samples = from.size().width;
  const double ratio = s.white == 0 ? 1.0 : s.full / s.white;
  const double top = class_max(to.cls());
  std::int64_t outside = 0;
  const auto convert_row = [&](const From* in, auto* out) {
    for (std::int64_t i = 0; i < samples; ++i) {
      double value;
      if constexpr (std::is_same_v<From, float>) {
        value = static_cast<double>(rescale(in[i], s));
      } else {
        value = ratio >= 1 ? in[i] * ratio : in[i] / (s.white / s.full);
      }
      const double inside = value > 0 ? (value < top ? value : top) : 0;
      outside += !(value > -0.5 && value < top + 0.5);  // true for NaN too
      // Half away from zero: exact in double, since inside is at most 65535.
      out[i] = static_cast<std::remove_reference_t<decltype(*out)>>(inside + 0.5);
    }
  };
  for (std::int64_t y = 0; y < from.size().height; ++y) {
    if (to.cls() == PixelClass::uint16) {
      convert_row(from.row_as<From>(y), to.row_as<std::uint16_t>(y));
    } else {
      convert_row(from.row_as<From>(y), to.row_as<std::uint8_t>(y));
    }
  }
  clipped += outside;
}

template <class From>
void to_single(const Plane& from, Plane& to, double white) {
  const std::int64_t samples = from.size().width;
  const auto divisor = static_cast<float>(white == 0 ? 1.0 : white);
  for (std::int64_t y = 0; y < from.size().height; ++y) {
    const From* in = from.row_as<From>(y);
    auto* out = to.row_as<float>(y);
    for (std::int64_t i = 0; i < samples; ++i) out[i] = static_cast<float>(in[i]) / divisor;
  }
}

template <class From>
void to_logical(const Plane& from, Plane& to) {
  const std::int64_t samples = from.size().width;
  for (std::int64_t y = 0; y < from.size().height; ++y) {
    const From* in = from.row_as<From>(y);
    auto* out = to.row_as<std::uint8_t>(y);
    for (std::int64_t i = 0; i < samples; ++i) {
      if constexpr (std::is_same_v<From, float>) {
        if (std::isnan(in[i])) fail("NaN has no logical value");
      }
      out[i] = in[i] != 0;
    }
  }
}

template <class From>
void convert_from(const Plane& from, Plane& to, double white, std::int64_t& clipped) {
  switch (to.cls()) {
    case PixelClass::logical: return to_logical<From>(from, to);
    case PixelClass::single: return to_single<From>(from, to, white);
    default: return to_integers<From>(from, to, {white, class_max(to.cls())}, clipped);
  }
}

void convert_plane(const Plane& from, Plane& to, double white, std::int64_t& clipped) {
  switch (from.cls()) {
    case PixelClass::uint16: convert_from<std::uint16_t>(from, to, white, clipped); break;
    case PixelClass::single: convert_from<float>(from, to, white, clipped); break;
    default: convert_from<std::uint8_t>(from, to, white, clipped); break;
  }
}

}  // namespace

HostImage convert(const HostImage& image, PixelClass cls, std::int64_t* clipped) {
  const double white = image.type.white;
  const bool keeps_class = image.type.cls == cls;
  HostImage out = image;
  out.type.cls = cls;
  out.type.white = white == 0 ? 0 : class_max(cls);
  std::int64_t outside = 0;
  if (!keeps_class || (white != 0 && white != class_max(cls))) {
    // In one piece, as the memory of an input is, which may be this.
    out.planes = new_planes(cls, image.type.channels, image.size());
    for (size_t c = 0; c < out.planes.size(); ++c) {
      convert_plane(image.planes[c], out.planes[c], white, outside);
    }
  }
  // Alpha keeps the class it was read in, whatever the pixels became; it is never rescaled by
  // white.
  if (image.type.alpha && image.alpha.cls() != cls) {
    std::int64_t ignored = 0;
    out.alpha = Plane(cls, image.size());
    convert_plane(image.alpha, out.alpha, class_max(image.alpha.cls()), ignored);
  }
  if (clipped != nullptr) *clipped += outside;
  return out;
}

}  // namespace impipe::io
