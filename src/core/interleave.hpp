// Pixels whose channels lie side by side, as files have them, to a row for each channel, and back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace impipe {

// n pixels of `channels` values of `bytes` bytes each (1, 2 or 4): value c of each pixel goes to
// row out[c]. Rows are aligned to a value; no two overlap.
void split_row(std::byte* const* out, const std::byte* in, int channels, int bytes, std::int64_t n);

// The other way round.
void join_row(std::byte* out, const std::byte* const* in, int channels, int bytes, std::int64_t n);

}  // namespace impipe
