// Separable sums of gray bytes to bytes. A vector holds every fourth pixel, four vectors make a
// block: a pixel's neighbour is in the same place of the next vector, so that the row pass moves
// no values along, and the codes of four vectors are put together by shifts.
#include "backends/cpu/neighbourhood/separable_bytes.hpp"

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/neighbourhood.hpp"
#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr int phases = 4;
constexpr int max_taps = 32;

// What an instruction set brings along.
struct Passes {
  std::int64_t block;  // pixels
  int rows;            // of results that the column pass makes at once
  void (*row)(float* out, const std::uint8_t* in, const float* weights, int taps, std::int64_t n);
  void (*column)(std::byte* const* out, const float* const* in, const float* weights, int taps,
                 std::int64_t n);
  void (*column_rows)(std::byte* const* out, const float* const* in, const float* weights, int taps,
                      std::int64_t n);
};
constexpr int max_rows = 4;

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/separable_bytes.inc"
#include "backends/cpu/simd/vector_levels.inc"

const Passes& passes_of(CpuLevel level) { return level == CpuLevel::v4 ? v4::passes : v3::passes; }

void run_strip(const Separable& separable, const Arguments& arguments, const TileImage& in,
               const PrimitiveFacts& facts, const Region& region, TileOut out, Scratch& scratch,
               const Passes& passes, CpuLevel level) {
  const ScratchScope scope(scratch);
  const std::int64_t n = region.width();
  const int taps = separable.row.width, column_taps = separable.column.height;
  const float* weights = arguments.in_float.data();
  const Outside outside{separable.border, arguments.last()};
  const Region wanted = under(facts, region);
  const Region read = inside({0, wanted.y0, 1, wanted.y1}, {1, in.size.height}, separable.border);
  // The row pass's image: blocks, the last one whole.
  const std::int64_t padded = (n + passes.block - 1) / passes.block * passes.block;
  const Region made{region.x0, read.y0, region.x0 + padded, read.y1};
  const std::int64_t stride = padded * static_cast<std::int64_t>(sizeof(float));
  std::byte* data = scratch.take<std::byte>(stride * made.height());
  const TileImage intermediate{data, stride, made, {made.x1, in.size.height}, PixelClass::single};
  RowView input(in, {wanted.x0, made.y0, wanted.x1, made.y1}, facts.footprint.left, outside, in.cls,
                scratch, level);
  RowView view(intermediate, {made.x0, wanted.y0, made.x1, wanted.y1}, 0, outside,
               PixelClass::single, scratch, level);
  auto** rows = scratch.take<const float*>(view.height());
  std::int64_t done = 0, known = 0;
  for (std::int64_t y = 0; y < region.height();) {
    const bool several = column_taps + 1 >= passes.rows && y + passes.rows <= region.height();
    const int count = several ? passes.rows : 1;
    // Borders fold rows back by at most what lies outside.
    const std::int64_t end = y + count + column_taps - 1;
    const Region now =
        inside({0, wanted.y0, 1, wanted.y0 + end}, {1, in.size.height}, separable.border);
    for (; done < std::min(now.y1 - made.y0, made.height()); ++done) {
      const std::byte* from = input.row(done) - facts.footprint.left;
      passes.row(reinterpret_cast<float*>(data + done * stride),
                 reinterpret_cast<const std::uint8_t*>(from), weights, taps, n);
    }
    for (; known < end; ++known) rows[known] = view.float_row(known);
    std::byte* to[max_rows] = {};
    for (int k = 0; k < count; ++k) to[k] = out.data + (y + k) * out.stride;
    (several ? passes.column_rows : passes.column)(to, rows + y, weights + taps, column_taps, n);
    y += count;
  }
}

}  // namespace

bool has_separable_bytes(const SeparableQuestion& q) {
  const Separable& separable = std::get<Separable>(q.node.primitive);
  return q.level != CpuLevel::baseline && bytes_of(q.in) == 1 && q.node.cls == PixelClass::uint8 &&
         separable.row.full() && separable.column.full() && separable.row.width <= max_taps &&
         q.width >= passes_of(q.level).block &&
         (separable.border != Border::constant || is_code(q.arguments.last(), PixelClass::uint8));
}

void run_separable_bytes(const Node& node, const Arguments& arguments, const TileImage& in,
                         const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Separable& separable = std::get<Separable>(node.primitive);
  const PrimitiveFacts facts = facts_of(node);
  // Rows at the image's sides are copied to have their neighbours; the others are read in place.
  constexpr std::int64_t side = 64;
  const bool sides = region.width() >= 4 * side;
  const std::int64_t middle = sides ? region.x0 + side : region.x1;
  const std::int64_t last = sides ? region.x1 - side : region.x1;
  for (const auto& [x0, x1] : {std::pair{region.x0, middle}, {middle, last}, {last, region.x1}}) {
    if (x0 == x1) continue;
    run_strip(separable, arguments, in, facts, {x0, region.y0, x1, region.y1},
              {out.data + (x0 - region.x0), out.stride}, scratch, passes_of(level), level);
  }
}
#else
bool has_separable_bytes(const SeparableQuestion&) { return false; }
void run_separable_bytes(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                         Scratch&, CpuLevel) {}
#endif

}  // namespace impipe::cpu
