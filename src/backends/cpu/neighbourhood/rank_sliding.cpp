// Numbers a block's values by their order and moves the window over it in serpentines, so that only
// the cells at the mask's edges enter and leave the counts.
#include "backends/cpu/neighbourhood/rank_sliding.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backends/cpu/neighbourhood/extremum.hpp"
#include "backends/cpu/neighbourhood/one_zero.hpp"
#include "backends/cpu/neighbourhood/rank_keys.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

using Code = std::uint32_t;
using Cells = std::vector<std::int64_t>;  // offsets in a window, from its first cell

// The least sides of a block, in results: large enough that what its windows share is most of what
// they read, small enough that its codes and counts stay in a processor's larger caches.
constexpr std::int64_t min_block = 256;

// How many values of the window have each code, and of each group of codes, and of each group of
// groups: a rank is found by looking through one group of each level.
template <int levels, int group_bits>
class Counts {
 public:
  Counts(std::int64_t codes, Scratch& scratch) : sizes_{} {
    for (int k = 0; k < levels; ++k) {
      // Whole groups, so that a search needs no end.
      sizes_[k] = ((codes - 1) >> ((k + 1) * group_bits)) + 1;
      sizes_[k] <<= group_bits;
      of_[k] = scratch.take<std::uint32_t>(sizes_[k]);
    }
  }
  void clear() {
    for (int k = 0; k < levels; ++k) std::fill_n(of_[k], sizes_[k], 0u);
  }
  void add(Code code) {
    for (int k = 0; k < levels; ++k) ++of_[k][code >> (k * group_bits)];
  }
  void remove(Code code) {
    for (int k = 0; k < levels; ++k) --of_[k][code >> (k * group_bits)];
  }
  // The code of the rank-th smallest value.
  Code find(std::uint32_t rank) const {
    Code found = 0;
    for (int k = levels - 1; k >= 0; --k) {
      const std::uint32_t* counts = of_[k];
      found <<= group_bits;
      for (; rank >= counts[found]; ++found) rank -= counts[found];
    }
    return found;
  }

 private:
  std::int64_t sizes_[levels];
  std::uint32_t* of_[levels];
};

// The codes of a block, in the order of its values, and the value of each.
template <class T>
struct Coding {
  using BlockCounts = Counts<2, 4 * sizeof(T)>;
  explicit Coding(std::int64_t, Scratch&) {}
  static std::int64_t max_codes(std::int64_t) { return std::int64_t{1} << 8 * sizeof(T); }
  static T value(Code code) { return static_cast<T>(code); }
  static void encode(const T* const* rows, std::int64_t width, std::int64_t height, Code* codes,
                     std::int64_t stride) {
    for (std::int64_t y = 0; y < height; ++y) {
      std::copy_n(rows[y], width, codes + y * stride);
    }
  }
};
template <>
struct Coding<float> {
  using BlockCounts = Counts<3, 8>;
  explicit Coding(std::int64_t most, Scratch& scratch)
      : items_(scratch.take<std::int64_t>(most)), values_(scratch.take<float>(most)) {}
  static std::int64_t max_codes(std::int64_t most) { return most; }
  float value(Code code) const { return values_[code]; }

  // Codes are the places of the block's different keys in their order.
  void encode(const float* const* rows, std::int64_t width, std::int64_t height, Code* codes,
              std::int64_t stride) {
    std::int64_t n = 0;
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        items_[n++] = (std::int64_t{rank_key(rows[y][x])} << 32) + (y * stride + x);
      }
    }
    std::sort(items_, items_ + n);
    Code code = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto key = static_cast<std::int32_t>(items_[i] >> 32);
      if (i > 0 && key != static_cast<std::int32_t>(items_[i - 1] >> 32)) ++code;
      values_[code] = value_of_rank_key(key);
      codes[static_cast<std::uint32_t>(items_[i])] = code;
    }
  }

 private:
  std::int64_t* items_;  // keys with their places
  float* values_;
};

// The cells that a window gains and loses when it moves one place to the right (or down), counted
// from its first cell before it moves. It moves back by the same cells.
struct Edge {
  Cells first;  // cells without a set neighbour before them
  Cells after;  // places after cells without one behind them
};

Edge edge_of(const Mask& mask, int dx, int dy, std::int64_t stride) {
  const auto set = [&](int x, int y) {
    return x >= 0 && y >= 0 && x < mask.width && y < mask.height && mask.at(x, y);
  };
  Edge edge;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      if (!set(x - dx, y - dy)) edge.first.push_back(y * stride + x);
      if (!set(x + dx, y + dy)) edge.after.push_back((y + dy) * stride + x + dx);
    }
  }
  return edge;
}

// The value of a rank among those of a window.
template <class T>
class RankOfWindow {
 public:
  using Value = T;
  using Result = T;
  RankOfWindow(const Rank& rank, std::int64_t most, Scratch& scratch)
      : rank_(rank), coding_(most, scratch), counts_(coding_.max_codes(most), scratch) {}

  void begin(const T* const* rows, std::int64_t width, std::int64_t height, Code* codes,
             std::int64_t stride) {
    coding_.encode(rows, width, height, codes, stride);
    counts_.clear();
  }
  void add(const Code* at, const Cells& cells) {
    for (const std::int64_t cell : cells) counts_.add(at[cell]);
  }
  void remove(const Code* at, const Cells& cells) {
    for (const std::int64_t cell : cells) counts_.remove(at[cell]);
  }
  T result() const {
    const auto rank = static_cast<std::uint32_t>(rank_.rank);
    const T value = coding_.value(counts_.find(rank));
    return rank_.average ? mean_of_two(value, coding_.value(counts_.find(rank + 1))) : value;
  }

 private:
  const Rank& rank_;
  Coding<T> coding_;
  typename Coding<T>::BlockCounts counts_;
};

// The entropy of a window's bytes: the sum of its table's entries follows the counts, in whole
// numbers that no order of additions changes.
class EntropyOfWindow {
 public:
  using Value = std::uint8_t;
  using Result = float;
  explicit EntropyOfWindow(std::span<const double> table) : table_(table) {
    for (std::size_t k = 1; k < table.size(); ++k) steps_.push_back(table[k] - table[k - 1]);
  }

  void begin(const std::uint8_t* const* rows, std::int64_t width, std::int64_t height, Code* codes,
             std::int64_t stride) {
    Coding<std::uint8_t>::encode(rows, width, height, codes, stride);
    counts_.fill(0);
    sum_ = 0;
  }
  void add(const Code* at, const Cells& cells) {
    double sum = 0;
    for (const std::int64_t cell : cells) sum += steps_[counts_[at[cell]]++];
    sum_ += sum;
  }
  void remove(const Code* at, const Cells& cells) {
    double sum = 0;
    for (const std::int64_t cell : cells) sum += steps_[--counts_[at[cell]]];
    sum_ -= sum;
  }
  float result() const {
    const double cells = static_cast<double>(table_.size() - 1);
    return static_cast<float>((table_.back() - sum_) / (cells * 4294967296.0));
  }

 private:
  std::span<const double> table_;
  std::vector<double> steps_;  // from each entry to the next
  std::array<std::uint32_t, 256> counts_{};
  double sum_ = 0;
};

template <class Statistic>
class Slide {
  using T = typename Statistic::Value;
  using Result = typename Statistic::Result;

 public:
  // make: the statistic, of so many values of a block at most.
  template <class Make>
  Slide(const Rank& rank, const RowsView& in, Scratch& scratch, const Make& make)
      : rank_(rank),
        width_(std::min(in.width, std::max<std::int64_t>(min_block, rank.mask.width))),
        height_(std::min(in.height, std::max<std::int64_t>(min_block, rank.mask.height))),
        stride_(width_ + rank.mask.width - 1),
        right_(edge_of(rank.mask, 1, 0, stride_)),
        down_(edge_of(rank.mask, 0, 1, stride_)),
        max_(stride_ * (height_ + rank.mask.height - 1)),
        codes_(scratch.take<Code>(max_)),
        window_(make(max_)) {
    for (int y = 0; y < rank.mask.height; ++y) {
      for (int x = 0; x < rank.mask.width; ++x) {
        if (rank.mask.at(x, y)) cells_.push_back(y * stride_ + x);
      }
    }
  }

  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }

  // width x height results at `to`, from the values at rows[y][x].
  void run(const std::vector<const T*>& rows, std::int64_t width, std::int64_t height, Result* to,
           std::int64_t to_stride) {
    window_.begin(rows.data(), width + rank_.mask.width - 1, height + rank_.mask.height - 1, codes_,
                  stride_);
    window_.add(codes_, cells_);
    std::int64_t x = 0;
    for (std::int64_t y = 0; y < height; ++y) {
      const bool to_right = y % 2 == 0;
      for (std::int64_t i = 0; i < width; ++i) {
        if (i > 0 && to_right) move(codes_ + y * stride_ + x++, right_.after, right_.first);
        if (i > 0 && !to_right) move(codes_ + y * stride_ + --x, right_.first, right_.after);
        to[y * to_stride + x] = window_.result();
      }
      if (y + 1 < height) move(codes_ + y * stride_ + x, down_.after, down_.first);
    }
  }

 private:
  void move(const Code* at, const Cells& entering, const Cells& leaving) {
    window_.remove(at, leaving);
    window_.add(at, entering);
  }

  const Rank& rank_;
  std::int64_t width_, height_;  // of a block's results
  std::int64_t stride_;          // of its codes
  Edge right_, down_;
  Cells cells_;
  std::int64_t max_;  // values of a block
  Code* codes_;       // [row][stride_]
  Statistic window_;
};

template <class Statistic, class Make>
void slide_over(const Rank& rank, const RowsView& in, TileOut out, Scratch& scratch,
                const Make& make) {
  using T = typename Statistic::Value;
  using Result = typename Statistic::Result;
  const ScratchScope scope(scratch);
  const Mask& mask = rank.mask;
  Slide<Statistic> slide(rank, in, scratch, make);
  std::vector<const T*> rows;
  for (std::int64_t y = 0; y < in.height; y += slide.height()) {
    const std::int64_t height = std::min(slide.height(), in.height - y);
    for (std::int64_t x = 0; x < in.width; x += slide.width()) {
      rows.clear();
      for (std::int64_t j = 0; j < height + mask.height - 1; ++j) {
        rows.push_back(reinterpret_cast<const T*>(in.rows[y + j]) + x - mask.origin_x);
      }
      slide.run(rows, std::min(slide.width(), in.width - x), height,
                reinterpret_cast<Result*>(out.data + y * out.stride) + x,
                out.stride / static_cast<std::int64_t>(sizeof(Result)));
    }
  }
}

}  // namespace

void run_rank_sliding(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                      Scratch& scratch) {
  with_pixel(cls, [&](auto pixel) {
    using Statistic = RankOfWindow<decltype(pixel)>;
    slide_over<Statistic>(rank, in, out, scratch,
                          [&](std::int64_t most) { return Statistic(rank, most, scratch); });
  });
}

// Nanoseconds for a cell that enters or leaves one level of the counts, for the search, and for a
// value that gets its code.
Cost rank_sliding_cost(const RankQuestion& q) {
  const Mask& mask = q.rank.mask;
  const bool floats = q.cls == PixelClass::single;
  const int levels = floats ? 3 : 2;
  const double search = bytes_of(q.cls) == 1 ? 10 : floats ? 400 : 280;
  const double moved = bytes_of(q.cls) == 1 ? 0.25 : 2.2;  // those of bytes stay in L1
  const double coded = floats ? 60 : 1;
  const auto side = [](std::int64_t length, int window) {
    return std::min(length, std::max<std::int64_t>(min_block, window));
  };
  const std::int64_t width = side(q.tile.width, mask.width);
  const std::int64_t height = side(q.tile.height, mask.height);
  const auto values = static_cast<double>((width + mask.width - 1) * (height + mask.height - 1));
  const double start = values * coded + moved * levels * mask.count();
  const auto runs = static_cast<double>(plan_extremum(mask).runs.size());
  return search * (q.rank.average ? 2 : 1) + 2 * moved * levels * runs +
         start / static_cast<double>(width * height);
}

void run_entropy(const Rank& rank, std::span<const double> table, const RowsView& in, TileOut out,
                 Scratch& scratch) {
  slide_over<EntropyOfWindow>(rank, in, out, scratch,
                              [&](std::int64_t) { return EntropyOfWindow(table); });
}

}  // namespace impipe::cpu
