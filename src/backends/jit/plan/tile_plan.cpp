// Decides whether one kernel makes both passes of a node.
#include "backends/jit/plan/tile_plan.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

// Values of a window that registers hold beside the sums.
constexpr int max_window = 56;

// Of an extremum: a work-item's window is the whole column and few rows more.
constexpr int max_extremum_rows = 33;

int multiple_of_4(int n) { return (n + 3) / 4 * 4; }

bool is_narrow(const KernelContext& of, const Node& node) {
  return bytes_of(of.cls(node.images[0])) < 4;
}

std::optional<TileSize> tile_size(const KernelContext& of, const Planes& planes,
                                  const Passes& passes, const Node& node) {
  const Operand& image = node.images[0];
  const Footprint row = passes.row.footprint(), column = passes.column.footprint();
  if (row.left < 0 || row.right < 0 || column.up < 0 || column.down < 0) return {};
  TileSize size;
  size.px = passes.sums ? 4 : 1;
  size.across = 64 / size.px;
  // Wide tiles read less beside them, tall ones less above: what counts depends on the class.
  const bool wide = passes.sums && !is_narrow(of, node) && passes.column.height <= short_column;
  if (wide) size.across *= 2;
  // Bytes are converted for every window they are in: wide windows share that.
  const bool narrow = is_narrow(of, node);
  const int halo = multiple_of_4(row.left) + multiple_of_4(row.right);
  size.row_px = narrow || !passes.sums ? 8 : 4;
  if (size.row_px + halo > max_window) size.row_px = 4;
  if (size.row_px + halo > max_window) return {};
  for (const int py : {16, 8, 6, 4, 2, 1}) {
    size.py = py;
    size.rows = size.height() + column.up + column.down;
    const bool fits = passes.sums ? py * size.px <= 32 && py <= 8
                                  : py <= 16 && py + column.up + column.down <= 48;
    const std::int64_t made =
        made_here(of, planes, image)
            ? point_tile(of, image, size, passes).local_bytes(of, planes, image)
            : 0;
    const std::int64_t bytes = std::int64_t{4} * size.rows * size.width();
    if (fits && bytes + made <= of.tuning.local_bytes) return size;
  }
  return {};
}

constexpr int no_passes = -2;

// The node with two passes that makes an operand with points; -1: no kernel can make it so.
int inner_of(const KernelContext& of, const Planes& planes, const Operand& operand) {
  if (planes.has(operand)) return no_passes;
  const Node& node = of.node(operand.index);
  if (const auto passes = Passes::of(node)) {
    return only_points(of, planes, node.images[0]) && tile_size(of, planes, *passes, node)
               ? operand.index
               : -1;
  }
  const auto* point = as<Point>(node);
  if (point == nullptr || point->lookup) return -1;
  int found = no_passes;
  for (const Operand& image : node.images) {
    const int inner = inner_of(of, planes, image);
    if (inner == no_passes || inner == found) continue;
    if (found != no_passes || inner < 0) return -1;
    found = inner;
  }
  return found;
}

}  // namespace

std::optional<Passes> Passes::of(const Node& node) {
  if (const auto* s = as<Separable>(node)) {
    if (!stays(*s)) return {};
    return Passes{s->row, s->column, s->border, true};
  }
  const auto* e = as<Extremum>(node);
  if (e == nullptr || node.cls != PixelClass::single || !e->mask.full()) return {};
  const Mask& m = e->mask;
  if (m.height > max_extremum_rows) return {};
  return Passes{{m.width, 1, m.origin_x, 0, std::vector<std::uint8_t>(m.width, 1)},
                {1, m.height, 0, m.origin_y, std::vector<std::uint8_t>(m.height, 1)},
                Border::absent,
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
  const int inner = inner_of(of, others, {false, n});
  if (inner < 0) return std::nullopt;
  const Node& node = of.node(inner);
  return TwoPasses{inner, tile_size(of, others, *Passes::of(node), node).value()};
}

}  // namespace impipe::jit
