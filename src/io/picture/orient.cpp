// Turns and mirrors an image as its EXIF orientation asks.
#include "io/picture/orient.hpp"

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

template <class P>
void turn_pixels(const Plane& from, Plane& to, Turn turn) {
  const Size size = to.size();
  constexpr std::int64_t tile = 32;  // both sides of a transposed tile stay in L1
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
  Plane to(from.cls(), turn.transpose ? Size{size.height, size.width} : size);
  switch (bytes_of(from.cls())) {
    case 1: turn_pixels<std::uint8_t>(from, to, turn); break;
    case 2: turn_pixels<std::uint16_t>(from, to, turn); break;
    default: turn_pixels<float>(from, to, turn); break;
  }
  return to;
}

}  // namespace

AffinePlace oriented_place(int orientation, Size upright) {
  const Turn turn = turns.at(static_cast<size_t>(orientation));
  return permuted_place(turn.transpose, turn.flip_x, turn.flip_y, upright);
}

HostImage orient(HostImage image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const Turn turn = turns[static_cast<size_t>(orientation)];
  for (Plane& plane : image.planes) plane = turned(plane, turn);
  if (image.type.alpha) image.alpha = turned(image.alpha, turn);
  return image;
}

}  // namespace impipe::io
