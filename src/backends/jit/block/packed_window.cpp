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

// The rows of a plane around a block, loaded as words. Places in a row are in bytes.
class PlaneWords {
 public:
  PlaneWords(const Block& block, const Operand& operand, Border border, std::string fill,
             const WordRows& words, int up)
      : builder_(block.builder),
        px_(block.size.px),
        words_(words),
        filled_(border == Border::constant || border == Border::absent),
        rule_(name_of(filled_ ? Border::replicate : border)),
        fill_(std::move(fill)),
        pixel_(type_of(builder_.cls(operand))),
        bytes_(4 / words.per_word),
        plane_(builder_.plane(operand)),
        width_(builder_.width(operand)),
        height_(builder_.height(operand)),
        top_("(y0 - " + number(up) + ")"),
        word_y_("y0 + r - " + number(up)),
        edge_y_(rule_ + "(" + word_y_ + ", " + height_ + ")"),
        row_("(" + words.array + " + r * " + number(words.width) + ")") {}

  std::string text() const {
    const Substitutions shared = substitutions();
    const int last = words_.width * words_.per_word;
    const std::string at_edge =
        filled_ ? shared.filled(part(kernels::block, "words_filled"))
        : rule_ == name_of(Border::replicate)
            ? shared.filled(part(kernels::block, "words_repeated"))
            : shared.filled(part(kernels::block, "words_by_rule"),
                            {{"gather_left", gathered(shared, 0, words_.first)},
                             {"gather_right", gathered(shared, words_.first + px_, last)},
                             {"gather_all", gathered(shared, 0, last)}});
    return shared.filled(part(kernels::block, "words_window"), {{"words_at_edge", at_edge}});
  }

 private:
  std::string in_bytes(const std::string& place) const {
    return bytes_ == 1 ? place : number(bytes_) + " * " + place;
  }
  std::string row_of_bytes(const std::string& y) const {
    return bytes_ == 1 ? plane_.row(y) : "(GLOBAL const uchar*)(" + plane_.row(y) + ")";
  }
  // Of pixels from `begin` of the window's on, into the words from `from` on.
  std::string loaded(const std::string& from, int begin, int end) const {
    return word_access(true, "row", from, bytes_ * begin, bytes_ * end, bytes_ * px_,
                       builder_.tuning().load_bytes);
  }
  std::string gathered(const Substitutions& shared, int begin, int end) const {
    return gathered_words(shared, row_, words_.per_word, begin, end);
  }

  Substitutions substitutions() const {
    const int before = words_.first, after = words_.width * words_.per_word - before;
    return Substitutions(Substitutions::Map{
        {"words_array", [this] { return words_.array; }},
        {"words_count", [this] { return number(words_.rows * words_.width); }},
        {"row_words", [this] { return number(words_.width); }},
        {"word_rows", [this] { return number(words_.rows); }},
        {"top_row", [this] { return row_of_bytes(top_); }},
        {"edge_row", [this] { return row_of_bytes(edge_y_); }},
        {"edge_pixels", [this] { return plane_.row(edge_y_); }},
        {"pixel", [this] { return pixel_; }},
        {"own_byte", [this] { return in_bytes("x0"); }},
        {"row_bytes", [this] { return in_bytes(width_); }},
        {"first_at", [this] { return bytes_ == 1 ? "at" : "at / " + number(bytes_); }},
        {"repeated",
         [this] {
           return std::string(bytes_ == 1 ? "places_repeated" : "places_of_halves_repeated");
         }},
        {"word_y", [this] { return word_y_; }},
        {"fill", [this] { return fill_; }},
        {"stride", [this] { return in_bytes(plane_.stride); }},
        {"width", [this] { return width_; }},
        {"height", [this] { return height_; }},
        {"first_byte", [this] { return number(bytes_ * words_.first); }},
        {"rule", [this] { return rule_; }},
        {"unroll", [this] { return builder_.unroll(); }},
        {"load_word_row", [=, this] { return loaded(row_, -before, after); }},
        {"load_own_words",
         [=, this] {
           return loaded("(" + row_ + " + " + number(before / words_.per_word) + ")", 0, px_);
         }},
    });
  }

  Builder& builder_;
  int px_;
  const WordRows& words_;
  bool filled_;  // what lies outside has a value
  std::string rule_, fill_, pixel_;
  int bytes_;  // of a pixel
  PlaneText plane_;
  std::string width_, height_, top_, word_y_, edge_y_, row_;
};

WordRows words_around(const Block& block, const Operand& operand, const Footprint& f, Border border,
                      const std::string& fill, const std::string& own) {
  const int per_word = 4 / bytes_of(block.builder.cls(operand));
  const auto aligned = [&](int pixels) { return (pixels + per_word - 1) / per_word * per_word; };
  const int first = aligned(f.left), pixels = first + block.size.px + aligned(f.right);
  WordRows words{"words_" + own, block.size.py + f.up + f.down, pixels / per_word, first, per_word};
  if (block.plan.in_groups(operand)) {
    load_words_of_points(block, operand, f, border, fill, own, words);
    return words;
  }
  words.text = {.windows = PlaneWords(block, operand, border, fill, words, f.up).text(),
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
      {f, block.builder.filled(part(kernels::block, "packed_window_row"),
                               {{"in_local", in_local ? "1" : "0"},
                                {"own", own},
                                {"row_words", number(words.width)},
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
