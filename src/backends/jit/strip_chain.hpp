// The values of a chain of neighbourhoods: what a kernel of strips makes of each row, in order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/jit/block.hpp"

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

// The values of a chain, each after those it is made from; empty when it does not fit.
class StripChain {
 public:
  StripChain(const Builder& to, const IsStored& stored, int n);
  bool fits() const { return fits_; }
  std::vector<StripValue> values;
  int up = 0, down = 0;  // rows above and below the strip that are read
  int tallest = 1;       // rows of a neighbourhood
  bool dense = false;    // few registers: more groups at once

 private:
  int add(const Operand& operand);
  IsStored others() const;
  int push(StripValue value);
  bool add_node(int n, StripValue& value);
  bool read_by_neighbourhood(int from, const Footprint& f, Border border) const;
  void measure();
  // Of one neighbourhood: whether points are made before it, which blocks make again around theirs.
  bool pays_alone() const;

  const Builder& to_;
  const IsStored& stored_;
  int root_;
  bool fits_ = false;
  std::map<std::string, int> places_;
};

}  // namespace impipe::jit
