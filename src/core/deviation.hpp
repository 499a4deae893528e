// Masks of Moments nodes whose columns lie within one another, as those of discs do.
#pragma once

#include <optional>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe {

// Each column of the mask is one run of cells, and of two runs one holds the rows of the other: all
// of them follow from the shortest by further rows, and windows share what they sum.
//
// Of every column of the image, at every pixel: values are counted from that in row `start` of the
// mask. Round by round further rows are added, downwards to `last`, then upwards to `first`; each
// round has a mean and squared deviations, as kernel_spec.hpp has them. A window takes those of its
// columns, round by round and from left to right: m is a mean counted from the first of them, n the
// run's cells, w the sum of squared deviations, t = n m, a the sum of t, b that of squares, each
// fma(t, m, b). Its squared deviations are w + (b - a (1/N) a), the latter 0 where it is less.
struct NestedColumns {
  struct Round {
    int first = 0, last = 0;   // rows of the mask
    std::vector<int> columns;  // of this run
    int cells() const { return last - first + 1; }
  };
  int start = 0;
  std::vector<Round> rounds;  // the shortest run first
};

// Nothing where columns are no such runs, or share too little: of at most 65 columns, where that
// saves half of the operations.
std::optional<NestedColumns> nested_columns(const Mask& mask);

}  // namespace impipe
