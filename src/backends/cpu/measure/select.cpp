// Exact order statistics: a count over the upper half of order-preserving keys finds the few keys
// that are sorted. 16-bit codes have no other half.
#include "backends/cpu/measure/select.hpp"

#include <algorithm>
#include <cstring>

namespace impipe::cpu {
namespace {

// Unsigned keys in the order of the values; NaN is the last.
std::uint32_t key_of(float value) {
  if (value != value) return 0xffffffffu;
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

double value_of(std::uint32_t key) {
  const std::uint32_t bits = (key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key;
  float value;
  std::memcpy(&value, &bits, 4);
  return static_cast<double>(value);
}

std::uint32_t bucket_of(float value) { return key_of(value) >> 16; }
std::uint32_t bucket_of(std::uint16_t code) { return code; }

using Counts = std::vector<std::int64_t>;  // [buckets]
constexpr std::int64_t buckets = 65536;

template <class T>
Counts counts_of(const Plane& plane, ThreadPool& pool) {
  const Size size = plane.size();
  const std::int64_t bands = std::min<std::int64_t>(pool.helpers() + 1, size.height);
  std::vector<Counts> of_bands(static_cast<std::size_t>(bands), Counts(buckets));
  pool.for_each(bands, [&](std::int64_t band) {
    Counts& counts = of_bands[band];
    for (std::int64_t y = band * size.height / bands; y < (band + 1) * size.height / bands; ++y) {
      const T* row = plane.row_as<T>(y);
      for (std::int64_t x = 0; x < size.width; ++x) ++counts[bucket_of(row[x])];
    }
  });
  Counts all(buckets);
  for (const Counts& counts : of_bands) {
    for (std::int64_t i = 0; i < buckets; ++i) all[i] += counts[i];
  }
  return all;
}

double select_one(const Plane& plane, const Counts& counts, std::int64_t place) {
  std::int64_t before = 0;
  std::uint32_t bucket = 0;
  while (before + counts[bucket] <= place) before += counts[bucket++];
  if (plane.cls() == PixelClass::uint16) return bucket;
  std::vector<std::uint32_t> keys;
  keys.reserve(counts[bucket]);
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    const float* row = plane.row_as<float>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      const std::uint32_t key = key_of(row[x]);
      if (key >> 16 == bucket) keys.push_back(key);
    }
  }
  const auto nth = keys.begin() + (place - before);
  std::nth_element(keys.begin(), nth, keys.end());
  return value_of(*nth);
}

}  // namespace

std::vector<double> select_values(const Plane& plane, const Arguments& places, ThreadPool& pool) {
  const Counts counts = plane.cls() == PixelClass::uint16 ? counts_of<std::uint16_t>(plane, pool)
                                                          : counts_of<float>(plane, pool);
  std::vector<double> out;
  for (const double place : places.in_double) {
    const double last = static_cast<double>(plane.size().pixels() - 1);
    out.push_back(
        select_one(plane, counts, static_cast<std::int64_t>(std::clamp(place, 0.0, last))));
  }
  return out;
}

}  // namespace impipe::cpu
