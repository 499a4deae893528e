// Decides whether one kernel makes both passes of a node - separable filters, and rectangles of
// extrema that are not small - with the row pass of a tile in local memory. No text is written
// here.
#pragma once

#include <optional>
#include <vector>

#include "backends/jit/plan/point_plan.hpp"

namespace impipe::jit {

inline constexpr int tile_items = 256;  // work-items of a group
inline constexpr int short_column = 9;  // taps

// What the two passes of a node are.
struct Passes {
  Mask row, column;
  Border border = Border::absent;
  bool sums = false;       // weighted sums; else extrema
  bool any_order = false;  // of sums: see Separable

  static std::optional<Passes> of(const Node& node);
  bool operator==(const Passes&) const = default;
};

// A tile: `across` work-items side by side make px pixels each, and py rows.
struct TileSize {
  int across = 0, px = 0, py = 0;
  int row_px = 0;         // pixels a work-item makes in the row pass
  int rows = 0;           // of the row pass
  bool streamed = false;  // windows are longer than registers hold: loops go along them
  int down() const { return tile_items / across; }
  int width() const { return across * px; }
  int height() const { return down() * py; }
  int vectors() const { return rows * width() / 4; }  // of four floats: those of the row pass
};

// Of the pixels that points make for the row pass.
PointTile point_tile(const KernelContext& of, const Operand& image, const TileSize& size,
                     const Passes& passes);

// The nodes with two passes that a node is made of, itself or with points after them: one, or
// several that are alike, channels that a point mixes. A tile makes those one after the other, or
// each has a tile of its own: with one barrier for all, and one load for those of one plane.
struct TwoPasses {
  std::vector<int> inners;
  TileSize size;
  bool together = false;         // each in a tile of its own
  std::vector<int> beside = {};  // other nodes of them, which are stored too
};
// Nothing where no kernel can make both passes.
std::optional<TwoPasses> two_passes_of(const KernelContext& of, const Planes& planes, int n);

}  // namespace impipe::jit
