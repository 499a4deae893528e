// Points before a neighbourhood: the group makes its pixels of them, and those around, in local
// memory, each once. No plane has them.
#include <algorithm>

#include "backends/jit/block/block_parts.hpp"
#include "backends/jit/block/windows.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// Text that stores the pixels `array` of a vector of the tile `name`. outside: the value that rows
// outside the image have, if they have one.
std::string kept_vector(const Builder& builder, const PointTile& tile, const std::string& array,
                        const std::string& name, const std::string& type,
                        const std::string& outside) {
  const int words = tile.px / 4;
  std::string text;
  if (tile.bytes < 4 && !outside.empty()) {
    text = builder.filled(part(kernels::block, "row_outside"),
                          {{"px", number(tile.px)}, {"array", array}, {"code_outside", outside}});
  }
  for (int w = 0; w < words; ++w) {
    const std::string place = name + "[vector * " + number(words) + " + " + number(w) + "]";
    const auto value = [&](int k) { return array + "[" + number(4 * w + k) + "]"; };
    if (tile.bytes == 1) {
      text += assigned(place, "FIRST_BYTES((" + array + " + " + number(4 * w) + "))");
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      if (tile.bytes == 4) {
        const std::string number_of = "(" + type + ")" + value(k);
        text +=
            assigned(place + "." + "xyzw"[k],
                     !outside.empty() ? "row == y0 ? " + number_of + " : " + outside : number_of);
      } else if (k % 2 == 0) {
        text += assigned(place + (k == 0 ? ".x" : ".y"),
                         "(uint)" + value(k) + " | (uint)" + value(k + 1) + " << 16");
      }
    }
  }
  return text;
}

}  // namespace

std::string vector_type(const PointTile& tile, const std::string& type) {
  return tile.bytes == 1 ? "uint" : tile.bytes == 2 ? "uint2" : type + "4";
}

std::string element_of(const PointTile& tile, const std::string& vector, int k) {
  if (tile.bytes == 1) return "BYTE_OF(" + vector + ", " + number(k) + ")";
  if (tile.bytes == 4) return vector + "." + "xyzw"[k];
  const std::string word = vector + (k < 2 ? ".x" : ".y");
  return k % 2 == 0 ? "(" + word + " & 0xffffu)" : "(" + word + " >> 16)";
}

std::string points_in_tile(const Block& block, const PointTile& tile, const Operand& operand,
                           const std::string& name, const std::string& type, Border border,
                           const std::string& outside) {
  Builder& builder = block.builder;
  const int items = block.items;
  Block made = block;
  made.size = {.px = tile.px, .py = 1, .points = true};
  made.sized = operand;
  BlockParts points(made);
  const std::string array = points.row_of(operand).array;
  const BlockText& made_text = points.text();
  const int words = tile.px / 4;
  const int across = tile.width / tile.px, vectors = across * tile.rows;
  const int reach = tile.reach.left + tile.reach.right;
  const bool filled_outside = border == Border::constant || border == Border::absent;
  const auto keep = [&](bool at_edge) {
    return kept_vector(builder, tile, array, name, type, at_edge && filled_outside ? outside : "");
  };
  const std::string width = builder.width(operand), height = builder.height(operand);
  // Long text does not stay with the processor.
  const std::string unroll =
      (!operand.external && block.plan.node(operand.index).codes) || !builder.tuning().unroll
          ? builder.unroll()
          : unroll_pragma(2);
  const std::string rule(name_of(filled_outside ? Border::replicate : border));
  return filled(part(kernels::block, "points"),
                {{"word", vector_type(tile, type)},
                 {"element", type},
                 {"name", name},
                 {"count", number(vectors * words)},
                 {"tables", made_text.tables},
                 {"left", "GROUP_X * " + number(tile.group.width) + " - " + number(tile.halo)},
                 {"top", "GROUP_Y * " + number(tile.group.height) + " - " + number(tile.reach.up)},
                 {"wide", number(tile.width)},
                 {"rows", number(tile.rows)},
                 {"width", width},
                 {"height", height},
                 {"unroll", unroll},
                 {"times", number((vectors + items - 1) / items)},
                 {"items", number(items)},
                 {"vectors", number(vectors)},
                 {"across", number(across)},
                 {"px", number(tile.px)},
                 {"make", made_text.load_arrays + made_text.loads + made_text.rows},
                 {"keep", keep(false)},
                 {"keep_edge", keep(true)},
                 {"rule", rule},
                 {"halo_pixels", number(tile.rows * reach)},
                 {"reach", number(std::max(1, reach))},
                 {"reach_left", number(tile.reach.left)},
                 {"outside", filled_outside ? outside : "row[" + rule + "(x, " + width + ")]"}});
}

LoadedWindow window_of_points(const Block& block, const Operand& operand, const Footprint& f,
                              Border border, const std::string& type, const std::string& outside,
                              const std::string& name) {
  const Builder& builder = block.builder;
  // Whole numbers are the class's own.
  const bool halves = type == "int" && bytes_of(builder.cls(operand)) == 2;
  const PointTile tile(halves ? 2 : 4, block.group_size(), f);
  const int left = (f.left + 3) / 4 * 4, right = (f.right + 3) / 4 * 4;
  const std::string points = "points_" + name;
  const Window w{name, block.size.py + f.up + f.down, left + block.size.px + right, left};
  std::string elements;
  for (int k = 0; k < 4; ++k) {
    elements += assigned(name + "[row * " + number(w.width) + " + 4 * q + " + number(k) + "]",
                         element_of(tile, "v", k));
  }
  return {w,
          {.tables = points_in_tile(block, tile, operand, points, halves ? "ushort" : type, border,
                                    outside),
           .windows = builder.filled(part(kernels::block, "window_of_points"),
                                     {{"type", type},
                                      {"window", name},
                                      {"window_count", number(w.rows * w.width)},
                                      {"window_rows", number(w.rows)},
                                      {"quads", number(w.width / 4)},
                                      {"vector", vector_type(tile, type)},
                                      {"points", points},
                                      {"place_in_tile", place_in_tile(block, tile, left)},
                                      {"elements", elements}}),
           .has_window = true,
           .reach = f}};
}

std::string place_in_tile(const Block& block, const PointTile& tile, int left) {
  return "(ITEM / 32 * " + number(block.size.py) + " + row) * " + number(tile.width / 4) +
         " + ITEM % 32 * " + number(block.size.px / 4) + " + " + number((tile.halo - left) / 4);
}

}  // namespace impipe::jit
