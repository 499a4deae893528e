// A block kernel's text as a value: its parts, in the places where they stand.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "backends/jit/block/row.hpp"
#include "backends/jit/plan/kernel_plan.hpp"
#include "backends/jit/text/builder.hpp"

namespace impipe::jit {

// What the parts of a block kernel share.
struct Block {
  Builder& builder;
  const KernelPlan& plan;
  int root;  // the node that is made, whose plane the kernel does not read
  BlockSize size;
  Operand sized;                 // a value of the result's size
  int items;                     // of a group
  std::vector<int> beside = {};  // other nodes that are made

  // Whether an operand's pixels are read from memory.
  bool is_plane(const Operand& operand) const {
    const bool made = operand.index == root || std::ranges::count(beside, operand.index) > 0;
    return operand.external || (!made && plan.stored(operand.index));
  }
  // The pixels of the blocks of a group.
  Size group_size() const { return {32 * size.px, builder.tuning().group / 32 * size.py}; }
  // Between the rows that share words.
  int rows_apart() const { return size.py / 2 * (size.tile ? builder.tuning().group / 32 : 1); }
};

// The text that makes row `row` of a packed window, with a footprint of its own.
struct PackedRows {
  Footprint f;
  std::string text;
};

struct BlockText {
  std::string tables;  // what the groups make in local memory before their rows
  // Of groups that make tables: all rows of the next block are loaded before the first is made.
  std::string load_arrays = {}, loads = {};
  std::string windows = {};                  // what each block begins with
  std::vector<PackedRows> packed_rows = {};  // what makes a row of packed windows
  std::string pairs = {};                    // what rows r and r + py/2 are made of, packed
  std::string rows = {};                     // what each row r is made of
  bool reads_rows = false;                   // and that reads memory
  bool has_window = false;
  bool tests_interior = false;  // a window of a plane: the kernel says whether it lies inside
  Footprint reach = {};
  int reach_left = 0;  // pixels to the left that aligned loads reach

  // What comes after this.
  BlockText& operator+=(const BlockText& more);
};

// The array of a row of pixels, and where they are there too: its bytes as words; pixel k packed
// with that of row r + py/2, the rest being 0.
struct RowPlaces {
  std::string array, words = {}, packed = {};
};

// A row of pixels and the text that makes it.
struct MadeRow {
  RowPlaces places;
  BlockText text;
};
MadeRow made_row(const std::string& array, const Row& row);

// A window around the block and the text that loads it.
struct LoadedWindow {
  Window window;
  BlockText text;
};

// Where the rows of a block go. height: text of the result's.
struct StoredRow {
  RowPlaces row;
  PlaneText plane;
  PixelClass cls;
  std::string height;
  std::vector<StoredRow> beside = {};  // of the same class, in other planes
};

// The rows of the block's root and of what is made beside it. parts: BlockParts.
template <class Parts>
StoredRow stored_rows(const Block& block, Parts& parts) {
  const auto row_of = [&](int n) {
    const Operand operand{false, n};
    return StoredRow{parts.row_of(operand), block.builder.plane(operand), block.builder.node(n).cls,
                     block.builder.height(operand)};
  };
  StoredRow row = row_of(block.root);
  for (const int n : block.beside) row.beside.push_back(row_of(n));
  return row;
}

// The block's rows r, which start at x0, y0: made, and stored.
std::string rows_text(const Block& block, const BlockText& text, const StoredRow& stored);

// Adds the kernel NAME, for launches for which `wanted` holds. first: stands before the windows.
void write_kernel(const Block& block, const std::string& name, const BlockText& text,
                  const StoredRow& stored, std::function<Size(const LaunchContext&)> size,
                  LaunchTest wanted = nullptr, const std::string& first = "");

}  // namespace impipe::jit
