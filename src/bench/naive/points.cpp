// Points and measurements.
#include "bench/naive/images.hpp"

namespace impipe::bench::naive {
namespace {

template <class T>
Outcome per_pixel(const HostImage& image, const auto& value) {
  return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
    return stored<T>(value(image.planes[0].row_as<const T>(y)[x]));
  });
}

template <class T>
void for_pixels(const HostImage& image, const auto& take) {
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    const T* row = image.planes[0].row_as<const T>(y);
    for (std::int64_t x = 0; x < image.size().width; ++x) take(row[x]);
  }
}

}  // namespace

Loop table(const std::string& operand) {
  return [=](const Material& material) {
    const std::uint8_t* codes =
        material.operands.at(operand).planes[0].row_as<const std::uint8_t>(0);
    return per_pixel<std::uint8_t>(material.image, [=](std::uint8_t v) { return codes[v]; });
  };
}

Loop adjust(double low, double high) {
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    const double white = image.type.white;
    return per_pixel<T>(image, [=](T v) {
      return (std::clamp(v / white, low, high) - low) / (high - low) * white;
    });
  });
}

Loop weighted_sum(double first, double second, const std::string& with) {
  return loop_of([=]<class T>(const HostImage& image, const Material& material) {
    const Plane &a = image.planes[0], &b = material.operands.at(with).planes[0];
    return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
      return stored<T>(first * a.row_as<T>(y)[x] + second * b.row_as<T>(y)[x]);
    });
  });
}

Loop threshold(double level) {
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    const double limit = level * image.type.white;
    const ImageType type{.cls = PixelClass::logical, .channels = 1, .alpha = false, .white = 1};
    return each_pixel<std::uint8_t>(image.size(), type, [&](std::int64_t x, std::int64_t y) {
      return image.planes[0].row_as<const T>(y)[x] > limit ? 1 : 0;
    });
  });
}

Loop sum() {
  return loop_of([]<class T>(const HostImage& image, const Material&) {
    double total = 0;
    for_pixels<T>(image, [&](T v) { total += v; });
    return outcome_of(std::vector<double>{total});
  });
}

Loop mean() {
  return [](const Material& material) {
    Outcome outcome = sum()(material);
    outcome.measurements[0].numbers[0] /= static_cast<double>(material.image.size().pixels());
    return outcome;
  };
}

Loop most() {
  return loop_of([]<class T>(const HostImage& image, const Material&) {
    T largest = image.planes[0].row_as<const T>(0)[0];
    for_pixels<T>(image, [&](T v) { largest = std::max(largest, v); });
    return outcome_of(std::vector<double>{static_cast<double>(largest)});
  });
}

Loop joint_histogram(const std::string& with) {
  return [=](const Material& material) {
    const Plane &a = material.image.planes[0], &b = material.operands.at(with).planes[0];
    std::vector<std::int64_t> counts(256 * 256);
    for (std::int64_t y = 0; y < a.size().height; ++y) {
      const auto *of_a = a.row_as<std::uint8_t>(y), *of_b = b.row_as<std::uint8_t>(y);
      for (std::int64_t x = 0; x < a.size().width; ++x) ++counts[256 * of_a[x] + of_b[x]];
    }
    return outcome_of(std::vector<double>(counts.begin(), counts.end()));
  };
}

}  // namespace impipe::bench::naive
