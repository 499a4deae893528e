#include <cstdlib>

#include "bench/naive/images.hpp"

namespace impipe::bench::naive {
namespace {

template <class T>
bool codes_agree(const Plane& a, const Plane& b) {
  for (std::int64_t y = 0; y < a.size().height; ++y) {
    for (std::int64_t x = 0; x < a.size().width; ++x) {
      if (std::abs(int{a.row_as<T>(y)[x]} - int{b.row_as<T>(y)[x]}) > 1) return false;
    }
  }
  return true;
}

bool masks_agree(const Plane& a, const Plane& b) {
  std::int64_t differing = 0;
  for (std::int64_t y = 0; y < a.size().height; ++y) {
    for (std::int64_t x = 0; x < a.size().width; ++x) {
      differing += a.row_as<std::uint8_t>(y)[x] != b.row_as<std::uint8_t>(y)[x] ? 1 : 0;
    }
  }
  return differing * 10000 <= a.size().pixels();
}

// value(i) of a and of b for i < count.
bool numbers_agree(std::int64_t count, const auto& of_a, const auto& of_b) {
  double largest = 0, apart = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double a = of_a(i), b = of_b(i);
    const bool finite = std::isfinite(a) && std::isfinite(b);
    if (finite) largest = std::max({largest, std::abs(a), std::abs(b)});
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!finite) return false;
    apart = std::max(apart, std::abs(a - b));
  }
  return apart <= 1e-5 * largest;
}

bool planes_agree(const Plane& a, const Plane& b) {
  const std::int64_t width = a.size().width;
  const auto value = [width](const Plane& plane) {
    return [&plane, width](std::int64_t i) { return plane.row_as<float>(i / width)[i % width]; };
  };
  switch (a.cls()) {
    case PixelClass::logical: return masks_agree(a, b);
    case PixelClass::uint8: return codes_agree<std::uint8_t>(a, b);
    case PixelClass::uint16: return codes_agree<std::uint16_t>(a, b);
    case PixelClass::single: return numbers_agree(a.size().pixels(), value(a), value(b));
  }
  return false;
}

std::vector<double> last_numbers(const Outcome& outcome) {
  return outcome.measurements.empty() ? std::vector<double>{} : outcome.measurements.back().numbers;
}

}  // namespace

bool agrees(const Outcome& device, const Outcome& loop) {
  if (device.image.empty() != loop.image.empty()) return false;
  if (!device.image.empty()) {
    const Plane &a = device.image.planes[0], &b = loop.image.planes[0];
    if (a.size() != b.size() || a.cls() != b.cls() || !planes_agree(a, b)) return false;
  }
  const std::vector<double> a = last_numbers(device), b = last_numbers(loop);
  const auto in = [](const std::vector<double>& numbers) {
    return [&numbers](std::int64_t i) { return numbers[static_cast<std::size_t>(i)]; };
  };
  return a.size() == b.size() && numbers_agree(static_cast<std::int64_t>(a.size()), in(a), in(b));
}

}  // namespace impipe::bench::naive
