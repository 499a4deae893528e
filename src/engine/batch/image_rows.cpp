#include "engine/batch/image_rows.hpp"

#include <cstring>

namespace impipe::engine {

void copy_rows(const HostImage& image, std::int64_t from, std::int64_t to, HostImage& into,
               std::int64_t at) {
  const auto copy = [&](const Plane& source, Plane& target) {
    for (std::int64_t y = from; y < to; ++y) {
      std::memcpy(target.row(at + y - from), source.row(y),
                  static_cast<size_t>(source.row_bytes()));
    }
  };
  for (size_t c = 0; c < image.planes.size(); ++c) copy(image.planes[c], into.planes[c]);
  if (!image.alpha.empty()) copy(image.alpha, into.alpha);
}

HostImage image_like(const HostImage& image, std::int64_t rows) {
  HostImage out;
  out.type = image.type;
  const Size size{image.size().width, rows};
  out.planes = new_planes(image.type.cls, image.type.channels, size);
  if (!image.alpha.empty()) out.alpha = Plane(image.alpha.cls(), size);
  return out;
}

}  // namespace impipe::engine
