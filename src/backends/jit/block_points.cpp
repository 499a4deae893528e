// Points before a neighbourhood: the group makes its pixels of them, and those around, in local
// memory, each once. No plane has them.
#include <algorithm>

#include "backends/jit/block_writer.hpp"
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/expression.hpp"

namespace impipe::jit {
namespace {

// Vectors of the tile go over the group's work-items; in a group that lies inside the image with
// all of its tile none of them is tested. Columns outside the image are then copied from inside, by
// the border's rule, or get its value, and so do rows.
constexpr const char* fill = R"(  LOCAL $word $name[$count];
$tables  {
    const int left = $left, top = $top;
    if (left >= 0 && left + $wide <= $width && top >= 0 && top + $rows <= $height) {
$unroll      for (int i = 0; i < $times; ++i) {
        const int vector = i * $items + ITEM;
        if (vector < $vectors) {
          const int x0 = left + vector % $across * $px, y0 = top + vector / $across, whole = 1;
$make$keep        }
      }
    } else {
      for (int vector = ITEM; vector < $vectors; vector += $items) {
        const int x0 = left + vector % $across * $px, row = top + vector / $across;
        const int y0 = $rule(row, $height), whole = x0 + $px <= $width;
        if (x0 >= 0 && x0 < $width) {
$make$keep_edge        }
      }
    }
    BARRIER;
    if (left < 0 || left + $wide > $width) {
      IN_LOCAL $element* const pixels = (IN_LOCAL $element*)$name;
      for (int k = ITEM; k < $beside; k += $items) {
        const int j = k % $reach, x = j < $reach_left ? j - $reach_left : $width + j - $reach_left;
        IN_LOCAL $element* const row = pixels + k / $reach * $wide - left;
        if (x >= left && x < left + $wide) row[x] = $outside;
      }
    }
  }
  BARRIER;
)";

}  // namespace

bool made_here(const Builder& to, const IsStored& stored, const Operand& operand) {
  return !operand.external && !stored(operand.index) &&
         as<Point>(to.node(operand.index)) != nullptr;
}

bool only_points(const Builder& to, const IsStored& stored, const Operand& operand) {
  if (operand.external || stored(operand.index)) return true;
  const Node& node = to.node(operand.index);
  const auto images = pixel_images(node);
  return as<Point>(node) != nullptr && !images.empty() &&
         std::all_of(images.begin(), images.end(),
                     [&](const Operand& image) { return only_points(to, stored, image); });
}

bool take_long(const Builder& to, const IsStored& stored, const Operand& made) {
  const std::function<bool(const Operand&)> long_before = [&](const Operand& operand) {
    if (operand.external || stored(operand.index) || coded_by(to, stored, operand)) return false;
    const Node& node = to.node(operand.index);
    const auto* point = as<Point>(node);
    if (point == nullptr) return false;
    bool powers = false, quotients = false;
    if (point->expression != nullptr) {
      for (const ExpressionNode& e : point->expression->nodes()) {
        powers = powers || e.op == ExpressionOp::power;
        quotients = quotients || e.op == ExpressionOp::divide;
      }
    } else if (point->body != nullptr) {
      const std::string_view text = point->body->text;
      powers = text.find("pow(") != text.npos;
      quotients = text.find("over(") != text.npos || text.find(" / ") != text.npos;
    }
    const bool doubles = in_double(to, operand.index);
    if (powers || (doubles && (quotients || pixel_images(node).size() > 2))) {
      return true;
    }
    const auto images = pixel_images(node);
    return std::any_of(images.begin(), images.end(), long_before);
  };
  return long_before(made);
}

PointTile::PointTile(int element_bytes, Size of_group, const Footprint& f)
    : bytes(element_bytes), group(of_group), reach(f) {
  const auto columns = [&](int many) {
    return (std::max(f.left, f.right) + many - 1) / many * many;
  };
  // Many bytes at a time, but where a narrow group would make more columns beside its own for it.
  const int few = 8;
  px = bytes > 1 ? 4 : group.width >= 128 || columns(16) == columns(few) ? 16 : few;
  halo = columns(px);
  width = static_cast<int>(group.width) + 2 * halo;
  rows = static_cast<int>(group.height) + f.up + f.down;
}

std::string PointTile::vector_type(const std::string& type) const {
  return bytes == 1 ? "uint" : bytes == 2 ? "uint2" : type + "4";
}

std::string PointTile::element(const std::string& vector, int k) const {
  if (bytes == 1) return "BYTE_OF(" + vector + ", " + number(k) + ")";
  if (bytes == 4) return vector + "." + "xyzw"[k];
  const std::string word = vector + (k < 2 ? ".x" : ".y");
  return k % 2 == 0 ? "(" + word + " & 0xffffu)" : "(" + word + " >> 16)";
}

std::int64_t PointTile::local_bytes(const Builder& to, const IsStored& stored,
                                    const Operand& operand) const {
  const std::function<int(const Operand&)> tables = [&](const Operand& image) {
    if (image.external || stored(image.index)) return 0;
    if (coded_by(to, stored, image)) return 1;
    int count = 0;
    for (const Operand& before : pixel_images(to.node(image.index))) count += tables(before);
    return count;
  };
  return std::int64_t{bytes} * width * rows + 1024 * tables(operand);
}

void BlockWriter::fill_points(const PointTile& tile, const Operand& operand,
                              const std::string& name, const std::string& type, Border border,
                              const std::string& outside) {
  BlockWriter points(to_, stored_, {.px = tile.px, .py = 1, .points = true}, operand);
  points.items_ = items_;
  const std::string array = points.centre(operand);
  const int elements = tile.px, words = elements / 4;
  const int across = tile.width / tile.px, vectors = across * tile.rows;
  const int reach = tile.reach.left + tile.reach.right;
  const bool filled_outside = border == Border::constant || border == Border::absent;
  const auto keep = [&](bool at_edge) {
    const bool tested = at_edge && filled_outside;
    std::string text;
    if (tile.bytes < 4 && tested) {
      text = "          if (row != y0) {\n" + loop("k", elements) + array + "[k] = " + outside +
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
                  (tested ? "row == y0 ? " + number_of + " : " + outside : number_of) + ";\n";
        } else if (k % 2 == 0) {
          text += place + (k == 0 ? ".x" : ".y") + " = (uint)" + value(k) + " | (uint)" +
                  value(k + 1) + " << 16;\n";
        }
      }
    }
    return text;
  };
  const std::string width = to_.width(operand), height = to_.height(operand);
  // Long text does not stay with the processor.
  const std::string unroll =
      coded_by(to_, stored_, operand) || !to_.tuning().unroll ? to_.unroll() : "#pragma unroll 2\n";
  const std::string rule(name_of(filled_outside ? Border::replicate : border));
  tables_ += filled(
      fill, {{"word", tile.vector_type(type)},
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
             {"times", number((vectors + items_ - 1) / items_)},
             {"items", number(items_)},
             {"vectors", number(vectors)},
             {"across", number(across)},
             {"px", number(tile.px)},
             {"make", "          const int y = y0, x_load = x0, r = 0;\n" + points.load_arrays_ +
                          points.load_text_ + points.row_text_},
             {"keep", keep(false)},
             {"keep_edge", keep(true)},
             {"rule", rule},
             {"beside", number(tile.rows * reach)},
             {"reach", number(std::max(1, reach))},
             {"reach_left", number(tile.reach.left)},
             {"outside", filled_outside ? outside : "row[" + rule + "(x, " + width + ")]"}});
}

BlockWriter::Window BlockWriter::window_of_points(const Operand& operand, const Footprint& f,
                                                  Border border, const std::string& type,
                                                  const std::string& outside,
                                                  const std::string& name) {
  reaches(f);
  // Whole numbers are the class's own.
  const bool halves = type == "int" && bytes_of(to_.cls(operand)) == 2;
  const PointTile tile(halves ? 2 : 4, group_size(), f);
  const int left = (f.left + 3) / 4 * 4, right = (f.right + 3) / 4 * 4;
  const std::string points = "points_" + name;
  fill_points(tile, operand, points, halves ? "ushort" : type, border, outside);
  Window w{name, py_ + f.up + f.down, left + px_ + right, left};
  const std::string width = number(w.width);
  text_ += "  " + type + " " + name + "[" + number(w.rows * w.width) + "];\n" +
           loop("row", w.rows) + "{\n" + loop("q", w.width / 4) + "{\n      const " +
           tile.vector_type(type) + " v = " + points + "[" + place_in_tile(tile, left) + " + q];\n";
  for (int k = 0; k < 4; ++k) {
    text_ += "      " + name + "[row * " + width + " + 4 * q + " + number(k) +
             "] = " + tile.element("v", k) + ";\n";
  }
  text_ += "    }\n  }\n";
  return w;
}

void BlockWriter::words_of_points(const Operand& operand, const Footprint& f, Border border,
                                  const std::string& fill, const std::string& own, Words& words) {
  reaches(f);
  const PointTile tile(1, group_size(), f);
  words.array = "points_" + own;
  fill_points(tile, operand, words.array, "uchar", border, "(uchar)" + fill);
  words.place = place_in_tile(tile, words.first);
  words.apart = tile.width / 4;
}

std::string BlockWriter::place_in_tile(const PointTile& tile, int left) const {
  return "(ITEM / 32 * " + number(py_) + " + row) * " + number(tile.width / 4) + " + ITEM % 32 * " +
         number(px_ / 4) + " + " + number((tile.halo - left) / 4);
}

}  // namespace impipe::jit
