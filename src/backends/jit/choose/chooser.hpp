// The cheapest form of a node.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backends/jit/plan/form.hpp"

namespace impipe::jit {

struct Choice {
  const FormRow* row = nullptr;
  Offer offer;
  std::vector<FormCost> costs;  // of all forms that can make the node, the cheapest first

  // Why it was taken, with its cost and the next one's.
  std::string reason() const;
};

// Asks all forms. Where a variant names a form, that one is taken if it can make the node; where
// kernels are of single pixels, no other is asked.
Choice cheapest(const FormQuestion& question);

// The forms in which kernels make images that are stored; of two that cost the same the earlier one
// is taken.
std::span<const FormRow* const> all_forms();

// Pixels of the image that costs are estimated for: 2048x2048.
inline constexpr double reference_pixels = 2048.0 * 2048.0;

// Microseconds of a form's work for such an image, by the device's coefficients. Memory and
// arithmetic overlap in part: the root of the sum of their squares is within a tenth of what rows
// of the sweep take on one H200 (docs/benchmarks/h200/forms.txt).
double microseconds(const Work& work, const Tuning& tuning);

}  // namespace impipe::jit
