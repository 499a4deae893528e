// The plain copy and the plain read that other kernels are measured against.
#include "backends/jit/yardstick.hpp"

#include <cstring>
#include <utility>

#include "backends/jit/dialect.hpp"

namespace impipe::jit {
namespace {

constexpr std::int64_t word = 16;  // bytes a load
constexpr int items = 256;
constexpr int reads_an_item = 4;

constexpr const char* copy_text = R"(
struct Parameters { int words; };
KERNEL(256) void copy_words(GLOBAL const uint4* RESTRICT from, GLOBAL uint4* RESTRICT to,
                            PARAMETERS) {
  const int i = GROUP_X * 256 + ITEM;
  if (i < all_parameters.words) to[i] = from[i];
}
)";

// The store stays undone unless the words come to one value of 2^32, which no compiler can rule
// out.
constexpr const char* read_text = R"(
struct Parameters { int words; };
KERNEL(256) void read_words(GLOBAL const uint4* RESTRICT from, GLOBAL uint* RESTRICT to,
                            PARAMETERS) {
  const int first = GROUP_X * 1024 + ITEM;
  uint mixed = 0;
  for (int k = 0; k < 4; ++k) {
    const int i = first + k * 256;
    if (i < all_parameters.words) {
      const uint4 v = from[i];
      mixed |= v.x ^ v.y ^ v.z ^ v.w;
    }
  }
  if (mixed == 0x12345678u) to[0] = mixed;
}
)";

}  // namespace

Program yardstick(Yardstick yardstick, Dialect dialect) {
  const bool copies = yardstick == Yardstick::copy;
  Program program;
  program.source = prelude(dialect) + (copies ? copy_text : read_text);
  program.entries = {copies ? "copy_words" : "read_words"};
  program.launch = [copies](const LaunchValues& values) {
    const ValueShape& from = values.inputs.front();
    // Rows and planes are whole numbers of words (row_alignment).
    const auto words = static_cast<int>(from.stride * from.size.height / word);
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
