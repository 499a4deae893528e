// Finds the whole-number sums in a stencil of bytes, which two 16-bit lanes of a word can hold.
//
// In at(1, 0) - at(-1, 0) over bytes every value is a whole number in a range of less than 2^16:
// floats and integers give the same, and a word has two of them. What is not such a sum stays as it
// was written, over the sums as floats.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::jit {

// The text of a tap's lanes.
using TapText = std::function<std::string(int dx, int dy)>;

struct IntegerSum {
  // A word whose lanes are the sum plus bias, in [0, 65535].
  std::function<std::string(const TapText&)> text;
  int bias = 0;
};

struct IntegerSums {
  std::vector<IntegerSum> sums;
  std::string rest;  // the stencil's value, of vsum0, vsum1, ... and its parameters
};

// Nothing when there is no sum, or the stencil has words that are not known here.
std::optional<IntegerSums> integer_sums(const Stencil& stencil);

}  // namespace impipe::jit
