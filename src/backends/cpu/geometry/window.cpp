// A part of an image, or an image with a frame around it.
#include "backends/cpu/geometry/window.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/geometry/pick_rows.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/placement.hpp"

namespace impipe::cpu {
namespace {

// Output pixels to the left or right of the image, from x to `end`: the columns they are copies of.
// None where a constant border has a value of its own.
std::vector<std::int32_t> frame_places(std::int64_t x, std::int64_t end, std::int64_t width,
                                       Border border) {
  std::vector<std::int32_t> places;
  if (border == Border::constant) return places;
  for (; x < end; ++x) {
    places.push_back(static_cast<std::int32_t>(map_outside(x, width, border)));
  }
  return places;
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
  const std::vector<std::int32_t> left = frame_places(x0, from, in.size.width, border);
  const std::vector<std::int32_t> right = frame_places(to, x1, in.size.width, border);
  const auto frame_pixels = [&](std::byte* first, std::int64_t y, std::int64_t n,
                                const std::vector<std::int32_t>& places) {
    if (border == Border::constant) return fill_elements(first, in.cls, outside, n);
    pick_pixels(first, in.at(0, y), places.data(), n, pixel);
  };
  for (std::int64_t row = region.y0; row < region.y1; ++row) {
    std::byte* target = out.data + (row - region.y0) * out.stride;
    const std::int64_t y = map_outside(row + place.top, in.size.height, border);
    if (y < 0) {
      fill_elements(target, in.cls, outside, region.width());
      continue;
    }
    frame_pixels(target, y, from - x0, left);
    if (from < to) {
      std::memcpy(target + (from - x0) * pixel, in.at(from, y),
                  static_cast<std::size_t>((to - from) * pixel));
    }
    frame_pixels(target + (to - x0) * pixel, y, x1 - to, right);
  }
}

}  // namespace impipe::cpu
