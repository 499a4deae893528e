// Thumbnails in metadata: small JPEGs that show the picture they lie in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"

namespace impipe::io {

// What a JPEG's frame header says; 0x0 when there is none.
Size jpeg_size(std::string_view jpeg);

// An image made smaller by averages over areas, in 8 bits, while it comes some rows at a time.
class SmallPicture {
 public:
  // Its longer side has so many pixels, or the image's own where that is less.
  SmallPicture(const ImageType& type, Size size, int side);
  // The next rows.
  void add(const HostImage& rows);
  // After the last row.
  const HostImage& image() const { return small_; }

 private:
  void end_row();

  Size size_;
  double white_;
  HostImage small_;
  std::vector<std::vector<double>> sums_;  // of the row that is not whole yet, a channel each
  std::int64_t y_ = 0, small_y_ = 0;       // the next rows
};

// The image as a JPEG whose longer side has so many pixels, or its own where that is less. Of so
// many bytes at most, where a low quality is enough for that.
std::string thumbnail_of(const HostImage& image, int side, size_t max_bytes);

}  // namespace impipe::io
