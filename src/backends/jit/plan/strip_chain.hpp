// Decides which nodes are a chain of neighbourhoods, and what its kernel keeps of each row. No text
// is written here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

// A step of the chain. A separable node has two: its row pass, and what its columns make.
struct StripValue {
  enum class Kind { plane, point, stencil, rows, columns } kind = Kind::plane;
  int node = -1;                     // but of planes
  Operand operand;                   // planes, and what the value is called after
  std::string name;                  // of its array
  std::vector<int> from = {};        // values
  Footprint reach = {};              // around a pixel of `from`
  Border border = Border::constant;  // of what is read
  // Rows above and below the strip, and columns to the left and right, that are needed of it.
  Footprint need = {};
  int lag = 0;      // rows by which it comes after the planes
  int reader = -1;  // the neighbourhood that reads it; -1: only points do
  // A row is made of the same row of planes: rows of theirs that are repeated outside the image
  // make it there too.
  bool pure = false;
  // Its pixels are sums, to which each row that is read adds its part when it is there.
  bool sums = false;
};

// A chain: the values that its kernel makes, each after those it is made from.
struct Chain {
  std::vector<StripValue> values;
  int up = 0, down = 0;  // rows above and below the strip that are read
  int tallest = 1;       // rows of a neighbourhood
  bool dense = false;    // few registers: more groups at once

  // The nodes that are made on the way to node n.
  std::vector<int> inside(int n) const;
  // The nodes that are read as planes.
  std::vector<int> planes() const;
  // Whether a neighbourhood reads around what another one makes.
  bool nested() const;
};
bool makes_chains(Dialect dialect, const Tuning& tuning);
// Nothing where node n is no chain of neighbourhoods, or of points and one, made from the planes of
// inputs and of the nodes that are stored.
std::optional<Chain> chain_of(const KernelContext& of, const Planes& planes, int n);

}  // namespace impipe::jit
