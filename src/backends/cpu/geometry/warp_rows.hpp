// Affine maps in vectors.
#pragma once

#include "backends/cpu/geometry/resample_rows.hpp"

namespace impipe::cpu {

// As warp_row(cls, false, level) does it, with the same bits.
void warp_in_vectors(const AffineRow& row, PixelClass cls, CpuLevel level, float* out);

// The byte offsets in the input, below 2^31, of the pixels that output pixels [begin, n) are
// nearest to; -1 outside. Whether none is outside. `data` and `outside` are not read.
bool nearest_offsets(const AffineRow& row, int pixel_bytes, CpuLevel level, std::int32_t* offsets);

// Of pixels of the output: the bytes from a copy's begin to their words, below 2^31, and how far
// they lie to the right of these and below them.
struct WordPlaces {
  std::int32_t* offsets;
  float *across, *down;
};
inline constexpr int max_words = 256, words_together = 16;
// Of output pixels [begin, n) of a row, and up to words_together - 1 more, in a copy whose rows and
// base `row` tells (row.data, width, height and outside are not read). Levels from v3 on.
void find_words(const AffineRow& row, int word_bytes, bool nearest, CpuLevel level,
                const WordPlaces& to);
// Between the four pixels that each of n words and the one behind it have, pixels above those
// below; n: a multiple of words_together, at most max_words. As numbers. Levels from v3 on.
void blend_words(PixelClass cls, CpuLevel level, const std::byte* data, const WordPlaces& at, int n,
                 float* out);

}  // namespace impipe::cpu
