// Joint histograms: pairs of bytes are counted as they stand in two images, their codes never made.
#include <algorithm>

#include "backends/cpu/tile/sink.hpp"
#include "core/pair_code.hpp"

namespace impipe::cpu {
namespace {

// Counts of all pairs of bytes. The low eight bits stand by themselves, as 64 KiB stay close to the
// processor, and what is carried out of them, once in 256, elsewhere.
class PairCounts {
 public:
  PairCounts() : low_(pairs), carried_(pairs) {}

  void add(const std::uint8_t* a, const std::uint8_t* b, std::int64_t n) {
    constexpr int block = 8;
    std::uint8_t* __restrict low = low_.data();
    std::uint32_t* __restrict carried = carried_.data();
    std::int64_t i = 0;
    for (; i + block <= n; i += block) {
      std::uint16_t codes[block];
      for (int k = 0; k < block; ++k) {
        codes[k] = static_cast<std::uint16_t>(a[i + k] << 8 | b[i + k]);
      }
      for (int k = 0; k < block; ++k) {
        if (++low[codes[k]] == 0) [[unlikely]]
          ++carried[codes[k]];
      }
    }
    for (; i < n; ++i) {
      const int code = a[i] << 8 | b[i];
      if (++low[code] == 0) ++carried[code];
    }
  }

  // Adds the counts of the pairs a, 0 to 255.
  void add_to(double* out, int a) const {
    const std::uint8_t* __restrict low = low_.data() + (a << 8);
    const std::uint32_t* __restrict carried = carried_.data() + (a << 8);
    for (int b = 0; b < 256; ++b) {
      out[b] += static_cast<double>(std::int64_t{carried[b]} << 8 | low[b]);
    }
  }

 private:
  static constexpr std::size_t pairs = 256 * 256;
  std::vector<std::uint8_t> low_;
  std::vector<std::uint32_t> carried_;
};

class PairHistogram final : public Sink {
 public:
  // factor: a pair's code is a * factor + b.
  PairHistogram(const Histogram& histogram, double factor, int workers)
      : bins_(histogram.bins), factor_(factor), counts_(static_cast<std::size_t>(workers)) {}

  void take(const TileImage* images, const Region& region, std::int64_t, int worker,
            Scratch&) override {
    std::unique_ptr<PairCounts>& counts = counts_[worker];
    if (counts == nullptr) counts = std::make_unique<PairCounts>();
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      counts->add(reinterpret_cast<const std::uint8_t*>(images[0].at(region.x0, y)),
                  reinterpret_cast<const std::uint8_t*>(images[1].at(region.x0, y)),
                  region.width());
    }
  }

  std::vector<double> finish() override {
    std::vector<double> out(static_cast<std::size_t>(bins_));
    for (const std::unique_ptr<PairCounts>& counts : counts_) {
      for (int a = 0; a < 256 && counts != nullptr; ++a) {
        if (factor_ == 256 && bins_ == 256 * 256) {
          counts->add_to(out.data() + 256 * a, a);
          continue;
        }
        double row[256] = {};
        counts->add_to(row, a);
        for (int b = 0; b < 256; ++b) {
          if (row[b] == 0) continue;
          const double code = std::min(a * factor_ + b, class_max(PixelClass::uint16));
          if (code < bins_) out[static_cast<std::size_t>(code)] += row[b];
        }
      }
    }
    return out;
  }

 private:
  int bins_;
  double factor_;
  std::vector<std::unique_ptr<PairCounts>> counts_;  // [workers]
};

}  // namespace

bool counts_pairs(const KernelSpec& spec, const Node& node) {
  const auto* histogram = std::get_if<Histogram>(&node.primitive);
  if (histogram == nullptr || histogram->rule != BinRule::codes || node.images[0].external) {
    return false;
  }
  const Node& from = spec.nodes[node.images[0].index];
  const auto* point = std::get_if<Point>(&from.primitive);
  if (point == nullptr || point->lookup || point->in_table || point->body != &pair_code_body() ||
      from.cls != PixelClass::uint16) {
    return false;
  }
  return std::all_of(from.images.begin(), from.images.end(), [&](const Operand& of) {
    return bytes_of(of.external ? spec.inputs[of.index].cls : spec.nodes[of.index].cls) == 1;
  });
}

std::unique_ptr<Sink> make_pair_histogram(const Node& node, const Arguments& arguments,
                                          int workers) {
  return std::make_unique<PairHistogram>(std::get<Histogram>(node.primitive),
                                         arguments.in_double.at(0), workers);
}

}  // namespace impipe::cpu
