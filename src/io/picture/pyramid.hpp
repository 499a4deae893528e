// The smaller images of a pyramid, made while the rows of the largest come. Each level has half the
// sides of the one before it, rounded up. A pixel is the mean of the image's own pixels that it
// covers, rounded once, or the first of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/image.hpp"

namespace impipe::io {

// The sizes of a pyramid, from the image itself on, until both sides are within `last`.
inline std::vector<Size> pyramid_sizes(Size size, std::int64_t last) {
  std::vector<Size> out{size};
  while (std::max(size.width, size.height) > last) {
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
    out.push_back(size);
  }
  return out;
}

class Pyramid {
 public:
  // Row y of a level; level 0 is the image.
  using Take = std::function<void(int level, std::int64_t y, const std::byte* row)>;

  // means: else the first pixel of each square is taken. first_row: where the rows of a single
  // level begin.
  Pyramid(const std::vector<Size>& levels, int channels, bool means, std::int64_t first_row = 0);
  // The next rows of a channel: [y, y_end) of these.
  void add(int channel, const Plane& rows, std::int64_t y, std::int64_t y_end, const Take& take);
  // How many rows of a level are there as soon as those of the image before row y are.
  std::int64_t rows_after(std::size_t level, std::int64_t y) const;

 private:
  struct Level {
    Size size;
    std::int64_t by = 1, y = 0;  // side of a square of the image, and rows that are done
    bool waits = false;          // the sums of a row are there, those of the one below are not
    std::vector<double> pairs, sums;
    std::vector<std::byte> row;
  };
  using Channel = std::vector<Level>;

  template <class Pixel>
  void add_row(int channel, const Pixel* row, const Take& take);
  template <class Pixel>
  void add_first_pixels(int channel, const Pixel* row, const Take& take);
  template <class Pixel>
  void finish_row(Level& level);

  std::vector<Channel> channels_;
  bool means_;
};

}  // namespace impipe::io
