// Tables of 3x3 windows as text. An iteration is a launch for each table (or the candidates and
// four fields) and one for its end; iterations that come after nothing changed do nothing. As many
// as are asked for, up to some; one group makes those that are left.
#include <algorithm>
#include <cmath>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
// By the whole device: launches take time even where there is nothing left to do.
constexpr int max_iterations = 256;

class MorphText {
 public:
  MorphText(Builder& to, int n)
      : to_(to),
        n_(n),
        morph_(std::get<Morph>(to.node(n).primitive)),
        image_(to.node(n).images[0]),
        name_(Builder::name({false, n})) {}

  void write() {
    to_.body_once("morph_functions", part(kernels::morph, "functions"));
    add("_begin", "begin", {1, 1});
    int kernels = 1;
    if (morph_.in_fields) {
      add("_candidates", "candidates", {1, 1});
      for (int field = 0; field < 4; ++field) {
        add("_field_" + std::to_string(field), "field", {2, 2}, field);
      }
      kernels += 5;
    } else {
      for (int table = 0; table < tables(); ++table) {
        add("_table_" + std::to_string(table), "whole", {1, 1}, table);
      }
      kernels += tables();
    }
    add("_advance", "advance", {1, 1});
    to_.repeat(
        kernels, max_iterations - 1, [n = n_, image = image_](const LaunchContext& at, int time) {
          const bool wanted = time + 1 < at.argument(n, 0);
          return wanted ? grid(at.size_of(image), {1, 1}) : LaunchShape{{0, 0, 0}, {items, 1, 1}};
        });
    to_.kernel(name_ + "_finish", items, text("finish", 0), [n = n_](const LaunchContext& at) {
      const bool wanted = at.argument(n, 0) > max_iterations;
      return LaunchShape{{wanted ? 1 : 0, 1, 1}, {items, 1, 1}};
    });
    add("_store", "store", {1, 1});
  }

 private:
  int tables() const { return static_cast<int>(morph_.tables.size()); }

  // each: pixels of a work-item, of which it makes one.
  static LaunchShape grid(Size size, Size each) {
    const std::int64_t across = items * each.width;
    return {{(size.width + across - 1) / across, (size.height + each.height - 1) / each.height, 1},
            {items, 1, 1}};
  }

  void add(const std::string& suffix, const char* kernel, Size each, int which = 0) {
    to_.kernel(
        name_ + suffix, items, text(kernel, which),
        [image = image_, each](const LaunchContext& at) { return grid(at.size_of(image), each); });
  }

  std::string text(const char* kernel, int which) {
    const std::string number = std::to_string(which);
    return words_.filled(part(kernels::morph, kernel), {{"table", number}, {"field", number}});
  }

  std::string table_words() {
    return to_.table(ParameterType::int32, name_ + "_tables", [n = n_](const LaunchContext& at) {
      const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
      std::vector<double> out;
      for (const Morph::Table& table : std::get<Morph>(now.primitive).tables) {
        for (std::size_t word = 0; word < table.size(); word += 32) {
          std::uint32_t bits = 0;
          for (std::size_t k = 0; k < 32; ++k) {
            bits |= static_cast<std::uint32_t>(table[word + k]) << k;
          }
          out.push_back(static_cast<std::int32_t>(bits));
        }
      }
      return out;
    });
  }

  Builder& to_;
  int n_;
  const Morph& morph_;
  Operand image_;
  std::string name_;
  const Substitutions words_{{
      {"items", [] { return std::to_string(items); }},
      {"width", [this] { return to_.width(image_); }},
      {"height", [this] { return to_.height(image_); }},
      {"outside", [this] { return std::string(morph_.outside ? "1u" : "0u"); }},
      {"pixel", [this] { return "(uint)" + to_.value(image_, "x", "y"); }},
      {"most", [this] { return to_.argument(n_, 0, "most", "double"); }},
      {"alternates",
       [this] { return std::string(!morph_.in_fields && tables() == 1 ? "1" : "0"); }},
      {"turns", [this] { return std::to_string(morph_.in_fields ? 0 : tables()); }},
      {"in_fields", [this] { return std::string(morph_.in_fields ? "1" : "0"); }},
      {"out",
       [this] {
         return to_.plane({false, n_}).pixel();
       }},
      {"tables", [this] { return "((GLOBAL const uint*)" + table_words() + ")"; }},
      {"images",
       [this] {
         return to_.scratch(name_ + "_images", "uchar", [image = image_](const LaunchContext& at) {
           return 2 * at.size_of(image).pixels();
         });
       }},
      {"state",
       [this] {
         return to_.scratch(name_ + "_state", "uint", [](const LaunchContext&) { return 20; });
       }},
  }};
};

}  // namespace

void write_morph(Builder& to, int n) { MorphText(to, n).write(); }

}  // namespace impipe::jit
