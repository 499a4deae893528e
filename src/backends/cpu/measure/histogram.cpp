// Histograms: integer images count their codes, and the bins are made of those at the end.
#include <cmath>
#include <limits>

#include "backends/cpu/measure/byte_counts.hpp"
#include "backends/cpu/tile/code_table.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/sink.hpp"
#include "core/row_evaluator.hpp"

namespace impipe::cpu {
namespace {

// The bin of each value, not yet checked to lie in [0, bins); a negative number or NaN is none.
class Bins {
 public:
  Bins(const Histogram& histogram, const SinkImage& image, CpuLevel level)
      : histogram_(histogram), white_(image.white > 0 ? image.white : class_max(image.cls)) {
    if (histogram.rule == BinRule::user) {
      evaluator_ = std::make_unique<RowEvaluator<double>>(*histogram.expression, level);
      scaled_ = image.white;
    }
  }

  // Places get the bin, -1 where there is none.
  void find(std::int32_t* places, const double* values, std::int64_t n) {
    const double bins = histogram_.bins;
    if (histogram_.rule == BinRule::user) {
      bin_.resize(n);
      white_row_.assign(n, scaled_);
      std::vector<const double*> inputs;
      for (const std::string& name : histogram_.expression->variables()) {
        inputs.push_back(name == "white" ? white_row_.data() : values);
      }
      evaluator_->run(bin_.data(), inputs, n);
      for (std::int64_t i = 0; i < n; ++i) places[i] = checked(std::floor(bin_[i]), bins);
      return;
    }
    if (histogram_.rule == BinRule::codes) {
      for (std::int64_t i = 0; i < n; ++i) places[i] = checked(values[i], bins);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = bodies::clamp(values[i], 0.0, white_);
      places[i] = checked(std::floor(v * (bins - 1) / white_ + 0.5), bins);
    }
  }

 private:
  static std::int32_t checked(double bin, double bins) {
    return bin >= 0 && bin < bins ? static_cast<std::int32_t>(bin) : -1;
  }

  const Histogram& histogram_;
  double white_;
  double scaled_ = 0;
  std::unique_ptr<RowEvaluator<double>> evaluator_;
  std::vector<double> bin_, white_row_;
};

template <class T>
void count_codes(std::uint32_t* counts, const std::byte* row, std::int64_t n) {
  const T* in = reinterpret_cast<const T*>(row);
  for (std::int64_t i = 0; i < n; ++i) ++counts[in[i]];
}

class CodeHistogram final : public Sink {
  // One thread's, of all its tiles: 32 bits a count until those could be full.
  struct Counts {
    std::vector<std::uint32_t> now;    // [tables]
    std::vector<std::uint64_t> total;  // [codes]
    std::int64_t taken = 0;            // pixels, in `now`
  };

 public:
  CodeHistogram(const Histogram& histogram, const SinkImage& image, int workers, CpuLevel level)
      : histogram_(histogram),
        image_(image),
        level_(level),
        codes_(codes_of(image.cls)),
        counts_(workers) {}

  void take(const TileImage* images, const Region& region, std::int64_t, int worker,
            Scratch&) override {
    const TileImage& image = *images;
    Counts& of = counts_[worker];
    if (of.now.empty()) of.now.resize(tables());
    if (of.taken + region.pixels() > std::numeric_limits<std::uint32_t>::max()) settle(of);
    of.taken += region.pixels();
    const Region rows = as_rows(region, image.gapless(region));
    for (std::int64_t y = rows.y0; y < rows.y1; ++y) {
      const std::byte* row = image.at(rows.x0, y);
      if (bytes() == 2) {
        count_codes<std::uint16_t>(of.now.data(), row, rows.width());
      } else {
        count_bytes(of.now.data(), reinterpret_cast<const std::uint8_t*>(row), rows.width());
      }
    }
  }

  std::vector<double> finish() override {
    std::vector<double> values(codes_);
    for (std::int64_t k = 0; k < codes_; ++k) values[k] = static_cast<double>(k);
    std::vector<std::int32_t> bin(codes_);
    Bins(histogram_, image_, level_).find(bin.data(), values.data(), codes_);
    std::vector<double> out(static_cast<std::size_t>(histogram_.bins));
    for (Counts& counts : counts_) {
      if (counts.now.empty()) continue;
      settle(counts);
      for (std::int64_t k = 0; k < codes_; ++k) {
        if (bin[k] >= 0) out[bin[k]] += static_cast<double>(counts.total[k]);
      }
    }
    return out;
  }

 private:
  int bytes() const { return bytes_of(image_.cls); }
  std::int64_t tables() const { return bytes() == 1 ? byte_tables * 256 : codes_; }
  // Adds what was counted lately to the total.
  void settle(Counts& of) const {
    of.total.resize(codes_);
    for (std::int64_t k = 0; k < tables(); ++k) {
      const std::int64_t code = bytes() == 1 ? k % 256 : k;
      if (code < codes_) of.total[code] += of.now[k];
    }
    std::fill(of.now.begin(), of.now.end(), 0);
    of.taken = 0;
  }

  const Histogram& histogram_;
  SinkImage image_;
  CpuLevel level_;
  std::int64_t codes_;
  std::vector<Counts> counts_;  // [workers]
};

class ValueHistogram final : public Sink {
 public:
  ValueHistogram(const Histogram& histogram, const SinkImage& image, int workers, CpuLevel level)
      : histogram_(histogram), image_(image), level_(level), counts_(workers) {}

  void take(const TileImage* images, const Region& region, std::int64_t, int worker,
            Scratch& scratch) override {
    const TileImage& image = *images;
    const ScratchScope scope(scratch);
    std::vector<std::uint64_t>& counts = counts_[worker];
    if (counts.empty()) counts.resize(static_cast<std::size_t>(histogram_.bins));
    const std::int64_t n = region.width();
    double* values = scratch.take<double>(n);
    std::int32_t* places = scratch.take<std::int32_t>(n);
    Bins bins(histogram_, image_, level_);
    for (std::int64_t y = region.y0; y < region.y1; ++y) {
      load_row(values, image.at(region.x0, y), image_.cls, n, level_);
      bins.find(places, values, n);
      for (std::int64_t i = 0; i < n; ++i) {
        if (places[i] >= 0) ++counts[places[i]];
      }
    }
  }

  std::vector<double> finish() override {
    std::vector<double> out(static_cast<std::size_t>(histogram_.bins));
    for (const std::vector<std::uint64_t>& counts : counts_) {
      for (std::size_t i = 0; i < counts.size(); ++i) out[i] += static_cast<double>(counts[i]);
    }
    return out;
  }

 private:
  const Histogram& histogram_;
  SinkImage image_;
  CpuLevel level_;
  std::vector<std::vector<std::uint64_t>> counts_;  // [workers][bins]
};

}  // namespace

std::unique_ptr<Sink> make_histogram(const Node& node, const SinkImage& image, int workers,
                                     CpuLevel level) {
  const Histogram& histogram = std::get<Histogram>(node.primitive);
  if (is_integer(image.cls)) {
    return std::make_unique<CodeHistogram>(histogram, image, workers, level);
  }
  return std::make_unique<ValueHistogram>(histogram, image, workers, level);
}

}  // namespace impipe::cpu
