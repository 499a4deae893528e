// Windows around blocks, in registers: of a plane, or of what points make in the group's local
// memory; a pixel an element, or packed codes.
#pragma once

#include <string>
#include <vector>

#include "backends/jit/block/block_text.hpp"

namespace impipe::jit {

struct KnownWindow {
  Operand image;
  std::string kind;  // its type; of packed ones border, fill and cleanness
  Footprint f;
  Window window;
};
// That neighbourhoods of one block share.
struct KnownWindows {
  std::vector<KnownWindow> of_pixels, packed;
};

// The window of an operand as `type`, by the border's rule.
LoadedWindow loaded_window(const Block& block, const Operand& operand, const Footprint& f,
                           Border border, const std::string& type, const std::string& outside,
                           const std::string& own);

// Codes of rows r and r + py/2 in 16 bits each, the halves of a word; row after row is made in
// `packed_rows`, whose last one is this window's. clean: bytes whose upper eight bits of each half
// are 0.
LoadedWindow packed_window(const Block& block, KnownWindows& known, const Operand& operand,
                           const Footprint& f, Border border, const std::string& fill,
                           const std::string& own, bool clean = false);

// --- what points make before a neighbourhood, in local memory

// Text by which a group makes the tile of what points make, the local array `name` of elements of
// `type`. block.root: the node of the kernel; block.items: those of the group. outside: text of the
// value that a constant border has.
std::string points_in_tile(const Block& block, const PointTile& tile, const Operand& operand,
                           const std::string& name, const std::string& type, Border border,
                           const std::string& outside);
// Four elements of a tile; type: that of numbers.
std::string vector_type(const PointTile& tile, const std::string& type);
std::string element_of(const PointTile& tile, const std::string& vector, int k);

LoadedWindow window_of_points(const Block& block, const Operand& operand, const Footprint& f,
                              Border border, const std::string& type, const std::string& outside,
                              const std::string& name);
// The place in a tile of a work-item's `row`, from `left` elements before its block on.
std::string place_in_tile(const Block& block, const PointTile& tile, int left);

}  // namespace impipe::jit
