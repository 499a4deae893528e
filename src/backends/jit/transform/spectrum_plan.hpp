// How kernels transform lines of any length: the passes of a line, the stages of a pass, and the
// numbers that kernels read of them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace impipe::jit {

// Lines of an image of complex numbers.
struct SpectrumAxis {
  std::int64_t length = 1, lines = 1;
  bool by_columns = false;
  bool operator==(const SpectrumAxis&) const = default;
};
using SpectrumAxes = std::array<SpectrumAxis, 2>;  // rows, then columns

// Stages whose radices' product is up to 16 are done together in registers: such pairs.
struct SpectrumStagePair {
  int first = 2, second = 1;
};
inline constexpr std::array<SpectrumStagePair, 10> spectrum_stages = {
    {{4, 4}, {4, 2}, {4, 3}, {5, 3}, {5, 2}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {7, 1}}};

// Butterflies that a work-item has in sixteen numbers, at most: a power of 2.
inline int spectrum_butterflies(int radix) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(16 / radix)));
}

// Passes of a line at most. A side of 2^24 takes three, and twice as many of twice its length where
// the transform is a convolution.
inline constexpr int max_spectrum_passes = 6;

struct SpectrumPlan {
  struct Pass {
    int place = 0;            // of its numbers among `words`
    std::int64_t groups = 0;  // of a channel
  };
  std::array<std::vector<Pass>, 2> passes;
  std::array<std::int64_t, 2> padded;  // numbers of a line between passes
  std::vector<double> words;           // struct SpectrumPass and SpectrumStage of spectrum.cl
  std::vector<double> factors;         // complex numbers
};

struct SpectrumGroups {
  int items = 256;  // of a group, each of which has sixteen numbers
  bool pairs =
      true;  // whether two stages may be one; where a work-item is a loop they are but text
  int processors = 1;  // each of which should have two groups at least
  // What a device takes, to choose passes by: a number loaded or stored, an operation, a pass.
  double number_microseconds = 0, operation_microseconds = 0, launch_microseconds = 0;
  bool operator==(const SpectrumGroups&) const = default;
};

// Kept for the sizes that were asked for last.
std::shared_ptr<const SpectrumPlan> spectrum_plan(const SpectrumAxes& axes,
                                                  const SpectrumGroups& by);

}  // namespace impipe::jit
