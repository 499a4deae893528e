// A group's pixels and those around them in local memory, where a work-item makes one pixel.
#pragma once

namespace impipe::jit {

struct PixelTile {
  int columns = 0, rows = 0;     // of the tile
  int halo_x = 0, halo_y = 0;    // of them, to the left of the group's and above
  int group_rows = 0;            // of the group, 32 side by side
  int apart_x = 1, apart_y = 0;  // elements from a column to the next, and from a row
  // Floats, with what the reader's border rule makes of what lies outside the image.
  bool framed = false;
  int elements() const { return (columns - 1) * apart_x + (rows - 1) * apart_y + 1; }
  bool operator==(const PixelTile&) const = default;
};

}  // namespace impipe::jit
