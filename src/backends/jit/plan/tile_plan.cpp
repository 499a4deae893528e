// Decides whether one kernel makes both passes of a node.
#include "backends/jit/plan/tile_plan.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

// Values of a window that registers hold beside the sums.
constexpr int max_window = 56;

// Nodes that a tile makes one after the other: registers keep what they make, codes packed. Long
// columns pay for larger blocks, with which fewer groups are at once.
constexpr std::size_t max_in_turn = 4;
constexpr int full_block = 32, large_block = 24, small_block = 16;

// Of an extremum: a work-item's window is the whole column and few rows more.
constexpr int max_extremum_rows = 33;

// Of a tile for which a kernel asks, so that three groups fit on a processor.
constexpr std::int64_t max_bytes_of_three = 72 * 1024;

int multiple_of_4(int n) { return (n + 3) / 4 * 4; }

// What the row pass of a node reads where a tile makes several: a plane, or one that points make
// its pixels of on the way to the window: of its bytes, or in a few steps.
std::optional<Operand> read_in_turn(const KernelContext& of, const Planes& planes, int n) {
  const Operand& image = of.node(n).images[0];
  if (!made_here(of, planes, image)) return image;
  const std::optional<Operand> codes = coded_by(of, planes, image);
  if (codes && planes.has(*codes)) return codes;
  return takes_few_steps(of, image.index) ? std::optional(of.node(image.index).images[0])
                                          : std::nullopt;
}

// Long windows: rows of the row pass, at most, for one of the tile.
constexpr int max_rows_for_one = 3;

// Whether sums go along windows of any length.
bool can_be_streamed(const KernelContext& of, const Planes& planes, const Passes& passes,
                     const Operand& image, int count) {
  return passes.sums && passes.row.full() && passes.column.full() &&
         (count > 1 || !made_here(of, planes, image));
}

// read: by the row pass. count: of the nodes that a tile makes, whose pixels are kept until all are
// made. tables: bytes of local memory of those for points after them.
std::optional<TileSize> tile_size(const KernelContext& of, const Planes& planes,
                                  const Passes& passes, const Node& node, const Operand& read,
                                  int count, std::int64_t tables) {
  const Operand& image = node.images[0];
  const Footprint row = passes.row.footprint(), column = passes.column.footprint();
  if (row.left < 0 || row.right < 0 || column.up < 0 || column.down < 0) return {};
  TileSize size;
  size.px = passes.sums ? 4 : 1;
  size.across = 64 / size.px;
  // Wide tiles read less beside them, tall ones less above: what counts depends on the class.
  const bool narrow = bytes_of(of.cls(read)) < 4;
  const bool wide = passes.sums && !narrow && passes.column.height <= short_column;
  if (wide) size.across *= 2;
  // Bytes are converted for every window they are in: wide windows share that.
  const int halo = multiple_of_4(row.left) + multiple_of_4(row.right);
  size.row_px = narrow || !passes.sums ? 8 : 4;
  if (size.row_px + halo > max_window) size.row_px = 4;
  if (size.row_px + halo > max_window) {
    if (!can_be_streamed(of, planes, passes, image, count)) return {};
    size.streamed = true;
    size.row_px = 8;
  }
  const bool fused = count == 1 && made_here(of, planes, image);
  std::int64_t most = fused ? of.tuning.fused_bytes : of.tuning.local_bytes;
  if (size.streamed) most = std::max(most, std::min(of.tuning.max_local_bytes, max_bytes_of_three));
  const int block = count == 1 || bytes_of(node.cls) == 1              ? full_block
                    : passes.column.height > short_column && count < 4 ? large_block
                                                                       : small_block;
  for (const int py : {16, 8, 6, 4, 2, 1}) {
    size.py = py;
    size.rows = size.height() + column.up + column.down;
    const bool fits = passes.sums ? py * size.px <= block && py <= 8
                                  : py <= 16 && py + column.up + column.down <= 48;
    const std::int64_t made =
        fused ? point_tile(of, image, size, passes).local_bytes(of, planes, image) : 0;
    const std::int64_t bytes = std::int64_t{4} * size.rows * size.width();
    const bool few = !size.streamed || size.rows <= max_rows_for_one * size.height();
    if (fits && few && bytes + made + tables <= most) return size;
  }
  return {};
}

// Whether tiles of one size make both nodes, one after the other.
bool alike(const KernelContext& of, const Planes& planes, int n, int other) {
  const auto passes = [&](int of_node) { return Passes::of(of.node(of_node)); };
  const auto read = read_in_turn(of, planes, n), other_read = read_in_turn(of, planes, other);
  return of.node(n).cls == of.node(other).cls && read && other_read &&
         of.cls(*read) == of.cls(*other_read) && passes(n) == passes(other);
}

// Adds the nodes with two passes that make an operand with points; false: no kernel can make it so.
bool collect(const KernelContext& of, const Planes& planes, const Operand& operand,
             std::vector<int>& inners) {
  if (planes.has(operand)) return true;
  const Node& node = of.node(operand.index);
  if (Passes::of(node)) {
    if (!only_points(of, planes, node.images[0])) return false;
    if (std::find(inners.begin(), inners.end(), operand.index) != inners.end()) return true;
    inners.push_back(operand.index);
    return inners.size() == 1 || alike(of, planes, inners.front(), operand.index);
  }
  const auto* point = as<Point>(node);
  return point != nullptr && !point->lookup &&
         std::all_of(node.images.begin(), node.images.end(),
                     [&](const Operand& image) { return collect(of, planes, image, inners); });
}

}  // namespace

std::optional<Passes> Passes::of(const Node& node) {
  if (const auto* s = as<Separable>(node)) {
    if (!stays(*s)) return {};
    return Passes{s->row, s->column, s->border, true, s->any_order};
  }
  const auto* e = as<Extremum>(node);
  if (e == nullptr || node.cls != PixelClass::single || !e->mask.full()) return {};
  const Mask& m = e->mask;
  if (m.height > max_extremum_rows) return {};
  return Passes{{m.width, 1, m.origin_x, 0, std::vector<std::uint8_t>(m.width, 1)},
                {1, m.height, 0, m.origin_y, std::vector<std::uint8_t>(m.height, 1)},
                Border::absent,
                false,
                false};
}

PointTile point_tile(const KernelContext& of, const Operand& image, const TileSize& size,
                     const Passes& passes) {
  const Footprint row = passes.row.footprint(), column = passes.column.footprint();
  return {bytes_of(of.cls(image)),
          {size.width(), size.height()},
          {row.left, row.right, column.up, column.down}};
}

std::optional<TwoPasses> two_passes_of(const KernelContext& of, const Planes& planes, int n) {
  const Planes others = planes.without(n);
  TwoPasses two;
  if (!collect(of, others, {false, n}, two.inners) || two.inners.empty()) return std::nullopt;
  const bool several = two.inners.size() > 1;
  if (two.inners.size() > max_in_turn) return std::nullopt;
  const Node& first = of.node(two.inners[0]);
  const Operand read = several ? *read_in_turn(of, others, two.inners[0]) : first.images[0];
  const std::optional<TileSize> size =
      tile_size(of, others, *Passes::of(first), first, read, static_cast<int>(two.inners.size()),
                table_bytes * tables_of(of, others, {false, n}));
  if (!size) return std::nullopt;
  two.size = *size;
  const auto count = static_cast<std::int64_t>(two.inners.size());
  two.together = several && 16 * count * size->vectors() <=
                                std::min(max_bytes_of_three, of.tuning.max_local_bytes);
  return two;
}

}  // namespace impipe::jit
