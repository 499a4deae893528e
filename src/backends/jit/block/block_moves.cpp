// Windows and flips in blocks: a row of the block is a row of the image from any byte on.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// The place in direction x (y) from which node n takes its pixel at `place`, perhaps outside.
std::string source(Builder& to, int n, bool x, const std::string& place, int width) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  if (const auto* permute = as<Permute>(node)) {
    if (!(x ? permute->flip_x : permute->flip_y)) return place;
    return (x ? to.width(image) : to.height(image)) + " - " + std::to_string(width) + " - (" +
           place + ")";
  }
  return place + " + " + window_parameter(to, n, x);
}

}  // namespace

void BlockWriter::load_moved(const Operand& operand, const std::string& name) {
  const Node& move = to_.node(move_);
  const Border rule = rule_of_move(move);
  const PixelClass cls = to_.cls(operand);
  const int bytes = bytes_of(cls);
  const int row = px_, count = row * bytes / 4, per_word = 4 / bytes;
  const auto* permute = as<Permute>(move);
  const bool backwards = permute != nullptr && permute->flip_x;
  const std::string width = to_.width(operand), height = to_.height(operand);
  const std::string words = "words_" + name;
  const PlaneText plane = to_.plane(operand);
  const bool constant = rule == Border::constant;
  const std::string y = source(to_, move_, false, "y0 + r", 1);
  const std::string top = source(to_, move_, false, "y0", 1);
  const std::string line_y =
      std::string(name_of(constant ? Border::replicate : rule)) + "(" + y + ", " + height + ")";
  std::string column = std::string(name_of(rule)) + "(x, " + width + ")";
  if (constant) column = "x >= 0 && x < " + width + " ? x : -1";
  if (rule == Border::symmetric) {
    // Mirrored once needs no division.
    column = "x < 0 && x >= -" + width + " ? -1 - x : x >= " + width + " && x < 2 * " + width +
             " ? 2 * " + width + " - 1 - x : " + column;
  }
  std::string pixel = "line[place]";
  pixel = bytes == 4 ? "FLOAT_BITS(" + pixel + ")" : "(uint)" + pixel;
  if (constant) {
    const std::string outside = converted(cls, "float", outside_value(to_, move_, rule));
    pixel = "(place >= 0 && " + y + " >= 0 && " + y + " < " + height + " ? " + pixel + " : " +
            (bytes == 4 ? "FLOAT_BITS(" + outside + ")" : "(uint)" + outside) + ")";
  }
  std::string load;
  if (bytes == 4) {
    load = to_.loop("k", count) + words + "[r * " + number(count) + " + k] = line[k];\n";
  } else {
    load = "        const int shift = (first & 3) * 8;\n        uint low = line[0];\n" +
           to_.loop("k", count) + "{\n          const uint high = line[k + 1];\n          " +
           words + "[r * " + number(count) + " + k] = SHIFTED_WORD(low, high, shift);\n" +
           "          low = high;\n        }\n";
  }
  load_arrays_ += "  uint " + words + "[" + number(py_ * count) + "];\n";
  load_text_ +=
      "    {\n" +
      filled(part(kernels::block, "moved"),
             {{"from", source(to_, move_, true, "x_load", px_)},
              {"px", number(px_)},
              {"width", width},
              {"loaded", number(bytes == 4 ? count : count + 1)},
              {"stride", plane.stride},
              {"bytes", number(bytes)},
              {"constant", constant ? "1" : "0"},
              {"inside_rows", top + " >= 0 && " + top + " + " + number(py_) + " <= " + height},
              {"unroll", to_.unroll()},
              {"py", number(py_)},
              {"column", column},
              {"pixel", type_of(cls)},
              {"moved_row", plane.row(line_y)},
              {"load", load},
              {"per_word", number(per_word)},
              {"moved_pixel", pixel},
              {"bits", number(8 * bytes)},
              {"words", words},
              {"words_a_row", number(count)}}) +
      "    }\n";
  const std::string words_of_row = "(" + words + " + r * " + number(count) + ")";
  // The element of the image's row that becomes element k.
  const std::string element = backwards ? number(px_ - 1) + " - k" : "k";
  const std::string word = words_of_row + "[(" + element + ") / " + number(per_word) + "]";
  const std::string in_word = "(" + element + ") % " + number(per_word);
  row_text_ += "    " + type_of(cls) + " " + name + "[" + number(row) + "];\n" +
               to_.loop("k", row) + name + "[k] = " +
               (bytes == 4   ? "BITS_FLOAT(" + word + ")"
                : bytes == 2 ? "(ushort)(" + word + " >> (" + in_word + ") * 16)"
                             : "(uchar)BYTE_OF(" + word + ", " + in_word + ")") +
               ";\n";
  if (bytes != 1) return;
  if (!backwards) {
    in_words_[name] = words_of_row;
    return;
  }
  const std::string turned = "turned_" + name;
  row_text_ += "    uint " + turned + "[" + number(count) + "];\n" + to_.loop("q", count) + turned +
               "[q] = " + "CHOSEN_BYTES(" + words_of_row + "[" + number(count - 1) +
               " - q], 0x0123u);\n";
  in_words_[name] = turned;
}

}  // namespace impipe::jit
