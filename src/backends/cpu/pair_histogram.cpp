// Joint histograms: pairs of bytes are counted as they stand in two images, their codes never made.
#include <algorithm>

#include "backends/cpu/sink.hpp"
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
  PairHistogram(const Histogram& histogram, const Arguments& arguments, int channels, int workers)
      : bins_(histogram.bins), channels_(channels), counts_(workers) {
    for (int c = 0; c < channels; ++c) factors_.push_back(arguments.of(c).at(0));
  }

  void take(const TileImage* images, const Region& region, std::int64_t, int worker,
            Scratch& scratch) override {
    const ScratchScope scope(scratch);
    std::vector<PairCounts>& counts = counts_[worker];
    if (counts.empty()) counts.resize(channels_);
    const std::int64_t n = region.width();
    std::uint8_t* apart[2] = {scratch.take<std::uint8_t>(n), scratch.take<std::uint8_t>(n)};
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      const std::uint8_t* rows[2];
      for (int k = 0; k < 2; ++k) {
        rows[k] = reinterpret_cast<const std::uint8_t*>(images[k].at(region.x0, y));
      }
      if (channels_ == 1) {
        counts[0].add(rows[0], rows[1], n);
        continue;
      }
      for (int c = 0; c < channels_; ++c) {
        for (int k = 0; k < 2; ++k) {
          for (std::int64_t i = 0; i < n; ++i) apart[k][i] = rows[k][i * channels_ + c];
        }
        counts[c].add(apart[0], apart[1], n);
      }
    }
  }

  std::vector<double> finish() override {
    std::vector<double> out(static_cast<std::size_t>(bins_) * channels_);
    for (const std::vector<PairCounts>& counts : counts_) {
      for (std::size_t c = 0; c < counts.size(); ++c) {
        double* to = out.data() + c * bins_;
        for (int a = 0; a < 256; ++a) {
          if (factors_[c] == 256 && bins_ == 256 * 256) {
            counts[c].add_to(to + 256 * a, a);
            continue;
          }
          double row[256] = {};
          counts[c].add_to(row, a);
          for (int b = 0; b < 256; ++b) {
            if (row[b] == 0) continue;
            const double code = std::min(a * factors_[c] + b, class_max(PixelClass::uint16));
            if (code < bins_) to[static_cast<std::size_t>(code)] += row[b];
          }
        }
      }
    }
    return out;
  }

 private:
  int bins_, channels_;
  std::vector<double> factors_;                  // [channels]: a pair's code is a * factor + b
  std::vector<std::vector<PairCounts>> counts_;  // [workers][channels]
};

}  // namespace

const Node* counted_pairs(const KernelSpec& spec, const Node& node) {
  const auto* histogram = std::get_if<Histogram>(&node.primitive);
  if (histogram == nullptr || histogram->rule != BinRule::codes || node.images[0].external) {
    return nullptr;
  }
  const Node& from = spec.nodes[node.images[0].index];
  const auto* point = std::get_if<Point>(&from.primitive);
  if (point == nullptr || point->lookup || point->in_table || point->body != &pair_code_body() ||
      from.cls != PixelClass::uint16) {
    return nullptr;
  }
  for (const Operand& of : from.images) {
    const PixelClass cls = of.external ? spec.inputs[of.index].cls : spec.nodes[of.index].cls;
    const int channels =
        of.external ? spec.inputs[of.index].channels : spec.nodes[of.index].channels;
    if (bytes_of(cls) != 1 || channels != from.channels) return nullptr;
  }
  return &from;
}

std::unique_ptr<Sink> make_pair_histogram(const Node& node, const Arguments& arguments,
                                          int channels, int workers) {
  return std::make_unique<PairHistogram>(std::get<Histogram>(node.primitive), arguments, channels,
                                         workers);
}

}  // namespace impipe::cpu
