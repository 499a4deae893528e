// Images in memory: their class, channels and white, and the planes that hold their pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/colour_profile.hpp"

namespace impipe {

// The class of a pixel, in MATLAB's words. A logical pixel is one byte, 0 or 1.
enum class PixelClass : std::uint8_t { logical, uint8, uint16, single };

constexpr int bytes_of(PixelClass c) {
  return c == PixelClass::single ? 4 : c == PixelClass::uint16 ? 2 : 1;
}
constexpr bool is_integer(PixelClass c) { return c != PixelClass::single; }
// The largest value of the class: 1, 255, 65535, and 1 for single.
constexpr double class_max(PixelClass c) {
  return c == PixelClass::uint8 ? 255.0 : c == PixelClass::uint16 ? 65535.0 : 1.0;
}
std::string_view name_of(PixelClass c);

// Channels of an image at most, beside an alpha.
inline constexpr int max_channels = 1000;

struct Size {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t pixels() const { return width * height; }
  bool operator==(const Size&) const = default;
};
std::string to_string(Size size);  // "640x480", width first

// What a plan is made for: everything about an image but its size and its values.
struct ImageType {
  PixelClass cls = PixelClass::uint8;
  int channels = 1;    // gray 1, colour 3, or as many as the file has; alpha not counted
  bool alpha = false;  // straight alpha, in a plane of its own; keeps the class it was read in
  double white =
      255.0;  // the value that displays as white; 0 when there is none (distances, labels)
  // What its numbers mean as colours, where a pipeline asks for it; null: nothing is known.
  std::shared_ptr<const ColourProfile> profile = nullptr;
  bool operator==(const ImageType&) const = default;
};
std::string to_string(const ImageType& type);  // "uint8 x3 + alpha, white 255"

// One channel of an image in host memory; copies share the memory.
// Rows start at multiples of 64 bytes, shorter ones right behind each other (plane_stride); what
// lies between the end of a row and the next row is unspecified.
class Plane {
 public:
  Plane() = default;
  // Uninitialised pixels, from the recycling allocator below. Throws Error when memory is out.
  Plane(PixelClass cls, Size size);

  PixelClass cls() const { return cls_; }
  Size size() const { return size_; }
  std::int64_t stride() const { return stride_; }  // bytes from one row to the next
  std::int64_t row_bytes() const { return size_.width * bytes_of(cls_); }
  bool empty() const { return data_ == nullptr; }

  std::byte* row(std::int64_t y) { return data_.get() + y * stride_; }
  const std::byte* row(std::int64_t y) const { return data_.get() + y * stride_; }
  template <class T>
  T* row_as(std::int64_t y) {
    return reinterpret_cast<T*>(row(y));
  }
  template <class T>
  const T* row_as(std::int64_t y) const {
    return reinterpret_cast<const T*>(row(y));
  }

 private:
  friend std::vector<Plane> new_planes(PixelClass cls, int channels, Size size);

  PixelClass cls_ = PixelClass::uint8;
  Size size_;
  std::int64_t stride_ = 0;
  std::shared_ptr<std::byte> data_;
};

// The channels of an image: planes of one class and size.
using Planes = std::vector<Plane>;
// Uninitialised pixels, all in one block of memory: large pages hold more of it.
Planes new_planes(PixelClass cls, int channels, Size size);

// An image in host memory. Alpha lives in a plane of its own, so that operators on the pixels
// never see it.
struct HostImage {
  ImageType type;
  Planes planes;  // one a channel; none while the image is empty
  Plane alpha;    // empty unless type.alpha; may have another class than the pixels

  HostImage() = default;
  HostImage(const ImageType& image_type, Size size);
  bool empty() const { return planes.empty(); }
  Size size() const { return planes.empty() ? Size{} : planes.front().size(); }
};

// Bytes that planes hold at present, and the most they held at once (for --profile and tests).
struct MemoryUse {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
MemoryUse plane_memory();
// Gives the memory that is kept for reuse back to the system.
void release_plane_memory();

}  // namespace impipe
