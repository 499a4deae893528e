// Pixels whose channels lie side by side, as files have them, to a row for each channel, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/thread_pool.hpp"

namespace impipe {

// n pixels of `channels` values of `bytes` bytes each (1, 2 or 4): value c of each pixel goes to
// row out[c]. Rows are aligned to a value; no two overlap.
void split_row(std::byte* const* out, const std::byte* in, int channels, int bytes, std::int64_t n);

// The other way round.
void join_row(std::byte* out, const std::byte* const* in, int channels, int bytes, std::int64_t n);

// Planes of one channel, uninitialised.
std::vector<Plane> new_planes(PixelClass cls, int channels, Size size);

// The channels of an image as planes of one channel, which share its memory where it has one; on
// the pool's threads where there is a pool. And the other way round.
std::vector<Plane> split_planes(const Plane& pixels, ThreadPool* pool = nullptr);
Plane join_planes(std::span<const Plane> planes, ThreadPool* pool = nullptr);

}  // namespace impipe
