// A part of an image, or an image with a frame around it.
#include "backends/cpu/geometry/window.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/tile/rows.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

// Output pixels to the left or right of the image.
void frame_pixels(const TileImage& in, std::int64_t y, std::int64_t from, std::int64_t to,
                  Border border, double outside, std::byte* out) {
  const int pixel = in.pixel_bytes();
  if (border == Border::constant) {
    fill_elements(out, in.cls, outside, to - from);
    return;
  }
  for (std::int64_t x = from; x < to; ++x, out += pixel) {
    std::memcpy(out, in.at(map_outside(x, in.size.width, border), y),
                static_cast<std::size_t>(pixel));
  }
}

}  // namespace

void run_window(const Node& node, const TileImage& in, const Region& region, double outside,
                TileOut out) {
  const Border border = std::get<Window>(node.primitive).border;
  const WindowPlace place = window_place(node, in.size);
  const int pixel = in.pixel_bytes();
  const std::int64_t x0 = region.x0 + place.left, x1 = region.x1 + place.left;
  // The part of a row that lies inside.
  const std::int64_t from = std::clamp<std::int64_t>(0, x0, x1);
  const std::int64_t to = std::clamp<std::int64_t>(in.size.width, from, x1);
  for (std::int64_t row = region.y0; row < region.y1; ++row) {
    std::byte* target = out.data + (row - region.y0) * out.stride;
    const std::int64_t y = map_outside(row + place.top, in.size.height, border);
    if (y < 0) {
      fill_elements(target, in.cls, outside, region.width());
      continue;
    }
    frame_pixels(in, y, x0, from, border, outside, target);
    if (from < to) {
      std::memcpy(target + (from - x0) * pixel, in.at(from, y),
                  static_cast<std::size_t>((to - from) * pixel));
    }
    frame_pixels(in, y, to, x1, border, outside, target + (to - x0) * pixel);
  }
}

}  // namespace impipe::cpu
