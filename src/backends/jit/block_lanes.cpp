// The text of neighbourhoods of bytes in the lanes of words: rows r and r + py/2 of a block are the
// halves of 32-bit words, so an instruction orders two pixels.
#include <algorithm>

#include "backends/jit/block_writer.hpp"
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/wide_access.hpp"

namespace impipe::jit {

bool takes_lanes(const Builder& to, const IsStored& stored, int n) {
  const Node& node = to.node(n);
  if (as<Extremum>(node) == nullptr && as<Rank>(node) == nullptr) return false;
  const Operand& image = node.images[0];
  return bytes_of(to.cls(image)) == 1 && (image.external || stored(image.index));
}

BlockWriter::Words BlockWriter::words_around(const Operand& operand, const Footprint& f,
                                             Border border, const std::string& fill,
                                             const std::string& own) {
  const int channels = to_.channels(operand), row = px_ * channels;
  const auto number = [](int i) { return std::to_string(i); };
  const auto aligned = [&](int pixels) { return (pixels * channels + 3) / 4 * 4; };
  const int first = aligned(f.left), bytes = first + row + aligned(f.right);
  const Words words{"words_" + own, py_ + f.up + f.down, bytes / 4, first};
  const PlaneText plane = to_.plane(operand);
  const std::string width = to_.width(operand) + (channels == 1 ? "" : " * " + number(channels));
  const std::string height = to_.height(operand);
  const std::string at_row = "y0 + r - " + number(f.up);
  const std::string place = words.array + "[r * " + number(words.width) + " + w]";
  const bool filled = border == Border::constant || border == Border::absent;
  const std::string rule(name_of(filled ? Border::replicate : border));
  interior_ = true;
  reach_ = {std::max(reach_.left, f.left), std::max(reach_.right, f.right),
            std::max(reach_.up, f.up), std::max(reach_.down, f.down)};
  reach_left_ = std::max(reach_left_, (first + channels - 1) / channels);

  const std::string lanes_of_row = "(" + words.array + " + r * " + number(words.width) + ")";
  const int widest = to_.tuning().load_bytes;
  text_ += "  uint " + words.array + "[" + number(words.rows * words.width) +
           "];\n  if (interior) {\n" + loop("r", words.rows) +
           "{\n      GLOBAL const uchar* const row = " + plane.row("(" + at_row + ")") +
           " + (long)x0 * " + number(channels) + ";\n" +
           word_access(true, "row", lanes_of_row, -first, bytes - first, row, widest, "      ") +
           "    }\n  } else {\n    const int count = " + width + ", at = x0 * " + number(channels) +
           " - " + number(first) + ";\n";
  // Rows outside are read from inside all the same: every load is independent of the others.
  const std::string line = plane.row(rule + "(" + at_row + ", " + height + ")");
  if (filled) {
    text_ += "    int from[" + number(words.width) + "];\n    uint inside[" + number(words.width) +
             "];\n" + loop("w", words.width) +
             "{\n      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);\n"
             "      inside[w] = bytes_inside(at + 4 * w, count);\n    }\n" +
             loop("r", words.rows) + "{\n      GLOBAL const uchar* const row = " + line +
             ";\n      const int outside = " + at_row + " < 0 || " + at_row + " >= " + height +
             ";\n" + loop("w", words.width) +
             "{\n        const uint keep = outside ? 0u : inside[w];\n        " + place +
             " = (*(GLOBAL const uint*)(row + from[w]) & keep) | (" + fill +
             " & ~keep);\n      }\n    }\n  }\n";
    return words;
  }
  const std::string column = rule + "_byte" + number(channels);
  // Of an element: its pixel's rule, its own channel.
  to_.body_once(column, "\nFUNCTION int " + column +
                            "(const int element, const int width) {\n"
                            "  const int pixel = (element + 1024 * " +
                            number(channels) + ") / " + number(channels) + " - 1024;\n  return " +
                            rule + "(pixel, width) * " + number(channels) +
                            " + element - pixel * " + number(channels) + ";\n}\n");
  const auto gathered = [&](int from, int to) {
    std::string text = "      int at_" + number(from) + "[" + number(to - from) + "];\n" +
                       loop("k", to - from) + "at_" + number(from) + "[k] = " + column +
                       "(at + k + " + number(from) + ", " + to_.width(operand) + ");\n" +
                       loop("r", words.rows) +
                       "{\n        GLOBAL const uchar* const row = " + line + ";\n";
    for (int w = from / 4; w < to / 4; ++w) {
      text += "        " + lanes_of_row + "[" + number(w) + "] = ";
      for (int k = 0; k < 4; ++k) {
        text += std::string(k == 0 ? "" : " | ") + "(uint)row[at_" + number(from) + "[" +
                number(4 * w - from + k) + "]] << " + number(8 * k);
      }
      text += ";\n";
    }
    return text + "      }\n";
  };
  text_ += "    if (whole) {\n" + loop("r", words.rows) +
           "{\n      GLOBAL const uchar* const row = " + line + " + (long)x0 * " +
           number(channels) + ";\n" +
           word_access(true, "row", "(" + lanes_of_row + " + " + number(first / 4) + ")", 0, row,
                       row, widest, "        ") +
           "      }\n" + gathered(0, first) + gathered(first + row, bytes) + "    } else {\n" +
           gathered(0, bytes) + "    }\n  }\n";
  return words;
}

BlockWriter::Window BlockWriter::lanes(const Operand& operand, const Footprint& f, Border border,
                                       const std::string& fill, const std::string& own) {
  const Words words = words_around(operand, f, border, fill, own);
  const int channels = to_.channels(operand), half = py_ / 2;
  const int left = f.left * channels;
  const Window w{"lanes_" + own, half + f.up + f.down, left + (px_ + f.right) * channels, left,
                 channels};
  const auto number = [](int i) { return std::to_string(i); };
  const std::string at = "(e + " + number(words.first - left) + ")";
  const auto word = [&](const std::string& row) {
    return words.array + "[" + row + " * " + number(words.width) + " + " + at + " / 4]";
  };
  // A row of results is made as soon as its last row of lanes is there: few values live at once.
  text_ += "  uint " + w.array + "[" + number(w.rows * w.width) + "];\n" + "  uint word_" + own +
           "[" + number(py_ * px_ * channels / 4) + "];\n";
  lanes_text_ = loop("e", w.width) + w.array + "[row * " + number(w.width) +
                " + e] =\n          BYTE_LANES(" + word("row") + ", " +
                word("(row + " + number(half) + ")") + ", " + at + " % 4);\n";
  return w;
}

std::string BlockWriter::run_of_lanes(std::map<int, std::string>& known, int length,
                                      const Window& w, const std::string& better,
                                      const std::string& own) {
  const auto found = known.find(length);
  if (found != known.end()) return found->second;
  const int third = (length + 2) / 3;
  int part = std::prev(known.upper_bound(length))->first;
  if (part < third) {
    run_of_lanes(known, third, w, better, own);
    part = third;
  }
  const auto at = [&](int elements) {
    return known[part] + "[row * " + std::to_string(w.width) + " + e + " +
           std::to_string(elements * w.channels) + "]";
  };
  std::string value = better + "(" + at(0) + ", " + at(length - part) + ")";
  if (2 * part < length) value = better + "(" + value + ", " + at(part) + ")";
  const std::string array = "run" + std::to_string(length) + "_" + own;
  text_ += "  uint " + array + "[" + std::to_string(w.rows * w.width) + "];\n";
  lanes_text_ += loop("e", w.width - (length - 1) * w.channels) + array + "[row * " +
                 std::to_string(w.width) + " + e] = " + value + ";\n";
  return known[length] = array;
}

std::string BlockWriter::extremes_of_lanes(const Extremum& extremum, const Window& w,
                                           const std::string& result, const std::string& own) {
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const std::string better = extremum.largest ? "larger_lanes" : "smaller_lanes";
  std::map<int, std::string> known = {{1, w.array}};
  std::vector<std::string> values;
  for (const Run& run : runs_of(mask)) {
    const std::string array = run_of_lanes(known, run.length, w, better, own);
    values.push_back(array + "[" + place_in(w, run.x, run.y, f.up) + "]");
  }
  // Three at a time.
  std::string text = "uint best = " + values[0] + ";\n";
  for (std::size_t i = 1; i < values.size(); i += 2) {
    const bool two = i + 1 < values.size();
    text += "      best = " + better + "(" + (two ? better + "(" + values[i + 1] + ", " : "") +
            values[i] + (two ? ")" : "") + ", best);\n";
  }
  return for_each_pixel(w.channels, text + "      " + result + " = best;");
}

void BlockWriter::around_lanes(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const Operand image = node.images[0];
  const std::string own = Builder::name({false, n});
  const auto number = [](int i) { return std::to_string(i); };
  const int half = py_ / 2, row = px_ * node.channels;
  const std::string result = "made[k]";
  std::string made;
  Footprint f;
  if (const auto* extremum = as<Extremum>(node)) {
    const std::string nothing = extremum->largest                 ? "0u"
                                : node.cls == PixelClass::logical ? "0x1010101u"
                                                                  : "0xffffffffu";
    f = extremum->mask.footprint();
    made = extremes_of_lanes(*extremum, lanes(image, f, Border::absent, nothing, own), result, own);
  } else {
    const Rank& rank = *as<Rank>(node);
    f = rank.mask.footprint();
    const std::string fill = "((uint)" + outside_rank(n, rank) + " * 0x1010101u)";
    made = ranks_of_row(
        rank, lanes(image, f, rank.border, fill, own),
        {"uint", "order_lanes", "smaller_lanes", "larger_lanes", "mean_lanes", "order_three_lanes"},
        result, own);
  }
  const std::string words = "word_" + own, last = number(f.up + f.down);
  text_ += loop("row", half + f.up + f.down) + "{\n" + lanes_text_ + "    if (row >= " + last +
           ") {\n      const int r = row - " + last + ";\n      uint made[" + number(row) + "];\n" +
           made + loop("q", row / 4) + "rows_of_lanes(made + 4 * q, &" + words + "[r * " +
           number(row / 4) + " + q], &" + words + "[(r + " + number(half) + ") * " +
           number(row / 4) + " + q]);\n    }\n  }\n";
  row_text_ += "  " + type_of(node.cls) + " " + name + "[" + number(row) + "];\n" + loop("k", row) +
               name + "[k] = (uchar)(" + words + "[(r * " + number(row) +
               " + k) / 4] >> (8 * ((r * " + number(row) + " + k) % 4)));\n";
  in_words_[name] = words;
}

}  // namespace impipe::jit
