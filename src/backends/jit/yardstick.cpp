// The plain copy and the plain read that other kernels are measured against.
#include "backends/jit/yardstick.hpp"

#include <cstring>
#include <utility>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"

namespace impipe::jit {
namespace {

constexpr std::int64_t word = 16;  // bytes a load
constexpr int items = 256;
constexpr int reads_an_item = 4;

}  // namespace

Program yardstick(Yardstick yardstick, Dialect dialect) {
  const bool copies = yardstick == Yardstick::copy;
  Program program;
  const std::string text =
      part(kernels::bandwidth, "parameters") + part(kernels::bandwidth, copies ? "copy" : "read");
  program.source = prelude_of(dialect, text) + text;
  program.entries = {copies ? "copy_words" : "read_words"};
  program.launch = [copies](const LaunchValues& values) {
    const ValueShape& from = values.inputs.front();
    // Rows and planes are whole numbers of words (row_alignment).
    const auto words = static_cast<int>(from.step * from.channels / word);
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
