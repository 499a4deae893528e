// Neighbourhoods of a pixel.
#include <limits>

#include "bench/naive/images.hpp"

namespace impipe::bench::naive {
namespace {

// Calls take(cell, value) for each cell of the window whose pixel is on the image.
template <class T>
void for_window(const Plane& plane, std::int64_t x, std::int64_t y, const Window& window,
                const auto& take) {
  const std::int64_t left = x - (window.columns - 1) / 2, top = y - (window.rows - 1) / 2;
  for (int i = 0; i < window.rows; ++i) {
    if (top + i < 0 || top + i >= plane.size().height) continue;
    const T* row = plane.row_as<const T>(top + i);
    for (int j = 0; j < window.columns; ++j) {
      if (left + j < 0 || left + j >= plane.size().width) continue;
      take(i * window.columns + j, row[left + j]);
    }
  }
}

template <class T>
float correlation(const Plane& plane, std::int64_t x, std::int64_t y, const Window& window) {
  float sum = 0;
  for_window<T>(plane, x, y, window, [&](int cell, T v) {
    sum += window.weights[static_cast<std::size_t>(cell)] * static_cast<float>(v);
  });
  return sum;
}

Window turned(Window window) {
  std::ranges::reverse(window.weights);
  return window;
}

// NaN comes last.
template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

}  // namespace

Loop correlate(const Window& window) {
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
      return stored<T>(correlation<T>(image.planes[0], x, y, window));
    });
  });
}

// Windows have odd sides: their centre is a cell, and stays one when they are turned.
Loop convolve_to_single(const Window& w) {
  return loop_of([window = turned(w)]<class T>(const HostImage& image, const Material&) {
    ImageType type = image.type;
    type.cls = PixelClass::single;
    return each_pixel<float>(image.size(), type, [&](std::int64_t x, std::int64_t y) {
      return correlation<T>(image.planes[0], x, y, window);
    });
  });
}

Loop separable(const std::vector<float>& weights) {
  const int side = static_cast<int>(weights.size());
  const Window row{.rows = 1, .columns = side, .weights = weights};
  const Window column{.rows = side, .columns = 1, .weights = weights};
  return loop_of([=]<class T>(const HostImage& image, const Material& material) {
    const HostImage between = convolve_to_single(row)(material).image;
    const Plane& rows = between.planes[0];
    return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
      return stored<T>(correlation<float>(rows, x, y, column));
    });
  });
}

Loop extremum(const Window& cells, Extreme which) {
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
      T least = image.planes[0].row_as<const T>(y)[x], most = least;
      for_window<T>(image.planes[0], x, y, cells, [&](int, T v) {
        least = std::min(least, v);
        most = std::max(most, v);
      });
      return which == Extreme::least  ? least
             : which == Extreme::most ? most
                                      : static_cast<T>(most - least);
    });
  });
}

Loop rank(int side, int nth) {
  const Window window{.rows = side, .columns = side, .weights = {}};
  return loop_of([=]<class T>(const HostImage& image, const Material&) {
    std::vector<T> values(static_cast<std::size_t>(side) * side);
    return each_pixel<T>(image.size(), image.type, [&](std::int64_t x, std::int64_t y) {
      std::ranges::fill(values, T(0));
      for_window<T>(image.planes[0], x, y, window,
                    [&](int cell, T v) { values[static_cast<std::size_t>(cell)] = v; });
      std::nth_element(values.begin(), values.begin() + nth - 1, values.end(), before<T>);
      return values[static_cast<std::size_t>(nth - 1)];
    });
  });
}

// Squared strengths in whole numbers, 8 times as large each as the unit scale has them.
Loop sobel_edges(double threshold) {
  return [=](const Material& material) {
    const HostImage& image = material.image;
    const std::int64_t width = image.size().width, height = image.size().height;
    const auto at = [&](std::int64_t x, std::int64_t y) {  // edge pixels repeated
      const std::int64_t row = std::clamp<std::int64_t>(y, 0, height - 1);
      const std::int64_t column = std::clamp<std::int64_t>(x, 0, width - 1);
      return static_cast<int>(image.planes[0].row_as<const std::uint8_t>(row)[column]);
    };
    const double scale = threshold * 8 * image.type.white, limit = scale * scale;
    std::vector<int> strengths(static_cast<std::size_t>(width * height));
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const int across = at(x - 1, y - 1) + 2 * at(x - 1, y) + at(x - 1, y + 1) -
                           at(x + 1, y - 1) - 2 * at(x + 1, y) - at(x + 1, y + 1);
        const int down = at(x - 1, y - 1) + 2 * at(x, y - 1) + at(x + 1, y - 1) - at(x - 1, y + 1) -
                         2 * at(x, y + 1) - at(x + 1, y + 1);
        const int strength = across * across + down * down;
        strengths[static_cast<std::size_t>(y * width + x)] = strength > limit ? strength : 0;
      }
    }
    const auto strong = [&](std::int64_t x, std::int64_t y) {
      if (x < 0 || y < 0 || x >= width || y >= height) return 0;
      return strengths[static_cast<std::size_t>(y * width + x)];
    };
    const ImageType type{.cls = PixelClass::logical, .channels = 1, .alpha = false, .white = 1};
    return each_pixel<std::uint8_t>(image.size(), type, [&](std::int64_t x, std::int64_t y) {
      const int v = strong(x, y);
      return (v > strong(x - 1, y) && v > strong(x + 1, y)) ||
                     (v > strong(x, y - 1) && v > strong(x, y + 1))
                 ? 1
                 : 0;
    });
  };
}

}  // namespace impipe::bench::naive
