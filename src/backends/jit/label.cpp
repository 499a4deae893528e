// Connected components as text: tiles of 64x64 pixels in local memory, then their borders in global
// memory, then what is asked about each component. label_words.cpp says what words and nodes are.
#include "backends/jit/label.hpp"

#include "backends/jit/dialect.hpp"
#include "backends/jit/label_kernels.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/peak_kernels.hpp"
#include "backends/jit/text.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

using namespace label_kernels;
using Kind = Label::Kind;

constexpr int items = 128;  // two rows of 64 words: a tile

// The text with `marker` at the beginnings of lines taken out, or with those lines taken out.
std::string chosen(std::string text, std::string_view marker, bool stay) {
  for (std::size_t at; (at = text.find(marker)) != std::string::npos;) {
    text.erase(at, stay ? marker.size() : text.find('\n', at) + 1 - at);
  }
  return text;
}

class LabelWriter {
 public:
  LabelWriter(Builder& to, int n)
      : to_(to),
        node_(to.node(n)),
        label_(std::get<Label>(node_.primitive)),
        self_{false, n},
        image_(node_.images[0]),
        name_(Builder::name(self_)) {}

  void run() {
    to_.body_once("label_functions", label_functions());
    write_words();
    write_tiles();
    const char* kinds = label_.connectivity == 8 ? "3" : "1";
    to_.kernel(name_ + "_borders", items, text(replaced(border_kernel, "$kinds", kinds)),
               [image = image_](const LaunchContext& at) {
                 const Size size = at.size_of(image);
                 const std::int64_t rows = word_rows(size);
                 const std::int64_t tops = (size.width + items - 1) / items * (rows / 2 - 1);
                 const std::int64_t sides = (size.width - 1) / 64 * rows * 16;
                 return LaunchShape{{tops + (sides + items - 1) / items, 1, 1}, {items, 1, 1}};
               });
    to_.kernel(name_ + "_resolve", items,
               text(replaced(resolve_kernel, "$hand",
                             flagged()         ? hand_flags
                             : is(Kind::large) ? hand_areas
                                               : "")),
               each_word());
    if (is(Kind::components)) {
      write_numbers();
    } else {
      write_kept();
    }
  }

 private:
  bool is(Kind kind) const { return label_.kind == kind; }
  bool peaks() const { return is(Kind::maxima) || is(Kind::minima); }
  bool flagged() const { return peaks() || is(Kind::holes) || is(Kind::reconstruct); }

  // Of the image; a multiple of two, for whole tiles.
  static std::int64_t word_rows(Size size) { return (size.height + 63) / 64 * 2; }

  static std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
    std::string out(text);
    for (std::size_t at = 0; (at = out.find(what, at)) != std::string::npos; at += by.size()) {
      out.replace(at, what.size(), by);
    }
    return out;
  }

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

  // Fills in what the kernel asks for, so that it has just those buffers.
  std::string text(std::string out) {
    out = chosen(std::move(out), "$corners ", label_.connectivity == 8);
    const auto put = [&](std::string_view what, const auto& by) {
      if (out.find(what) != std::string::npos) out = replaced(out, what, by());
    };
    put("$words", [&] { return words_of("_words"); });
    put("$flags", [&] { return words_of("_flags"); });
    put("$roots", [&] { return words_of("_roots"); });
    put("$single", [&] { return words_of("_single"); });
    put("$over", [&] { return words_of("_over"); });
    put("$forest", [&] { return nodes_of("_forest"); });
    put("$areas", [&] { return nodes_of("_areas"); });
    put("$columns", [&] {
      return to_.scratch(name_ + "_columns", "uint", [image = image_](const LaunchContext& at) {
        return 4 * at.size_of(image).width;
      });
    });
    put("$halves", [&] { return "(uint)(" + rows() + " * 16)"; });
    put("$rows", [&] { return rows(); });
    put("$width", [&] { return to_.width(image_); });
    put("$height", [&] { return to_.height(image_); });
    put("$items", [&] { return std::to_string(items); });
    put("$out", [&] { return to_.plane(self_).pixel(); });
    put("$unroll", [&] { return std::string(to_.tuning().unroll ? "#pragma unroll\n" : ""); });
    return out;
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
    to_.kernel(name_ + name, items,
               text(replaced(replaced(words_kernel, "$bit", bit), "$words", words)), each_word());
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
      std::string out = replaced(bytes_kernel, "$bytes", plane.pointer);
      out = replaced(replaced(out, "$stride", plane.stride), "$words", words_of("_words"));
      to_.kernel(name_ + "_find", items, text(out), four_words());
    } else {
      write_plane("_find", words_of("_words"), set(image_));
    }
  }

  // A text that reads the image's values as PEAK(x, y).
  std::string with_peaks(std::string_view kernel) {
    const bool largest = is(Kind::maxima);
    const std::string type = to_.cls(image_) == PixelClass::single ? "float" : "int";
    const std::string further = name_ + "_further";
    to_.body_once(further, "\nFUNCTION " + type + " " + further + "(const " + type + " a, const " +
                               type + " b) {\n  return a " + (largest ? ">" : "<") +
                               " b ? a : b;\n}\n");
    std::string out = "#define PEAK(x, y) (" + type + ")" + to_.value(image_, "(x)", "(y)", "0") +
                      "\n" + std::string(kernel) + "#undef PEAK\n";
    out = replaced(replaced(out, "$type", type), "$further", further);
    out = replaced(out, "$reaches", largest ? ">=" : "<=");
    return replaced(out, "$eight", label_.connectivity == 8 ? "true" : "false");
  }

  void write_tiles() {
    std::string out(tile_kernel);
    out = replaced(out, "$locals",
                   flagged()         ? "  LOCAL uint flags[$items];\n"
                   : is(Kind::large) ? "  LOCAL uint areas[64 * 33];\n"
                                     : "");
    out = replaced(
        out, "  roots[ITEM] = 0u;\n",
        flagged() ? "  roots[ITEM] = 0u;\n  flags[ITEM] = 0u;\n" : "  roots[ITEM] = 0u;\n");
    out = replaced(out, "$clear", is(Kind::large) ? "    areas[i] = 0u;\n" : "");
    out = replaced(out, "$known", flagged() ? known_flags : is(Kind::large) ? known_areas : "");
    out = replaced(out, "$left", is(Kind::large) ? "    $areas[to] = areas[node];\n" : "");
    out = replaced(out, "$last",
                   flagged() ? "    $flags[(long)at_row * $width + x] = flags[ITEM];\n" : "");
    out = replaced(out, "$given", peaks() ? lost_flags : given_flags);
    to_.kernel(name_ + "_tiles", items, text(peaks() ? with_peaks(out) : out), each_tile());
  }

  void write_numbers() {
    to_.kernel(name_ + "_count", items, text(count_kernel), [image = image_](const auto& at) {
      return LaunchShape{{(at.size_of(image).width + 15) / 16, 1, 1}, {items, 1, 1}};
    });
    const int wide = to_.tuning().histogram_items;
    to_.kernel(name_ + "_sum", wide, text(replaced(sum_kernel, "$wide", std::to_string(wide))),
               [wide](const LaunchContext&) {
                 return LaunchShape{{1, 1, 1}, {wide, 1, 1}};
               });
    to_.kernel(name_ + "_numbers", items, text(numbers_kernel), each_tile());
  }

  void write_kept() {
    std::string keep = flag_of_root;
    if (is(Kind::large))
      keep = "(double)$areas[root] >= $least";
    else
      keep += peaks() ? " == 0u" : " != 0u";
    std::string out = replaced(kept_kernel, "$keep", keep);
    if (is(Kind::large))
      out = replaced(out, "$least", to_.argument(self_.index, 0, "least", "double", "0"));
    const char* single = "    kept |= $single[(long)GROUP_Y * $width + x];\n";
    out = replaced(out, "$also", peaks() ? single : "");
    const std::string bits = "(eights >> k & 0x01010101u)";
    out = replaced(out, "$set", is(Kind::holes) ? bits + " ^ 0x01010101u" : bits);
    const PlaneText plane = to_.plane(self_);
    out = replaced(replaced(out, "$bytes", plane.pointer), "$stride", plane.stride);
    to_.kernel(name_ + "_kept", items, text(out), each_word());
  }

  Builder& to_;
  const Node& node_;
  Label label_;
  Operand self_, image_;
  std::string name_;
};

}  // namespace

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
