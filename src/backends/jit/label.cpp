// Connected components as text: tiles of 64x64 pixels in local memory, then their borders in global
// memory, then what is asked about each component. label_words.cpp says what words and nodes are.
#include "backends/jit/label.hpp"

#include "backends/jit/label_kernels.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/peak_kernels.hpp"
#include "backends/jit/text.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

using namespace label_kernels;
using Kind = Label::Kind;

class LabelWriter : LabelWriterBase {
 public:
  LabelWriter(Builder& to, int n) : LabelWriterBase(to, n) {}

  void run() {
    to_.body_once("label_functions", label_functions());
    write_words();
    write_tiles();
    const char* kinds = label_.connectivity == 8 ? "3" : "1";
    to_.kernel(name_ + "_borders", items, text(border_kernel, {{"kinds", kinds}}),
               [image = image_](const LaunchContext& at) {
                 const Size size = at.size_of(image);
                 const std::int64_t rows = word_rows(size);
                 const std::int64_t tops = (size.width + items - 1) / items * (rows / 2 - 1);
                 const std::int64_t sides = (size.width - 1) / 64 * rows * 16;
                 return LaunchShape{{tops + (sides + items - 1) / items, 1, 1}, {items, 1, 1}};
               });
    to_.kernel(name_ + "_resolve", items,
               text(resolve_kernel, {{"hand", flagged()         ? hand_flags
                                              : is(Kind::large) ? hand_areas
                                                                : ""}}),
               each_word());
    if (is(Kind::components)) {
      write_numbers();
    } else {
      write_kept();
    }
  }

 private:
  bool peaks() const { return is(Kind::maxima) || is(Kind::minima); }
  bool flagged() const { return peaks() || is(Kind::holes) || is(Kind::reconstruct); }

  // Of the image; a multiple of two, for whole tiles.
  static std::int64_t word_rows(Size size) { return (size.height + 63) / 64 * 2; }

  std::string rows() {
    return to_.parameter(ParameterType::int32, name_ + "_word_rows",
                         [image = image_](const LaunchContext& at, int) {
                           return static_cast<double>(word_rows(at.size_of(image)));
                         });
  }

  // A plane of words.
  std::string words_of(const std::string& suffix) {
    return to_.scratch(name_ + suffix, "uint", [image = image_](const LaunchContext& at) {
      return 4 * word_rows(at.size_of(image)) * at.size_of(image).width;
    });
  }
  // One number a node.
  std::string nodes_of(const std::string& suffix) {
    const bool numbered = is(Kind::components);
    const int conn = label_.connectivity;
    return to_.scratch(name_ + suffix, "uint", [image = image_, numbered, conn](const auto& at) {
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

  // `own`: the words of this kernel alone.
  std::string text(std::string_view kernel, Replacements own = {}) {
    const bool corners = label_.connectivity == 8;
    return words_.filled(with_lines(std::string(kernel), "$corners ", corners), own);
  }

  // Of the values whose peaks are looked for.
  std::string type() const { return to_.cls(image_) == PixelClass::single ? "float" : "int"; }
  std::string further() {
    const std::string name = name_ + "_further";
    to_.body_once(name, "\nFUNCTION " + type() + " " + name + "(const " + type() + " a, const " +
                            type() + " b) {\n  return a " + (is(Kind::maxima) ? ">" : "<") +
                            " b ? a : b;\n}\n");
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
    to_.kernel(name_ + name, items, text(words_kernel, {{"bit", bit}, {"words", words}}),
               each_word());
  }

  void write_words() {
    if (peaks()) {
      to_.kernel(name_ + "_peaks", items, text(with_peaks(peaks_kernel)), each_word());
      return;
    }
    const auto set = [&](const Operand& image) {
      return "(" + to_.value(image, "x", "y", "0") + " != 0)";
    };
    if (is(Kind::holes)) {
      write_plane("_find", words_of("_words"), "!" + set(image_));
      write_plane("_border", words_of("_flags"),
                  "(x == 0 || y == 0 || x == " + to_.width(image_) +
                      " - 1 || y == " + to_.height(image_) + " - 1)");
    } else if (is(Kind::reconstruct)) {
      write_plane("_find", words_of("_words"), set(node_.images[1]));
      write_plane("_marker", words_of("_flags"), set(image_));
    } else if (to_.fast() && image_.external && to_.cls(image_) == PixelClass::logical) {
      const PlaneText plane = to_.plane(image_);
      to_.kernel(name_ + "_find", items,
                 text(bytes_kernel, {{"bytes", plane.pointer}, {"stride", plane.stride}}),
                 four_words());
    } else {
      write_plane("_find", words_of("_words"), set(image_));
    }
  }

  // A template that reads the image's values as PEAK(x, y).
  std::string with_peaks(const std::string& kernel) {
    return "#define PEAK(x, y) (" + type() + ")" + to_.value(image_, "(x)", "(y)", "0") + "\n" +
           kernel + "#undef PEAK\n";
  }

  void write_tiles() {
    const bool flags = flagged(), areas = is(Kind::large);
    to_.kernel(
        name_ + "_tiles", items,
        text(peaks() ? with_peaks(tile_kernel) : tile_kernel,
             {{"locals", flags   ? "  LOCAL uint flags[$items];\n"
                         : areas ? "  LOCAL uint areas[64 * 33];\n"
                                 : ""},
              {"clear_words", flags ? "  flags[ITEM] = 0u;\n" : ""},
              {"clear_nodes", areas ? "    areas[i] = 0u;\n" : ""},
              {"known", flags   ? known_flags
                        : areas ? known_areas
                                : ""},
              {"given", peaks() ? lost_flags : given_flags},
              {"left", areas ? "    $areas[to] = areas[node];\n" : ""},
              {"last", flags ? "    $flags[(long)at_row * $width + x] = flags[ITEM];\n" : ""}}),
        each_tile());
  }

  void write_numbers() {
    to_.kernel(name_ + "_count", items, text(count_kernel), [image = image_](const auto& at) {
      return LaunchShape{{(at.size_of(image).width + 15) / 16, 1, 1}, {items, 1, 1}};
    });
    const int wide = to_.tuning().histogram_items;
    to_.kernel(name_ + "_sum", wide, text(sum_kernel, {{"wide", std::to_string(wide)}}),
               [wide](const LaunchContext&) {
                 return LaunchShape{{1, 1, 1}, {wide, 1, 1}};
               });
    to_.kernel(name_ + "_numbers", items, text(numbers_kernel), each_tile());
  }

  void write_kept() {
    const std::string keep =
        is(Kind::large)
            ? "(double)$areas[root] >= " + to_.argument(self_.index, 0, "least", "double", "0")
            : std::string(flag_of_root) + (peaks() ? " == 0u" : " != 0u");
    const std::string bits = "(eights >> k & 0x01010101u)";
    const PlaneText plane = to_.plane(self_);
    to_.kernel(name_ + "_kept", items,
               text(kept_kernel,
                    {{"keep", keep},
                     {"also", peaks() ? "    kept |= $single[(long)GROUP_Y * $width + x];\n" : ""},
                     {"set", is(Kind::holes) ? bits + " ^ 0x01010101u" : bits},
                     {"bytes", plane.pointer},
                     {"stride", plane.stride}}),
               each_word());
  }

  const Words words_ = with_common({
      {"words", [this] { return words_of("_words"); }},
      {"flags", [this] { return words_of("_flags"); }},
      {"roots", [this] { return words_of("_roots"); }},
      {"single", [this] { return words_of("_single"); }},
      {"over", [this] { return words_of("_over"); }},
      {"forest", [this] { return nodes_of("_forest"); }},
      {"areas", [this] { return nodes_of("_areas"); }},
      {"columns",
       [this] {
         return to_.scratch(name_ + "_columns", "uint", [image = image_](const LaunchContext& at) {
           return 4 * at.size_of(image).width;
         });
       }},
      {"halves", [this] { return "(uint)(" + rows() + " * 16)"; }},
      {"rows", [this] { return rows(); }},
      {"type", [this] { return type(); }},
      {"further", [this] { return further(); }},
      {"reaches", [this] { return is(Kind::maxima) ? ">=" : "<="; }},
      {"eight", [this] { return label_.connectivity == 8 ? "true" : "false"; }},
  });
};

}  // namespace

LabelWriterBase::LabelWriterBase(Builder& to, int n)
    : to_(to),
      node_(to.node(n)),
      label_(std::get<Label>(node_.primitive)),
      self_{false, n},
      image_(node_.images[0]),
      name_(Builder::name(self_)) {}

Words LabelWriterBase::with_common(Words::Map words) const {
  words.insert({{"width", [this] { return to_.width(image_); }},
                {"height", [this] { return to_.height(image_); }},
                {"items", [] { return std::to_string(items); }},
                {"out", [this] { return to_.plane(self_).pixel(); }},
                {"unroll", [this] { return to_.unroll(); }}});
  return Words(std::move(words));
}

void write_label(Builder& to, int n) {
  const Label& label = std::get<Label>(to.node(n).primitive);
  const bool logical = to.cls(to.node(n).images[0]) == PixelClass::logical;
  const bool gray = !logical && (label.kind == Kind::holes || label.kind == Kind::reconstruct);
  if (label.kind == Kind::reach || gray) {
    write_spread(to, n);
  } else {
    LabelWriter(to, n).run();
  }
}

}  // namespace impipe::jit
