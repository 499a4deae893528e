// The text of neighbourhoods of packed bytes: rows r and r + py/2 of a block are the
// halves of 32-bit words, so an instruction orders two pixels.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

BlockWriter::WordRows BlockWriter::words_around(const Operand& operand, const Footprint& f,
                                                Border border, const std::string& fill,
                                                const std::string& own) {
  const int row = px_;
  const auto aligned = [&](int pixels) { return (pixels + 3) / 4 * 4; };
  const int first = aligned(f.left), bytes = first + row + aligned(f.right);
  WordRows words{"words_" + own, py_ + f.up + f.down, bytes / 4, first};
  if (plan_.in_groups(operand)) {
    words_of_points(operand, f, border, fill, own, words);
    return words;
  }
  const PlaneText plane = to_.plane(operand);
  const std::string width = to_.width(operand);
  const std::string height = to_.height(operand);
  const std::string at_row = "y0 + r - " + number(f.up);
  const std::string place = words.array + "[r * " + number(words.width) + " + w]";
  const bool filled = border == Border::constant || border == Border::absent;
  const std::string rule(name_of(filled ? Border::replicate : border));
  interior_ = true;
  reaches(f);
  reach_left_ = std::max(reach_left_, first);

  const std::string packed_row = "(" + words.array + " + r * " + number(words.width) + ")";
  const int widest = to_.tuning().load_bytes;
  text_ += "  uint " + words.array + "[" + number(words.rows * words.width) +
           "];\n  if (interior) {\n    GLOBAL const uchar* row = " +
           plane.row("(y0 - " + number(f.up) + ")") + " + x0;\n" + to_.loop("r", words.rows) +
           "{\n" +
           word_access(true, "row", packed_row, -first, bytes - first, row, widest, "      ") +
           "      row += " + plane.stride + ";\n    }\n  } else {\n    const int count = " + width +
           ", at = x0 - " + number(first) + ";\n";
  // Rows outside are read from inside all the same: every load is independent of the others.
  const std::string line = plane.row(rule + "(" + at_row + ", " + height + ")");
  if (filled) {
    text_ += "    int from[" + number(words.width) + "];\n    uint inside[" + number(words.width) +
             "];\n" + to_.loop("w", words.width) +
             "{\n      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);\n"
             "      inside[w] = bytes_inside(at + 4 * w, count);\n    }\n" +
             to_.loop("r", words.rows) + "{\n      GLOBAL const uchar* const row = " + line +
             ";\n      const int outside = " + at_row + " < 0 || " + at_row + " >= " + height +
             ";\n" + to_.loop("w", words.width) +
             "{\n        const uint keep = outside ? 0u : inside[w];\n        " + place +
             " = (*(GLOBAL const uint*)(row + from[w]) & keep) | (" + fill +
             " & ~keep);\n      }\n    }\n  }\n";
    return words;
  }
  if (border == Border::replicate) {
    text_ += words_repeated(words, line) + "  }\n";
    return words;
  }
  const auto gathered = [&](int from, int to) {
    if (from == to) return std::string();  // nothing on that side
    std::string text = "      int at_" + number(from) + "[" + number(to - from) + "];\n" +
                       to_.loop("k", to - from) + "at_" + number(from) + "[k] = " + rule +
                       "(at + k + " + number(from) + ", " + to_.width(operand) + ");\n" +
                       to_.loop("r", words.rows) +
                       "{\n        GLOBAL const uchar* const row = " + line + ";\n";
    for (int w = from / 4; w < to / 4; ++w) {
      text += "        " + packed_row + "[" + number(w) + "] = ";
      for (int k = 0; k < 4; ++k) {
        text += std::string(k == 0 ? "" : " | ") + "(uint)row[at_" + number(from) + "[" +
                number(4 * w - from + k) + "]] << " + number(8 * k);
      }
      text += ";\n";
    }
    return text + "      }\n";
  };
  text_ += "    if (whole) {\n" + to_.loop("r", words.rows) +
           "{\n      GLOBAL const uchar* const row = " + line + " + x0;\n" +
           word_access(true, "row", "(" + packed_row + " + " + number(first / 4) + ")", 0, row, row,
                       widest, "        ") +
           "      }\n" + gathered(0, first) + gathered(first + row, bytes) + "    } else {\n" +
           gathered(0, bytes) + "    }\n  }\n";
  return words;
}

std::string BlockWriter::words_repeated(const WordRows& words, const std::string& line) const {
  const std::string width = std::to_string(words.width);
  return "    int from[" + width + "];\n    uint places[" + width + "];\n" +
         to_.loop("w", words.width) +
         "{\n      from[w] = smaller(larger(at + 4 * w, 0), (count - 1) / 4 * 4);\n"
         "      places[w] = places_repeated(at + 4 * w, count);\n    }\n" +
         to_.loop("r", words.rows) + "{\n      GLOBAL const uchar* const row = " + line + ";\n" +
         to_.loop("w", words.width) + words.array + "[r * " + width +
         " + w] = CHOSEN_BYTES(*(GLOBAL const uint*)(row + from[w]), places[w]);\n    }\n";
}

Window BlockWriter::packed_window(const Operand& operand, const Footprint& f, Border border,
                                  const std::string& fill, const std::string& own, bool clean) {
  packed_rows_.push_back({f, ""});
  const std::string kind = std::string(name_of(border)) + (clean ? " clean " : " ") + fill;
  for (const PackedWindow& known : packed_windows_) {
    if (known.image == operand && known.kind == kind && known.f == f) return known.window;
  }
  const WordRows words = words_around(operand, f, border, fill, own);
  const int half = py_ / 2, left = f.left;
  const Window w{"packed_" + own, half + f.up + f.down, left + px_ + f.right, left};
  packed_windows_.push_back({operand, kind, f, w});
  // A row of results is made as soon as its last packed row is there: few values live at once.
  text_ += "  uint " + w.array + "[" + number(w.rows * w.width) + "];\n";
  const std::string at = "(e + " + number(words.first - left) + ")";
  const auto word = [&](const std::string& row) {
    return words.array + "[" + row + " * " + number(words.width) + " + " + at + " / 4]";
  };
  std::string first = word("row"), second = word("(row + " + number(half) + ")"), loads;
  if (!words.place.empty()) {
    first = "first_" + own + "[" + at + " / 4]";
    second = "second_" + own + "[" + at + " / 4]";
    const std::string width = "[" + number(words.width) + "]";
    loads = "      uint first_" + own + width + ", second_" + own + width + ";\n" +
            to_.loop("w", words.width) + "{\n        first_" + own + "[w] = " + words.array + "[" +
            words.place + " + w];\n        second_" + own + "[w] = " + words.array + "[" +
            words.place + " + " + number(half * words.apart) + " + w];\n      }\n";
  }
  packed_rows_.back().text = loads + to_.loop("e", w.width) + w.array + "[row * " +
                             number(w.width) + " + e] =\n          " +
                             (clean ? "CLEAN_PACKED" : "PACKED") + "_BYTES(" + first + ", " +
                             second + ", " + at + " % 4);\n";
  return w;
}

std::string BlockWriter::run_of_packed(std::map<int, std::string>& known, int length,
                                       const Window& w, const std::string& better,
                                       const std::string& own) {
  const auto found = known.find(length);
  if (found != known.end()) return found->second;
  const int third = (length + 2) / 3;
  int part = std::prev(known.upper_bound(length))->first;
  if (part < third) {
    run_of_packed(known, third, w, better, own);
    part = third;
  }
  const auto at = [&](int elements) {
    return known[part] + "[row * " + std::to_string(w.width) + " + e + " +
           std::to_string(elements) + "]";
  };
  std::string value = better + "(" + at(0) + ", " + at(length - part) + ")";
  if (2 * part < length) value = better + "(" + value + ", " + at(part) + ")";
  const std::string array = "run" + std::to_string(length) + "_" + own;
  text_ += "  uint " + array + "[" + std::to_string(w.rows * w.width) + "];\n";
  packed_rows_.back().text += to_.loop("e", w.width - (length - 1)) + array + "[row * " +
                              std::to_string(w.width) + " + e] = " + value + ";\n";
  return known[length] = array;
}

std::string BlockWriter::extremes_of_packed(const Extremum& extremum, const Window& w,
                                            const std::string& result, const std::string& own) {
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const std::string better = extremum.largest ? "packed_max" : "packed_min";
  std::map<int, std::string> known = {{1, w.array}};
  std::vector<std::string> values;
  for (const Run& run : runs_of(mask)) {
    const std::string array = run_of_packed(known, run.length, w, better, own);
    values.push_back(array + "[" + w.place(run.x, run.y, f.up) + "]");
  }
  // Three at a time.
  std::string text = "uint best = " + values[0] + ";\n";
  for (std::size_t i = 1; i < values.size(); i += 2) {
    const bool two = i + 1 < values.size();
    text += "      best = " + better + "(" + (two ? better + "(" + values[i + 1] + ", " : "") +
            values[i] + (two ? ")" : "") + ", best);\n";
  }
  return for_each_pixel(to_, px_, text + "      " + result + " = best;");
}

void BlockWriter::around_packed(int n, const std::string& name) {
  const Node& node = to_.node(n);
  if (as<Stencil>(node) != nullptr) return sums_of_packed(n, name);
  if (as<Separable>(node) != nullptr) return means_of_packed(n, name);
  const Operand image = node.images[0];
  const std::string own = Builder::name({false, n});
  const std::string result = "made_" + own + "[k]";
  std::string made;
  if (const auto* extremum = as<Extremum>(node)) {
    const Mask& mask = extremum->mask;
    const std::string nothing = extremum->largest                 ? "0u"
                                : node.cls == PixelClass::logical ? "0x1010101u"
                                                                  : "0xffffffffu";
    // A rectangle around its pixel has that of the image's pixels at its edge which lies nearest.
    const bool plain = mask.full();
    const Window w = plain ? packed_window(image, mask.footprint(), Border::replicate, "", own)
                           : packed_window(image, mask.footprint(), Border::absent, nothing, own);
    made = extremes_of_packed(*extremum, w, result, own);
  } else {
    const Rank& rank = *as<Rank>(node);
    const std::string fill = "((uint)" + outside_rank(n, rank) + " * 0x1010101u)";
    made = ranks_of_row(
        rank, packed_window(image, rank.mask.footprint(), rank.border, fill, own),
        {"uint", "order_packed", "packed_min", "packed_max", "mean_packed", "order_three_packed"},
        result, own);
  }
  pair_text_ += "      uint made_" + own + "[" + std::to_string(px_) + "];\n" + made;
  packed_pixels_[own] = "(made_" + own + "[k] & 0xff00ffu)";
  rows_of_made(n, name);
}

void BlockWriter::rows_of_made(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const std::string own = Builder::name({false, n}), made = "made_" + own, words = "word_" + own;
  const int row = px_;
  const std::string quarter = std::to_string(row / 4);
  pair_text_ += "      uint " + words + "[" + std::to_string(row / 2) + "];\n" +
                to_.loop("q", row / 4) + "rows_of_packed(" + made + " + 4 * q, &" + words +
                "[q], &" + words + "[" + quarter + " + q]);\n";
  row_text_ += "  " + type_of(node.cls) + " " + name + "[" + std::to_string(row) + "];\n" +
               to_.loop("k", row) + name + "[k] = (uchar)(" + made + "[k] >> (16 * two));\n";
  in_words_[name] = "(" + words + " + two * " + quarter + ")";
}

std::string BlockWriter::pairs_text(const std::string& array, const PlaneText& plane,
                                    PixelClass cls, const std::string& height) const {
  const int last = reach_.up + reach_.down, lines = py_ / 2 + last;
  const std::string type = "GLOBAL " + type_of(cls) + "*";
  std::string text = "  " + type + " rows[2];\n  rows[0] = " + plane.row("y0") +
                     " + x0;\n  rows[1] = rows[0] + " + number(rows_apart()) + " * " +
                     plane.stride + ";\n" + to_.loop("line", lines) + "{\n";
  for (const PackedRows& rows : packed_rows_) {
    const int above = reach_.up - rows.f.up, count = py_ / 2 + rows.f.up + rows.f.down;
    text += "    {\n    const int row = line - " + number(above) + ";\n" +
            (count == lines
                 ? rows.text
                 : "    if (row >= 0 && row < " + number(count) + ") {\n" + rows.text + "    }\n") +
            "    }\n";
  }
  return text + "    if (line >= " + number(last) + ") {\n      const int r = line - " +
         number(last) + ";\n" + pair_text_ + rows_text(array, plane, cls, height) + "    }\n  }\n";
}

}  // namespace impipe::jit
