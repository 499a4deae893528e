// Undoes the filters of PNG: bytes of pixels from what was stored of them.
#pragma once

#include <cstdint>

namespace impipe::io {

// As many rows as are undone together.
inline constexpr std::int64_t unfiltered_rows = 16;

// Rows as they are stored: a filter's number, then `count` bytes; `stride` to the next.
struct FilteredRowsIn {
  const std::uint8_t* first;
  std::int64_t stride;
  std::int64_t rows;  // unfiltered_rows at most
  std::int64_t count;
};
// Writes the bytes of the rows to `to`, `to_stride` apart; each may lie where it is stored. above:
// the row before, all zeros for the first. pixel: the distance to the pixel on the left, in bytes:
// 1, 2, 3, 4, 6 or 8. False for a filter that PNG has not.
bool unfilter_rows(const FilteredRowsIn& from, std::uint8_t* to, std::int64_t to_stride,
                   const std::uint8_t* above, std::int64_t pixel);

}  // namespace impipe::io
