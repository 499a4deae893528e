// Makes the program of a kernel: which nodes are stored, and which are computed where they are
// read.
#include "backends/jit/generator.hpp"

#include <algorithm>

#include "backends/jit/block.hpp"
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/permute.hpp"

namespace impipe::jit {
namespace {

template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.primitive);
}

bool reads_around(const Node& node) {
  return is<Stencil>(node) || is<Separable>(node) || is<Extremum>(node) || is<Rank>(node) ||
         is<Select>(node);
}

class Generator {
 public:
  Generator(const KernelSpec& spec, Dialect dialect, const Tuning& tuning)
      : to_(spec, dialect, tuning) {}

  Program run() {
    const int count = static_cast<int>(to_.spec().nodes.size());
    for (int n = 0; n < count; ++n) {
      const Node& node = to_.node(n);
      if (is<Reduce>(node))
        write_reduce(to_, n);
      else if (is<Histogram>(node))
        write_histogram(to_, n);
      else if (is<Select>(node))
        write_select(to_, n);
      else if (is<Scalar>(node))
        write_scalar(to_, n);
      else if (is<Separable>(node))
        write_rows(n);
      if (node.is_measure) continue;
      if (stored(n))
        store(n);
      else
        write_pixel(n, Builder::name({false, n}));
    }
    return to_.finish();
  }

 private:
  // Whether the node's pixels go through memory: an output, or read more than once a pixel.
  bool stored(int n) const {
    if (to_.output_of(n) >= 0) return true;
    int readers = 0;
    for (const Node& node : to_.spec().nodes) {
      for (const Operand& image : node.images) {
        if (image != Operand{false, n}) continue;
        ++readers;
        if (reads_around(node)) return true;
        const auto* point = std::get_if<Point>(&node.primitive);
        if (point != nullptr && point->mixes_channels && reads_around(to_.node(n))) return true;
      }
    }
    return readers > 1 && reads_around(to_.node(n));
  }

  void write_pixel(int n, const std::string& name) {
    const Node& node = to_.node(n);
    if (is<Point>(node))
      write_point(to_, n, name);
    else if (is<Permute>(node))
      write_permute(to_, n, name);
    else if (is<Stencil>(node))
      write_stencil(to_, n, name);
    else if (is<Separable>(node))
      write_separable(to_, n, name);
    else if (is<Extremum>(node))
      write_extremum(to_, n, name, !to_.fast() || !fits_block(to_, is_stored_, n));
    else if (is<Rank>(node))
      write_rank(to_, n, name);
    else
      to_.fail(std::string(name_of(node.primitive)) + " has no kernel for this backend");
  }

  void write_rows(int n) {
    if (to_.fast() && fits_block_rows(to_, n)) {
      write_block_rows(to_, is_stored_, n);
    } else {
      write_separable_rows(to_, n);
    }
  }

  void store(int n) {
    const Node& node = to_.node(n);
    const Operand self{false, n};
    const std::string name = Builder::name(self);
    if (to_.fast() && fits_tiles(to_, is_stored_, n)) {
      write_transpose_kernel(to_, n);
      load_function(n);
      return;
    }
    if (to_.fast() && fits_block(to_, is_stored_, n)) {
      write_block_kernel(to_, is_stored_, n);
      load_function(n);
      return;
    }
    write_pixel(n, name + "_value");
    const std::string value = to_.call(name + "_value", "x", "y", "c");
    to_.pixel_kernel(
        "store_" + name, to_.width(self), to_.height(self),
        [self](const LaunchContext& at) { return at.size_of(self); },
        "  for (int c = 0; c < " + std::to_string(node.channels) + "; ++c) " +
            to_.plane(self).pixel() + " = " + value + ";\n");
    load_function(n);
  }

  void load_function(int n) {
    const Operand self{false, n};
    const std::string name = Builder::name(self);
    to_.function(name, value_header(type_of(to_.node(n).cls), name) + "  return " +
                           to_.plane(self).pixel() + ";\n}\n");
  }

  Builder to_;
  IsStored is_stored_ = [this](int n) { return stored(n); };
};

}  // namespace

Program generate(const KernelSpec& spec, Dialect dialect, const Tuning& tuning) {
  return Generator(spec, dialect, tuning).run();
}

}  // namespace impipe::jit
