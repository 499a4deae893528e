// The filters of PNG as they are written: what is stored of a row instead of its bytes.
#pragma once

#include <cstdint>

namespace impipe::io {

enum class PngFilter : std::uint8_t { none, sub, up, average, paeth };
inline constexpr int png_filters = 5;

// Stores what is left of a row of `count` bytes under a filter. above: the row before; pixel: the
// distance to the pixel on the left, in bytes. No row overlaps another.
void filter_row(PngFilter filter, const std::uint8_t* row, const std::uint8_t* above,
                std::uint8_t* to, std::int64_t count, std::int64_t pixel);

// The bytes of words the other way round, as a PNG has them; from may be to.
void swap_word_bytes(const std::uint16_t* from, std::uint16_t* to, std::int64_t count);

}  // namespace impipe::io
