// Means of bytes over large rectangles. The sums are whole numbers, so they run: columns of the
// rectangle's height gain a row and lose one, then along the row likewise. What the definition says
// are sums in float32, which round at each step. How far those can be from the exact mean is known,
// and where a half is no nearer the codes are the same; the few pixels that are nearer are summed
// as defined.
#include "backends/cpu/neighbourhood/box_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

struct Box {
  int width = 0, height = 0;
  float row_weight = 0, column_weight = 0;
  bool whole_rows = false;  // of weight 1: their sums are exact
  float scale = 0;          // both weights
  // A mean m in float32 is at most doubt + m (doubt_rate - doubt_curve m) from the defined sum.
  float doubt = 0, doubt_rate = 0, doubt_curve = 0;
  // Of small odd boxes: (sum + cells / 2) * factor >> (16 + shift) is the nearest whole number.
  std::uint32_t factor = 0;
  int shift = 0;
};

// Pixels of a row, from a 0 and then the columns' sums.
using SmallMeans = void (*)(const Box& box, const std::uint16_t* columns, std::uint8_t* out,
                            std::int64_t n);

// What an instruction set brings along.
struct BoxKernels {
  std::int64_t block;  // pixels
  void (*add_row)(std::uint16_t* columns, const std::uint8_t* added, std::int64_t n);
  void (*replace_row)(std::uint16_t* columns, const std::uint8_t* added,
                      const std::uint8_t* removed, std::int64_t n);
  // columns: a 0, then the columns' sums. Makes whole blocks; gives the number of doubtful pixels.
  std::int64_t (*means)(const Box& box, const std::uint16_t* columns, std::uint8_t* out,
                        std::int32_t* doubtful, std::int64_t n);
  SmallMeans (*small_means)(int width);
  std::uint8_t (*defined_mean)(const Box& box, const std::uint8_t* const* rows, std::int64_t x);
};

#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/neighbourhood/box_bytes.inc"
#include "backends/cpu/simd/each_level.inc"

// Of up to 255 cells a sum and the half that rounds it fit in 16 bits, and the defined sum, which
// strays by less than 3e-4, is never as far from the exact mean as that is from a half, 1 / 510.
void find_factor(Box& box) {
  constexpr int largest_side = 15;
  const int cells = box.width * box.height;
  if (cells % 2 == 0 || cells > 255 || std::max(box.width, box.height) > largest_side) return;
  while (cells >> (box.shift + 1) > 0) ++box.shift;
  const std::uint64_t power = std::uint64_t{1} << (16 + box.shift);
  const std::uint64_t factor = (power + static_cast<std::uint64_t>(cells) - 1) / cells;
  // The quotient is the one without the factor's own rounding for every sum.
  const std::uint64_t largest = static_cast<std::uint64_t>(255 * cells + cells / 2);
  if (factor < 65536 && largest * (factor * cells - power) < power) {
    box.factor = static_cast<std::uint32_t>(factor);
  }
}

// The box of a node, or one without width. Each of the n steps of a sum that grows to m rounds by
// at most half an ulp, so by at most u = 2^-24 of the partial sum, which is at most m, and at most
// the step's share of 255: n u m (1 - m / 510) together. That holds for rows, on the average over
// them, and for the column. The exact mean has its own few roundings.
Box box_of(const Separable& separable, std::span<const float> weights) {
  Box box{.width = separable.row.width, .height = separable.column.height};
  if (!separable.row.full() || !separable.column.full()) return {};
  box.row_weight = weights[0];
  box.column_weight = weights[static_cast<std::size_t>(box.width)];
  const auto split = weights.begin() + box.width;
  const auto is_row_weight = [&](float w) { return w == box.row_weight; };
  const auto is_column_weight = [&](float w) { return w == box.column_weight; };
  if (!std::all_of(weights.begin(), split, is_row_weight) ||
      !std::all_of(split, split + box.height, is_column_weight)) {
    return {};
  }
  const double scale = static_cast<double>(box.row_weight) * box.column_weight;
  const double sum = scale * box.width * box.height;
  const bool mean = box.row_weight > 0 && sum > 0.99 && sum < 1 + 1e-5;
  // Sums of a column in 16 bits, of the rectangle exact in float32.
  if (!mean || box.height > 257 || box.width * box.height > 65000) return {};
  box.whole_rows = box.row_weight == 1;
  box.scale = static_cast<float>(scale);
  const int steps = box.height + (box.whole_rows ? 0 : box.width);
  constexpr double unit = 0x1p-24;
  box.doubt = static_cast<float>(8 * unit);
  box.doubt_rate = static_cast<float>((steps + 8) * unit);
  box.doubt_curve = static_cast<float>(steps * unit / 511);
  find_factor(box);
  return box;
}

// Up to which sizes the sums themselves are as fast.
bool is_large(const Box& box) {
  // Of an even number of pixels many means end in a half.
  return box.width * box.height % 2 == 0 ? std::min(box.width, box.height) >= 8
                                         : box.width + box.height >= 14;
}

}  // namespace

namespace {

// Rows are read where they are: beside the image the columns' sums are those of the columns that
// the border puts there. False where these lie in another tile.
bool run_small_box(const Box& box, const BoxKernels& kernels, const Node& node, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Border border = std::get<Separable>(node.primitive).border;
  const Region wanted = under(facts_of(node), region);
  Region there = wanted;
  there.x0 = std::max<std::int64_t>(wanted.x0, 0);
  there.x1 = std::min(wanted.x1, in.size.width);
  const std::int64_t left = there.x0 - wanted.x0, right = wanted.x1 - there.x1;
  const bool beside = left + right > 0;
  if (beside && border == Border::circular && there.width() < in.size.width) return false;
  const ScratchScope scope(scratch);
  RowView view(in, there, 0, {border, 0}, in.cls, scratch, level);
  const auto row = [&](std::int64_t y) {
    return reinterpret_cast<const std::uint8_t*>(view.row(y));
  };
  auto* columns = scratch.take<std::uint16_t>(wanted.width() + 1);
  std::fill_n(columns, wanted.width() + 1, std::uint16_t{0});
  std::uint16_t* inside = columns + 1 + left;
  const auto put_beside = [&](std::int64_t x) {
    const std::int64_t mapped = map_outside(x, in.size.width, border);
    columns[1 + x - wanted.x0] = mapped < 0 ? std::uint16_t{0} : inside[mapped - there.x0];
  };
  const SmallMeans means = kernels.small_means(box.width);
  for (int y = 0; y + 1 < box.height; ++y) kernels.add_row(inside, row(y), there.width());
  for (std::int64_t y = 0; y < region.height(); ++y) {
    const std::uint8_t* added = row(y + box.height - 1);
    if (y == 0) {
      kernels.add_row(inside, added, there.width());
    } else {
      kernels.replace_row(inside, added, row(y - 1), there.width());
    }
    for (std::int64_t x = wanted.x0; x < there.x0; ++x) put_beside(x);
    for (std::int64_t x = there.x1; x < wanted.x1; ++x) put_beside(x);
    means(box, columns, reinterpret_cast<std::uint8_t*>(out.data + y * out.stride), region.width());
  }
  return true;
}

}  // namespace

bool run_box_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                   const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Separable& separable = std::get<Separable>(node.primitive);
  const BoxKernels& kernels = level == CpuLevel::v4 ? v4::kernels : v3::kernels;
  if (level == CpuLevel::baseline || in.cls != PixelClass::uint8 || node.cls != PixelClass::uint8 ||
      region.width() < kernels.block ||
      (separable.border == Border::constant && arguments.last() != 0)) {
    return false;
  }
  const Box box = box_of(separable, arguments.in_float);
  if (box.width == 0) return false;
  if (box.factor != 0 && run_small_box(box, kernels, node, in, region, out, scratch, level)) {
    return true;
  }
  if (!is_large(box)) return false;
  const ScratchScope scope(scratch);
  const std::int64_t n = region.width(), height = region.height();
  const std::int64_t padded = (n + kernels.block - 1) / kernels.block * kernels.block;
  const std::int64_t across = n + box.width - 1;  // columns that are read
  const PrimitiveFacts facts = facts_of(node);
  RowView view(in, under(facts, region), 0, {separable.border, arguments.last()}, in.cls, scratch,
               level);
  auto** rows = scratch.take<const std::uint8_t*>(view.height());
  for (std::int64_t y = 0; y < view.height(); ++y) {
    rows[y] = reinterpret_cast<const std::uint8_t*>(view.row(y));
  }
  auto* columns = scratch.take<std::uint16_t>(padded + box.width + 1);
  std::fill_n(columns, padded + box.width + 1, std::uint16_t{0});
  auto* codes = scratch.take<std::uint8_t>(padded);
  auto* doubtful = scratch.take<std::int32_t>(padded);
  for (int y = 0; y + 1 < box.height; ++y) kernels.add_row(columns + 1, rows[y], across);
  // Where many pixels are doubtful, the sums of all cost less.
  const std::int64_t cells = std::int64_t{box.width} * box.height;
  std::int64_t patience = n * height * (box.width + box.height) / (12 * cells);
  for (std::int64_t y = 0; y < height; ++y) {
    const std::uint8_t* const* window = rows + y;
    if (y == 0) {
      kernels.add_row(columns + 1, window[box.height - 1], across);
    } else {
      kernels.replace_row(columns + 1, window[box.height - 1], window[-1], across);
    }
    const std::int64_t found = kernels.means(box, columns, codes, doubtful, padded);
    for (std::int64_t k = 0; k < found; ++k) {
      const std::int64_t x = doubtful[k];
      if (x >= n) break;
      if (--patience < 0) return false;
      codes[x] = kernels.defined_mean(box, window, x);
    }
    std::memcpy(out.data + y * out.stride, codes, static_cast<std::size_t>(n));
  }
  return true;
}
#else
bool run_box_bytes(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                   Scratch&, CpuLevel) {
  return false;
}
#endif

}  // namespace impipe::cpu
