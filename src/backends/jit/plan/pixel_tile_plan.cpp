// Decides which tiles kernels of one pixel a work-item read its neighbours from.
#include "backends/jit/plan/pixel_tile_plan.hpp"

#include <algorithm>

#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

constexpr int across = 32;       // work-items of a group, side by side; banks of local memory
constexpr int line_bytes = 128;  // that a sub-group loads at once

int multiple_of(int factor, int n) { return (n + factor - 1) / factor * factor; }

std::optional<PixelTile> tile_for(const KernelContext& of, PixelClass cls, const Footprint& reach) {
  using Windows = KernelVariant::Windows;
  const Windows windows = of.tuning.variant.windows;
  if (windows == Windows::usual || windows == Windows::pixels) return std::nullopt;
  if (std::min({reach.left, reach.right, reach.up, reach.down}) < 0) return std::nullopt;
  // What a border's rule sends back into the image lies as far on the other side.
  const int x = std::max(reach.left, reach.right), y = std::max(reach.up, reach.down);
  PixelTile tile;
  tile.halo_x = windows == Windows::aligned ? multiple_of(line_bytes / bytes_of(cls), x) : x;
  tile.halo_y = y;
  tile.group_rows = of.tuning.group / across;
  tile.columns = tile.halo_x + across + x;
  tile.rows = tile.group_rows + 2 * y;
  tile.apart_y = tile.columns;
  if (windows == Windows::conflicts) {
    tile.apart_x = multiple_of(across * 4 / bytes_of(cls), tile.rows);
    tile.apart_y = 1;
  }
  const std::int64_t bytes = std::int64_t{bytes_of(cls)} * tile.elements();
  return bytes <= of.tuning.local_bytes ? std::optional(tile) : std::nullopt;
}

}  // namespace

std::optional<PixelTile> pixel_tile_of(const KernelContext& of, const Planes& planes, int n) {
  const Node& node = of.node(n);
  const PrimitiveFacts facts = facts_of(node);
  const auto* stencil = as<Stencil>(node);
  const auto* separable = as<Separable>(node);
  if (!facts.reads_around || facts.border == Border::circular || !planes.has(node.images[0]) ||
      (stencil != nullptr && !stays(*stencil)) || (separable != nullptr && !stays(*separable))) {
    return std::nullopt;
  }
  return tile_for(of, of.cls(node.images[0]),
                  separable != nullptr ? separable->row.footprint() : facts.footprint);
}

std::optional<PixelTile> framed_tile_of(const KernelContext& of, const Planes& planes, int n) {
  constexpr int fewest_pixels = 25;  // of a window: smaller ones are read about as fast from L1
  const Node& node = of.node(n);
  const auto* stencil = as<Stencil>(node);
  if (stencil == nullptr || stencil->body == nullptr || !stays(*stencil) ||
      stencil->border == Border::circular || !planes.has(node.images[0])) {
    return std::nullopt;
  }
  const Footprint f = stencil->footprint();
  if (std::min({f.left, f.right, f.up, f.down}) < 0 ||
      (f.left + 1 + f.right) * (f.up + 1 + f.down) < fewest_pixels) {
    return std::nullopt;
  }
  PixelTile tile{
      .halo_x = f.left, .halo_y = f.up, .group_rows = of.tuning.group / across, .framed = true};
  tile.columns = f.left + across + f.right;
  tile.rows = f.up + tile.group_rows + f.down;
  tile.apart_y = tile.columns;
  const std::int64_t bytes = std::int64_t{4} * tile.elements();
  return bytes <= of.tuning.local_bytes ? std::optional(tile) : std::nullopt;
}

std::optional<PixelTile> pixel_tile_of_columns(const KernelContext& of, int n) {
  const auto& separable = *as<Separable>(of.node(n));
  if (separable.border == Border::circular || !stays(separable)) return std::nullopt;
  return tile_for(of, PixelClass::single, separable.column.footprint());
}

}  // namespace impipe::jit
