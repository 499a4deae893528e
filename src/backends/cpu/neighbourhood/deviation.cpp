// Deviations of the values around each pixel: tiles of the image as rows of numbers with what lies
// beside it, and sums that stay in registers while the cells of a mask go by.
#include "backends/cpu/neighbourhood/deviation.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cpu/neighbourhood/window_values.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "core/deviation.hpp"

namespace impipe::cpu {
namespace {

// Cells of a mask, one below the other, from its upper left corner.
struct MaskRun {
  int row, column, cells;
};
struct MaskRuns {
  std::vector<MaskRun> runs;  // column by column
  float cells, rest;          // of all; but one
};

// All cells but one; of one cell 1, by which the squares are divided: they are 0.
float rest_of_cells(int wide, int tall) { return static_cast<float>(std::max(wide * tall - 1, 1)); }

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/deviation.inc"
#include "backends/cpu/simd/each_level.inc"

struct DeviationRows {
  decltype(&baseline::row_of_cells) of_cells;
  decltype(&baseline::columns_of_rectangle) columns;
  decltype(&baseline::row_of_rectangle) of_rectangle;
  decltype(&baseline::row_of_means) of_means;
  decltype(&baseline::columns_of_pairs) pairs;
  decltype(&baseline::row_of_pairs) of_pairs;
  decltype(&baseline::columns_of_rounds) rounds;
  decltype(&baseline::row_of_rounds) of_rounds;
};
#define IMPIPE_DEVIATION_ROWS(level)                                           \
  {                                                                            \
    level::row_of_cells, level::columns_of_rectangle, level::row_of_rectangle, \
        level::row_of_means, level::columns_of_pairs, level::row_of_pairs,     \
        level::columns_of_rounds, level::row_of_rounds                         \
  }
constexpr DeviationRows deviation_rows[] = {IMPIPE_DEVIATION_ROWS(baseline),
                                            IMPIPE_DEVIATION_ROWS(v3), IMPIPE_DEVIATION_ROWS(v4)};

constexpr std::int64_t tile_width = 512, tile_height = 32;

MaskRuns runs_of(const Mask& mask) {
  MaskRuns out;
  for (int x = 0; x < mask.width; ++x) {
    for (int y = 0; y < mask.height; ++y) {
      if (!mask.at(x, y)) continue;
      if (y > 0 && mask.at(x, y - 1)) {
        ++out.runs.back().cells;
      } else {
        out.runs.push_back({y, x, 1});
      }
    }
  }
  const int cells = mask.count();
  out.cells = static_cast<float>(cells);
  out.rest = rest_of_cells(cells, 1);
  return out;
}

}  // namespace

void run_deviation(const Moments& deviation, const std::vector<const Plane*>& images, Plane& out,
                   ThreadPool& pool, CpuLevel level) {
  using Of = Moments::Of;
  const Mask& mask = deviation.mask;
  const Plane& in = *images.front();
  const DeviationRows& kernels = deviation_rows[static_cast<int>(level)];
  const MaskRuns runs = runs_of(mask);
  const auto nested = deviation.by_passes() ? std::nullopt : nested_columns(mask);
  const Size size = in.size();
  const std::int64_t across = (size.width + tile_width - 1) / tile_width;
  const std::int64_t down = (size.height + tile_height - 1) / tile_height;
  pool.for_each(across * down, [&](std::int64_t tile) {
    const std::int64_t x0 = tile % across * tile_width, y0 = tile / across * tile_height;
    const Size part{std::min(tile_width, size.width - x0), std::min(tile_height, size.height - y0)};
    const WindowValues values(mask, deviation.border, in, x0, y0, part, level);
    std::optional<WindowValues> others;
    if (deviation.of == Of::covariance) {
      others.emplace(mask, deviation.border, *images.at(1), x0, y0, part, level);
    }
    // Of columns: means and squared deviations, once or a round; or two means and products.
    const std::int64_t stride = values.width() + max_block;
    std::vector<float> stats(static_cast<std::size_t>(
        stride * std::max<std::int64_t>(
                     3, nested ? 2 * static_cast<std::int64_t>(nested->rounds.size()) : 0)));
    float *const means = stats.data(), *const within = means + stride;
    std::vector<float> made(static_cast<std::size_t>(part.width + max_block));
    for (std::int64_t y = 0; y < part.height; ++y) {
      const float* const* const rows = values.rows(y);
      if (others) {
        float* const other_means = within + stride;
        kernels.pairs(rows, others->rows(y), mask.height, means, other_means, within,
                      values.width());
        kernels.of_pairs(means, other_means, within, mask.width, mask.height, made.data(),
                         part.width);
      } else if (deviation.by_passes()) {
        kernels.columns(rows, mask.height, means, within, values.width());
        if (deviation.of == Of::mean) {
          kernels.of_means(means, mask.width, made.data(), part.width);
        } else {
          kernels.of_rectangle(means, within, mask.width, mask.height,
                               deviation.of == Of::deviation, made.data(), part.width);
        }
      } else if (nested) {
        kernels.rounds(*nested, rows, means, stride, values.width());
        kernels.of_rounds(*nested, runs.cells, means, stride, made.data(), part.width);
      } else {
        kernels.of_cells(runs, rows, made.data(), part.width);
      }
      std::memcpy(out.row_as<float>(y0 + y) + x0, made.data(),
                  static_cast<std::size_t>(part.width) * sizeof(float));
    }
  });
}

}  // namespace impipe::cpu
