// Sums of codes over rectangles. They are whole numbers, so they run: columns of the rectangle's
// height gain a row and lose one, then along the row likewise.
#include "backends/cpu/neighbourhood/box_sums.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

struct Box {
  int width = 0, height = 0;
  float weight = 0;
  // Of small odd boxes of bytes: (sum + cells / 2) * factor >> (16 + shift) is the nearest code.
  std::uint32_t factor = 0;
  int shift = 0;
};

template <class Sum, class Pixel>
struct ColumnKernels {
  void (*add_row)(Sum* columns, const Pixel* added, std::int64_t n);
  void (*replace_row)(Sum* columns, const Pixel* added, const Pixel* removed, std::int64_t n);
};
// Pixels of a row, from a 0 and then the columns' sums. A number of whole blocks of pixels; gives
// and takes the sum of the columns that the next one begins with.
template <class Sum, class Out>
using Means = std::int32_t (*)(const Box& box, const Sum* columns, Out* out, std::int64_t n,
                               std::int32_t before);
using SmallMeans = void (*)(const Box& box, const std::uint16_t* columns, std::uint8_t* out,
                            std::int64_t n);

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/box_sums.inc"
#include "backends/cpu/simd/vector_levels.inc"

// Of up to 255 cells a sum and the half that rounds it fit in 16 bits. A mean in float32 strays
// from the exact one by less than 3e-4, however it is summed, and that is at least 1 / 510 from a
// half.
void find_factor(Box& box) {
  constexpr int largest_side = 15;
  const int cells = box.width * box.height;
  const float sum = box.weight * static_cast<float>(cells);
  if (cells % 2 == 0 || cells > 255 || std::max(box.width, box.height) > largest_side ||
      sum < 1 - 1e-6F || sum > 1 + 1e-6F) {
    return;
  }
  while (cells >> (box.shift + 1) > 0) ++box.shift;
  const std::uint64_t power = std::uint64_t{1} << (16 + box.shift);
  const std::uint64_t factor = (power + static_cast<std::uint64_t>(cells) - 1) / cells;
  // The quotient is the one without the factor's own rounding for every sum.
  const std::uint64_t largest = static_cast<std::uint64_t>(255 * cells + cells / 2);
  if (factor < 65536 && largest * (factor * cells - power) < power) {
    box.factor = static_cast<std::uint32_t>(factor);
  }
}

// The box of a node with rows of weight 1 and equal weights in columns, or one without width.
Box box_of(const Separable& separable, std::span<const float> weights) {
  const int width = separable.row.width, height = separable.column.height;
  if (!separable.row.full() || !separable.column.full()) return {};
  const auto column =
      weights.subspan(static_cast<std::size_t>(width), static_cast<std::size_t>(height));
  const auto is = [](float value) { return [value](float w) { return w == value; }; };
  if (!std::ranges::all_of(weights.first(static_cast<std::size_t>(width)), is(1)) ||
      !std::ranges::all_of(column, is(column.front()))) {
    return {};
  }
  return {.width = width, .height = height, .weight = column.front()};
}

// The sums of columns, row by row.
template <class Sum, class Pixel>
class Columns {
 public:
  Columns(const Box& box, const ColumnKernels<Sum, Pixel>& kernels, const Node& node,
          const TileImage& in, const Region& region, std::int64_t padded, Scratch& scratch,
          CpuLevel level)
      : box_(box),
        kernels_(kernels),
        size_(in.size),
        border_(std::get<Separable>(node.primitive).border),
        wanted_(under(facts_of(node), region)),
        there_(read_in_place(wanted_, in.size, border_)),
        view_(in, there_, 0, {border_, 0}, in.cls, scratch, level),
        sums_(scratch.take<Sum>(padded + box.width + 1)),
        inside_(sums_ + 1 + (there_.x0 - wanted_.x0)) {
    std::fill_n(sums_, padded + box.width + 1, Sum{0});
    for (int y = 0; y + 1 < box.height; ++y) kernels_.add_row(inside_, row(y), there_.width());
  }
  // A 0 and then the columns' sums, of those that the region's row y reads; rows come in order.
  const Sum* at(std::int64_t y) {
    const Pixel* added = row(y + box_.height - 1);
    if (y == 0) {
      kernels_.add_row(inside_, added, there_.width());
    } else {
      kernels_.replace_row(inside_, added, row(y - 1), there_.width());
    }
    for (std::int64_t x = wanted_.x0; x < there_.x0; ++x) put_beside(x);
    for (std::int64_t x = there_.x1; x < wanted_.x1; ++x) put_beside(x);
    return sums_;
  }

 private:
  // Rows are read where they are: beside the image the columns' sums are those of the columns that
  // the border puts there. Not where these lie in another tile.
  static Region read_in_place(const Region& wanted, Size size, Border border) {
    Region there = wanted;
    there.x0 = std::max<std::int64_t>(wanted.x0, 0);
    there.x1 = std::min(wanted.x1, size.width);
    const bool beside = there.width() < wanted.width();
    return beside && border == Border::circular && there.width() < size.width ? wanted : there;
  }
  const Pixel* row(std::int64_t y) { return reinterpret_cast<const Pixel*>(view_.row(y)); }
  void put_beside(std::int64_t x) {
    const std::int64_t mapped = map_outside(x, size_.width, border_);
    sums_[1 + x - wanted_.x0] = mapped < 0 ? Sum{0} : inside_[mapped - there_.x0];
  }

  const Box& box_;
  const ColumnKernels<Sum, Pixel>& kernels_;
  Size size_;
  Border border_;
  Region wanted_, there_;
  RowView view_;
  Sum* sums_;
  Sum* inside_;
};

// Rows of means into the output: whole blocks at once, and what is left from a row of its own.
template <class Sum, class Out>
void store_row_of_means(const Box& box, Means<Sum, Out> means, std::int64_t block,
                        const Sum* columns, std::byte* out, std::int64_t n, Out* rest) {
  std::int32_t before = 0;
  for (int i = 1; i < box.width; ++i) before += static_cast<std::int32_t>(columns[i]);
  const std::int64_t whole = n / block * block;
  before = means(box, columns, reinterpret_cast<Out*>(out), whole, before);
  if (whole == n) return;
  means(box, columns + whole, rest, block, before);
  std::memcpy(out + whole * static_cast<std::int64_t>(sizeof(Out)), rest,
              static_cast<std::size_t>(n - whole) * sizeof(Out));
}

// What a box is run on.
struct BoxRun {
  const Box& box;
  const Node& node;
  const TileImage& in;
  const Region& region;
  TileOut out;
  Scratch& scratch;
  CpuLevel level;
};

template <class Pixel, class Sum, class Out>
void run_box(const BoxRun& run) {
  const bool v4 = run.level == CpuLevel::v4;
  const std::int64_t n = run.region.width(), block = v4 ? v4::block : v3::block;
  const std::int64_t padded = (n + block - 1) / block * block;
  const ScratchScope scope(run.scratch);
  Columns<Sum, Pixel> columns(run.box, v4 ? v4::columns_of<Sum, Pixel> : v3::columns_of<Sum, Pixel>,
                              run.node, run.in, run.region, padded, run.scratch, run.level);
  const Means<Sum, Out> means = v4 ? v4::means_of<Sum, Out> : v3::means_of<Sum, Out>;
  Out* rest = run.scratch.take<Out>(block);
  const bool past_caches = sizeof(Out) == sizeof(float) && run.out.spills;
  auto* row = past_caches ? run.scratch.take<std::byte>(n * 4) : nullptr;
  for (std::int64_t y = 0; y < run.region.height(); ++y) {
    std::byte* to = run.out.data + y * run.out.stride;
    store_row_of_means(run.box, means, block, columns.at(y), past_caches ? row : to, n, rest);
    if (past_caches) stream_row(to, row, n * 4, run.level);
  }
}

void run_small(const BoxRun& run) {
  const bool v4 = run.level == CpuLevel::v4;
  const ScratchScope scope(run.scratch);
  const std::int64_t n = run.region.width();
  Columns<std::uint16_t, std::uint8_t> columns(run.box,
                                               v4 ? v4::columns_of<std::uint16_t, std::uint8_t>
                                                  : v3::columns_of<std::uint16_t, std::uint8_t>,
                                               run.node, run.in, run.region, n, run.scratch,
                                               run.level);
  const SmallMeans means = (v4 ? v4::small_means_of : v3::small_means_of)(run.box.width);
  for (std::int64_t y = 0; y < run.region.height(); ++y) {
    means(run.box, columns.at(y),
          reinterpret_cast<std::uint8_t*>(run.out.data + y * run.out.stride), n);
  }
}

// The result's class is float32 or the input's.
template <class Pixel, class Sum>
void run_box_to(const BoxRun& run) {
  if (run.node.cls == PixelClass::single) return run_box<Pixel, Sum, float>(run);
  run_box<Pixel, Sum, Pixel>(run);
}

// The box of a node of integers, or one without width.
Box box_of(const SeparableQuestion& q) {
  const Separable& separable = std::get<Separable>(q.node.primitive);
  if (q.level == CpuLevel::baseline || !is_integer(q.in) || q.node.cls == PixelClass::logical ||
      (separable.border == Border::constant && q.arguments.last() != 0)) {
    return {};
  }
  return box_of(separable, q.arguments.in_float);
}

}  // namespace

bool has_small_box(const SeparableQuestion& q) {
  if (q.in != PixelClass::uint8 || q.node.cls != PixelClass::uint8) return false;
  Box box = box_of(q);
  if (box.width > 0) find_factor(box);
  return box.factor != 0;
}

bool has_running_box(const SeparableQuestion& q) {
  return std::get<Separable>(q.node.primitive).any_order && box_of(q).width > 0 &&
         (q.node.cls == PixelClass::single || q.node.cls == q.in);
}

void run_small_box(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  Box box = box_of(std::get<Separable>(node.primitive), arguments.in_float);
  find_factor(box);
  run_small({box, node, in, region, out, scratch, level});
}

void run_running_box(const Node& node, const Arguments& arguments, const TileImage& in,
                     const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Box box = box_of(std::get<Separable>(node.primitive), arguments.in_float);
  const BoxRun run{box, node, in, region, out, scratch, level};
  constexpr int most_rows = 257;  // of bytes, whose sums fit 16 bits
  if (in.cls == PixelClass::uint16) return run_box_to<std::uint16_t, std::uint32_t>(run);
  box.height <= most_rows ? run_box_to<std::uint8_t, std::uint16_t>(run)
                          : run_box_to<std::uint8_t, std::uint32_t>(run);
}
#else
bool has_small_box(const SeparableQuestion&) { return false; }
bool has_running_box(const SeparableQuestion&) { return false; }
void run_small_box(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                   Scratch&, CpuLevel) {}
void run_running_box(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                     Scratch&, CpuLevel) {}
#endif

}  // namespace impipe::cpu
