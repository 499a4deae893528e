// What the queues of both GPU runtimes do with a launch before they give it to the driver.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/jit/program/program.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

// The parameters, scratch memory and passes of a launch of a kernel's program.
LaunchPlan plan_launch(const Program& program, const Launch& launch);

// The buffers of a pass in their order. handle_of: of a plane or measurement, in the runtime's own
// terms; scratch: of LaunchPlan::scratch.
template <class Handle, class HandleOf>
std::vector<Handle> buffers_of(const Pass& pass, const Launch& launch,
                               const std::vector<Handle>& scratch, HandleOf handle_of) {
  std::vector<Handle> buffers;
  for (const Buffer& buffer : pass.buffers) {
    const auto index = static_cast<std::size_t>(buffer.index);
    switch (buffer.kind) {
      case Buffer::Kind::input: buffers.push_back(handle_of(launch.inputs[index])); break;
      case Buffer::Kind::output: buffers.push_back(handle_of(launch.outputs[index])); break;
      case Buffer::Kind::scratch: buffers.push_back(scratch[index]); break;
    }
  }
  return buffers;
}

}  // namespace impipe::jit
