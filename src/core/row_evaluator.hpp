// Evaluates a user's expression on the CPU, row by row: one vectorised loop a node and chunk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/body.hpp"
#include "core/expression.hpp"

namespace impipe {

// real is float or double. Used by one thread; the expression may go after construction.
template <class real>
class RowEvaluator {
 public:
  explicit RowEvaluator(const Expression& expression, CpuLevel level = CpuLevel::baseline);

  // inputs: a row of n values for each variable, then for each tap of the expression, in their
  // order. out: n values; overlaps no input.
  void run(real* out, std::span<const real* const> inputs, std::int64_t n);

 private:
  // Values of a chunk: a slot of the scratch, or part of an input's row.
  struct Source {
    int slot = -1;
    int input = -1;
  };
  struct Step {
    PointRow<real> row;
    Source operands[3];
    int slot;                            // -1: the result
    PointRow<real> small_row = nullptr;  // the same of angles below functions::small_angles
  };

  std::vector<Step> steps_;
  std::vector<real> scratch_;  // [slots, chunk]; constants keep a slot to themselves
};

extern template class RowEvaluator<float>;
extern template class RowEvaluator<double>;

}  // namespace impipe
