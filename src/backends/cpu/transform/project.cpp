// The Radon transform: for each angle sums along strips that follow its rays, then strips to bins.
#include "backends/cpu/transform/project.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/cpu/simd/vectors.hpp"
#include "core/plane_rows.hpp"
#include "core/rays.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t strips_at_once = 16;
// Zeros that stand before and behind each row of pixels.
constexpr std::int64_t strip_margin = strips_at_once;

// Sums of strips over their pixels I. Of the strip's bins 0 .. 3 a pixel's part in bins 1 .. 3, in
// bins 2 .. 3 and in bin 3 is a quarter of `first`, `second` and `third`; the three add up to four
// times the pixel's place after bin 0, so that the third follows from `offsets`.
template <class T>
struct alignas(64) StripSums {
  T all[strips_at_once] = {};      // of I
  T offsets[strips_at_once] = {};  // of I times its distance from the strip's middle
  T first[strips_at_once] = {};
  T second[strips_at_once] = {};
};

// Where a row of pixels lies along the projection, the same for all strips.
struct RowPlace {
  std::int64_t shift = 0;
  float offset = 0;        // of its pixels from their strips' middles
  float quarters[4] = {};  // of the four parts of a pixel
};

// The rows from .. to - 1 of the strips j .. j + 15. pixels: of u = 0 in row 0; places: one a row;
// after: of each strip's middle after its bin 0.
struct StripRows {
  const float* pixels = nullptr;
  std::int64_t stride = 0;  // pixels from one row to the next
  std::int64_t first_u = 0, last_u = 0;
  const RowPlace* places = nullptr;
  std::int64_t from = 0, to = 0;
};
using SumRows = void (*)(const StripRows& rows, std::int64_t j, const float* after,
                         StripSums<float>& sums);

#define IMPIPE_KERNELS "backends/cpu/transform/project_rows.inc"
#include "backends/cpu/simd/each_level.inc"

SumRows sum_rows(CpuLevel level) { return IMPIPE_AT_LEVEL(level, sum); }

// A frame as float (exact for every class), with zeros beside each row. Rows are those of v.
struct FloatFrame {
  RayStrips strips;
  std::int64_t stride = 0;
  std::vector<float> values;
  // Of u = 0.
  const float* row(std::int64_t v) const {
    return values.data() + (v + strips.half_v) * stride + strips.half_u + strip_margin;
  }
  float* row(std::int64_t v) { return const_cast<float*>(std::as_const(*this).row(v)); }
};

template <class T>
void copy_row(const Plane& in, std::int64_t y, const RayFrame& frame, FloatFrame& out) {
  const T* from = in.row_as<T>(y);
  const auto [width, height] = in.size();
  const std::int64_t first_x = 1 - (width + 1) / 2, middle_y = y + 1 - (height + 1) / 2;
  // From (u, v) of the row's first pixel on.
  const std::int64_t along_x =
      frame.transposed ? (frame.flip_v ? -1 : 1) * out.stride : (frame.flip_u ? -1 : 1);
  const std::int64_t u = frame.transposed ? middle_y : first_x;
  const std::int64_t v = frame.transposed ? first_x : middle_y;
  float* to = out.row(frame.flip_v ? -v : v) + (frame.flip_u ? -u : u);
  for (std::int64_t x = 0; x < width; ++x) to[x * along_x] = static_cast<float>(from[x]);
}

FloatFrame float_frame(const Plane& in, const RayFrame& frame, ThreadPool& pool) {
  FloatFrame out{.strips = ray_strips(frame, in.size()), .values = {}};
  out.stride = 2 * out.strips.half_u + 1 + 2 * strip_margin;
  out.values.resize(static_cast<std::size_t>(out.stride * (2 * out.strips.half_v + 1)));
  constexpr std::int64_t rows = 16;  // of a task: whole cache lines of a transposed image
  pool.for_each((in.size().height + rows - 1) / rows, [&](std::int64_t task) {
    const std::int64_t end = std::min((task + 1) * rows, in.size().height);
    for (std::int64_t y = task * rows; y < end; ++y) {
      with_pixel(in.cls(), [&](auto pixel) { copy_row<decltype(pixel)>(in, y, frame, out); });
    }
  });
  return out;
}

std::vector<RowPlace> row_places(const RayDirection& direction, std::int64_t half_v) {
  const auto [along, across, frame, reversed] = direction;
  std::vector<RowPlace> places;
  for (std::int64_t v = -half_v; v <= half_v; ++v) {
    const double way = across * static_cast<double>(v);
    const double shift = std::rint(-way / along), offset = along * shift + way;
    RowPlace place{static_cast<std::int64_t>(shift), static_cast<float>(offset)};
    int i = 0;
    for (const double part_u : {-0.25, 0.25}) {
      for (const double part_v : {-0.25, 0.25}) {
        place.quarters[i++] = static_cast<float>(offset + along * part_u + across * part_v);
      }
    }
    places.push_back(place);
  }
  return places;
}

void project(const FloatFrame& image, const RayDirection& direction, const SumRows sum,
             std::vector<double>& bins) {
  const double along = direction.along, across = direction.across;
  const std::int64_t half_u = image.strips.half_u, half_v = image.strips.half_v;
  const std::vector<RowPlace> places = row_places(direction, half_v);

  // Strips from the one that meets the first column in the first row, where the shift is largest.
  const std::int64_t first = -half_u - places.front().shift;
  const std::int64_t blocks =
      (half_u - places.back().shift - first + strips_at_once) / strips_at_once;
  std::vector<StripSums<double>> halves[2];
  for (auto& half : halves) half.resize(static_cast<std::size_t>(blocks));
  // Middles of the strips, and the bin 0 of each: no part of a pixel lies before it.
  const double reach = along / 2 + (along + across) / 4;
  const auto middle_of = [&](std::int64_t strip) { return along * static_cast<double>(strip); };
  const auto bin_of = [&](std::int64_t strip) { return std::floor(middle_of(strip) - reach); };
  // Bands of rows stay in the cache for all strips.
  for (std::int64_t band = 0; band < image.strips.bands; ++band) {
    const std::int64_t from = band * ray_band;
    const std::int64_t to = band + 1 == image.strips.bands ? 2 * half_v + 1 : from + ray_band;
    const StripRows rows{image.row(-half_v), image.stride, -half_u, half_u,
                         places.data(),      from,         to};
    std::vector<StripSums<double>>& sums = halves[band < (image.strips.bands + 1) / 2 ? 0 : 1];
    for (std::int64_t b = 0; b < blocks; ++b) {
      float after[strips_at_once];
      const std::int64_t j = first + b * strips_at_once;
      for (int i = 0; i < strips_at_once; ++i) {
        after[i] = static_cast<float>(middle_of(j + i) - bin_of(j + i));
      }
      StripSums<float> of_band;
      sum(rows, j, after, of_band);
      for (int i = 0; i < strips_at_once; ++i) {
        sums[b].all[i] += static_cast<double>(of_band.all[i]);
        sums[b].offsets[i] += static_cast<double>(of_band.offsets[i]);
        sums[b].first[i] += static_cast<double>(of_band.first[i]);
        sums[b].second[i] += static_cast<double>(of_band.second[i]);
      }
    }
  }

  const std::int64_t half = static_cast<std::int64_t>(bins.size()) / 2;
  for (std::int64_t strip = 0; strip < blocks * strips_at_once; ++strip) {
    const StripSums<double>& upper = halves[0][strip / strips_at_once];
    const StripSums<double>& lower = halves[1][strip / strips_at_once];
    const int i = static_cast<int>(strip % strips_at_once);
    const double all = upper.all[i] + lower.all[i], offsets = upper.offsets[i] + lower.offsets[i];
    const double sum_1 = upper.first[i] + lower.first[i];
    const double sum_2 = upper.second[i] + lower.second[i];
    const double bin = bin_of(first + strip), base = middle_of(first + strip) - bin;
    const double third = 4 * (base * all + offsets) - sum_1 - sum_2;
    const double parts[] = {4 * all - sum_1, sum_1 - sum_2, sum_2 - third, third};
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
  std::vector<RayDirection> directions;
  for (const double degrees : angles) directions.push_back(ray_direction(degrees));
  const SumRows sum = sum_rows(level);
  const std::int64_t rows = out.size().height;
  for (int frame = 0; frame < static_cast<int>(ray_frames.size()); ++frame) {
    std::vector<std::int64_t> chosen;
    for (std::size_t i = 0; i < directions.size(); ++i) {
      if (directions[i].frame == frame) chosen.push_back(static_cast<std::int64_t>(i));
    }
    if (chosen.empty()) continue;
    const FloatFrame image = float_frame(in, ray_frames[frame], pool);
    pool.for_each(static_cast<std::int64_t>(chosen.size()), [&](std::int64_t i) {
      const RayDirection& direction = directions[chosen[i]];
      std::vector<double> bins(static_cast<std::size_t>(rows));
      project(image, direction, sum, bins);
      for (std::int64_t y = 0; y < rows; ++y) {
        out.row_as<float>(direction.reversed ? rows - 1 - y : y)[chosen[i]] =
            static_cast<float>(bins[y]);
      }
    });
  }
}

}  // namespace impipe::cpu
