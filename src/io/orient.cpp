// Turns and mirrors an image as its EXIF orientation asks.
#include "io/orient.hpp"

#include <algorithm>
#include <array>

namespace impipe::io {
namespace {

// EXIF names where the stored row 0 and column 0 are seen: 5 to 8 exchange rows and columns, and
// then the displayed image is mirrored as told.
struct Turn {
  bool transpose, flip_x, flip_y;
};
constexpr std::array<Turn, 9> turns{{{false, false, false},
                                     {false, false, false},
                                     {false, true, false},
                                     {false, true, true},
                                     {false, false, true},
                                     {true, false, false},
                                     {true, true, false},
                                     {true, true, true},
                                     {true, false, true}}};

template <int pixel_bytes>
struct Pixel {
  std::byte bytes[pixel_bytes];
};

template <int pixel_bytes>
void turn_pixels(const Plane& from, Plane& to, Turn turn) {
  using P = Pixel<pixel_bytes>;
  const Size size = to.size();
  constexpr std::int64_t tile = 32;  // both sides of a transposed tile stay in the first cache
  for (std::int64_t ty = 0; ty < size.height; ty += tile) {
    for (std::int64_t tx = 0; tx < size.width; tx += tile) {
      const std::int64_t bottom = std::min(ty + tile, size.height);
      const std::int64_t right = std::min(tx + tile, size.width);
      for (std::int64_t y = ty; y < bottom; ++y) {
        const std::int64_t sy = turn.flip_y ? size.height - 1 - y : y;
        P* out = to.row_as<P>(y);
        for (std::int64_t x = tx; x < right; ++x) {
          const std::int64_t sx = turn.flip_x ? size.width - 1 - x : x;
          out[x] = turn.transpose ? from.row_as<P>(sx)[sy] : from.row_as<P>(sy)[sx];
        }
      }
    }
  }
}

Plane turned(const Plane& from, Turn turn) {
  const Size size = from.size();
  Plane to(from.cls(), from.channels(), turn.transpose ? Size{size.height, size.width} : size);
  switch (bytes_of(from.cls()) * from.channels()) {
    case 1: turn_pixels<1>(from, to, turn); break;
    case 2: turn_pixels<2>(from, to, turn); break;
    case 3: turn_pixels<3>(from, to, turn); break;
    case 4: turn_pixels<4>(from, to, turn); break;
    case 6: turn_pixels<6>(from, to, turn); break;
    default: turn_pixels<12>(from, to, turn); break;
  }
  return to;
}

}  // namespace

HostImage orient(HostImage image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const Turn turn = turns[static_cast<size_t>(orientation)];
  image.pixels = turned(image.pixels, turn);
  if (image.type.alpha) image.alpha = turned(image.alpha, turn);
  return image;
}

}  // namespace impipe::io
