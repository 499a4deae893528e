// Windows and flips in blocks: a row of the block is a row of the image from any byte on.
#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// The place in direction x (y) from which node n takes its pixel at `place`, perhaps outside.
std::string source(Builder& builder, int n, bool x, const std::string& place, int width) {
  const Node& node = builder.node(n);
  const Operand image = node.images[0];
  if (const auto* permute = as<Permute>(node)) {
    if (!(x ? permute->flip_x : permute->flip_y)) return place;
    return (x ? builder.width(image) : builder.height(image)) + " - " + std::to_string(width) +
           " - (" + place + ")";
  }
  return place + " + " + window_parameter(builder, n, x);
}

// The column of x by the rule; -1 where a constant is.
std::string column_of(Border rule, const std::string& width) {
  const std::string column = std::string(name_of(rule)) + "(x, " + width + ")";
  if (rule == Border::constant) return "x >= 0 && x < " + width + " ? x : -1";
  if (rule != Border::symmetric) return column;
  // Mirrored once needs no division.
  return "x < 0 && x >= -" + width + " ? -1 - x : x >= " + width + " && x < 2 * " + width +
         " ? 2 * " + width + " - 1 - x : " + column;
}

// The bits of the pixel at `place`. in_rows: that the row is one of the image's, where a constant
// lies outside.
std::string pixel_of(Builder& builder, int n, PixelClass cls, const std::string& in_rows) {
  const auto bits = [cls](const std::string& value) {
    return cls == PixelClass::single ? "FLOAT_BITS(" + value + ")" : "(uint)" + value;
  };
  if (in_rows.empty()) return bits("line[place]");
  const std::string outside = converted(cls, "float", outside_value(builder, n, Border::constant));
  return "(place >= 0 && " + in_rows + " ? " + bits("line[place]") + " : " + bits(outside) + ")";
}

}  // namespace

MadeRow moved_row(const Block& block, const Operand& operand, int n, const std::string& name) {
  Builder& builder = block.builder;
  const int px = block.size.px, py = block.size.py;
  const Node& move = builder.node(n);
  const Border rule = rule_of_move(move);
  const PixelClass cls = builder.cls(operand);
  const int bytes = bytes_of(cls);
  const int count = px * bytes / 4, per_word = 4 / bytes;
  const auto* permute = as<Permute>(move);
  const bool backwards = permute != nullptr && permute->flip_x;
  const std::string width = builder.width(operand), height = builder.height(operand);
  const std::string words = "words_" + name;
  const PlaneText plane = builder.plane(operand);
  const bool constant = rule == Border::constant;
  const std::string y = source(builder, n, false, "y0 + r", 1);
  const std::string top = source(builder, n, false, "y0", 1);
  const std::string line_y =
      std::string(name_of(constant ? Border::replicate : rule)) + "(" + y + ", " + height + ")";
  const std::string in_rows = y + " >= 0 && " + y + " < " + height;
  // The element of the image's row that becomes element k.
  const std::string element = backwards ? number(px - 1) + " - k" : "k";
  const std::string words_of_row = "(" + words + " + r * " + number(count) + ")";
  const auto text = [&](const char* name_of_part) {
    return Substitutions(
               {{"from", source(builder, n, true, "x_load", px)},
                {"px", number(px)},
                {"width", width},
                {"loaded", number(bytes == 4 ? count : count + 1)},
                {"stride", plane.stride},
                {"bytes", number(bytes)},
                {"constant", constant ? "1" : "0"},
                {"inside_rows", top + " >= 0 && " + top + " + " + number(py) + " <= " + height},
                {"unroll", builder.unroll()},
                {"py", number(py)},
                {"column", column_of(rule, width)},
                {"pixel", type_of(cls)},
                {"moved_row", plane.row(line_y)},
                {"of_floats", bytes == 4 ? "1" : "0"},
                {"per_word", number(per_word)},
                {"moved_pixel", pixel_of(builder, n, cls, constant ? in_rows : "")},
                {"bits", number(8 * bytes)},
                {"words", words},
                {"words_a_row", number(count)},
                {"all_words", number(py * count)},
                {"name", name},
                {"words_of_row", words_of_row},
                {"moved_word", words_of_row + "[(" + element + ") / " + number(per_word) + "]"},
                {"in_word", "(" + element + ") % " + number(per_word)},
                {"last_word", number(count - 1)}})
        .filled(part(kernels::block, name_of_part));
  };
  MadeRow row{{name}, {}};
  row.text.load_arrays = text("words_moved");
  row.text.loads = braced(text("moved"));
  row.text.rows = text(bytes == 4 ? "floats_moved" : bytes == 2 ? "shorts_moved" : "bytes_moved");
  if (bytes != 1) return row;
  row.places.words = backwards ? "turned_" + name : words_of_row;
  if (backwards) row.text.rows += text("words_turned");
  return row;
}

}  // namespace impipe::jit
