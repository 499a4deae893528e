// A kernel for all planes of a launch at once: each node that reads images is there once for each
// plane that it makes, so that their tiles are handed out together.
#pragma once

#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// A plane of an input image.
struct PlaneInput {
  int input = 0;  // of the spec
  int channel = 0;
};

// What makes a plane of a node's result, or measures a plane of its image.
struct PlaneNode {
  int node = 0;  // of the spec
  int channel = 0;
  // The planes it reads: `external` ones are inputs of the graph, the others earlier nodes of it.
  std::vector<Operand> images;
  // Nodes of one group read and make planes together, those of different groups share nothing.
  int group = 0;
};

// Nodes that only compute on measurements (Scalar) are no part of it.
struct PlaneGraph {
  std::vector<PlaneInput> inputs;
  std::vector<PlaneNode> nodes;
  int groups = 0;                  // one a plane, but where they share what they read
  std::vector<int> first_of_node;  // of the spec's nodes: where their planes begin in `nodes`
};

PlaneGraph plane_graph(const KernelSpec& spec);

}  // namespace impipe::cpu
