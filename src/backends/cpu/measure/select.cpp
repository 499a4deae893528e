// Exact order statistics: a count over the upper half of order-preserving keys finds the few keys
// that are sorted.
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

double select_one(const Plane& plane, const std::vector<std::int64_t>& counts, std::int64_t place) {
  std::int64_t before = 0;
  std::uint32_t bucket = 0;
  while (before + counts[bucket] <= place) before += counts[bucket++];
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

std::vector<double> select_values(const Plane& plane, const Arguments& places) {
  std::vector<std::int64_t> counts(1 << 16);
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    const float* row = plane.row_as<float>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) ++counts[key_of(row[x]) >> 16];
  }
  std::vector<double> out;
  for (const double place : places.in_double) {
    const double last = static_cast<double>(plane.size().pixels() - 1);
    out.push_back(
        select_one(plane, counts, static_cast<std::int64_t>(std::clamp(place, 0.0, last))));
  }
  return out;
}

}  // namespace impipe::cpu
