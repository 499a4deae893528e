// A part of an image whose values are in order: what the rank filters of large windows work on.
#pragma once

#include <cstdint>

#include "backends/cpu/tile/scratch.hpp"

namespace impipe::cpu {

// Values are numbered by their order; equal ones by their place, so that all numbers differ. A
// bucket is `bucket_size` successive numbers: whatever the picture shows, a bucket holds few
// values, and a window's value of some rank is found by counting buckets first and then looking
// through one of them.
inline constexpr int buckets = 128;
inline constexpr int max_tile_side = 256;       // places fit a byte each
inline constexpr int tile_row = max_tile_side;  // codes from one row to the next

// Which sizes of tiles there are: a tile has at most buckets << shift values.
inline constexpr int min_bucket_shift = 7;
inline constexpr int max_bucket_shift = 9;

template <class T>
struct RankTile {
  int bucket_shift = min_bucket_shift;  // log2 of the bucket size
  std::uint8_t* codes = nullptr;        // [row][tile_row]: which bucket a pixel is in
  // Of each number: where it is, and the value.
  std::uint8_t* x = nullptr;
  std::uint8_t* y = nullptr;
  T* values = nullptr;
};

// Memory for tiles of up to buckets << shift values.
template <class T>
class TileSorter {
 public:
  TileSorter(int bucket_shift, Scratch& scratch);
  // The tile of `width` by `height` values at rows[y][x]; valid until the next call.
  const RankTile<T>& sort(const T* const* rows, int width, int height);

 private:
  void number(std::uint32_t place, std::uint32_t where, T value);

  RankTile<T> tile_;
  void* items_ = nullptr;  // two lists of keys with their places
  std::int64_t max_ = 0;
};

}  // namespace impipe::cpu
