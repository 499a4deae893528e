// The plain copy and the plain read that other kernels are measured against.
#include "backends/jit/bandwidth_baseline.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"

namespace impipe::jit {
namespace {

constexpr int read_bytes = 16;  // a load
constexpr int items = 256;
constexpr int reads_an_item = 4;

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

Program bandwidth_baseline(Baseline baseline, Dialect dialect, int copy_bytes) {
  const bool copies = baseline == Baseline::copy;
  const int word = copies ? copy_bytes : read_bytes;
  Program program;
  const std::string text =
      filled(part(kernels::bandwidth, "parameters")) +
      (copies ? filled(part(kernels::bandwidth, "copy"), {{"word", word_of(word)}})
              : filled(part(kernels::bandwidth, "read")));
  program.source = prelude_of(dialect, text) + text;
  program.entries = {copies ? "copy_words" : "read_words"};
  program.launch = [copies, word](const LaunchValues& values) {
    const ValueShape& from = values.inputs.front();
    // Rows and planes are whole numbers of words (row_alignment).
    const std::int64_t all = from.step * from.channels / word;
    constexpr int most = std::numeric_limits<int>::max() - items * reads_an_item;
    if (all > most) {
      throw Error("a copy of " + std::to_string(all) + " words is too large");
    }
    const auto words = static_cast<int>(all);
    const int a_group = copies ? items : items * reads_an_item;
    LaunchPlan plan;
    plan.parameters.resize(sizeof words);
    std::memcpy(plan.parameters.data(), &words, sizeof words);
    plan.passes.push_back(
        {.entry = 0,
         .shape = {.groups = {(words + a_group - 1) / a_group, 1, 1}, .group = {items, 1, 1}},
         .buffers = {{Buffer::Kind::input, 0}, {Buffer::Kind::output, 0}}});
    return plan;
  };
  return program;
}

}  // namespace impipe::jit
