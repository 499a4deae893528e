// Into which tiles an image is cut.
#pragma once

#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

struct TileGrid {
  Size image;
  std::int64_t width = 0, height = 0;  // of a tile; where cells are summed, multiples of one
  std::int64_t across() const { return (image.width + width - 1) / width; }
  std::int64_t count() const { return across() * ((image.height + height - 1) / height); }
  Region region(std::int64_t tile) const;
};

// Tiles of results of this size, which `groups` groups of nodes make one by one: intermediates of a
// tile stay in the L2 cache, halos are small beside it, and every thread has some.
TileGrid tiles_for(const KernelSpec& spec, Size size, int threads, std::int64_t groups);

}  // namespace impipe::cpu
