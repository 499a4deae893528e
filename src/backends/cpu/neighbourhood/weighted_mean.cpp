// Weighted means by pairs of pixels: the weight that each of two pixels has for the other is
// computed once. A row of the image adds to the sums of itself and of the rows below, one distance
// between rows after the other, which is the order of the definition for every pixel.
#include "backends/cpu/neighbourhood/weighted_mean.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "backends/cpu/neighbourhood/weighted_bytes.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

// Of a row of pixels their weights, and the weighted values.
struct Sums {
  float* weights = nullptr;
  float* values = nullptr;
};

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/weighted_mean.inc"
#include "backends/cpu/simd/vector_levels.inc"

struct Mean {
  const StencilBody& body;
  const float* args;
  int reach;
  Outside outside;
  const ByteWeights* bytes;  // null: weights are computed
};

// Columns of a tile whose rows of weights and sums stay in L1.
class Strip {
 public:
  Strip(const Mean& mean, const TileImage& in, const Region& region, Scratch& scratch,
        CpuLevel level)
      : mean_(mean),
        level_(level),
        n_(region.width()),
        height_(region.height()),
        values_(in, around(region, mean.reach), mean.reach, mean.outside, PixelClass::single,
                scratch, level) {
    const int reach = mean.reach;
    if (mean.bytes != nullptr) {
      codes_.emplace(in, around(region, reach), reach, mean.outside, in.cls, scratch, level);
    }
    const std::int64_t row = n_ + 2 * reach + padding;
    apart_ = scratch.take<float>(row);
    std::fill_n(apart_, row, 0.0f);
    for (int k = 0; k <= 2 * reach; ++k) weights_.push_back(scratch.take<float>(row) + reach);
    for (int k = 0; k <= reach; ++k) {
      sums_.push_back({scratch.take<float>(n_), scratch.take<float>(n_)});
    }
    taps_.resize(weights_.size());
  }

  void run(PixelClass cls, TileOut out) {
    for (std::int64_t y = -mean_.reach; y < height_; ++y) {
      for (int dy = 0; dy <= mean_.reach; ++dy) add_pairs(y, dy);
      if (y < 0) continue;
      std::byte* to = out.data + y * out.stride;
      float* means = cls == PixelClass::single ? reinterpret_cast<float*>(to) : apart_;
      (level_ == CpuLevel::v4 ? v4::divide_row : v3::divide_row)(means, sums(y), n_);
      if (means == apart_) store_row(to, means, cls, n_, level_);
    }
  }

 private:
  static constexpr std::int64_t padding = 64;  // weights more than are asked for

  static Region around(const Region& region, int reach) {
    return {region.x0 - reach, region.y0 - reach, region.x1 + reach, region.y1 + reach};
  }
  Sums sums(std::int64_t y) const { return sums_[y % (mean_.reach + 1)]; }

  // The pairs of row y and the one dy below it.
  void add_pairs(std::int64_t y, int dy) {
    const int reach = mean_.reach;
    const bool here = y >= 0, below = dy > 0 && y + dy >= 0 && y + dy < height_;
    if (!here && !below) return;
    for (int dx = dy > 0 ? -reach : 0; dx <= reach; ++dx) {
      const bool of_others = below || dy == 0;
      make_weights(y, dx, dy, of_others ? std::min(-dx, here ? 0 : -dx) : 0,
                   n_ + (of_others ? std::max(-dx, here ? 0 : -dx) : 0));
    }
    // The other pixel's weight for one is that for the other.
    const auto mirrored = [&](int dx) { return weights_[reach - dx] + dx; };
    if (below) {
      if (dy == reach) {
        std::fill_n(sums(y + dy).weights, n_, 0.0f);
        std::fill_n(sums(y + dy).values, n_, 0.0f);
      }
      for (int dx = -reach; dx <= reach; ++dx) taps_[dx + reach] = mirrored(dx);
      add(y + dy, y);
    }
    if (here) {
      for (int dx = -reach; dx <= reach; ++dx) {
        taps_[dx + reach] = dy == 0 && dx < 0 ? mirrored(dx) : weights_[dx + reach];
      }
      add(y, y + dy);
    }
  }

  // Of pixels [from, to) of row y for those (dx, dy) further.
  void make_weights(std::int64_t y, int dx, int dy, std::int64_t from, std::int64_t to) {
    constexpr std::int64_t whole = 16;
    float* out = weights_[dx + mean_.reach] + from;
    if (mean_.bytes != nullptr) {
      const auto row = [&](std::int64_t i) {
        return reinterpret_cast<const std::uint8_t*>(codes_->row(i + mean_.reach)) + from;
      };
      return mean_.bytes->row(out, row(y), row(y + dy) + dx, dx, dy, to - from);
    }
    const float* values = value_row(y) + from;
    (level_ == CpuLevel::v4 ? v4::subtract_row : v3::subtract_row)(
        apart_, value_row(y + dy) + from + dx, values, to - from);
    mean_.body.weights[static_cast<int>(level_)](
        out, apart_, (to - from + whole - 1) / whole * whole, dx, dy, mean_.args);
  }

  // Adds row `from`, weighted by the taps, to the sums of row y.
  void add(std::int64_t y, std::int64_t from) {
    (level_ == CpuLevel::v4 ? v4::add_taps : v3::add_taps)(
        sums(y), taps_.data(), value_row(from) - mean_.reach, static_cast<int>(taps_.size()), n_);
  }

  const float* value_row(std::int64_t y) { return values_.float_row(y + mean_.reach); }

  const Mean& mean_;
  CpuLevel level_;
  std::int64_t n_, height_;
  RowView values_;
  std::optional<RowView> codes_;  // of bytes
  float* apart_;
  std::vector<float*> weights_;  // by dx, at pixel 0
  std::vector<Sums> sums_;
  std::vector<const float*> taps_;
};

// So many pixels that the rows stay in L1, as far as the others do not outweigh them.
std::int64_t strip_width(int reach) {
  const std::int64_t rows = (2 * reach + 2) + 3 * (reach + 1);
  return std::clamp<std::int64_t>(8192 / rows / 64 * 64, 128, 512);
}

}  // namespace

bool run_weighted_mean(const Node& node, const Arguments& arguments, const TileImage& in,
                       const Region& region, TileOut out, Scratch& scratch, CpuLevel level) {
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  if (stencil.body == nullptr || stencil.body->last == nullptr) return false;
  const float* args = arguments.in_float.data();
  const int reach = stencil.body->last(args);
  if (level == CpuLevel::baseline || reach < 1) return false;
  const ScratchScope scope(scratch);
  const Outside outside{stencil.border, arguments.last()};
  ByteWeights bytes;
  const bool by_tables = in.cls == PixelClass::uint8 &&
                         (stencil.border != Border::constant || is_code(outside.value, in.cls)) &&
                         bytes.make(*stencil.body, args, reach, region.pixels(), scratch, level);
  const Mean mean{*stencil.body, args, reach, outside, by_tables ? &bytes : nullptr};
  const std::int64_t width = strip_width(reach);
  for (std::int64_t x = region.x0; x < region.x1; x += width) {
    const ScratchScope strip_scope(scratch);
    const Region strip{x, region.y0, std::min(x + width, region.x1), region.y1};
    Strip(mean, in, strip, scratch, level)
        .run(node.cls, {out.data + (x - region.x0) * bytes_of(node.cls), out.stride});
  }
  return true;
}
#else
bool run_weighted_mean(const Node&, const Arguments&, const TileImage&, const Region&, TileOut,
                       Scratch&, CpuLevel) {
  return false;
}
#endif

}  // namespace impipe::cpu
