// Algorithms that see the whole image.
#include <limits>
#include <numbers>

#include "bench/naive/images.hpp"

namespace impipe::bench::naive {
namespace {

const ImageType logical_type{.cls = PixelClass::logical, .channels = 1, .alpha = false, .white = 1};

// The lower envelope of parabolas over a line (Felzenszwalb and Huttenlocher, Distance Transforms
// of Sampled Functions, Theory of Computing 8, 2012): squares[q] becomes the least of
// (q - p)^2 + squares[p].
void spread_squares(std::vector<double>& squares) {
  const int n = static_cast<int>(squares.size());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> from = squares;
  std::vector<int> places;     // of the parabolas of the envelope
  std::vector<double> starts;  // from where on each is the least
  for (int q = 0; q < n; ++q) {
    const double here = from[static_cast<std::size_t>(q)];
    if (here == infinity) continue;
    double start = -infinity;
    while (!places.empty()) {
      const int p = places.back();
      const double there = from[static_cast<std::size_t>(p)];
      start = ((here + 1.0 * q * q) - (there + 1.0 * p * p)) / (2.0 * (q - p));
      if (start > starts.back()) break;
      places.pop_back();
      starts.pop_back();
      start = -infinity;
    }
    places.push_back(q);
    starts.push_back(start);
  }
  if (places.empty()) return;
  std::size_t k = 0;
  for (int q = 0; q < n; ++q) {
    while (k + 1 < places.size() && starts[k + 1] < q) ++k;
    const double away = q - places[k];
    squares[static_cast<std::size_t>(q)] = away * away + from[static_cast<std::size_t>(places[k])];
  }
}

}  // namespace

Loop distance() {
  return [](const Material& material) {
    const HostImage& image = material.image;
    const std::int64_t width = image.size().width, height = image.size().height;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> squares(static_cast<std::size_t>(width * height));
    std::vector<double> line(static_cast<std::size_t>(height));
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t y = 0; y < height; ++y) {
        const bool object = image.planes[0].row_as<const std::uint8_t>(y)[x] != 0;
        line[static_cast<std::size_t>(y)] = object ? 0 : infinity;
      }
      spread_squares(line);
      for (std::int64_t y = 0; y < height; ++y) {
        squares[static_cast<std::size_t>(y * width + x)] = line[static_cast<std::size_t>(y)];
      }
    }
    const ImageType type{.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
    HostImage out(type, image.size());
    for (std::int64_t y = 0; y < height; ++y) {
      line.assign(squares.begin() + y * width, squares.begin() + (y + 1) * width);
      spread_squares(line);
      float* row = out.planes[0].row_as<float>(y);
      for (std::int64_t x = 0; x < width; ++x) {
        row[x] = static_cast<float>(std::sqrt(line[static_cast<std::size_t>(x)]));
      }
    }
    return outcome_of(std::move(out));
  };
}

Loop regional_maxima() {
  return [](const Material& material) {
    const Plane& plane = material.image.planes[0];
    const std::int64_t width = plane.size().width, height = plane.size().height;
    HostImage out(logical_type, plane.size());
    std::vector<bool> seen(static_cast<std::size_t>(width * height));
    std::vector<std::int64_t> plateau;
    for (std::int64_t first = 0; first < width * height; ++first) {
      if (seen[static_cast<std::size_t>(first)]) continue;
      seen[static_cast<std::size_t>(first)] = true;
      plateau.assign(1, first);
      const int value = plane.row_as<const std::uint8_t>(first / width)[first % width];
      bool highest = true;
      for (std::size_t next = 0; next < plateau.size(); ++next) {
        const std::int64_t x = plateau[next] % width, y = plateau[next] / width;
        for (std::int64_t v = std::max<std::int64_t>(0, y - 1); v <= std::min(height - 1, y + 1);
             ++v) {
          for (std::int64_t u = std::max<std::int64_t>(0, x - 1); u <= std::min(width - 1, x + 1);
               ++u) {
            const int there = plane.row_as<const std::uint8_t>(v)[u];
            const auto place = static_cast<std::size_t>(v * width + u);
            if (there > value) highest = false;
            if (there != value || seen[place]) continue;
            seen[place] = true;
            plateau.push_back(v * width + u);
          }
        }
      }
      for (const std::int64_t place : plateau) {
        out.planes[0].row_as<std::uint8_t>(place / width)[place % width] = highest ? 1 : 0;
      }
    }
    return outcome_of(std::move(out));
  };
}

Loop projections(const std::vector<double>& degrees) {
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    const std::int64_t columns = image.size().width, rows = image.size().height;
    const double x_centre = static_cast<double>((rows + 1) / 2);
    const double y_centre = static_cast<double>((columns + 1) / 2);
    const double half = std::hypot(static_cast<double>(rows), static_cast<double>(columns)) / 2;
    const auto b = static_cast<std::int64_t>(std::ceil(half + 1));
    const ImageType type{.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
    HostImage out(type, {static_cast<std::int64_t>(degrees.size()), 2 * b + 1});
    std::vector<double> bins(static_cast<std::size_t>(2 * b + 2));
    for (std::size_t angle = 0; angle < degrees.size(); ++angle) {
      const double s = std::sin(degrees[angle] * std::numbers::pi / 180);
      const double c = std::cos(degrees[angle] * std::numbers::pi / 180);
      std::ranges::fill(bins, 0.0);
      for (std::int64_t i = 0; i < 2 * rows; ++i) {
        const T* row = image.planes[0].row_as<const T>(i / 2);
        const double x = 0.75 - x_centre + static_cast<double>(i) / 2;
        for (std::int64_t j = 0; j < 2 * columns; ++j) {
          const double y = 0.75 - y_centre + static_cast<double>(j) / 2;
          const double place = -s * x + c * y + static_cast<double>(b);
          const auto bin = static_cast<std::size_t>(place);
          const double share = place - static_cast<double>(bin), weight = row[j / 2] / 4.0;
          bins[bin] += (1 - share) * weight;
          bins[bin + 1] += share * weight;
        }
      }
      for (std::int64_t r = 0; r < 2 * b + 1; ++r) {
        out.planes[0].row_as<float>(r)[angle] =
            static_cast<float>(bins[static_cast<std::size_t>(r)]);
      }
    }
    return outcome_of(std::move(out));
  });
}

// Floyd and Steinberg's weights, from left to right in every row.
Loop diffuse() {
  return [](const Material& material) {
    const HostImage& image = material.image;
    const std::int64_t width = image.size().width, height = image.size().height;
    HostImage out(logical_type, image.size());
    // Errors of this row and of the next one, with a pixel on each side.
    std::vector<double> here(static_cast<std::size_t>(width + 2)), below(here.size());
    for (std::int64_t y = 0; y < height; ++y) {
      const auto* row = image.planes[0].row_as<const std::uint8_t>(y);
      auto* to = out.planes[0].row_as<std::uint8_t>(y);
      std::ranges::fill(below, 0.0);
      for (std::int64_t x = 0; x < width; ++x) {
        const auto k = static_cast<std::size_t>(x + 1);
        const double v = row[x] / 255.0 + here[k];
        to[x] = v >= 0.5 ? 1 : 0;
        const double error = v - to[x];
        here[k + 1] += error * 7 / 16;
        below[k - 1] += error * 3 / 16;
        below[k] += error * 5 / 16;
        below[k + 1] += error * 1 / 16;
      }
      std::swap(here, below);
    }
    return outcome_of(std::move(out));
  };
}

}  // namespace impipe::bench::naive
