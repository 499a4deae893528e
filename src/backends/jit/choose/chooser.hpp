// The cheapest form of a node.
#pragma once

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

}  // namespace impipe::jit
