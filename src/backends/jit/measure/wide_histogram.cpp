// Histograms of 65,536 codes in local memory: two counts of 16 bits a word, 134 KB for each group.
// Where there is less of it, groups count slices: all of them read the image, and each its own
// codes.
//
// A count that passes 0x8000 moves that much to the counts of the whole image in global memory; the
// work-item whose addition took it there does so. Between two barriers a group adds at most 32,768,
// so no count ever reaches its neighbour's bits: exact, whatever the content.
#include "backends/jit/measure/measure.hpp"

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int codes = two_byte_codes;
constexpr int pixels = 16;  // that a work-item takes at once

// The counts of the whole image. Of one image they lie behind its ticket, are zeros there, and the
// second launch leaves zeros: without a launch that clears them.
bool are_kept(const Builder& builder) { return !builder.tuning().stacked; }

std::string totals(Builder& builder, const std::string& name) {
  if (are_kept(builder)) return "(" + builder.ticket() + " + " + number(ticket_words) + ")";
  return builder.scratch(
      name + "_totals", "uint", [](const LaunchContext&) { return std::int64_t{4} * codes; }, true);
}

// Whether the codes are there.
bool is_read(const Builder& builder, const CountedCodes& counted, int n) {
  return counted.image.in_memory && is_integer(builder.cls(builder.node(n).images[0]));
}

// How a pixel's code is read: of the rows of two images, of those of one, or made here.
struct CodeText {
  std::string side, first_row, second_row, code;
};

CodeText code_text(Builder& builder, const CountedCodes& counted, int n) {
  const Operand image = builder.node(n).images[0];
  CodeText text;
  if (counted.pairs) {
    const Node& pair = builder.node(image.index);
    text.side = "(uint)" + builder.argument(image.index, 0, "bins", "double");
    text.first_row = builder.plane(pair.images[0]).row("y");
    text.second_row = builder.plane(pair.images[1]).row("y");
  } else if (is_read(builder, counted, n)) {
    text.first_row = builder.plane(image).row("y");
  } else if (const std::string value = builder.value(image, "x", "y");
             is_integer(builder.cls(image))) {
    text.code = "(uint)" + value;
  } else {
    text.code = "(uint)" + write_bin(builder, n) + "(params, (double)" + value + ")";
  }
  return text;
}

// Groups that share the pixels. Two groups of slices fit a processor.
int groups_of_slice(const Tuning& tuning, int slices) {
  const int groups = tuning.groups_of_wide_histogram();
  return slices == 1 ? groups : (2 * groups + slices - 1) / slices;
}

void write_counts(Builder& builder, const CountedCodes& counted, int n) {
  const Operand image = builder.node(n).images[0];
  const std::string name = Builder::name({false, n}), add = name + "_add", add_four = add + "_four";
  const int group = builder.tuning().wide_histogram_items;
  const int slices = counted.slices, rows = two_byte_rows_of(slices);
  builder.body(
      builder.filled(part(kernels::wide_histogram, "add"), {{"add", add},
                                                            {"add_four", add_four},
                                                            {"sliced", slices > 1 ? "1" : "0"},
                                                            {"slice_codes", number(256 * rows)}}));
  const std::string width = builder.width(image);
  const CodeText code = code_text(builder, counted, n);
  builder.kernel(
      name + "_counts_of_groups", group,
      builder.filled(part(kernels::wide_histogram, "count"),
                     {{"array", name + "_words"},
                      {"words", number(two_byte_pitch * rows)},
                      {"slices", number(slices)},
                      {"slice_codes", number(256 * rows)},
                      {"pixels", number(pixels)},
                      {"items", number(group)},
                      {"codes", number(codes)},
                      {"width", width},
                      {"height", builder.height(image)},
                      {"totals", totals(builder, name)},
                      {"between", number(32768 / (group * pixels))},
                      {"pairs", counted.pairs ? "1" : "0"},
                      {"in_memory", is_read(builder, counted, n) ? "1" : "0"},
                      {"side", code.side},
                      {"first_row", code.first_row},
                      {"second_row", code.second_row},
                      {"code", code.code},
                      {"add", add},
                      {"add_four", add_four}}),
      [image, slices, groups = groups_of_slice(builder.tuning(), slices),
       group](const LaunchContext& at) {
        const Size s = at.size_of(image);
        const std::int64_t chunks = (s.width + pixels - 1) / pixels * s.height;
        return LaunchShape{
            {slices * std::min<std::int64_t>(groups, (chunks + group - 1) / group), 1, 1},
            {group, 1, 1}};
      },
      0, 4 * two_byte_pitch * rows);
}

void write_bins(Builder& builder, int n) {
  const std::string name = Builder::name({false, n});
  const int bins = std::get<Histogram>(builder.node(n).primitive).bins;
  const bool kept = are_kept(builder);
  builder.kernel(
      name + "_as_doubles", 128,
      filled(part(kernels::wide_histogram, "end"), {{"items", "128"},
                                                    {"total", number(bins)},
                                                    {"bins", number(bins)},
                                                    {"codes", number(codes)},
                                                    {"totals", totals(builder, name)},
                                                    {"kept", kept ? "1" : "0"},
                                                    {"out", builder.measure({false, n})}}),
      launch_groups(((kept ? codes : bins) + 127) / 128, 128));
}

}  // namespace

void write_wide_histogram(Builder& builder, const CountedCodes& counted, int n) {
  write_counts(builder, counted, n);
  if (counted.bins_apart) {
    const std::string counts = totals(builder, Builder::name({false, n}));
    write_bins_of_codes(builder, n,
                        {.counts = counts, .counters = codes, .kept = are_kept(builder)});
  } else {
    write_bins(builder, n);
  }
}

}  // namespace impipe::jit
