// Where a result lies in a larger picture: the windows of an EXR, the offsets of a DPX.
#pragma once

#include <array>
#include <optional>

#include "core/display_window.hpp"
#include "core/pixel_change.hpp"

namespace impipe::io {

// The first and the last pixel, x before y: of what is stored, and of what is to be shown.
struct Windows {
  std::array<int, 4> data{0, 0, -1, -1}, display{0, 0, -1, -1};
};
// What is to be shown, in pixels of what is stored; none where these are the same, or it is empty.
inline std::optional<DisplayWindow> display_of(const Windows& windows) {
  const auto& [data, display] = windows;
  const auto side = [&](std::size_t k) { return std::int64_t{display[k + 2]} - display[k] + 1; };
  if (data == display || side(0) <= 0 || side(1) <= 0) return {};
  return DisplayWindow{
      std::int64_t{display[0]} - data[0], std::int64_t{display[1]} - data[1], {side(0), side(1)}};
}
// Those of a result whose pixels are a part of the file's, a frame around them, or these mirrored,
// with rows as columns or resized; of flips about the display window. The display window begins at
// the same pixel, or at that pixel's transposed or scaled, to whole pixels. None for other changes.
std::optional<Windows> moved_windows(const Windows& before, const PixelChange& change);

}  // namespace impipe::io
