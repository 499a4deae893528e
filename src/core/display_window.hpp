// The display window of a picture: the part of a canvas that is to be shown, in EXR's words.
#pragma once

#include <cstdint>
#include <string>

#include "core/image.hpp"

namespace impipe {

// Its first pixel, in pixels of the image, and its size. It may begin before the image and reach
// beyond it.
struct DisplayWindow {
  std::int64_t left = 0, top = 0;
  Size size;
  bool operator==(const DisplayWindow&) const = default;
};
inline std::string to_string(const DisplayWindow& window) {
  return to_string(window.size) + " at " + std::to_string(window.left) + "," +
         std::to_string(window.top);
}

}  // namespace impipe
