// Numbers the values of a tile by radix sorts of their keys.
#include "backends/cpu/neighbourhood/rank_tile.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/neighbourhood/rank_keys.hpp"

namespace impipe::cpu {
namespace {

// A key and, in the low 16 bits, the place it was at: y * 256 + x.
template <class T>
struct Keys {
  using Item = std::uint32_t;
  static constexpr int bits = 8 * sizeof(T), digit = 8;
  static Item key(T value) { return value; }
  static T value(Item key) { return static_cast<T>(key); }
};
template <>
struct Keys<float> {
  using Item = std::uint64_t;
  static constexpr int bits = 32, digit = 11;
  static constexpr std::uint32_t least = 0x80000000u;  // the digits are unsigned
  static Item key(float value) { return static_cast<std::uint32_t>(rank_key(value)) ^ least; }
  static float value(Item key) {
    return value_of_rank_key(static_cast<std::int32_t>(static_cast<std::uint32_t>(key) ^ least));
  }
};

constexpr int place_bits = 16;

// For each digit of the keys, where the items that have it start.
template <class T>
struct Digits {
  static constexpr int count = (Keys<T>::bits + Keys<T>::digit - 1) / Keys<T>::digit;
  static constexpr int values = 1 << Keys<T>::digit;
  static int of(typename Keys<T>::Item key, int digit) {
    return static_cast<int>(key >> (digit * Keys<T>::digit)) & (values - 1);
  }
  std::uint32_t starts[count][values] = {};

  void finish() {
    for (auto& digit : starts) {
      std::uint32_t sum = 0;
      for (std::uint32_t& start : digit) start = std::exchange(sum, sum + start);
    }
  }
};

}  // namespace

template <class T>
TileSorter<T>::TileSorter(int bucket_shift, Scratch& scratch)
    : max_(std::int64_t{buckets} << bucket_shift) {
  tile_.bucket_shift = bucket_shift;
  tile_.codes = scratch.take<std::uint8_t>(max_tile_side * tile_row);
  tile_.x = scratch.take<std::uint8_t>(max_);
  tile_.y = scratch.take<std::uint8_t>(max_);
  tile_.values = scratch.take<T>(max_);
  if constexpr (Digits<T>::count > 1) {
    items_ = scratch.take<typename Keys<T>::Item>(2 * max_);
  }
  std::memset(tile_.codes, 0, max_tile_side * tile_row);
  std::memset(tile_.x, 0, static_cast<std::size_t>(max_));
  std::memset(tile_.y, 0, static_cast<std::size_t>(max_));
}

template <class T>
void TileSorter<T>::number(std::uint32_t place, std::uint32_t where, T value) {
  tile_.x[place] = static_cast<std::uint8_t>(where);
  tile_.y[place] = static_cast<std::uint8_t>(where >> 8);
  tile_.values[place] = value;
  tile_.codes[where] = static_cast<std::uint8_t>(place >> tile_.bucket_shift);
}

template <class T>
const RankTile<T>& TileSorter<T>::sort(const T* const* rows, int width, int height) {
  using Item = typename Keys<T>::Item;
  static_assert(tile_row == 256, "a place is y * 256 + x");
  Digits<T> digits;
  for (int y = 0; y < height; ++y) {
    const T* row = rows[y];
    for (int x = 0; x < width; ++x) {
      const Item key = Keys<T>::key(row[x]);
      for (int d = 0; d < digits.count; ++d) ++digits.starts[d][digits.of(key, d)];
    }
  }
  digits.finish();
  auto* from = static_cast<Item*>(items_);
  Item* to = from == nullptr ? nullptr : from + max_;
  const int last = digits.count - 1;
  // The first digit from the picture, the last one into the tile.
  for (int y = 0; y < height; ++y) {
    const T* row = rows[y];
    for (int x = 0; x < width; ++x) {
      const T value = row[x];
      const Item key = Keys<T>::key(value);
      const auto where = static_cast<std::uint32_t>(y * tile_row + x);
      const std::uint32_t place = digits.starts[0][digits.of(key, 0)]++;
      if constexpr (Digits<T>::count == 1) {
        number(place, where, value);
      } else {
        to[place] = key << place_bits | where;
      }
    }
  }
  const int count = width * height;
  for (int d = 1; d <= last; ++d) {
    std::swap(from, to);
    for (int i = 0; i < count; ++i) {
      const Item item = from[i], key = item >> place_bits;
      const std::uint32_t place = digits.starts[d][digits.of(key, d)]++;
      if (d < last) {
        to[place] = item;
      } else {
        number(place, static_cast<std::uint32_t>(item) & 0xffffu, Keys<T>::value(key));
      }
    }
  }
  return tile_;
}

template class TileSorter<std::uint8_t>;
template class TileSorter<std::uint16_t>;
template class TileSorter<float>;

}  // namespace impipe::cpu
