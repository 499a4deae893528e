// Windows of packed codes: rows r and r + py/2 of a block are the halves of 32-bit words, so an
// instruction orders two pixels.
#include <algorithm>

#include "backends/jit/block/windows.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// The words around a block, row by row.
struct WordRows {
  std::string array;
  int rows = 0, width = 0;  // in words
  int first = 0;            // the pixel of a row that is the block's first
  int per_word = 4;         // pixels
  // Where the array is in local memory: of the first word of `row`, and words from row to row.
  std::string place = {};
  int apart = 0;
  BlockText text = {};
};

// Of what points make, in local memory.
void load_words_of_points(const Block& block, const Operand& operand, const Footprint& f,
                          Border border, const std::string& fill, const std::string& own,
                          WordRows& words) {
  const PointTile tile(1, block.group_size(), f);
  words.array = "points_" + own;
  words.text = {.tables = points_in_tile(block, tile, operand, words.array, "uchar", border,
                                         "(uchar)" + fill),
                .has_window = true,
                .reach = f};
  words.place = place_in_tile(block, tile, words.first);
  words.apart = tile.width / 4;
}

// Pixels [begin, end) of each row of words, each from where the border's rule says.
std::string gathered_words(const Substitutions& shared, const std::string& row, int per_word,
                           int begin, int end) {
  if (begin == end) return "";  // nothing on that side
  std::string gather;
  for (int w = begin / per_word; w < end / per_word; ++w) {
    std::vector<std::string> parts;
    for (int k = 0; k < per_word; ++k) {
      parts.push_back("(uint)row[at_" + number(begin) + "[" + number(per_word * w - begin + k) +
                      "]] << " + number(32 / per_word * k));
    }
    gather += assigned(row + "[" + number(w) + "]", joined(parts, " | "));
  }
  return shared.filled(
      part(kernels::block, "words_gathered"),
      {{"begin", number(begin)}, {"gathered", number(end - begin)}, {"gather", gather}});
}

WordRows words_around(const Block& block, const Operand& operand, const Footprint& f, Border border,
                      const std::string& fill, const std::string& own) {
  Builder& to = block.to;
  const int px = block.size.px;
  const int pixel = bytes_of(to.cls(operand)), per_word = 4 / pixel;
  const auto aligned = [&](int pixels) { return (pixels + per_word - 1) / per_word * per_word; };
  const int first = aligned(f.left), pixels = first + px + aligned(f.right);
  WordRows words{"words_" + own, block.size.py + f.up + f.down, pixels / per_word, first, per_word};
  if (block.plan.in_groups(operand)) {
    load_words_of_points(block, operand, f, border, fill, own, words);
    return words;
  }
  const PlaneText plane = to.plane(operand);
  const std::string width = to.width(operand), height = to.height(operand);
  const bool filled_outside = border == Border::constant || border == Border::absent;
  const std::string rule(name_of(filled_outside ? Border::replicate : border));
  const std::string edge_y = "y0 + r - " + number(f.up);
  const std::string row = "(" + words.array + " + r * " + number(words.width) + ")";
  const int widest = to.tuning().load_bytes;
  // Places in a row, in bytes.
  const auto in_bytes = [&](const std::string& place) {
    return pixel == 1 ? place : number(pixel) + " * " + place;
  };
  const auto row_of_bytes = [&](const std::string& y) {
    return pixel == 1 ? plane.row(y) : "(GLOBAL const uchar*)(" + plane.row(y) + ")";
  };
  const std::string at_edge_y = rule + "(" + edge_y + ", " + height + ")";
  const Substitutions shared(Substitutions::Map{
      {"words_array", [&] { return words.array; }},
      {"words_count", [&] { return number(words.rows * words.width); }},
      {"row_words", [&] { return number(words.width); }},
      {"word_rows", [&] { return number(words.rows); }},
      {"top_row", [&] { return row_of_bytes("(y0 - " + number(f.up) + ")"); }},
      {"edge_row", [&] { return row_of_bytes(at_edge_y); }},
      {"edge_pixels", [&] { return plane.row(at_edge_y); }},
      {"pixel", [&] { return std::string(type_of(to.cls(operand))); }},
      {"own_byte", [&] { return in_bytes("x0"); }},
      {"row_bytes", [&] { return in_bytes(width); }},
      {"first_at", [&] { return pixel == 1 ? "at" : "at / " + number(pixel); }},
      {"repeated",
       [&] { return std::string(pixel == 1 ? "places_repeated" : "places_of_halves_repeated"); }},
      {"word_y", [&] { return edge_y; }},
      {"fill", [&] { return fill; }},
      {"stride", [&] { return in_bytes(plane.stride); }},
      {"width", [&] { return width; }},
      {"height", [&] { return height; }},
      {"first_byte", [&] { return number(pixel * first); }},
      {"rule", [&] { return rule; }},
      {"unroll", [&] { return to.unroll(); }},
      {"load_word_row",
       [&] {
         return word_access(true, "row", row, -pixel * first, pixel * (pixels - first), pixel * px,
                            widest);
       }},
      {"load_own_words",
       [&] {
         return word_access(true, "row", "(" + row + " + " + number(first / per_word) + ")", 0,
                            pixel * px, pixel * px, widest);
       }},
  });
  const std::string at_edge =
      filled_outside ? shared.filled(part(kernels::block, "words_filled"))
      : border == Border::replicate
          ? shared.filled(part(kernels::block, "words_repeated"))
          : shared.filled(
                part(kernels::block, "words_by_rule"),
                {{"gather_left", gathered_words(shared, row, per_word, 0, first)},
                 {"gather_right", gathered_words(shared, row, per_word, first + px, pixels)},
                 {"gather_all", gathered_words(shared, row, per_word, 0, pixels)}});
  words.text = {
      .windows = shared.filled(part(kernels::block, "words_window"), {{"words_at_edge", at_edge}}),
      .has_window = true,
      .tests_interior = true,
      .reach = f,
      .reach_left = first};
  return words;
}

}  // namespace

LoadedWindow packed_window(const Block& block, KnownWindows& known, const Operand& operand,
                           const Footprint& f, Border border, const std::string& fill,
                           const std::string& own, bool clean) {
  const std::string kind = std::string(name_of(border)) + (clean ? " clean " : " ") + fill;
  for (const KnownWindow& other : known.packed) {
    if (other.image == operand && other.kind == kind && other.f == f) {
      return {other.window, {.packed_rows = {{f, ""}}}};
    }
  }
  WordRows words = words_around(block, operand, f, border, fill, own);
  const int half = block.size.py / 2;
  const Window w{"packed_" + own, half + f.up + f.down, f.left + block.size.px + f.right, f.left};
  known.packed.push_back({operand, kind, f, w});
  const std::string code = "(e + " + number(words.first - f.left) + ")",
                    of_word = code + " / " + number(words.per_word);
  const bool in_local = !words.place.empty();
  const auto word = [&](const char* which, const std::string& row) {
    return in_local ? std::string(which) + "_" + own + "[" + of_word + "]"
                    : words.array + "[" + row + " * " + number(words.width) + " + " + of_word + "]";
  };
  // A row of results is made as soon as its last packed row is there: few values live at once.
  LoadedWindow loaded{w, std::move(words.text)};
  loaded.text.windows += array_of("uint", w.array, w.rows * w.width);
  loaded.text.packed_rows.push_back(
      {f, filled(part(kernels::block, "packed_window_row"),
                 {{"in_local", in_local ? "1" : "0"},
                  {"own", own},
                  {"row_words", number(words.width)},
                  {"unroll", block.to.unroll()},
                  {"words_array", words.array},
                  {"local_word", words.place},
                  {"half_apart", number(half * words.apart)},
                  {"packed_width", number(w.width)},
                  {"packed_bytes", words.per_word == 2 ? "PACKED_HALVES"
                                   : clean             ? "CLEAN_PACKED_BYTES"
                                                       : "PACKED_BYTES"},
                  {"per_word", number(words.per_word)},
                  {"first_word", word("first", "row")},
                  {"second_word", word("second", "(row + " + number(half) + ")")},
                  {"byte", code}})});
  return loaded;
}

}  // namespace impipe::jit
