#include "backends/jit/one_nan.hpp"

#include <cstring>
#include <limits>

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"

namespace impipe::jit {

Program one_nan(Dialect dialect) {
  constexpr int items = 256, word = 16;
  Program program;
  const std::string text =
      filled(part(kernels::one_nan, "parameters")) + filled(part(kernels::one_nan, "one_nan"));
  program.source = prelude_of(dialect, text) + text;
  program.entries = {"make_one_nan"};
  program.launch = [](const LaunchValues& values) {
    const ValueShape& image = values.outputs.front();
    // Rows and planes are whole numbers of words (row_alignment).
    const std::int64_t all = image.step * image.channels * image.count / word;
    if (all > std::numeric_limits<int>::max() - items) {
      throw Error("an image of " + std::to_string(all) + " words is too large");
    }
    const auto words = static_cast<int>(all);
    LaunchPlan plan;
    plan.parameters.resize(sizeof words);
    std::memcpy(plan.parameters.data(), &words, sizeof words);
    plan.passes.push_back(
        {.entry = 0,
         .shape = {.groups = {(words + items - 1) / items, 1, 1}, .group = {items, 1, 1}},
         .buffers = {{Buffer::Kind::output, 0}}});
    return plan;
  };
  return program;
}

}  // namespace impipe::jit
