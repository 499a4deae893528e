// Exact order statistics as text: a radix selection over ordered keys, eight bits a round.
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;

// Of the keys that begin as the wanted one does, counts the next eight bits.
constexpr const char* count_kernel = R"(  LOCAL uint counts[256];
  const int width = $width, height = $height;
  for (int c = 0; c < $channels; ++c) {
    for (int k = 0; k < $places; ++k) {
      const uint begin = $found[c * $places + k];
      for (int i = ITEM; i < 256; i += $items) counts[i] = 0;
      BARRIER;
      for (int y = GROUP_X; y < height; y += GROUPS_X) {
$unroll        for (int x = ITEM; x < width; x += $items) {
          const uint key = key_of_single($value);
          if ($begins) ADD_LOCAL(&counts[(key >> $shift) & 255u], 1u);
        }
      }
      BARRIER;
      for (int i = ITEM; i < 256; i += $items) {
        if (counts[i] != 0) ADD_GLOBAL(&$counts[(c * $places + k) * 256 + i], counts[i]);
      }
      BARRIER;
    }
  }
)";

constexpr const char* choose_kernel = R"(  const int c = GROUP_X / $places, k = GROUP_X % $places;
  if (ITEM != 0) return;
  const int at = c * $places + k;
  long rest = $rest;
  uint digit = 0;
  while (digit < 255u && (long)$counts[at * 256 + digit] <= rest) {
    rest -= (long)$counts[at * 256 + digit];
    ++digit;
  }
  for (int i = 0; i < 256; ++i) $counts[at * 256 + i] = 0;
  $found[at] |= digit << $shift;
  $rests[at] = rest;
$end)";

}  // namespace

void write_select(Builder& to, int n) {
  const Node& node = to.node(n);
  const int places = std::get<Select>(node.primitive).places;
  const Operand image = node.images[0];
  if (to.cls(image) != PixelClass::single) to.fail("select is for single images");
  const std::string name = Builder::name({false, n});
  const int channels = to.channels(image);
  const int wanted = channels * places;
  const auto state = [&](const std::string& suffix, const std::string& type, std::int64_t bytes) {
    return to.scratch(
        name + suffix, type, [bytes](const LaunchContext&) { return bytes; }, true);
  };
  // The place, clamped, of each channel: arguments are places.
  std::string first = "  long place_of[" + std::to_string(places) + "];\n";
  for (int k = 0; k < places; ++k) {
    first += "  place_of[" + std::to_string(k) + "] = (long)clamp_double(" +
             to.argument(n, k, "place_" + std::to_string(k), "double", "c") + ", 0.0, (double)" +
             to.width(image) + " * (double)" + to.height(image) + " - 1.0);\n";
  }
  const int most = to.tuning().groups_at_once;
  for (int round = 0; round < 4; ++round) {
    const std::string shift = std::to_string(24 - 8 * round);
    const std::string begins = round == 0 ? "true"
                                          : "key >> " + std::to_string(32 - 8 * round) +
                                                " == begin >> " + std::to_string(32 - 8 * round);
    to.kernel(name + "_count_" + std::to_string(round), items,
              filled(count_kernel, {{"channels", std::to_string(channels)},
                                    {"places", std::to_string(places)},
                                    {"found", state("_found", "uint", 4 * wanted)},
                                    {"items", std::to_string(items)},
                                    {"width", to.width(image)},
                                    {"height", to.height(image)},
                                    {"unroll", to.tuning().unroll ? "#pragma unroll 4\n" : ""},
                                    {"value", to.value(image, "x", "y", "c")},
                                    {"begins", begins},
                                    {"shift", shift},
                                    {"counts", state("_counts", "uint", 4 * 256 * wanted)}}),
              [image, most](const LaunchContext& at) {
                return LaunchShape{{std::min<std::int64_t>(most, at.size_of(image).height), 1, 1},
                                   {items, 1, 1}};
              });
    std::string text = filled(
        choose_kernel,
        {{"places", std::to_string(places)},
         {"rest", round == 0 ? "place_of[k]" : state("_rest", "long", 8 * wanted) + "[at]"},
         {"counts", state("_counts", "uint", 4 * 256 * wanted)},
         {"found", state("_found", "uint", 4 * wanted)},
         {"shift", shift},
         {"rests", state("_rest", "long", 8 * wanted)},
         {"end", round == 3 ? "  " + to.measure({false, n}) + "[at] = (double)single_of_key(" +
                                  state("_found", "uint", 4 * wanted) + "[at]);\n"
                            : ""}});
    if (round == 0) text.insert(text.find('\n') + 1, first);
    // The arguments of the first round may be measured.
    for (const Argument& a : node.arguments) {
      if (round == 0 && a.source == Argument::Source::measured)
        to.measure(node.measures[a.measure]);
    }
    to.kernel(name + "_choose_" + std::to_string(round), items, text,
              [wanted](const LaunchContext&) {
                return LaunchShape{{wanted, 1, 1}, {items, 1, 1}};
              });
  }
}

}  // namespace impipe::jit
