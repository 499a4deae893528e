// Neighbourhoods of neighbourhoods, or one of points, in one kernel: nothing between them is
// stored.
#pragma once

#include <optional>
#include <vector>

#include "backends/jit/block.hpp"

namespace impipe::jit {

// What a strip is made of beside its last node.
struct StripParts {
  std::vector<int> inside;  // nodes that it makes on the way
  std::vector<int> planes;  // nodes that it reads as planes
};
// Nothing where node n is no chain of neighbourhoods, or of points and one, made from the planes of
// inputs and of the nodes that are stored.
std::optional<StripParts> strip_parts(const Builder& to, const IsStored& stored, int n);

// The kernel store_NAME that makes node n and stores it.
void write_strip_kernel(Builder& to, const IsStored& stored, int n);

}  // namespace impipe::jit
