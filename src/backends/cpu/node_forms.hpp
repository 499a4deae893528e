// How the CPU makes a kernel's nodes, in words.
#pragma once

#include <vector>

#include "core/backend.hpp"

namespace impipe::cpu {

std::vector<NodeForm> node_forms(const KernelSpec& spec);

}  // namespace impipe::cpu
