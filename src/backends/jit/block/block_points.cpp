// Points before a neighbourhood: the group makes its pixels of them, and those around, in local
// memory, each once. No plane has them.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// Text that stores the pixels `array` of a vector of the tile `name`. outside: the value that rows
// outside the image have, if they have one.
std::string kept_vector(const Builder& to, const PointTile& tile, const std::string& array,
                        const std::string& name, const std::string& type,
                        const std::string& outside) {
  const int words = tile.px / 4;
  std::string text;
  if (tile.bytes < 4 && !outside.empty()) {
    text = "          if (row != y0) {\n" + to.loop("k", tile.px) + array + "[k] = " + outside +
           ";\n          }\n";
  }
  for (int w = 0; w < words; ++w) {
    const std::string place =
        "          " + name + "[vector * " + number(words) + " + " + number(w) + "]";
    const auto value = [&](int k) { return array + "[" + number(4 * w + k) + "]"; };
    if (tile.bytes == 1) {
      text += place + " = FIRST_BYTES((" + array + " + " + number(4 * w) + "));\n";
      continue;
    }
    for (int k = 0; k < 4; ++k) {
      if (tile.bytes == 4) {
        const std::string number_of = "(" + type + ")" + value(k);
        text += place + "." + "xyzw"[k] + " = " +
                (!outside.empty() ? "row == y0 ? " + number_of + " : " + outside : number_of) +
                ";\n";
      } else if (k % 2 == 0) {
        text += place + (k == 0 ? ".x" : ".y") + " = (uint)" + value(k) + " | (uint)" +
                value(k + 1) + " << 16;\n";
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

std::string BlockWriter::points_in_tile(Builder& to, const KernelPlan& plan, int root, int items,
                                        const PointTile& tile, const Operand& operand,
                                        const std::string& name, const std::string& type,
                                        Border border, const std::string& outside) {
  BlockWriter points(to, plan, root, {.px = tile.px, .py = 1, .points = true}, operand);
  points.items_ = items;
  const std::string array = points.centre(operand);
  const int words = tile.px / 4;
  const int across = tile.width / tile.px, vectors = across * tile.rows;
  const int reach = tile.reach.left + tile.reach.right;
  const bool filled_outside = border == Border::constant || border == Border::absent;
  const auto keep = [&](bool at_edge) {
    return kept_vector(to, tile, array, name, type, at_edge && filled_outside ? outside : "");
  };
  const std::string width = to.width(operand), height = to.height(operand);
  // Long text does not stay with the processor.
  const std::string unroll =
      points.tabled(operand.index) || !to.tuning().unroll ? to.unroll() : "#pragma unroll 2\n";
  const std::string rule(name_of(filled_outside ? Border::replicate : border));
  return filled(part(kernels::block, "points"),
                {{"word", vector_type(tile, type)},
                 {"element", type},
                 {"name", name},
                 {"count", number(vectors * words)},
                 {"tables", points.tables_},
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
                 {"make", "          const int y = y0, x_load = x0, r = 0;\n" +
                              points.load_arrays_ + points.load_text_ + points.row_text_},
                 {"keep", keep(false)},
                 {"keep_edge", keep(true)},
                 {"rule", rule},
                 {"beside", number(tile.rows * reach)},
                 {"reach", number(std::max(1, reach))},
                 {"reach_left", number(tile.reach.left)},
                 {"outside", filled_outside ? outside : "row[" + rule + "(x, " + width + ")]"}});
}

Window BlockWriter::window_of_points(const Operand& operand, const Footprint& f, Border border,
                                     const std::string& type, const std::string& outside,
                                     const std::string& name) {
  reaches(f);
  // Whole numbers are the class's own.
  const bool halves = type == "int" && bytes_of(to_.cls(operand)) == 2;
  const PointTile tile(halves ? 2 : 4, group_size(), f);
  const int left = (f.left + 3) / 4 * 4, right = (f.right + 3) / 4 * 4;
  const std::string points = "points_" + name;
  tables_ += points_in_tile(to_, plan_, root_, items_, tile, operand, points,
                            halves ? "ushort" : type, border, outside);
  Window w{name, py_ + f.up + f.down, left + px_ + right, left};
  const std::string width = number(w.width);
  text_ += "  " + type + " " + name + "[" + number(w.rows * w.width) + "];\n" +
           to_.loop("row", w.rows) + "{\n" + to_.loop("q", w.width / 4) + "{\n      const " +
           vector_type(tile, type) + " v = " + points + "[" + place_in_tile(tile, left) +
           " + q];\n";
  for (int k = 0; k < 4; ++k) {
    text_ += "      " + name + "[row * " + width + " + 4 * q + " + number(k) +
             "] = " + element_of(tile, "v", k) + ";\n";
  }
  text_ += "    }\n  }\n";
  return w;
}

void BlockWriter::words_of_points(const Operand& operand, const Footprint& f, Border border,
                                  const std::string& fill, const std::string& own,
                                  WordRows& words) {
  reaches(f);
  const PointTile tile(1, group_size(), f);
  words.array = "points_" + own;
  tables_ += points_in_tile(to_, plan_, root_, items_, tile, operand, words.array, "uchar", border,
                            "(uchar)" + fill);
  words.place = place_in_tile(tile, words.first);
  words.apart = tile.width / 4;
}

std::string BlockWriter::place_in_tile(const PointTile& tile, int left) const {
  return "(ITEM / 32 * " + number(py_) + " + row) * " + number(tile.width / 4) + " + ITEM % 32 * " +
         number(px_ / 4) + " + " + number((tile.halo - left) / 4);
}

}  // namespace impipe::jit
