// Tables of 3x3 windows as text. A table becomes a function of the nine words that hold a window's
// pixels for 32 pixels: its reduced decision diagram (Bryant 1986), a choice a line. Launches make
// some iterations each, as many as images of that size commonly take; one group makes those that
// are left.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 256;
constexpr int tile_width = 256, tile_height = 128, halo = 32;  // pixels; transform/morph.cl
// Idle ones take time, too.
constexpr int max_launches = 256;

// A table as lines of choices between words.
class DecisionDiagram {
 public:
  explicit DecisionDiagram(const Morph::Table& table) {
    // A window's own pixel decides most, then those beside it.
    constexpr std::array<int, 9> order{4, 1, 3, 5, 7, 0, 2, 6, 8};
    std::string values(table.size(), '0');
    for (std::size_t k = 0; k < table.size(); ++k) {
      std::size_t index = 0;
      for (std::size_t bit = 0; bit < order.size(); ++bit) {
        if ((k >> (order.size() - 1 - bit) & 1) != 0) index |= std::size_t{1} << order[bit];
      }
      values[k] = table[index] ? '1' : '0';
    }
    for (const int pixel : order) pixels_.push_back("around[" + std::to_string(pixel) + "]");
    result_ = word_of(values);
  }
  std::string text(const std::string& name) const {
    return after_line(function_of("uint", name, "const uint* around", lines_ + returned(result_)));
  }

 private:
  // The word that has the values: they are those of the pixels that are still to be asked.
  std::string word_of(const std::string& values) {
    if (values.find('1') == std::string::npos) return "0u";
    if (values.find('0') == std::string::npos) return "0xffffffffu";
    const std::string low = values.substr(0, values.size() / 2),
                      high = values.substr(values.size() / 2);
    if (low == high) return word_of(low);
    const auto known = known_.find(values);
    if (known != known_.end()) return known->second;
    const auto asked = pixels_.size() - static_cast<std::size_t>(std::log2(values.size()));
    const std::string pixel = pixels_[asked], unset = word_of(low), set = word_of(high);
    const std::string name = "w" + std::to_string(known_.size());
    const std::string choice =
        unset == "0u"            ? pixel + " & " + set
        : set == "0u"            ? "~" + pixel + " & " + unset
        : unset == "0xffffffffu" ? "~" + pixel + " | " + set
        : set == "0xffffffffu"   ? pixel + " | " + unset
                               : "(" + pixel + " & " + set + ") | (~" + pixel + " & " + unset + ")";
    lines_ += declared("const uint", name, choice);
    return known_[values] = name;
  }

  std::vector<std::string> pixels_;
  std::map<std::string, std::string> known_;  // values -> word
  std::string lines_, result_;
};

class MorphText : WholeImageText<Morph> {
 public:
  using WholeImageText::WholeImageText;

  void write() {
    builder_.body_once("morph_functions", filled(part(kernels::morph, "functions")));
    for (int table = 0; table < tables(); ++table) {
      builder_.body(
          DecisionDiagram(what_.tables[static_cast<std::size_t>(table)]).text(function(table)));
    }
    add("begin", [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      return LaunchShape{{(size.width + 32 * items - 1) / (32 * items), size.height, 1},
                         {items, 1, 1}};
    });
    const auto each_tile = [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      return LaunchShape{{tiles_across(size), tiles_down(size), 1}, {items, 1, 1}};
    };
    add("iterate", each_tile);
    add("advance", each_tile);
    builder_.repeat(
        2, max_launches - 1,
        [n = n_, image = image_, each = at_once(), each_tile](const LaunchContext& at, int time) {
          const bool wanted = (time + 1.0) * each < at.argument(n, 0) &&
                              time + 1 < launches(at.size_of(image), each);
          return wanted ? each_tile(at) : LaunchShape{{0, 0, 0}, {items, 1, 1}};
        });
    add("finish", [n = n_, image = image_, each = at_once()](const LaunchContext& at) {
      const bool wanted = at.argument(n, 0) > each * launches(at.size_of(image), each);
      return LaunchShape{{wanted ? 1 : 0, 1, 1}, {items, 1, 1}};
    });
    add("store", launch_tiles(image_, items, 1, items));
  }

 private:
  int tables() const { return static_cast<int>(what_.tables.size()); }
  // Of a launch: as far as what is around a tile reaches, a pixel a table or field.
  int at_once() const { return halo / (what_.in_fields ? 5 : tables()); }
  // As many as thinning takes at most.
  static int launches(Size size, int each) {
    const auto radius = static_cast<double>(std::max(size.width, size.height)) / 2;
    return static_cast<int>(std::min<double>(max_launches, std::floor(radius / each) + 2));
  }
  static std::int64_t tiles_across(Size size) { return (size.width + tile_width - 1) / tile_width; }
  static std::int64_t tiles_down(Size size) {
    return (size.height + tile_height - 1) / tile_height;
  }
  std::string function(int table) const { return name_ + "_table_" + std::to_string(table); }

  void add(const char* kernel, ShapeFunction shape) {
    builder_.kernel(name_ + "_" + kernel, items, words_.filled(part(kernels::morph, kernel)),
                    std::move(shape));
  }

  // A pass over a tile's words.
  std::string pass(int table, const std::string& chosen, const std::string& put) const {
    return words_.filled(
        part(kernels::morph, "step"),
        {{"made", function(table) + "(around)"}, {"chosen", chosen}, {"put", put}});
  }

  std::string iteration() const {
    const std::string image = words_.filled(part(kernels::morph, "image")),
                      turn = assigned("now", "1 - now");
    std::string text;
    if (!what_.in_fields) {
      for (int table = 0; table < tables(); ++table) text += pass(table, "~0u", image) + turn;
      return text;
    }
    text = pass(0, "~0u", assigned("words[2 * MORPH_SIZE + i]", "made"));
    for (int field = 0; field < 4; ++field) {
      const std::string row = std::to_string(field / 2), column = field % 2 == 0 ? "5" : "a";
      text += pass(1,
                   "(((first_row + row) & 1) == " + row + " ? words[2 * MORPH_SIZE + i] & 0x" +
                       std::string(8, column[0]) + "u : 0u)",
                   image) +
              turn;
    }
    return text;
  }

  std::string tiles_number(const char* which, std::int64_t (*of)(Size)) {
    return builder_.of_size(name_ + which, image_, of);
  }

  const Substitutions words_{{
      {"items", [] { return std::to_string(items); }},
      {"width", [this] { return builder_.width(image_); }},
      {"height", [this] { return builder_.height(image_); }},
      {"tiles_across", [this] { return tiles_number("_tiles_across", tiles_across); }},
      {"tiles_down", [this] { return tiles_number("_tiles_down", tiles_down); }},
      {"outside", [this] { return std::string(what_.outside ? "1u" : "0u"); }},
      {"pixel", [this] { return "(uint)" + builder_.value(image_, "x", "y"); }},
      {"most", [this] { return builder_.argument(n_, 0, "most", "double"); }},
      {"at_once", [this] { return std::to_string(at_once()); }},
      {"alternates", [this] { return std::string(!what_.in_fields && tables() == 1 ? "1" : "0"); }},
      {"in_fields", [this] { return std::string(what_.in_fields ? "1" : "0"); }},
      {"iteration", [this] { return iteration(); }},
      {"out",
       [this] {
         return builder_.plane({false, n_}).pixel();
       }},
      {"images",
       [this] {
         return builder_.scratch(name_ + "_images", "uint",
                                 [image = image_](const LaunchContext& at) {
                                   const Size size = at.size_of(image);
                                   return 3 * 4 * ((size.width + 31) / 32) * size.height;
                                 });
       }},
      {"tiles",
       [this] {
         return builder_.scratch(name_ + "_tiles", "uint",
                                 [image = image_](const LaunchContext& at) {
                                   const Size size = at.size_of(image);
                                   return 2 * 4 * tiles_across(size) * tiles_down(size);
                                 });
       }},
      {"state",
       [this] {
         return builder_.scratch(name_ + "_state", "uint",
                                 [](const LaunchContext&) { return 4 * 6; });
       }},
  }};
};

}  // namespace

void write_morph(Builder& builder, int n) { MorphText(builder, n).write(); }

}  // namespace impipe::jit
