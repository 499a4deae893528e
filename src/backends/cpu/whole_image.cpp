// Runs the primitives that read and make their image as a whole: one call each.
#include "backends/cpu/whole_image.hpp"

#include "backends/cpu/backproject.hpp"
#include "backends/cpu/diffuse.hpp"
#include "backends/cpu/distance.hpp"
#include "backends/cpu/label.hpp"
#include "backends/cpu/project.hpp"
#include "backends/cpu/resample.hpp"

namespace impipe::cpu {

bool runs_whole_image(const Primitive& primitive) {
  return std::holds_alternative<Distance>(primitive) ||
         std::holds_alternative<Diffuse>(primitive) || std::holds_alternative<Project>(primitive) ||
         std::holds_alternative<Backproject>(primitive) ||
         std::holds_alternative<Label>(primitive) || std::holds_alternative<Resample>(primitive);
}

void run_whole_image(const Node& node, const Arguments& arguments,
                     const std::vector<const Plane*>& images, Plane& out, ThreadPool& pool,
                     CpuLevel level) {
  const Plane& in = *images.front();
  if (const auto* distance = std::get_if<Distance>(&node.primitive)) {
    run_distance(*distance, in, out, pool, level);
  } else if (std::holds_alternative<Diffuse>(node.primitive)) {
    run_diffuse(in, arguments.of(0)[0], out, pool, level);
  } else if (std::holds_alternative<Project>(node.primitive)) {
    run_project(arguments.of(0), in, out, pool, level);
  } else if (const auto* back = std::get_if<Backproject>(&node.primitive)) {
    run_backproject(*back, arguments.of(0), in, out, pool);
  } else if (const auto* label = std::get_if<Label>(&node.primitive)) {
    run_label(*label, arguments.last(), images, out, pool, level);
  } else if (std::holds_alternative<Resample>(node.primitive)) {
    run_resample(node, in, arguments.last(), out, pool, level);
  }
}

}  // namespace impipe::cpu
