// Makes the images of sources from a function of the place.
#include "ops/source/source_image.hpp"

#include "ops/images.hpp"

namespace impipe::ops {
namespace {

void store(Plane& plane, std::int64_t y, std::int64_t x, double value) {
  const double code = cast_to(plane.cls(), value * class_max(plane.cls()));
  switch (plane.cls()) {
    case PixelClass::logical:
    case PixelClass::uint8:
      plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(code);
      return;
    case PixelClass::uint16:
      plane.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(code);
      return;
    case PixelClass::single: plane.row_as<float>(y)[x] = static_cast<float>(value); return;
  }
}

}  // namespace

Parameter size_parameter(bool required) {
  return {.name = "size",
          .letter = 'n',
          .help = "rows,columns in pixels; one number: a square",
          .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 65536},
          .fallback = required ? "" : "256",
          .required = required};
}

Parameter class_parameter(std::string_view fallback) {
  return {.name = "class",
          .help = "class of the image",
          .words = {"uint8", "uint16", "single"},
          .fallback = fallback};
}

Parameter channels_parameter() {
  return {.name = "channels",
          .letter = 'c',
          .help = "1 (gray) or 3 (colour)",
          .numbers = {.max_count = 1, .integer = true, .odd = true, .low = 1, .high = 3},
          .fallback = "1"};
}

Size size_argument(const Call& call) {
  const std::vector<double>& size = call.numbers("size");
  return {static_cast<std::int64_t>(size.back()), static_cast<std::int64_t>(size.front())};
}

MadeImage described_image(const Call& call, int channels) {
  const PixelClass cls = class_named(call.word("class"));
  return {{.cls = cls, .channels = channels, .white = class_max(cls)}, size_argument(call)};
}

HostImage make_image(const MadeImage& made,
                     const std::function<double(std::int64_t, std::int64_t, int)>& value) {
  const Size size = made.size;
  const int channels = made.type.channels;
  HostImage image(made.type, size);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (int c = 0; c < channels; ++c) {
        store(image.planes[static_cast<std::size_t>(c)], y, x, value(x, y, c));
      }
    }
  }
  return image;
}

}  // namespace impipe::ops
