// Conjugate gradients, preconditioned by cycles over ever coarser grids.
#include "ops/filter/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/interruption.hpp"
#include "core/plane_rows.hpp"

namespace impipe::ops {
namespace {

// A symmetric system on a grid: diagonal * x - links * neighbours. Cells that are no unknowns have
// a diagonal of 0 and no links.
struct Grid {
  std::int64_t width = 0, height = 0;
  std::vector<double> diagonal, right, down;  // links to the next cell of the row and column

  Grid(std::int64_t w, std::int64_t h) : width(w), height(h) {
    for (auto* all : {&diagonal, &right, &down}) all->resize(static_cast<std::size_t>(w * h));
  }
  double links(const std::vector<double>& x, std::int64_t column, std::int64_t row) const {
    const auto i = static_cast<std::size_t>(row * width + column);
    const auto w = static_cast<std::size_t>(width);
    double sum = 0;
    if (column > 0) sum += right[i - 1] * x[i - 1];
    if (column + 1 < width) sum += right[i] * x[i + 1];
    if (row > 0) sum += down[i - w] * x[i - w];
    if (row + 1 < height) sum += down[i] * x[i + w];
    return sum;
  }
  // Calls take(cell, sum of the links) for the unknowns.
  template <class Take>
  void each(const std::vector<double>& x, bool backwards, const Take& take) const {
    for (std::int64_t k = 0; k < height; ++k) {
      const std::int64_t row = backwards ? height - 1 - k : k;
      for (std::int64_t l = 0; l < width; ++l) {
        const std::int64_t column = backwards ? width - 1 - l : l;
        const auto cell = static_cast<std::size_t>(row * width + column);
        if (diagonal[cell] > 0) take(cell, links(x, column, row));
      }
    }
  }
};

// Cells of 2x2 cells.
Grid coarsened(const Grid& fine) {
  Grid out((fine.width + 1) / 2, (fine.height + 1) / 2);
  for (std::int64_t y = 0; y < fine.height; ++y) {
    for (std::int64_t x = 0; x < fine.width; ++x) {
      const auto i = static_cast<std::size_t>(y * fine.width + x);
      const auto c = static_cast<std::size_t>(y / 2 * out.width + x / 2);
      out.diagonal[c] += fine.diagonal[i];
      // Links inside a cell count for both of its ends.
      (x % 2 == 0 ? out.diagonal[c] : out.right[c]) += (x % 2 == 0 ? -2 : 1) * fine.right[i];
      (y % 2 == 0 ? out.diagonal[c] : out.down[c]) += (y % 2 == 0 ? -2 : 1) * fine.down[i];
    }
  }
  return out;
}

class Preconditioner {
 public:
  explicit Preconditioner(Grid finest) {
    levels_.push_back({std::move(finest), {}, {}});
    while (levels_.back().grid.width * levels_.back().grid.height > smallest) {
      levels_.push_back({coarsened(levels_.back().grid), {}, {}});
    }
    for (Level& level : levels_)
      level.x = level.b = std::vector<double>(level.grid.diagonal.size());
  }
  const Grid& finest() const { return levels_.front().grid; }

  const std::vector<double>& apply(const std::vector<double>& residual) {
    levels_.front().b = residual;
    std::ranges::fill(levels_.front().x, 0.0);
    cycle(0);
    return levels_.front().x;
  }

 private:
  static constexpr std::int64_t smallest = 16;  // cells of the coarsest grid
  struct Level {
    Grid grid;
    std::vector<double> x, b;
  };

  static void smooth(Level& level, bool backwards) {
    level.grid.each(level.x, backwards, [&](std::size_t i, double links) {
      level.x[i] = (level.b[i] + links) / level.grid.diagonal[i];
    });
  }

  // Improves x of a level.
  void cycle(std::size_t l) {
    Level& level = levels_[l];
    if (l + 1 == levels_.size()) {
      for (int i = 0; i < 16; ++i) smooth(level, false), smooth(level, true);
      return;
    }
    // Constant cells make the coarse grid too stiff.
    constexpr double stiffness = 1.8;
    smooth(level, false);
    for (int turn = 0; turn < 2; ++turn) {
      Level& coarse = levels_[l + 1];
      std::ranges::fill(coarse.x, 0.0);
      std::ranges::fill(coarse.b, 0.0);
      each_pair(level.grid, coarse.grid,
                [&](std::int64_t x, std::int64_t y, std::size_t i, std::size_t c) {
                  coarse.b[c] += level.b[i] + level.grid.links(level.x, x, y) -
                                 level.grid.diagonal[i] * level.x[i];
                });
      cycle(l + 1);
      each_pair(level.grid, coarse.grid,
                [&](std::int64_t, std::int64_t, std::size_t i, std::size_t c) {
                  level.x[i] += stiffness * coarse.x[c];
                });
      smooth(level, turn == 1);
    }
  }
  // Calls take(column, row, cell, its coarse cell) for the unknowns.
  template <class Take>
  static void each_pair(const Grid& fine, const Grid& coarse, const Take& take) {
    for (std::int64_t y = 0; y < fine.height; ++y) {
      for (std::int64_t x = 0; x < fine.width; ++x) {
        const auto i = static_cast<std::size_t>(y * fine.width + x);
        const auto c = static_cast<std::size_t>(y / 2 * coarse.width + x / 2);
        if (fine.diagonal[i] > 0) take(x, y, i, c);
      }
    }
  }

  std::vector<Level> levels_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest_of(const std::vector<double>& a) {
  double out = 0;
  for (const double value : a) out = std::max(out, std::fabs(value));
  return out;
}

// Until no residual is above `least`.
std::vector<double> solve(Grid grid, std::vector<double> residual, double least) {
  constexpr int most_steps = 1000;
  Preconditioner preconditioner(std::move(grid));
  const Grid& a = preconditioner.finest();
  std::vector<double> x(residual.size()), direction(residual.size()), image(residual.size());
  double before = 0;
  for (int step = 0; step < most_steps && largest_of(residual) > least; ++step) {
    check_interruption();
    const std::vector<double>& z = preconditioner.apply(residual);
    const double now = dot(residual, z);
    const double turn = step == 0 ? 0 : now / before;
    before = now;
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = z[i] + turn * direction[i];
    a.each(direction, false,
           [&](std::size_t i, double links) { image[i] = a.diagonal[i] * direction[i] - links; });
    const double length = now / dot(direction, image);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += length * direction[i];
      residual[i] -= length * image[i];
    }
  }
  return x;
}

// By how much a residual of 1 everywhere may change a value at most: that of the narrowest strip
// that holds the hole, which reflects at the image's border.
double largest_response(const Hole& hole, Size size) {
  const auto of_strip = [](std::int64_t begin, std::int64_t length, std::int64_t all) {
    const int ends = (begin == 0 ? 1 : 0) + (begin + length == all ? 1 : 0);
    if (ends == 2) return std::numeric_limits<double>::infinity();
    const auto width = static_cast<double>(length * (ends + 1) + 1);
    return width * width / 8;
  };
  const auto pixels = static_cast<double>(hole.width * hole.height);
  return std::min({of_strip(hole.left, hole.width, size.width),
                   of_strip(hole.top, hole.height, size.height), pixels * (1 + std::log2(pixels))});
}

// The pixels around a hole, beside those of it that they touch.
template <class Take>
void each_outside(const Hole& hole, Size size, const Take& take) {
  const auto inside = [&](std::int64_t x, std::int64_t y) {
    return x >= 0 && x < hole.width && y >= 0 && y < hole.height &&
           hole.cells[static_cast<std::size_t>(y * hole.width + x)] != 0;
  };
  for (std::int64_t y = 0; y < hole.height; ++y) {
    for (std::int64_t x = 0; x < hole.width; ++x) {
      if (!inside(x, y)) continue;
      const auto visit = [&](std::int64_t nx, std::int64_t ny) {
        const std::int64_t column = hole.left + nx, row = hole.top + ny;
        if (column < 0 || column >= size.width || row < 0 || row >= size.height) return;
        if (!inside(nx, ny)) {
          take(static_cast<std::size_t>(y * hole.width + x),
               static_cast<std::size_t>(row * size.width + column));
        }
      };
      visit(x - 1, y);
      visit(x + 1, y);
      visit(x, y - 1);
      visit(x, y + 1);
    }
  }
}

// The pixels' links to each other; what they have to pixels outside is added to the diagonal.
Grid grid_of(const Hole& hole) {
  Grid grid(hole.width, hole.height);
  for (std::int64_t y = 0; y < hole.height; ++y) {
    for (std::int64_t x = 0; x < hole.width; ++x) {
      const auto i = static_cast<std::size_t>(y * hole.width + x);
      const auto link = [&](std::vector<double>& links, std::size_t next) {
        if (hole.cells[i] == 0 || hole.cells[next] == 0) return;
        links[i] = 1;
        grid.diagonal[i] += 1;
        grid.diagonal[next] += 1;
      };
      if (x + 1 < hole.width) link(grid.right, i + 1);
      if (y + 1 < hole.height) link(grid.down, i + static_cast<std::size_t>(hole.width));
    }
  }
  return grid;
}

// Of the values around a hole.
struct Surroundings {
  double sum = 0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  std::int64_t count = 0;
};

void store(const Hole& hole, std::vector<double>& values, Size size, double level,
           const std::vector<double>& x) {
  for (std::size_t i = 0; i < hole.cells.size(); ++i) {
    if (hole.cells[i] == 0) continue;
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t row = hole.top + at / hole.width, column = hole.left + at % hole.width;
    values[static_cast<std::size_t>(row * size.width + column)] = level + (x.empty() ? 0 : x[i]);
  }
}

}  // namespace

std::vector<Hole> holes_of(const Plane& mask) {
  const Size size = mask.size();
  std::vector<std::uint8_t> open(static_cast<std::size_t>(size.pixels()));
  with_pixel(mask.cls(), [&]<class T>(T) {
    for (std::int64_t y = 0; y < size.height; ++y) {
      const T* row = mask.row_as<T>(y);
      for (std::int64_t x = 0; x < size.width; ++x) {
        open[static_cast<std::size_t>(y * size.width + x)] = row[x] != 0;
      }
    }
  });
  std::vector<Hole> holes;
  std::vector<std::int64_t> pixels;
  for (std::int64_t first = 0; first < size.pixels(); ++first) {
    if (open[static_cast<std::size_t>(first)] == 0) continue;
    pixels.clear();
    std::int64_t left = size.width, right = 0, top = size.height, bottom = 0;
    const auto visit = [&](std::int64_t at) {
      if (open[static_cast<std::size_t>(at)] == 0) return;
      open[static_cast<std::size_t>(at)] = 0;
      pixels.push_back(at);
    };
    visit(first);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::int64_t at = pixels[k], x = at % size.width, y = at / size.width;
      left = std::min(left, x);
      right = std::max(right, x);
      top = std::min(top, y);
      bottom = std::max(bottom, y);
      if (x > 0) visit(at - 1);
      if (x + 1 < size.width) visit(at + 1);
      if (y > 0) visit(at - size.width);
      if (y + 1 < size.height) visit(at + size.width);
    }
    Hole& hole = holes.emplace_back(Hole{left, top, right - left + 1, bottom - top + 1, {}});
    hole.cells.resize(static_cast<std::size_t>(hole.width * hole.height));
    for (const std::int64_t at : pixels) {
      const std::int64_t x = at % size.width - left, y = at / size.width - top;
      hole.cells[static_cast<std::size_t>(y * hole.width + x)] = 1;
    }
  }
  return holes;
}

void fill_hole(const Hole& hole, std::vector<double>& values, Size size) {
  Surroundings around;
  each_outside(hole, size, [&](std::size_t, std::size_t pixel) {
    around.sum += values[pixel];
    around.low = std::min(around.low, values[pixel]);
    around.high = std::max(around.high, values[pixel]);
    ++around.count;
  });
  if (around.count == 0) return;
  // Differences from the mean: so a hole in a flat image is exactly flat.
  const double mean = around.sum / static_cast<double>(around.count);
  if (!std::isfinite(mean)) return store(hole, values, size, mean, {});
  Grid grid = grid_of(hole);
  std::vector<double> sums(grid.diagonal.size());
  each_outside(hole, size, [&](std::size_t cell, std::size_t pixel) {
    grid.diagonal[cell] += 1;
    sums[cell] += values[pixel] - mean;
  });
  // Where all are alike, what the mean has rounded off is left.
  const double rounding = 1e-6 * std::max(std::fabs(around.low), std::fabs(around.high));
  const double spread = std::max(around.high - around.low, rounding);
  const double least = 1e-6 * spread / largest_response(hole, size);
  store(hole, values, size, mean, solve(std::move(grid), std::move(sums), least));
}

}  // namespace impipe::ops
