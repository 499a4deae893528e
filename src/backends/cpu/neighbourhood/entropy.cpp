// Entropy of the codes around each pixel: counts that follow the window along a row, and the sum of
// their table's entries, whole numbers that no order of additions changes.
#include "backends/cpu/neighbourhood/entropy.hpp"

#include <array>
#include <cstring>

#include "backends/cpu/tile/border_view.hpp"

namespace impipe::cpu {
namespace {

struct Cell {
  int dx, dy;
};

// What comes and goes when the window moves by a column: ends of runs, as offsets from the pixel
// that it moves to, and from the one it was at.
struct Ends {
  std::vector<Cell> all, coming, going;
};

Ends ends_of(const Mask& mask) {
  Ends out;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      const Cell cell{x - mask.origin_x, y - mask.origin_y};
      out.all.push_back(cell);
      if (x + 1 == mask.width || !mask.at(x + 1, y)) out.coming.push_back(cell);
      if (x == 0 || !mask.at(x - 1, y)) out.going.push_back(cell);
    }
  }
  return out;
}

// A row of an image with what lies beside it, for all rows that windows of a row read.
class Rows {
 public:
  Rows(const Mask& mask, const Plane& in) : mask_(mask), in_(in) {
    places_.resize(static_cast<std::size_t>(in.size().width + mask.width - 1));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i] = map_outside(static_cast<std::int64_t>(i) - mask.origin_x, in.size().width,
                               Border::symmetric);
    }
    rows_.resize(static_cast<std::size_t>(mask.height));
  }

  void move_to(std::int64_t y) {
    for (int k = 0; k < mask_.height; ++k) {
      const std::int64_t from =
          map_outside(y + k - mask_.origin_y, in_.size().height, Border::symmetric);
      std::vector<std::uint8_t>& row = rows_[static_cast<std::size_t>(k)];
      row.resize(places_.size());
      const auto* pixels = in_.row_as<std::uint8_t>(from);
      for (std::size_t i = 0; i < places_.size(); ++i) row[i] = pixels[places_[i]];
    }
  }
  std::uint8_t at(std::int64_t x, const Cell& cell) const {
    const std::int64_t row = cell.dy + mask_.origin_y, column = x + cell.dx + mask_.origin_x;
    return rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  }

 private:
  const Mask& mask_;
  const Plane& in_;
  std::vector<std::int64_t> places_;
  std::vector<std::vector<std::uint8_t>> rows_;
};

void make_row(const Ends& ends, const Rows& rows, const std::vector<double>& table, float* out,
              std::int64_t width) {
  std::array<std::uint32_t, 256> counts{};
  double sum = 0;
  const auto come = [&](std::uint8_t code) {
    std::uint32_t& count = counts[code];
    sum += table[count + 1] - table[count];
    ++count;
  };
  const auto go = [&](std::uint8_t code) {
    std::uint32_t& count = counts[code];
    sum += table[count - 1] - table[count];
    --count;
  };
  const double cells = static_cast<double>(table.size() - 1);
  for (const Cell& cell : ends.all) come(rows.at(0, cell));
  for (std::int64_t x = 0;; ++x) {
    out[x] = static_cast<float>((table.back() - sum) / (cells * 4294967296.0));
    if (x + 1 == width) return;
    for (const Cell& cell : ends.going) go(rows.at(x, cell));
    for (const Cell& cell : ends.coming) come(rows.at(x + 1, cell));
  }
}

}  // namespace

void run_entropy(const Entropy& entropy, const std::vector<double>& table, const Plane& in,
                 Plane& out, ThreadPool& pool) {
  const Ends ends = ends_of(entropy.mask);
  constexpr std::int64_t rows_at_once = 8;
  const Size size = in.size();
  pool.for_each((size.height + rows_at_once - 1) / rows_at_once, [&](std::int64_t part) {
    Rows rows(entropy.mask, in);
    const std::int64_t end = std::min(size.height, (part + 1) * rows_at_once);
    for (std::int64_t y = part * rows_at_once; y < end; ++y) {
      rows.move_to(y);
      make_row(ends, rows, table, out.row_as<float>(y), size.width);
    }
  });
}

}  // namespace impipe::cpu
