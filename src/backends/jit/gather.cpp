// Programs that no spec describes: gathering of arrays, one NaN, the copy and the read that other
// kernels are measured against.
#include "backends/jit/gather.hpp"

#include <cstring>
#include <limits>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/backend.hpp"
#include "core/error.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 256;
constexpr int word_bytes = 16;  // a load
constexpr int reads_an_item = 4;

// As in gather.cl.
struct GatherParameters {
  std::int64_t offset, step_x, step_y, step_channel, stride;
  std::int32_t width, height, groups_a_row, bytes;
};

Program program_of(Dialect dialect, const std::string& text, const char* entry) {
  Program program;
  program.source = prelude_of(dialect, text) + text;
  program.entries = {entry};
  return program;
}

template <class Parameters>
LaunchPlan plan_of(const Parameters& given, std::int64_t groups, std::vector<Buffer> buffers) {
  LaunchPlan plan;
  plan.parameters.resize(sizeof given);
  std::memcpy(plan.parameters.data(), &given, sizeof given);
  plan.passes.push_back({.entry = 0,
                         .shape = {.groups = {groups, 1, 1}, .group = {items, 1, 1}},
                         .buffers = std::move(buffers)});
  return plan;
}

// The words of so many bytes, which are fewer than `most`. Rows and planes are whole numbers of
// words (row_alignment).
int words_of(const ValueShape& image, std::int64_t planes, int bytes, int most, const char* what) {
  const std::int64_t all = image.step * planes / bytes;
  if (all > most) {
    throw Error(std::string(what) + " of " + std::to_string(all) + " words is too large");
  }
  return static_cast<int>(all);
}

const char* word_of(int bytes) {
  switch (bytes) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    case 8: return "uint2";
    default: return "uint4";
  }
}

}  // namespace

Program one_nan(Dialect dialect) {
  Program program = program_of(
      dialect,
      filled(part(kernels::one_nan, "parameters")) + filled(part(kernels::one_nan, "one_nan")),
      "make_one_nan");
  program.launch = [](const LaunchValues& values) {
    const ValueShape& image = values.outputs.front();
    constexpr int most = std::numeric_limits<int>::max() - items;
    const int words = words_of(image, image.channels * image.count, word_bytes, most, "an image");
    return plan_of(words, (words + items - 1) / items, {{Buffer::Kind::output, 0}});
  };
  return program;
}

Program bandwidth_baseline(Baseline baseline, Dialect dialect, int copy_bytes) {
  const bool copies = baseline == Baseline::copy;
  const int word = copies ? copy_bytes : word_bytes;
  Program program =
      program_of(dialect,
                 filled(part(kernels::bandwidth, "parameters")) +
                     (copies ? filled(part(kernels::bandwidth, "copy"), {{"word", word_of(word)}})
                             : filled(part(kernels::bandwidth, "read"))),
                 copies ? "copy_words" : "read_words");
  program.launch = [copies, word](const LaunchValues& values) {
    const ValueShape& from = values.inputs.front();
    constexpr int most = std::numeric_limits<int>::max() - items * reads_an_item;
    const int words = words_of(from, from.channels, word, most, "a copy");
    const int a_group = copies ? items : items * reads_an_item;
    return plan_of(words, (words + a_group - 1) / a_group,
                   {{Buffer::Kind::input, 0}, {Buffer::Kind::output, 0}});
  };
  return program;
}

Program gather(Dialect dialect) {
  Program program = program_of(
      dialect,
      filled(part(kernels::gather, "parameters")) + filled(part(kernels::gather, "gather")),
      "gather");
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
    return plan_of(given, groups, {{Buffer::Kind::input, 0}, {Buffer::Kind::output, 0}});
  };
  return program;
}

}  // namespace impipe::jit
