// Exact order statistics as text: a radix selection over ordered keys, eight bits a round.
#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;

}  // namespace

void write_select(Builder& to, int n) {
  const Node& node = to.node(n);
  const int places = std::get<Select>(node.primitive).places;
  const Operand image = node.images[0];
  if (to.cls(image) != PixelClass::single) to.fail("select is for single images");
  const std::string name = Builder::name({false, n});
  const auto state = [&](const std::string& suffix, const std::string& type, std::int64_t bytes) {
    return to.scratch(
        name + suffix, type, [bytes](const LaunchContext&) { return bytes; }, true);
  };
  // The places, clamped.
  std::string first = "  long place_of[" + std::to_string(places) + "];\n";
  for (int k = 0; k < places; ++k) {
    first += "  place_of[" + std::to_string(k) + "] = (long)clamp_double(" +
             to.argument(n, k, "place_" + std::to_string(k), "double") + ", 0.0, (double)" +
             to.width(image) + " * (double)" + to.height(image) + " - 1.0);\n";
  }
  const int most = to.tuning().groups_at_once();
  for (int round = 0; round < 4; ++round) {
    const std::string shift = std::to_string(24 - 8 * round);
    const std::string begins = round == 0 ? "true"
                                          : "key >> " + std::to_string(32 - 8 * round) +
                                                " == begin >> " + std::to_string(32 - 8 * round);
    to.kernel(name + "_count_" + std::to_string(round), items,
              filled(part(kernels::select, "count"),
                     {{"places", std::to_string(places)},
                      {"found", state("_found", "uint", 4 * places)},
                      {"items", std::to_string(items)},
                      {"width", to.width(image)},
                      {"height", to.height(image)},
                      {"unroll", to.tuning().unroll ? "#pragma unroll 4\n" : ""},
                      {"value", to.value(image, "x", "y")},
                      {"begins", begins},
                      {"shift", shift},
                      {"counts", state("_counts", "uint", 4 * 256 * places)}}),
              [image, most](const LaunchContext& at) {
                return LaunchShape{
                    {std::min(groups_of_plane(at, most), at.size_of(image).height), 1, 1},
                    {items, 1, 1}};
              });
    const std::string text =
        filled(part(kernels::select, "choose"),
               {{"places", std::to_string(places)},
                {"rest", round == 0 ? "place_of[at]" : state("_rest", "long", 8 * places) + "[at]"},
                {"counts", state("_counts", "uint", 4 * 256 * places)},
                {"found", state("_found", "uint", 4 * places)},
                {"shift", shift},
                {"rests", state("_rest", "long", 8 * places)},
                {"first_places", round == 0 ? first : ""},
                {"last", round == 3 ? "1" : "0"},
                {"out", round == 3 ? to.measure({false, n}) : ""}});
    // The arguments of the first round may be measured.
    for (const Argument& a : node.arguments) {
      if (round == 0 && a.source == Argument::Source::measured)
        to.measure(node.measures[a.measure]);
    }
    to.kernel(name + "_choose_" + std::to_string(round), items, text,
              [places](const LaunchContext&) {
                return LaunchShape{{places, 1, 1}, {items, 1, 1}};
              });
  }
}

}  // namespace impipe::jit
