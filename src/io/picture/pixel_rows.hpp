// Rows of an image as files have them: the channels of a pixel side by side, its alpha last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "core/interleave.hpp"

namespace impipe::io {

// Channels of a pixel in a file, its alpha counted.
inline int stored_channels(const ImageType& type) { return type.channels + (type.alpha ? 1 : 0); }
// Bytes of `count` pixels in a row of a file.
inline std::int64_t stored_bytes(const ImageType& type, std::int64_t count) {
  return count * stored_channels(type) * bytes_of(type.cls);
}

// Takes rows of a file apart into the planes of an image, whose alpha has the class of its pixels.
class RowSplitter {
 public:
  explicit RowSplitter(HostImage& image)
      : image_(image), rows_(static_cast<std::size_t>(stored_channels(image.type))) {}

  // `count` pixels for row y, from column x on; `from` is aligned as their class is.
  void put(const void* from, std::int64_t y, std::int64_t x, std::int64_t count) {
    const int bytes = bytes_of(image_.type.cls);
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      Plane& plane = c < image_.planes.size() ? image_.planes[c] : image_.alpha;
      rows_[c] = plane.row(y) + x * bytes;
    }
    split_row(rows_.data(), static_cast<const std::byte*>(from), static_cast<int>(rows_.size()),
              bytes, count);
  }
  void put(const void* from, std::int64_t y) { put(from, y, 0, image_.size().width); }
  // All rows, so many bytes from one to the next.
  void put_all(const void* from, std::size_t stride) {
    const auto* row = static_cast<const std::byte*>(from);
    for (std::int64_t y = 0; y < image_.size().height; ++y, row += stride) put(row, y);
  }

 private:
  HostImage& image_;
  std::vector<std::byte*> rows_;
};

// Puts rows of a file together from the planes of an image, whose alpha has the class of its
// pixels.
class RowJoiner {
 public:
  explicit RowJoiner(const HostImage& image)
      : image_(image),
        rows_(static_cast<std::size_t>(stored_channels(image.type))),
        memory_(rows_.size() == 1 ? 0 : row_bytes()) {}

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(stored_bytes(image_.type, image_.size().width));
  }
  // Row y, in `to`.
  void copy(std::int64_t y, void* to) {
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      rows_[c] = (c < image_.planes.size() ? image_.planes[c] : image_.alpha).row(y);
    }
    join_row(static_cast<std::byte*>(to), rows_.data(), static_cast<int>(rows_.size()),
             bytes_of(image_.type.cls), image_.size().width);
  }
  // Row y, until the next call: where it lies, if it is of one channel.
  template <class T = std::byte>
  const T* row(std::int64_t y) {
    if (rows_.size() == 1) return image_.planes.front().row_as<T>(y);
    copy(y, memory_.data());
    return reinterpret_cast<const T*>(memory_.data());
  }

 private:
  const HostImage& image_;
  std::vector<const std::byte*> rows_;
  std::vector<std::byte> memory_;
};

// Appends `count` rows: y, y + step, …
inline void append_rows(std::vector<std::byte>& out, const HostImage& image, std::int64_t y,
                        std::int64_t count, std::int64_t step) {
  RowJoiner joiner(image);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* row = joiner.row(y + i * step);
    out.insert(out.end(), row, row + joiner.row_bytes());
  }
}

}  // namespace impipe::io
