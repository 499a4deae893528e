// A kernel plane by plane: each channel of an image is a plane, and each node that reads images is
// there once for each channel that it makes.
#pragma once

#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::cpu {

// A channel of an input image.
struct PlaneInput {
  int input = 0;  // of the spec
  int channel = 0;
};

// What makes a channel of a node's result, or measures a channel of its image.
struct PlaneNode {
  int node = 0;  // of the spec
  int channel = 0;
  // The planes it reads: `external` ones are inputs of the graph, the others earlier nodes of it.
  // Of a point that mixes channels: in the order of its body's inputs.
  std::vector<Operand> images;
  // Nodes of one group read and make planes together, those of different groups share nothing.
  int group = 0;
};

// Nodes that only compute on measurements (Scalar) are no part of it.
struct PlaneGraph {
  std::vector<PlaneInput> inputs;
  std::vector<PlaneNode> nodes;
  int groups = 0;                  // one a channel, unless a point mixes channels
  std::vector<int> first_of_node;  // of the spec's nodes: where its channels begin in `nodes`
  std::vector<int> channels;       // of the spec's nodes: how many
};

PlaneGraph plane_graph(const KernelSpec& spec);

}  // namespace impipe::cpu
