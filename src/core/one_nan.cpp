// Finds and replaces the bits of NaN.
#include "core/one_nan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace impipe {
namespace {

constexpr std::uint32_t one_nan = 0x7fc00000, infinity = 0x7f800000, sign = 0x80000000;

bool is_other_nan(std::uint32_t bits) { return (bits & ~sign) > infinity && bits != one_nan; }

// Without a branch, so that compilers vectorise it.
bool has_other_nan(const std::uint32_t* row, std::int64_t n) {
  std::uint32_t found = 0;
  for (std::int64_t x = 0; x < n; ++x) found |= is_other_nan(row[x]) ? 1u : 0u;
  return found != 0;
}

}  // namespace

void make_one_nan(Plane& plane) {
  if (plane.empty() || plane.cls() != PixelClass::single) return;
  const Size size = plane.size();
  const Plane& read = plane;
  std::int64_t y = 0;
  while (y < size.height && !has_other_nan(read.row_as<std::uint32_t>(y), size.width)) ++y;
  if (y == size.height) return;
  Plane made(plane.cls(), size);
  for (y = 0; y < size.height; ++y) {
    const auto* from = read.row_as<std::uint32_t>(y);
    std::replace_copy_if(from, from + size.width, made.row_as<std::uint32_t>(y), is_other_nan,
                         one_nan);
  }
  plane = std::move(made);
}

void make_one_nan(std::vector<double>& numbers) {
  std::replace_if(
      numbers.begin(), numbers.end(), [](double number) { return number != number; },
      std::numeric_limits<double>::quiet_NaN());
}

}  // namespace impipe
