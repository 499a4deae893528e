// The bins of pixels' values: those of histograms of tiles, and BetweenTables'.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/simd/level.hpp"
#include "core/image.hpp"
#include "core/vocabulary.hpp"

namespace impipe::cpu {

IMPIPE_INLINE std::int32_t bin_of(double value, double white, double last_bin) {
  const double known = value == value ? bodies::clamp(value, 0.0, white) : 0.0;
  return static_cast<std::int32_t>(known * last_bin / white + 0.5);
}

template <class...>
IMPIPE_INLINE void bins_of_floats_body(std::int32_t* __restrict out, const float* __restrict in,
                                       std::int64_t n, double white, double last_bin) {
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = bin_of(static_cast<double>(in[i]), white, last_bin);
  }
}
IMPIPE_CPU_KERNEL(bins_of_floats,
                  (std::int32_t * out, const float* in, std::int64_t n, double white,
                   double last_bin),
                  (out, in, n, white, last_bin))

// Those of integer classes stand in a table.
class TileBins {
 public:
  TileBins(PixelClass cls, double white, int bins, CpuLevel level)
      : white_(white), last_(bins - 1), level_(level) {
    if (!is_integer(cls)) return;
    // A byte of a logical image can be anything.
    const int codes = bytes_of(cls) == 1 ? 256 : static_cast<int>(class_max(cls)) + 1;
    for (int code = 0; code < codes; ++code) of_codes_.push_back(bin_of(code, white, last_));
  }

  // [codes]
  const std::int32_t* of_codes() const { return of_codes_.data(); }

  template <class T>
  void find(std::int32_t* out, const T* in, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) out[i] = of_codes_[in[i]];
  }
  void find(std::int32_t* out, const float* in, std::int64_t n) const {
    bins_of_floats<>[static_cast<int>(level_)](out, in, n, white_, last_);
  }

 private:
  double white_, last_;
  CpuLevel level_;
  std::vector<std::int32_t> of_codes_;
};

}  // namespace impipe::cpu
