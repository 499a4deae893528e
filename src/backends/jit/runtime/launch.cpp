// The shapes of a launch's values, as a kernel's program asks for them.
#include "backends/jit/runtime/launch.hpp"

namespace impipe::jit {
namespace {

ValueShape shape_of(const DeviceValue& value) {
  if (!value.plane) {
    const DeviceMeasure& measure = *value.measure;
    return {.size = {},
            .stride = 0,
            .step = measure.values() * static_cast<std::int64_t>(sizeof(double)),
            .channels = measure.channels()};
  }
  const DevicePlane& plane = *value.plane;
  const std::int64_t stride = row_bytes(plane.cls(), plane.size());
  return {.size = plane.size(),
          .stride = stride,
          .step = stride * plane.size().height,
          .channels = plane.channels()};
}

// Planes that the launch works on.
int count_of(const Launch& launch) {
  const DeviceValue& value = launch.outputs.front();
  const int images = value.plane ? value.plane->count() : value.measure->count();
  return launch.spec == nullptr ? images : images * launch.spec->planes;
}

}  // namespace

LaunchPlan plan_launch(const Program& program, const Launch& launch) {
  std::vector<ValueShape> inputs, outputs;
  for (const DeviceValue& value : launch.inputs) inputs.push_back(shape_of(value));
  for (const DeviceValue& value : launch.outputs) outputs.push_back(shape_of(value));
  return program.launch(
      {.spec = launch.spec, .inputs = inputs, .outputs = outputs, .count = count_of(launch)});
}

}  // namespace impipe::jit
