// The text of histograms that slide by the ends of a mask's columns, whose words hold four rows.
#include "backends/jit/neighbourhood/rank_columns.hpp"

#include <algorithm>
#include <set>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"

namespace impipe::jit {
namespace {

// Columns of which registers hold the words, and those of other masks that are loaded before they
// are counted: with counters of bytes more groups work at once.
constexpr std::size_t max_kept_small = 18, max_kept = 44;
constexpr std::size_t at_once_small = 12, at_once = 24;
constexpr int words_items = 256;
constexpr std::int64_t max_groups_down = 32768;

int whole_words(int pixels) { return (std::max(pixels, 0) + 3) / 4 * 4; }
std::string name_of_end(std::size_t k, bool enters) {
  return (enters ? "enters_" : "leaves_") + number(static_cast<std::int64_t>(k));
}

}  // namespace

std::int64_t ColumnWords::stride(const LaunchContext& at) const {
  return (at.size_of(result).width + across + 31) / 32 * 32;
}
// A strip's last four rows may lie below the image, and load words for four more.
std::int64_t ColumnWords::quads(const LaunchContext& at) const {
  return (at.size_of(result).height + down + 3) / 4 + 2;
}

RankColumns::RankColumns(Builder& builder, int n, const std::string& name, bool small)
    : builder_(builder),
      self_{false, n},
      image_(builder.node(n).images[0]),
      mask_(std::get<Rank>(builder.node(n).primitive).mask),
      name_(name),
      small_(small),
      columns_(columns_of(mask_)),
      keeps_(columns_.size() <= (small ? max_kept_small : max_kept)),
      left_(whole_words(mask_.footprint().left)),
      up_(whole_words(mask_.footprint().up + 1)),
      words_{.result = self_,
             .across = left_ + std::max(mask_.footprint().right, 0),
             .down = up_ + std::max(mask_.footprint().down, 0)},
      texts_({
          {"unroll", [this] { return builder_.unroll(); }},
          {"width", [this] { return builder_.width(image_); }},
          {"height", [this] { return builder_.height(image_); }},
          {"column_words", [this] { return memory(); }},
          {"words_stride", [this] { return stride(); }},
          {"quads", [this] { return size("_quads", &ColumnWords::quads); }},
          {"words_left", [this] { return number(left_); }},
          {"words_up", [this] { return number(up_); }},
          {"row_of_image", [this] { return "(" + builder_.plane(image_).row("y") + ")"; }},
          {"at", [this] { return builder_.call(name_ + "_at", "x + k", "y"); }},
          {"high_times", [this] { return std::string(small_ ? "32u" : "64u"); }},
          {"row_pointers", [this] { return row_pointers(); }},
          {"first_words", [this] { return first_words(); }},
          {"all", [this] { return first_window(); }},
      }) {}

std::string RankColumns::text(std::string_view name, Replacements own) const {
  return texts_.filled(part(kernels::rank_columns, name), own);
}

std::string RankColumns::memory() const {
  return builder_.scratch(name_ + "_words", "uint", [words = words_](const LaunchContext& at) {
    return 4 * words.stride(at) * words.quads(at);
  });
}

std::string RankColumns::size(const char* which,
                              std::int64_t (ColumnWords::*of)(const LaunchContext&) const) const {
  return builder_.integer(
      name_ + which, [words = words_, of](const LaunchContext& at) { return (words.*of)(at); });
}

std::string RankColumns::stride() const { return size("_stride", &ColumnWords::stride); }

void RankColumns::write_words() {
  builder_.kernel("words_" + Builder::name(self_), words_items, text("words"),
                  [words = words_](const LaunchContext& at) {
                    const std::int64_t each = 4 * words_items;
                    return LaunchShape{{(words.stride(at) + each - 1) / each,
                                        std::min(words.quads(at), max_groups_down), 1},
                                       {words_items, 1, 1}};
                  });
}

// Counts the cells of the window one row above the strip.
std::string RankColumns::first_window() const {
  const std::string row = "dy + " + number(up_ - 1);
  return for_each_cell(builder_, name_ + "_all", mask_,
                       declared("const int", "row", row) +
                           declared("const uint", "code",
                                    "bytes[((row >> 2) * " + stride() + " + dx + " + number(left_) +
                                        ") * 4 + (row & 3)]") +
                           "COUNT_UP(code);");
}

int RankColumns::place(std::size_t k, bool enters, int row) const {
  const Run& column = columns_[k];
  return column.y + (enters ? column.length - 1 : -1) + row + up_;
}

std::string RankColumns::word(std::size_t k, int place) const {
  return "row_" + number(place / 4) + "[" + number(columns_[k].x + left_) + "]";
}

// Of all rows of words that four rows, and the next one, load from.
std::string RankColumns::row_pointers() const {
  std::set<int> rows;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    for (const bool enters : {true, false}) {
      for (int row = 0; row <= 4; ++row) rows.insert(place(k, enters, row) / 4);
    }
  }
  std::string text;
  for (const int row : rows) {
    text += declared("GLOBAL const uint* const", "row_" + number(row),
                     "from + (long)" + number(row) + " * " + stride());
  }
  return text;
}

std::string RankColumns::first_words() const {
  std::string text;
  for (std::size_t k = 0; keeps_ && k < columns_.size(); ++k) {
    for (const bool enters : {true, false}) {
      text += assigned(name_of_end(k, enters), word(k, place(k, enters, 0)));
    }
  }
  return text;
}

// Counts what enters and leaves at row `row` of four.
std::string RankColumns::counted(int row) const {
  std::string all;
  const std::size_t some = small_ ? at_once_small : at_once;
  for (std::size_t from = 0; from < columns_.size(); from += some) {
    std::string loads, counts;
    for (std::size_t k = from; k < std::min(from + some, columns_.size()); ++k) {
      const int in = place(k, true, row), out = place(k, false, row);
      if (!keeps_) {
        loads += declared("const uint", name_of_end(k, true), word(k, in)) +
                 declared("const uint", name_of_end(k, false), word(k, out));
      }
      counts += text("count_column", {{"entering", name_of_end(k, true)},
                                      {"leaving", name_of_end(k, false)},
                                      {"entering_byte", number(in % 4)},
                                      {"leaving_byte", number(out % 4)}});
    }
    all += keeps_ ? counts : braced(loads + counts);
  }
  return all;
}

std::string RankColumns::row(int row, const std::string& output) const {
  std::string next, kept;
  std::int64_t loaded = 0;
  for (std::size_t k = 0; keeps_ && k < columns_.size(); ++k) {
    for (const bool enters : {true, false}) {
      const int at = place(k, enters, row + 1);
      if (at % 4 != 0) continue;
      const std::string name = "next_" + number(loaded++);
      next += declared("const uint", name, word(k, at));
      kept += assigned(name_of_end(k, enters), name);
    }
  }
  return text("row_of_columns", {{"row", number(row)},
                                 {"next_words", next},
                                 {"count_column", counted(row)},
                                 {"kept_words", kept},
                                 {"output", output}});
}

std::string RankColumns::loop(const std::string& output) const {
  std::string rows, registers;
  for (int r = 0; r < 4; ++r) rows += row(r, output);
  for (std::size_t k = 0; keeps_ && k < columns_.size(); ++k) {
    for (const bool enters : {true, false}) {
      registers += declared("uint", name_of_end(k, enters), "0u");
    }
  }
  return text("columns", {{"registers", registers}, {"four_rows", rows}});
}

}  // namespace impipe::jit
