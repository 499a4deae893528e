// Loops over the rows of planes, whose pixels have one of three types.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe {

// What of an image is worked on at a time, in rows.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

// Calls `use` with a pixel of the class.
template <class Use>
auto with_pixel(PixelClass cls, Use use) {
  switch (cls) {
    case PixelClass::uint16: return use(std::uint16_t{});
    case PixelClass::single: return use(float{});
    default: return use(std::uint8_t{});
  }
}

// Threads take so many rows at a time.
template <class Use>
void for_rows(Size size, ThreadPool& pool, const Use& use) {
  constexpr std::int64_t enough_pixels = 1 << 16;
  const std::int64_t rows =
      std::max<std::int64_t>(1, enough_pixels / std::max<std::int64_t>(size.width, 1));
  pool.for_each((size.height + rows - 1) / rows, [&](std::int64_t i) {
    use(RowRange{i * rows, std::min(size.height, (i + 1) * rows)});
  });
}

}  // namespace impipe
