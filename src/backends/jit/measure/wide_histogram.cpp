// Histograms of 65,536 codes in local memory: two counts of 16 bits a word, 134 KB for each group.
//
// A count that passes 0x8000 moves that much to the counts of the whole image in global memory; the
// work-item whose addition took it there does so. Between two barriers a group adds at most 32,768,
// so no count ever reaches its neighbour's bits: exact, whatever the content.
#include "backends/jit/measure/wide_histogram.hpp"

#include "backends/jit/measure/measure.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int codes = 65536;
constexpr int words = two_byte_words;
constexpr int pixels = 16;  // that a work-item takes at once

}  // namespace

void write_wide_histogram(Builder& to, const CountedCodes& counted, int n) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  const std::string name = Builder::name({false, n});
  const int bins = std::get<Histogram>(node.primitive).bins;
  const int group = to.tuning().wide_histogram_items,
            groups = to.tuning().groups_of_wide_histogram();
  const std::string unroll = to.tuning().unroll ? "#pragma unroll\n" : "";
  const auto number = [](std::int64_t i) { return std::to_string(i); };
  // Of one image they lie behind its ticket, are zeros there, and the second launch leaves zeros:
  // without a launch that clears them.
  const bool kept = !to.tuning().stacked;
  const auto totals = [&] {
    if (kept) return "(" + to.ticket() + " + " + number(ticket_words) + ")";
    return to.scratch(
        name + "_totals", "uint", [](const LaunchContext&) { return std::int64_t{4} * codes; },
        true);
  };
  const std::string add = name + "_add", add_four = add + "_four";
  to.body(filled(part(kernels::wide_histogram, "add"),
                 {{"add", add}, {"add_four", add_four}, {"unroll", unroll}}));
  const std::string width = to.width(image);
  std::string side, first_row, second_row, code;
  if (counted.pairs) {
    const Node& pair = to.node(image.index);
    side = "(uint)" + to.argument(image.index, 0, "bins", "double");
    first_row = to.plane(pair.images[0]).row("y");
    second_row = to.plane(pair.images[1]).row("y");
  } else if (counted.in_memory) {
    first_row = to.plane(image).row("y");
  } else {
    code = "(uint)" + to.value(image, "x", "y");
  }
  to.kernel(
      name + "_counts_of_groups", group,
      filled(part(kernels::wide_histogram, "count"), {{"array", name + "_words"},
                                                      {"words", number(words)},
                                                      {"pixels", number(pixels)},
                                                      {"items", number(group)},
                                                      {"codes", number(codes)},
                                                      {"width", width},
                                                      {"height", to.height(image)},
                                                      {"totals", totals()},
                                                      {"between", number(32768 / (group * pixels))},
                                                      {"unroll", unroll},
                                                      {"pairs", counted.pairs ? "1" : "0"},
                                                      {"in_memory", counted.in_memory ? "1" : "0"},
                                                      {"side", side},
                                                      {"first_row", first_row},
                                                      {"second_row", second_row},
                                                      {"code", code},
                                                      {"add", add},
                                                      {"add_four", add_four}}),
      [image, groups, group](const LaunchContext& at) {
        const Size s = at.size_of(image);
        const std::int64_t chunks = (s.width + pixels - 1) / pixels * s.height;
        return LaunchShape{{std::min<std::int64_t>(groups, (chunks + group - 1) / group), 1, 1},
                           {group, 1, 1}};
      },
      0, 4 * words);
  const int total = bins;
  to.kernel(name + "_as_doubles", 128,
            filled(part(kernels::wide_histogram, "end"), {{"items", "128"},
                                                          {"total", number(total)},
                                                          {"bins", number(bins)},
                                                          {"codes", number(codes)},
                                                          {"totals", totals()},
                                                          {"kept", kept ? "1" : "0"},
                                                          {"out", to.measure({false, n})}}),
            [all = kept ? codes : total](const LaunchContext&) {
              return LaunchShape{{(all + 127) / 128, 1, 1}, {128, 1, 1}};
            });
}

}  // namespace impipe::jit
