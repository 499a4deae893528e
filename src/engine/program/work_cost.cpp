// Sums the costs of a plan's steps.
#include "engine/program/work_cost.hpp"

#include <algorithm>
#include <cmath>

#include "core/primitive_facts.hpp"
#include "engine/program/program.hpp"
#include "pipeline/cost.hpp"
#include "pipeline/fuse.hpp"

namespace impipe::engine {

void WorkCost::add_steps(const Plan& plan, double pixels, double runs, bool is_ring) {
  for (const Step& step : plan.steps) {
    for (const Node& node : step.kernel.nodes) {
      if (!is_ring || !stands_alone(node.primitive)) units += pipeline::cost_of(node) * pixels;
    }
  }
  launches += static_cast<double>(plan.steps.size()) * runs;
  kernels += static_cast<int>(plan.steps.size());
}

void WorkCost::add(const Plan& plan, double pixels, double runs) {
  add_steps(plan, pixels, runs, false);
  double a_pixel = bytes_per_pixel(plan.values[0]);
  for (const PlanOperand& operand : plan.operands) {
    a_pixel += bytes_per_pixel(plan.values[operand.value]);
  }
  if (plan.writes_image) a_pixel += bytes_per_pixel(plan.values[plan.result]);
  transfer_bytes += a_pixel * pixels;
}

void WorkCost::add(const PlaneRing& ring, const ImageType& type, double voxels, double planes) {
  for (const Plan& plan : ring.of_plane) add_steps(pipeline::fuse(plan), voxels, planes, true);
  add_steps(pipeline::fuse(ring.of_ring), voxels, planes, true);
  transfer_bytes += 2.0 * type.channels * bytes_of(type.cls) * voxels;
}

double WorkCost::cpu_seconds(const CostModel& model, int threads) const {
  // An image's tiles are spread over the threads too, so that all of them work in any case; a file
  // is decoded and encoded by one. Files go in rounds: a few that are left take as long as one.
  const double all = std::max(1.0, images), a_file = file_seconds / all;
  const auto round = [&](double files) {
    return files * a_file / std::max(1.0, std::min(model.crowd * threads, files));
  };
  const double full = std::floor(all / threads);
  return units * model.cpu_unit / threads + full * round(threads) + round(all - full * threads);
}

double WorkCost::gpu_seconds(const CostModel& model, int threads) const {
  const double lanes = std::max(1.0, std::min<double>(threads, images));
  const double transfer = transfer_bytes / std::min(model.pcie, lanes * model.staging);
  return gpu_start_seconds(model) + launches * model.gpu_launch + transfer +
         units * model.gpu_unit + coded_pixels * model.gpu_coded + packed_bytes * model.gpu_packed +
         file_seconds_beside_gpu / lanes;
}

double WorkCost::gpu_start_seconds(const CostModel& model) const {
  return model.gpu_start + kernels * model.gpu_kernel;
}

}  // namespace impipe::engine
