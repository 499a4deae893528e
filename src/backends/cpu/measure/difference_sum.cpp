// Sums of the squared differences of two planes of bytes, of which no plane is made.
#include <numeric>

#include "backends/cpu/tile/byte_difference.hpp"
#include "backends/cpu/tile/sink.hpp"

namespace impipe::cpu {
namespace {

class DifferenceSquares final : public Sink {
 public:
  DifferenceSquares(std::int64_t tiles, CpuLevel level)
      : level_(level), sums_(static_cast<std::size_t>(tiles)) {}

  void take(const TileImage* images, const Region& region, std::int64_t tile, int,
            Scratch&) override {
    const bool all = images[0].gapless(region) && images[1].gapless(region);
    const Region rows = as_rows(region, all);
    for (std::int64_t y = rows.y0; y < rows.y1; ++y) {
      const auto row = [&](int k) {
        return reinterpret_cast<const std::uint8_t*>(images[k].at(rows.x0, y));
      };
      sums_[tile] += squared_byte_differences(row(0), row(1), rows.width(), level_);
    }
  }

  // Doubles hold it: it is less than 2^16 a pixel.
  std::vector<double> finish() override {
    return {static_cast<double>(std::accumulate(sums_.begin(), sums_.end(), std::int64_t{0}))};
  }

 private:
  CpuLevel level_;
  std::vector<std::int64_t> sums_;  // [tiles]
};

}  // namespace

std::unique_ptr<Sink> make_difference_squares(std::int64_t tiles, CpuLevel level) {
  return std::make_unique<DifferenceSquares>(tiles, level);
}

}  // namespace impipe::cpu
