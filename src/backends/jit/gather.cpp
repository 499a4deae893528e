#include "backends/jit/gather.hpp"

#include <cstring>
#include <limits>

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/backend.hpp"
#include "core/error.hpp"

namespace impipe::jit {
namespace {

// As in gather.cl.
struct GatherParameters {
  std::int64_t offset, step_x, step_y, step_channel, stride;
  std::int32_t width, height, groups_a_row, bytes;
};

}  // namespace

Program gather(Dialect dialect) {
  constexpr int items = 256;
  Program program;
  const std::string text =
      filled(part(kernels::gather, "parameters")) + filled(part(kernels::gather, "gather"));
  program.source = prelude_of(dialect, text) + text;
  program.entries = {"gather"};
  program.launch = [](const LaunchValues& values) {
    const DeviceArray& array = *values.array;
    const std::int64_t groups_a_row = (array.size.width + items - 1) / items;
    const std::int64_t groups = groups_a_row * array.size.height * array.channels;
    if (groups > std::numeric_limits<std::int32_t>::max()) {
      throw Error("an array of " + to_string(array.size) + " x " + std::to_string(array.channels) +
                  " is too large");
    }
    const GatherParameters given{.offset = array.offset,
                                 .step_x = array.step_x,
                                 .step_y = array.step_y,
                                 .step_channel = array.step_channel,
                                 .stride = values.outputs.front().stride,
                                 .width = static_cast<std::int32_t>(array.size.width),
                                 .height = static_cast<std::int32_t>(array.size.height),
                                 .groups_a_row = static_cast<std::int32_t>(groups_a_row),
                                 .bytes = bytes_of(array.cls)};
    LaunchPlan plan;
    plan.parameters.resize(sizeof given);
    std::memcpy(plan.parameters.data(), &given, sizeof given);
    plan.passes.push_back({.entry = 0,
                           .shape = {.groups = {groups, 1, 1}, .group = {items, 1, 1}},
                           .buffers = {{Buffer::Kind::input, 0}, {Buffer::Kind::output, 0}}});
    return plan;
  };
  return program;
}

}  // namespace impipe::jit
