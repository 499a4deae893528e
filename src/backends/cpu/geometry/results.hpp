// Where rows of numbers go that become pixels of a plane.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {

// Where results go: past the caches, if all of them are more than stays there. Bytes are too few a
// row of a block for that to pay.
class Results {
 public:
  Results(Plane& out, CpuLevel level)
      : Results(out,
                bytes_of(out.cls()) > 1 && out.size().height * out.row_bytes() >= kept_in_caches,
                level) {}
  Results(Plane& out, bool spills, CpuLevel level) : out_(out), level_(level), spills_(spills) {}

  // Numbers become pixels, from column x of row y on; a logical one is set from a half on.
  void store(std::int64_t x, std::int64_t y, float* numbers, std::int64_t n) const {
    const PixelClass cls = out_.cls();
    std::byte* to = out_.row(y) + x * bytes_of(cls);
    if (cls == PixelClass::logical) {
      for (std::int64_t i = 0; i < n; ++i) numbers[i] = numbers[i] >= 0.5f ? 1.0f : 0.0f;
    }
    if (!spills_) return store_row(to, numbers, cls, n, level_);
    if (cls == PixelClass::single) {
      return stream_row(to, reinterpret_cast<const std::byte*>(numbers), n * bytes_of(cls), level_);
    }
    static thread_local std::vector<std::byte> codes;
    codes.resize(static_cast<std::size_t>(n * bytes_of(cls)));
    store_row(codes.data(), numbers, cls, n, level_);
    stream_row(to, codes.data(), n * bytes_of(cls), level_);
  }
  // After the last of a part, before other threads read it.
  void end() const {
    if (spills_) end_streams();
  }

 private:
  Plane& out_;
  CpuLevel level_;
  bool spills_;
};

}  // namespace impipe::cpu
