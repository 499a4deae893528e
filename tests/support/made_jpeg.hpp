// JPEGs of all kinds that libjpeg writes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace impipe::testing {

struct JpegCase {
  Size size{100, 70};
  int components = 3;
  int across = 2, down = 2;  // pixels that a sample of a colour difference stands for
  int quality = 90;
  bool optimised = false;  // codes made for the picture
  int restarts = 0;        // units between two; 0: none
  enum class Content { natural, noise, flat } content = Content::natural;
  bool progressive = false;
  bool rgb = false;  // stored as it is
};
std::string to_string(const JpegCase& jpeg);

std::vector<std::byte> made_jpeg(const JpegCase& jpeg, unsigned seed);

}  // namespace impipe::testing
