// Which nodes of a kernel are stored, which are recomputed where they are read, and which others
// make on their way.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/jit/plan/kernel_plan.hpp"

namespace impipe::jit {

// What is decided before the forms of what is stored, in sets of nodes.
struct Materialised {
  explicit Materialised(std::size_t nodes) : planes(nodes) {}

  std::set<int> chains;        // stored by a chain's kernel
  std::set<int> in_chains;     // inner values of chains, in registers
  std::set<int> chain_planes;  // stored values that a chain reads
  std::set<int> in_groups;     // points in local memory
  std::set<int> in_turn;       // made by a tile one after the other, for a point that mixes them
  std::set<int> on_the_way;    // points of bytes that such tiles make as they read them
  std::set<int> tiles_of_several;              // stored by such tiles
  std::map<int, std::vector<int>> co_outputs;  // what those store too, for each
  Planes planes;                               // of all nodes
  std::vector<std::string> why;                // of each that is stored

  // The node whose tiles store node n too; none: -1.
  int leader_of(int n) const;
  // What is stored where the kernel of node n makes its co-outputs too.
  Planes planes_for(int n, const Planes& stored) const;
};

// Chains go from the last node to the first, as each takes the nodes before it that nothing else
// reads. Then the points that groups make in local memory, from the first to the last, since a
// block has room for those of one neighbourhood.
Materialised materialise(const KernelContext& context);

// Whether kernels of a primitive's own make a node, an image as a whole or a measurement.
bool made_as_whole(const Node& node);

}  // namespace impipe::jit
