// Pixels between the tables of the tiles round them. Where all of a part of the image lie between
// the same four tiles, bytes look the four values up at once and compute in whole numbers; other
// classes, small parts and values that are no bytes are computed in double.
#include "backends/cpu/measure/between_tables.hpp"

#include <algorithm>
#include <vector>

#include "backends/cpu/measure/tile_bins.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/placement.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t chunk = 512;  // pixels: the rows of a chunk stay in L1

// The pixels along one direction that lie between the centres of two tiles. A pixel is `from`,
// which grows by one a pixel, away from the first one's.
struct Span {
  std::int64_t begin = 0, end = 0;
  std::int64_t before = 0, behind = 0;  // the tiles
  std::int32_t from = 0;                // of the pixel at `begin`
  std::int32_t apart = 0;               // the centres
  std::int64_t length() const { return end - begin; }
};
std::vector<Span> spans_of(std::int64_t frame, std::int64_t side, int tiles, std::int64_t size) {
  std::vector<Span> spans;
  for (std::int64_t k = 0; k <= tiles; ++k) {
    const std::int64_t centre = k * side - side / 2 - frame;  // of the tile before
    Span span{.begin = std::max<std::int64_t>(centre, 0),
              .end = std::min(centre + side, size),
              .before = std::max<std::int64_t>(k - 1, 0),
              .behind = std::min<std::int64_t>(k, tiles - 1)};
    if (span.begin >= span.end) continue;
    const bool end = k == 0 || k == tiles;
    span.apart = static_cast<std::int32_t>(end ? side / 2 : side);
    span.from = static_cast<std::int32_t>(span.begin - (k == 0 ? -frame : centre));
    spans.push_back(span);
  }
  return spans;
}

// Of the pixels of a row between two tiles: the weights of the left and right one, of those above
// and those below; and the sum of all products of the two kinds.
struct BetweenRow {
  const std::int32_t* left = nullptr;
  const std::int32_t* right = nullptr;
  std::int32_t top = 0, bottom = 0;
  double area = 0;
};

// Bytes in whole numbers. four: what the four tables have for each pixel, a byte each. Halves are
// rounded up; a quarter more keeps the product with the reciprocal from falling below them.
template <class...>
IMPIPE_INLINE void between_bytes_body(std::uint8_t* __restrict out,
                                      const std::uint32_t* __restrict four, const BetweenRow& row,
                                      std::int64_t n) {
  const std::int32_t* __restrict left = row.left;
  const std::int32_t* __restrict right = row.right;
  const std::int32_t top = row.top, bottom = row.bottom;
  const double half = 0.5 * row.area + 0.25, part = 1 / row.area;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto value = [&](int k) { return static_cast<std::int32_t>(four[i] >> 8 * k & 255); };
    const std::int32_t upper = left[i] * value(0) + right[i] * value(1);
    const std::int32_t lower = left[i] * value(2) + right[i] * value(3);
    out[i] = static_cast<std::uint8_t>(
        static_cast<std::int32_t>((top * upper + bottom * lower + half) * part));
  }
}
IMPIPE_CPU_KERNEL(between_bytes,
                  (std::uint8_t * out, const std::uint32_t* four, const BetweenRow& row,
                   std::int64_t n),
                  (out, four, row, n))

// Others in double. values: of the tiles above left, above right, below left, below right.
using FourRows = const double (*)[chunk];
template <class...>
IMPIPE_INLINE void between_values_body(double* __restrict out, FourRows values,
                                       const BetweenRow& row, std::int64_t n) {
  const std::int32_t* __restrict left = row.left;
  const std::int32_t* __restrict right = row.right;
  const double top = row.top, bottom = row.bottom, area = row.area;
  for (std::int64_t i = 0; i < n; ++i) {
    const double l = left[i], r = right[i];
    const double upper = l * values[0][i] + r * values[1][i];
    const double lower = l * values[2][i] + r * values[3][i];
    out[i] = (top * upper + bottom * lower) / area;
  }
}
IMPIPE_CPU_KERNEL(between_values,
                  (double* out, FourRows values, const BetweenRow& row, std::int64_t n),
                  (out, values, row, n))

template <class T>
class Between {
 public:
  Between(const BetweenTables& of, std::span<const double> tables, double white, const Plane& in,
          Plane& out, CpuLevel level)
      : of_(of),
        tables_(tables),
        bins_(in.cls(), white, of.bins, level),
        in_(in),
        out_(out),
        level_(level) {
    const TileGrid grid = tile_grid(in.size(), of.across, of.down);
    across_ = spans_of(grid.left, grid.wide, of.across, in.size().width);
    down_ = spans_of(grid.top, grid.tall, of.down, in.size().height);
    for (const Span& span : across_) {
      for (std::int64_t i = 0; i < span.length(); ++i) {
        right_.push_back(span.from + static_cast<std::int32_t>(i));
        left_.push_back(span.apart - right_.back());
      }
    }
    // Sums of the weighted bytes are less than 2^31.
    constexpr std::int64_t most = (std::int64_t{1} << 31) / 255;
    bytes_ = in.cls() == PixelClass::uint8 && grid.wide * grid.tall < most &&
             std::all_of(tables.begin(), tables.end(),
                         [](double v) { return v >= 0 && v <= 255 && v == static_cast<int>(v); });
  }

  void run(ThreadPool& pool) const {
    // A task has some 65,536 pixels, of one part of the image or of several side by side.
    constexpr std::int64_t task_pixels = 65536;
    const auto wide = static_cast<std::int64_t>(across_.size());
    const std::int64_t pixels = std::max<std::int64_t>(in_.size().pixels() / (wide * down()), 1);
    const std::int64_t each = std::clamp(task_pixels / pixels, std::int64_t{1}, wide);
    const std::int64_t tasks = (wide + each - 1) / each;
    pool.for_each(tasks * down(), [&](std::int64_t task) {
      const Span& rows = down_[static_cast<std::size_t>(task / tasks)];
      const std::int64_t first = task % tasks * each;
      for (std::int64_t k = first; k < std::min(first + each, wide); ++k) {
        make(across_[static_cast<std::size_t>(k)], rows);
      }
    });
  }

 private:
  std::int64_t down() const { return static_cast<std::int64_t>(down_.size()); }

  void make(const Span& columns, const Span& rows) const {
    const auto table = [&](std::int64_t down, std::int64_t across) {
      return tables_.data() + (down * of_.across + across) * of_.bins;
    };
    const double* const four[4] = {
        table(rows.before, columns.before), table(rows.before, columns.behind),
        table(rows.behind, columns.before), table(rows.behind, columns.behind)};
    if constexpr (sizeof(T) == 1) {
      // Making the table is worth while for more pixels than it has places.
      if (bytes_ && columns.length() * rows.length() > 512) return make_bytes(columns, rows, four);
    }
    make_values(columns, rows, four);
  }

  BetweenRow row_of(const Span& columns, const Span& rows, std::int64_t x, std::int64_t y) const {
    const std::int32_t bottom = rows.from + static_cast<std::int32_t>(y - rows.begin);
    return {left_.data() + x, right_.data() + x, rows.apart - bottom, bottom,
            static_cast<double>(rows.apart) * columns.apart};
  }

  void make_bytes(const Span& columns, const Span& rows, const double* const (&four)[4]) const {
    std::uint32_t of_codes[256];
    for (int code = 0; code < 256; ++code) {
      std::uint32_t all = 0;
      for (int k = 0; k < 4; ++k) {
        all |= static_cast<std::uint32_t>(four[k][bins_.of_codes()[code]]) << 8 * k;
      }
      of_codes[code] = all;
    }
    std::uint32_t values[chunk];
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      const std::uint8_t* from = in_.row_as<std::uint8_t>(y);
      for (std::int64_t x = columns.begin; x < columns.end; x += chunk) {
        const std::int64_t n = std::min(chunk, columns.end - x);
        for (std::int64_t i = 0; i < n; ++i) values[i] = of_codes[from[x + i]];
        between_bytes<>[static_cast<int>(level_)](out_.row_as<std::uint8_t>(y) + x, values,
                                                  row_of(columns, rows, x, y), n);
      }
    }
  }

  void make_values(const Span& columns, const Span& rows, const double* const (&four)[4]) const {
    std::int32_t bins[chunk];
    double values[4][chunk], result[chunk];
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      for (std::int64_t x = columns.begin; x < columns.end; x += chunk) {
        const std::int64_t n = std::min(chunk, columns.end - x);
        bins_.find(bins, in_.row_as<T>(y) + x, n);
        for (std::int64_t i = 0; i < n; ++i) {
          for (int k = 0; k < 4; ++k) values[k][i] = four[k][bins[i]];
        }
        between_values<>[static_cast<int>(level_)](result, values, row_of(columns, rows, x, y), n);
        store_row(out_.row(y) + x * bytes_of(out_.cls()), result, out_.cls(), n, level_);
      }
    }
  }

  const BetweenTables& of_;
  std::span<const double> tables_;
  TileBins bins_;
  const Plane& in_;
  Plane& out_;
  CpuLevel level_;
  std::vector<Span> across_, down_;
  std::vector<std::int32_t> left_, right_;  // [columns]: the weights of the tiles on both sides
  bool bytes_ = false;                      // values of tables are, and their weighted sums fit
};

}  // namespace

void run_between_tables(const BetweenTables& between, std::span<const double> tables, double white,
                        const Plane& in, Plane& out, ThreadPool& pool, CpuLevel level) {
  with_pixel(in.cls(), [&](auto pixel) {
    Between<decltype(pixel)>(between, tables, white, in, out, level).run(pool);
  });
}

}  // namespace impipe::cpu
