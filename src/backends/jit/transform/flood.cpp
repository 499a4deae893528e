// Meyer's flooding as text. Its result follows from the order in which pixels are taken, so that
// one work-item takes them; pictures with more pixels than that is good for are left to the CPU.
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/backend.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 32;
constexpr std::int64_t max_pixels = 1 << 16;

}  // namespace

void write_flood(Builder& to, int n) {
  const Node& node = to.node(n);
  const Operand self{false, n}, heights = node.images[0], labels = node.images[1];
  const std::string name = Builder::name(self);
  const auto of_pixels = [&](const std::string& suffix, const std::string& type, int bytes) {
    return to.scratch(name + suffix, type, [heights, bytes](const LaunchContext& at) {
      const Size size = at.size_of(heights);
      if (size.pixels() > max_pixels) {
        throw OutOfDeviceMemory("watershed: one pixel follows from another, and " +
                                to_string(size) + " has many");
      }
      return bytes * size.pixels();
    });
  };
  to.body_once("flood_functions", part(kernels::flood, "functions"));
  const std::string queued = of_pixels("_queued", "uchar", 1);
  const std::string label = to.value(labels, "x", "y"), out = to.plane(self).pixel();
  const std::string height = to.value(heights, "x", "y");
  const std::string key =
      to.cls(heights) == PixelClass::single ? "flood_key(" + height + ")" : "(uint)" + height;
  to.kernel(name + "_begin", items,
            filled(part(kernels::flood, "begin"), {{"items", std::to_string(items)},
                                                   {"width", to.width(heights)},
                                                   {"label", label},
                                                   {"out", out},
                                                   {"queued", queued}}),
            [heights](const LaunchContext& at) {
              const Size size = at.size_of(heights);
              return LaunchShape{{(size.width + items - 1) / items, size.height, 1}, {items, 1, 1}};
            });
  to.kernel(name + "_flood", items,
            filled(part(kernels::flood, "flood"),
                   {{"items", std::to_string(items)},
                    {"width", to.width(heights)},
                    {"height", to.height(heights)},
                    {"corners", std::get<Flood>(node.primitive).connectivity == 8 ? "1" : "0"},
                    {"label", label},
                    {"out", out},
                    {"height_key", key},
                    {"queued", queued},
                    {"keys", of_pixels("_keys", "unsigned long", 8)},
                    {"pixels", of_pixels("_pixels", "uint", 4)}}),
            [](const LaunchContext&) {
              return LaunchShape{{1, 1, 1}, {items, 1, 1}};
            });
}

}  // namespace impipe::jit
