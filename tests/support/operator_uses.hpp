// How tests that walk over the catalogue use each operator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/operator.hpp"

namespace impipe::test {

// The arguments of each use; null where an operator with parameters has no row in the table.
const std::vector<std::string>* uses_of(const Operator& op);

// The images that the uses name, for this one: :b and :b2 like it, :gray its like in gray, :lut a
// table for it.
std::map<std::string, HostImage> operands_for(const HostImage& image);

}  // namespace impipe::test
