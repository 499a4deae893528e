// What spreads step by step: gray reconstruction, gray holes, hysteresis. How many steps there are
// follows from the picture, so the CPU does it (docs/decisions/0011): the launch says so, and the
// engine takes the image there, as it does with images that the device has no memory for.
#include "backends/jit/label.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

void write_spread(Builder& to, int n) {
  const std::string name = Builder::name({false, n});
  const std::string refused =
      to.scratch(name + "_steps", "uint", [](const LaunchContext&) -> std::int64_t {
        throw OutOfDeviceMemory("label: values that spread step by step have no kernel on a GPU");
      });
  to.kernel(name + "_spread", 1, "  " + refused + "[0] = 0;\n",
            [](const LaunchContext&) { return LaunchShape{}; });
}

}  // namespace impipe::jit
