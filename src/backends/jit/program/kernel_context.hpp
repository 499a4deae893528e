// A kernel's spec with the dialect and the numbers of the device: all that decisions are made from.
#pragma once

#include "backends/jit/program/dialect_features.hpp"
#include "backends/jit/program/program.hpp"
#include "backends/jit/program/tuning.hpp"

namespace impipe::jit {

struct KernelContext {
  const KernelSpec& spec;
  Dialect dialect;
  const Tuning& tuning;

  int count() const { return static_cast<int>(spec.nodes.size()); }
  const Node& node(int n) const { return spec.nodes[static_cast<std::size_t>(n)]; }
  PixelClass cls(const Operand& operand) const;
  int output_of(int n) const;  // -1 when the node is none
  // In their order, each as many times as it reads the node's image.
  std::vector<int> readers_of(int n) const;
  DialectFeatures features() const { return features_of(dialect); }
  // Whether the last group of a launch that is done may read what the others have written.
  bool ends_in_last_group() const { return tuning.fast && tuning.waiting_groups > 1; }
};

// "in0", "n2": the name of a value, of its buffer and of the function that gives its pixels.
std::string name_of(const Operand& operand);

// The node's primitive, if it is one of these; else null.
template <class T>
const T* as(const Node& node) {
  return std::get_if<T>(&node.primitive);
}

// Whether a filter, Stencil or Separable, has a pixel for each of its image, over that one.
template <class Filter>
bool stays(const Filter& filter) {
  return filter.grow_x == 0 && filter.grow_y == 0 && filter.shift_x == 0 && filter.shift_y == 0;
}

// Whether node n is a separable filter that sums codes in any order: its column is a sum and then a
// product.
bool sums_codes(const KernelContext& of, int n);

// The images of which a point's pixel needs its own pixel: all of them but the table of a look-up.
std::span<const Operand> pixel_images(const Node& node);
// Whether point node n is computed in double: from codes to codes, but for sums and differences of
// codes, which floats hold.
bool in_double(const KernelContext& of, int n);
// Whether a node reads a pixel of its image more than once.
bool reads_again(const Node& node);
// Whether a node only moves pixels along rows and columns: a window, or flips.
bool moves(const Node& node);

// Which nodes' pixels are kept in planes. In the kernel that makes a stored node, `without` it.
class Planes {
 public:
  explicit Planes(std::size_t nodes) : stored_(nodes, false) {}
  bool stored(int n) const { return stored_[static_cast<std::size_t>(n)]; }
  // Whether an operand's pixels are read from memory.
  bool has(const Operand& operand) const { return operand.external || stored(operand.index); }
  void set(int n, bool stored) { stored_[static_cast<std::size_t>(n)] = stored; }
  Planes without(int n) const {
    Planes others = *this;
    others.set(n, false);
    return others;
  }

 private:
  std::vector<bool> stored_;
};

}  // namespace impipe::jit
