// Makes the planes of a kernel, a tile at a time.
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/plane_graph.hpp"
#include "backends/cpu/point/point.hpp"
#include "backends/cpu/step.hpp"
#include "backends/cpu/tile/code_table.hpp"
#include "backends/cpu/tile/sink.hpp"

namespace impipe::cpu {

// What a launch knows of a node of the plane graph.
struct PlaneRun {
  const Node* node = nullptr;
  Size size;  // of the plane it makes
  Arguments arguments;
  std::shared_ptr<const PointProgram> point;
  std::shared_ptr<const CodeTable> own_table;  // of a point that has one
  std::shared_ptr<const CodeTable> table;      // and of the points before it, applied to:
  Operand table_source;
  std::vector<Operand> sink_images;  // what a sink takes
  std::unique_ptr<Sink> sink;
  Plane* output = nullptr;  // where the result leaves the kernel

  bool is_sink() const { return !sink_images.empty(); }
};

// A launch, plane by plane.
struct PlaneRuns {
  const KernelSpec& spec;
  ThreadPool& pool;
  ScratchPool& scratches;
  CpuLevel level;
  PlaneGraph graph;
  std::vector<const Plane*> inputs;  // one a PlaneInput
  std::vector<PlaneRun> nodes;       // one a PlaneNode

  Size size_of(const Operand& plane) const {
    return plane.external ? inputs[plane.index]->size() : nodes[plane.index].size;
  }
  PixelClass class_of(const Operand& plane) const {
    return plane.external ? inputs[plane.index]->cls() : nodes[plane.index].node->cls;
  }
  double white_of(const Operand& plane) const {
    return plane.external ? spec.inputs[graph.inputs[plane.index].input].white
                          : nodes[plane.index].node->white;
  }
  const std::vector<Operand>& images_of(std::size_t n) const { return graph.nodes[n].images; }
  // The images of a node that reads inputs of the kernel alone.
  std::vector<const Plane*> inputs_of(std::size_t n) const {
    std::vector<const Plane*> images;
    for (const Operand& plane : images_of(n)) images.push_back(inputs[plane.index]);
    return images;
  }
  // Whether tiles are made for it, and the size that they are cut from.
  bool is_root(std::size_t n) const { return nodes[n].output != nullptr || nodes[n].is_sink(); }
  Size root_size(std::size_t n) const {
    return nodes[n].is_sink() ? size_of(nodes[n].sink_images[0]) : nodes[n].size;
  }
};

// Makes all results of this size, and feeds all sinks that take planes of this size.
void run_tiles(PlaneRuns& runs, Size size);

}  // namespace impipe::cpu
