// Connected components as text: tiles of 64x64 pixels in local memory, then their borders in global
// memory, then what is asked about each component. components/label.cl says what words and nodes
// are.
#include "backends/jit/components/label.hpp"

#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

using Kind = Label::Kind;

// Whether the component of a root has a flag.
constexpr const char* flag_of_root =
    "(($flags[at] >> begin_in_pair($words[at], (int)(root % 16u))) & 1u)";

class LabelWriter : LabelWriterBase {
 public:
  LabelWriter(Builder& builder, int n) : LabelWriterBase(builder, n) {}

  void run() {
    builder_.body_once("label_functions", label_functions());
    write_words();
    write_tiles();
    const char* kinds = label_.connectivity == 8 ? "3" : "1";
    builder_.kernel(name_ + "_borders", items, text("border", {{"kinds", kinds}}),
                    [image = image_](const LaunchContext& at) {
                      const Size size = at.size_of(image);
                      const std::int64_t rows = word_rows(size);
                      const std::int64_t tops = (size.width + items - 1) / items * (rows / 2 - 1);
                      const std::int64_t sides = (size.width - 1) / 64 * rows * 16;
                      return LaunchShape{{tops + (sides + items - 1) / items, 1, 1}, {items, 1, 1}};
                    });
    builder_.kernel(name_ + "_resolve", items, text("resolve"), each_word());
    if (is(Kind::components)) {
      write_numbers();
    } else if (is(Kind::first_areas)) {
      builder_.kernel(name_ + "_areas", items, text("first_areas"), each_word());
    } else {
      write_kept();
    }
  }

 private:
  bool peaks() const { return is(Kind::maxima) || is(Kind::minima); }
  bool flagged() const { return peaks() || is(Kind::holes) || is(Kind::reconstruct); }

  // Of the image; a multiple of two, for whole tiles.
  static std::int64_t word_rows(Size size) { return (size.height + 63) / 64 * 2; }

  std::string rows() { return builder_.of_size(name_ + "_word_rows", image_, word_rows); }

  // A plane of words.
  std::string words_of(const std::string& suffix) {
    return builder_.scratch(name_ + suffix, "uint", [image = image_](const LaunchContext& at) {
      return 4 * word_rows(at.size_of(image)) * at.size_of(image).width;
    });
  }
  // One number a node.
  std::string nodes_of(const std::string& suffix) {
    const bool numbered = is(Kind::components);
    const int conn = label_.connectivity;
    return builder_.scratch(
        name_ + suffix, "uint", [image = image_, numbered, conn](const auto& at) {
          const Size size = at.size_of(image);
          const std::int64_t nodes = 16 * word_rows(size) * size.width;
          if (nodes > std::int64_t{0xffffffff}) {
            throw OutOfDeviceMemory("label: " + to_string(size) + " is too large for this device");
          }
          const std::int64_t most =
              conn == 8 ? (size.width + 1) / 2 * ((size.height + 1) / 2) : (size.pixels() + 1) / 2;
          if (numbered && most > std::int64_t{1} << 24) {
            throw OutOfDeviceMemory("label: " + to_string(size) +
                                    " may have more components than single counts to");
          }
          return 4 * nodes;
        });
  }

  // A kernel of label.cl. `own`: the words of this one alone.
  std::string text(std::string_view kernel, Replacements own = {}) {
    return words_.filled(part(kernels::label, kernel), own);
  }

  // Of the values whose peaks are looked for.
  std::string type() const { return builder_.cls(image_) == PixelClass::single ? "float" : "int"; }
  std::string further() {
    const std::string name = name_ + "_further";
    const std::string better = is(Kind::maxima) ? "a > b ? a : b" : "a < b ? a : b";
    builder_.body_once(
        name, after_line(function_of(type(), name, "const " + type() + " a, const " + type() + " b",
                                     returned(better))));
    return name;
  }

  ShapeFunction each_word() const {
    return [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      return LaunchShape{{(size.width + items - 1) / items, word_rows(size), 1}, {items, 1, 1}};
    };
  }
  ShapeFunction four_words() const {
    return [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      const std::int64_t across = (size.width + 4 * items - 1) / (4 * items);
      return LaunchShape{{across, word_rows(size), 1}, {items, 1, 1}};
    };
  }
  ShapeFunction each_tile() const {
    return [image = image_](const LaunchContext& at) {
      const Size size = at.size_of(image);
      return LaunchShape{{(size.width + 63) / 64, word_rows(size) / 2, 1}, {items, 1, 1}};
    };
  }

  // A plane of words from a condition on a pixel.
  void write_plane(const std::string& name, const std::string& words, const std::string& bit) {
    builder_.kernel(name_ + name, items, text("words", {{"bit", bit}, {"words", words}}),
                    each_word());
  }

  void write_words() {
    if (peaks()) {
      builder_.kernel(name_ + "_peaks", items,
                      words_.filled(part(kernels::peaks, "peaks"), {{"peak", peak()}}),
                      each_word());
      return;
    }
    const auto set = [&](const Operand& image) {
      return "(" + builder_.value(image, "x", "y") + " != 0)";
    };
    if (is(Kind::holes)) {
      write_plane("_find", words_of("_words"), "!" + set(image_));
      write_plane("_border", words_of("_flags"),
                  "(x == 0 || y == 0 || x == " + builder_.width(image_) +
                      " - 1 || y == " + builder_.height(image_) + " - 1)");
    } else if (is(Kind::reconstruct)) {
      write_plane("_find", words_of("_words"), set(node_.images[1]));
      write_plane("_marker", words_of("_flags"), set(image_));
    } else if (builder_.tuning().fast && image_.external &&
               builder_.cls(image_) == PixelClass::logical) {
      const PlaneText plane = builder_.plane(image_);
      builder_.kernel(name_ + "_find", items,
                      text("bytes", {{"bytes", plane.pointer}, {"stride", plane.stride}}),
                      four_words());
    } else {
      write_plane("_find", words_of("_words"), set(image_));
    }
  }

  // The value of pixel (x, y), of an image whose peaks are looked for. NaN exceeds nothing.
  std::string peak() {
    const std::string value = builder_.value(image_, "(x)", "(y)");
    if (builder_.cls(image_) != PixelClass::single) return "(" + type() + ")" + value;
    return (is(Kind::maxima) ? "fmax(" + value + ", -INFINITY)" : "fmin(" + value + ", INFINITY)");
  }

  void write_tiles() {
    builder_.kernel(
        name_ + "_tiles", items,
        text("tile",
             {{"peak", peaks() ? peak() : ""},
              {"lost_flags", peaks() ? words_.filled(part(kernels::peaks, "lost_flags")) : ""}}),
        each_tile());
  }

  void write_numbers() {
    builder_.kernel(name_ + "_count", items, text("count"), [image = image_](const auto& at) {
      return LaunchShape{{(at.size_of(image).width + 15) / 16, 1, 1}, {items, 1, 1}};
    });
    const int wide = builder_.tuning().histogram_items;
    builder_.kernel(name_ + "_sum", wide, text("sum", {{"wide", std::to_string(wide)}}),
                    launch_groups(1, wide));
    builder_.kernel(name_ + "_numbers", items, text("numbers"), each_tile());
  }

  void write_kept() {
    const std::string keep =
        is(Kind::large)
            ? "(double)$areas[root] >= " + builder_.argument(self_.index, 0, "least", "double")
            : std::string(flag_of_root) + (peaks() ? " == 0u" : " != 0u");
    const std::string bits = "(eights >> k & 0x01010101u)";
    const PlaneText plane = builder_.plane(self_);
    builder_.kernel(name_ + "_kept", items,
                    text("kept", {{"keep", keep},
                                  {"set", is(Kind::holes) ? bits + " ^ 0x01010101u" : bits},
                                  {"bytes", plane.pointer},
                                  {"stride", plane.stride}}),
                    each_word());
  }

  const Substitutions words_ = with_common({
      {"words", [this] { return words_of("_words"); }},
      {"flags", [this] { return words_of("_flags"); }},
      {"roots", [this] { return words_of("_roots"); }},
      {"single", [this] { return words_of("_single"); }},
      {"over", [this] { return words_of("_over"); }},
      {"forest", [this] { return nodes_of("_forest"); }},
      {"areas", [this] { return nodes_of("_areas"); }},
      {"columns",
       [this] {
         return builder_.scratch(
             name_ + "_columns", "uint",
             [image = image_](const LaunchContext& at) { return 4 * at.size_of(image).width; });
       }},
      {"halves", [this] { return "(uint)(" + rows() + " * 16)"; }},
      {"rows", [this] { return rows(); }},
      {"type", [this] { return type(); }},
      {"further", [this] { return further(); }},
      {"reaches", [this] { return is(Kind::maxima) ? ">=" : "<="; }},
      {"corners", [this] { return label_.connectivity == 8 ? "1" : "0"; }},
      {"has_flags", [this] { return flagged() ? "1" : "0"; }},
      {"has_areas", [this] { return is(Kind::large) || is(Kind::first_areas) ? "1" : "0"; }},
      {"has_peaks", [this] { return peaks() ? "1" : "0"; }},
      {"eight", [this] { return label_.connectivity == 8 ? "true" : "false"; }},
  });
};

}  // namespace

std::string label_functions() {
  const Part& forest = part(kernels::label, "forest");
  return filled(part(kernels::label, "runs")) +
         filled(forest, {{"level", "local"}, {"space", "IN_LOCAL"}, {"where", "LOCAL"}}) +
         filled(forest, {{"level", "global"}, {"space", "GLOBAL"}, {"where", "GLOBAL"}});
}

LabelWriterBase::LabelWriterBase(Builder& builder, int n)
    : builder_(builder),
      node_(builder.node(n)),
      label_(std::get<Label>(node_.primitive)),
      self_{false, n},
      image_(node_.images[0]),
      name_(Builder::name(self_)) {}

Substitutions LabelWriterBase::with_common(Substitutions::Map words) const {
  words.insert({{"width", [this] { return builder_.width(image_); }},
                {"height", [this] { return builder_.height(image_); }},
                {"items", [] { return std::to_string(items); }},
                {"out", [this] { return builder_.plane(self_).pixel(); }},
                {"unroll", [this] { return builder_.unroll(); }}});
  return Substitutions(std::move(words));
}

void write_label(Builder& builder, int n) {
  const Label& label = std::get<Label>(builder.node(n).primitive);
  const bool logical = builder.cls(builder.node(n).images[0]) == PixelClass::logical;
  const bool gray = !logical && (label.kind == Kind::holes || label.kind == Kind::reconstruct);
  if (label.kind == Kind::flood) {
    write_flood(builder, n);
  } else if (label.kind == Kind::reach || gray) {
    write_reconstruction(builder, n);
  } else {
    LabelWriter(builder, n).run();
  }
}

}  // namespace impipe::jit
