// The Radon transform: for each angle sums along strips that follow its rays, then strips to bins.
#include "backends/cpu/project.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "backends/cpu/project_rows.hpp"

namespace impipe::cpu {
namespace {

// An image as float (exact for every class), with zeros beside each row.
struct FloatImage {
  std::int64_t width = 0, height = 0, stride = 0;
  std::vector<float> values;
  const float* row(std::int64_t y) const { return values.data() + y * stride + strip_margin; }
  float* row(std::int64_t y) { return values.data() + y * stride + strip_margin; }
};

template <class T>
void copy_row(const Plane& in, std::int64_t y, bool transposed, FloatImage& out) {
  const T* from = in.row_as<T>(y);
  const std::int64_t width = in.size().width;
  float* to = transposed ? out.row(0) + y : out.row(y);
  const std::int64_t step = transposed ? out.stride : 1;
  for (std::int64_t x = 0; x < width; ++x) to[x * step] = static_cast<float>(from[x]);
}

FloatImage float_image(const Plane& in, bool transposed, ThreadPool& pool) {
  FloatImage out{in.size().width, in.size().height};
  if (transposed) std::swap(out.width, out.height);
  out.stride = out.width + 2 * strip_margin;
  out.values.resize(static_cast<std::size_t>(out.stride * out.height));
  constexpr std::int64_t rows = 16;  // of a task: whole cache lines of a transposed image
  pool.for_each((in.size().height + rows - 1) / rows, [&](std::int64_t task) {
    const std::int64_t end = std::min((task + 1) * rows, in.size().height);
    for (std::int64_t y = task * rows; y < end; ++y) {
      switch (in.cls()) {
        case PixelClass::single: copy_row<float>(in, y, transposed, out); break;
        case PixelClass::uint16: copy_row<std::uint16_t>(in, y, transposed, out); break;
        default: copy_row<std::uint8_t>(in, y, transposed, out); break;
      }
    }
  });
  return out;
}

// One angle's way through an image: a pixel in row r and column q projects to
// along * (q + 1 - middle of the columns) + across * (r + 1 - middle of the rows).
struct Direction {
  double along = 0, across = 0;  // |along| >= |across|
  bool transposed = false;
};

Direction direction_of(double degrees) {
  const double radians = degrees * std::numbers::pi / 180;
  const double s = std::sin(radians), c = std::cos(radians);
  if (std::abs(c) >= std::abs(s)) return {c, -s, false};
  return {-s, c, true};
}

void project(const FloatImage& image, const Direction& direction, const AddRows add,
             std::vector<double>& bins) {
  const auto [along, across, transposed] = direction;
  const double middle_x = static_cast<double>((image.width + 1) / 2);
  const double middle_y = static_cast<double>((image.height + 1) / 2);
  std::vector<RowPlace> places(image.height);
  std::int64_t least_shift = 0, most_shift = 0;
  for (std::int64_t r = 0; r < image.height; ++r) {
    const double way = across * (static_cast<double>(r + 1) - middle_y);
    RowPlace& place = places[r];
    place.shift = std::llround(-way / along);
    place.offset = along * static_cast<double>(place.shift) + way;
    int i = 0;
    for (const double part_x : {-0.25, 0.25}) {
      for (const double part_y : {-0.25, 0.25}) {
        place.quarters[i++] = place.offset + along * part_x + across * part_y;
      }
    }
    least_shift = std::min(least_shift, place.shift);
    most_shift = std::max(most_shift, place.shift);
  }

  // Strips from the one that meets column 0 with the most shift to the last column with the least.
  const std::int64_t first = -most_shift;
  const std::int64_t blocks =
      (image.width - least_shift - first + strips_at_once - 1) / strips_at_once;
  std::vector<StripSums> sums(static_cast<std::size_t>(blocks));
  // Middles of the strips, and the bin 0 of each: no part of a pixel lies before it.
  const double reach = std::abs(along) / 2 + (std::abs(along) + std::abs(across)) / 4;
  const auto middle_of = [&](std::int64_t strip) {
    return along * (static_cast<double>(strip + 1) - middle_x);
  };
  const auto bin_of = [&](std::int64_t strip) { return std::floor(middle_of(strip) - reach); };
  constexpr std::int64_t band = 64;  // rows that stay in the cache for all strips
  for (std::int64_t from = 0; from < image.height; from += band) {
    const StripRows rows{image.row(0),  image.stride, image.width,
                         places.data(), from,         std::min(from + band, image.height)};
    for (std::int64_t b = 0; b < blocks; ++b) {
      double base[strips_at_once];
      const std::int64_t j = first + b * strips_at_once;
      for (int i = 0; i < strips_at_once; ++i) base[i] = middle_of(j + i) - bin_of(j + i);
      add(rows, j, base, sums[b]);
    }
  }

  const std::int64_t half = static_cast<std::int64_t>(bins.size()) / 2;
  for (std::int64_t strip = 0; strip < blocks * strips_at_once; ++strip) {
    const StripSums& s = sums[strip / strips_at_once];
    const int i = static_cast<int>(strip % strips_at_once);
    const double bin = bin_of(first + strip), base = middle_of(first + strip) - bin;
    const double third = 4 * (base * s.all[i] + s.offsets[i]) - s.first[i] - s.second[i];
    const double parts[] = {4 * s.all[i] - s.first[i], s.first[i] - s.second[i],
                            s.second[i] - third, third};
    for (int k = 0; k < 4; ++k) {
      // Beyond the ends there are only strips that no pixel lies in.
      const std::int64_t at = static_cast<std::int64_t>(bin) + half + k;
      if (at >= 0 && at < static_cast<std::int64_t>(bins.size())) bins[at] += parts[k] / 4;
    }
  }
}

}  // namespace

void run_project(std::span<const double> angles, const Plane& in, Plane& out, ThreadPool& pool,
                 CpuLevel level) {
  std::vector<Direction> directions;
  for (const double degrees : angles) directions.push_back(direction_of(degrees));
  const AddRows add = add_rows(level);
  for (const bool transposed : {false, true}) {
    std::vector<std::int64_t> chosen;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (directions[i].transposed == transposed) chosen.push_back(static_cast<std::int64_t>(i));
    }
    if (chosen.empty()) continue;
    const FloatImage image = float_image(in, transposed, pool);
    pool.for_each(static_cast<std::int64_t>(chosen.size()), [&](std::int64_t i) {
      std::vector<double> bins(static_cast<std::size_t>(out.size().height));
      project(image, directions[chosen[i]], add, bins);
      for (std::int64_t y = 0; y < out.size().height; ++y) {
        out.row_as<float>(y)[chosen[i]] = static_cast<float>(bins[y]);
      }
    });
  }
}

}  // namespace impipe::cpu
