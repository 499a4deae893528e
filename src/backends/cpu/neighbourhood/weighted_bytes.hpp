// Weights that depend on how far apart two bytes are.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/tile/scratch.hpp"
#include "core/body.hpp"

namespace impipe::cpu {

// A table of 256 weights for each place of a weighted mean from the middle on.
class ByteWeights {
 public:
  // Whether tables take less time than the weights of so many pixels, and are right for them. They
  // lie in `scratch`.
  bool make(const StencilBody& body, const float* args, int reach, std::int64_t pixels,
            Scratch& scratch, CpuLevel level);

  // The weights that n bytes at `a` have for those at `b`, (dx, dy) further. Of both 63 bytes more
  // are read, and as many weights written.
  void row(float* out, const std::uint8_t* a, const std::uint8_t* b, int dx, int dy,
           std::int64_t n) const;

 private:
  std::size_t place(int dx, int dy) const {
    return static_cast<std::size_t>(dy) * static_cast<std::size_t>(2 * reach_ + 1) +
           static_cast<std::size_t>(dx);
  }

  int reach_ = 0;
  std::vector<const std::uint8_t*> tables_;
};

}  // namespace impipe::cpu
