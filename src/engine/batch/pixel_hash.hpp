// Hashes of images, for --hash and --summary.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/fnv.hpp"
#include "core/image.hpp"

namespace impipe::engine {

// Of the class, channels, size and pixels, which may come some rows at a time.
class PixelHash {
 public:
  // The next rows of an image of `height` rows.
  void add(std::span<const Plane> planes, std::int64_t height);
  // After the last row: the next planes are another image's, whose hash goes on from here.
  void end_image() { begun_ = false; }
  std::string text() const;  // 16 hexadecimal digits

 private:
  Fnv1a hash_;
  bool begun_ = false;
};
// 16 hexadecimal digits. Equal images have equal hashes, whatever the format of their files.
std::string pixel_hash(const HostImage& image);

}  // namespace impipe::engine
