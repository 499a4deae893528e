// Into which tiles an image is cut.
#include "backends/cpu/tile/tiles.hpp"

#include <algorithm>

#include "backends/cpu/tile/sink.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

// Of a thin image's tiles: what a thread keeps of a tile's rows stays small.
constexpr std::int64_t max_side = 8192;
// What a tile's planes may have between the points of a kernel: some of the L2 cache, as rows of
// the input and of the results go through it too.
constexpr std::int64_t l2_bytes = 128 << 10;

// Equal parts of at most `most`, multiples of a unit.
std::int64_t part(std::int64_t length, std::int64_t most, std::int64_t unit) {
  const std::int64_t parts = (length + most - 1) / most;
  const std::int64_t each = (length + parts - 1) / parts;
  return (each + unit - 1) / unit * unit;
}

// Of a kernel of points: bytes a pixel of the planes that are made on the way to its results.
std::int64_t bytes_between(const KernelSpec& spec) {
  std::int64_t bytes = 0;
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    const Node& node = spec.nodes[n];
    const bool leaves = std::find(spec.outputs.begin(), spec.outputs.end(), static_cast<int>(n)) !=
                        spec.outputs.end();
    if (!node.is_measure && !leaves) bytes += bytes_of(node.cls);
  }
  return bytes;
}

}  // namespace

Region TileGrid::region(std::int64_t tile) const {
  const std::int64_t x = tile % across() * width, y = tile / across() * height;
  return {x, y, std::min(x + width, image.width), std::min(y + height, image.height)};
}

TileGrid tiles_for(const KernelSpec& spec, Size size, int threads, std::int64_t groups) {
  std::int64_t halo_x = 0, halo_y = 0;
  std::int64_t kept = 0;  // bytes of a pixel in the planes that are kept together
  bool transposes = false, measures = false;
  for (const Node& node : spec.nodes) {
    const Footprint f = facts_of(node).footprint;
    halo_x += f.left + f.right;
    halo_y += f.up + f.down;
    // Channels that are mixed; those of the input are read where they are.
    const bool made = std::any_of(node.images.begin(), node.images.end(),
                                  [](const Operand& image) { return !image.external; });
    if (made && node.images.size() > 2 && groups == 1) {
      for (const Operand& image : node.images) {
        kept += image.external ? 0 : bytes_of(spec.nodes[image.index].cls);
      }
    }
    const auto* permute = std::get_if<Permute>(&node.primitive);
    measures = measures || node.is_measure;
    transposes = transposes || (permute != nullptr && permute->transpose);
  }
  std::int64_t width = 4096, height = cell_side;
  const std::int64_t unit = measures ? cell_side : 1;  // of heights
  if (transposes) {
    width = height = 256;
  } else if (halo_x + halo_y > 0) {
    // A halo costs at most about an eighth in each direction; what is kept of a tile takes no more
    // than one plane of floats.
    constexpr std::int64_t plane_width = 2048, plane_pixel = sizeof(float);
    width = std::max(plane_width * plane_pixel / std::max(kept, plane_pixel), 8 * halo_x);
    height = std::max<std::int64_t>(64, 8 * halo_y);
  } else if (const std::int64_t between = bytes_between(spec); between > 0) {
    // Those of a tile stay in the L2 cache: low tiles, or where cells are summed narrow ones.
    const std::int64_t most = std::max(l2_bytes / between, 64 * cell_side);
    width = measures ? std::min(width, most / cell_side) : width;
    height =
        measures ? height : std::clamp(most / std::min(width, size.width), std::int64_t{1}, height);
  }
  // Of a thin image a tile takes as many pixels, not a few of them: each tile has its own cost.
  const std::int64_t pixels = std::min(width * height, groups * size.pixels() / (4 * threads));
  const std::int64_t wide = std::min(max_side, pixels / std::min(size.height, height));
  const std::int64_t tall = std::min(max_side, pixels / std::min(size.width, width));
  width = std::max({width, cell_side, wide});
  height = std::max(height, tall);
  TileGrid grid{size, part(size.width, width, cell_side), part(size.height, height, unit)};
  // Every thread gets several, so that uneven ones balance; fewer where low tiles would spend more
  // on their halos than that gains.
  const auto wanted = [&] { return threads * (grid.height > 6 * halo_y ? 4 : 2); };
  while (threads > 1 && groups * grid.count() < wanted() && grid.height > cell_side) {
    grid.height = part(size.height, grid.height - cell_side, unit);
  }
  return grid;
}

}  // namespace impipe::cpu
