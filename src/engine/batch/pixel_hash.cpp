#include "engine/batch/pixel_hash.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/interleave.hpp"

namespace impipe::engine {

void PixelHash::add(std::span<const Plane> planes, std::int64_t height) {
  const Size size = planes.front().size();
  if (!begun_) {
    hash_.add_byte(static_cast<std::uint64_t>(planes.front().cls()));
    hash_.add_byte(static_cast<std::uint64_t>(planes.size()));
    hash_.add_number(static_cast<std::uint64_t>(size.width));
    hash_.add_number(static_cast<std::uint64_t>(height));
    begun_ = true;
  }
  // The channels of a pixel one after the other.
  const auto row_bytes = static_cast<size_t>(planes.front().row_bytes());
  std::vector<std::byte> row(row_bytes * planes.size());
  std::vector<const std::byte*> rows(planes.size());
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (size_t c = 0; c < planes.size(); ++c) rows[c] = planes[c].row(y);
    join_row(row.data(), rows.data(), static_cast<int>(rows.size()), bytes_of(planes.front().cls()),
             size.width);
    hash_.add(row);
  }
}

std::string PixelHash::text() const { return fmt::format("{:016x}", hash_.value()); }

std::string pixel_hash(const HostImage& image) {
  PixelHash hash;
  hash.add(image.planes, image.size().height);
  if (!image.alpha.empty()) {
    hash.end_image();
    hash.add({&image.alpha, 1}, image.size().height);
  }
  return hash.text();
}

}  // namespace impipe::engine
