// Statistics of an image whose rows come one after the other. All that is measured of integer
// pixels follows from how often each code is there; of single, sums go over cells as backends' do.
#include "engine/program/row_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace impipe::engine {
namespace {

// Of float sums (docs/architecture.md, Numbers).
constexpr std::int64_t cell_side = 32;

bool is_extremum(ReduceKind kind) { return kind == ReduceKind::min || kind == ReduceKind::max; }

void add_pairs(std::vector<double>& values, std::size_t pairs) {
  for (std::size_t i = 0; i < pairs; ++i) values[i] = values[2 * i] + values[2 * i + 1];
}

double pairwise_sum(std::vector<double> values) {
  while (values.size() > 1) {
    if (values.size() % 2 != 0) values.push_back(0);
    add_pairs(values, values.size() / 2);
    values.resize(values.size() / 2);
  }
  return values.empty() ? 0 : values.front();
}

// The columns of a row of cells, which are pairs, pairs of pairs and so on.
void finish_cells(std::vector<double>& columns, std::vector<double>& cells) {
  std::vector<double> sums = columns;
  const std::size_t count = columns.size() / cell_side;
  for (std::size_t pairs = columns.size() / 2; pairs >= count; pairs /= 2) add_pairs(sums, pairs);
  cells.insert(cells.end(), sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::fill(columns, 0);
}

double reduced(ReduceKind kind, const std::vector<std::int64_t>& counts) {
  std::int64_t sum = 0, pixels = 0;
  std::size_t low = counts.size(), high = 0;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    if (counts[code] == 0) continue;
    low = std::min(low, code);
    high = code;
    pixels += counts[code];
    sum += static_cast<std::int64_t>(code) * counts[code];
  }
  switch (kind) {
    case ReduceKind::min: return static_cast<double>(low);
    case ReduceKind::max: return static_cast<double>(high);
    case ReduceKind::count: return static_cast<double>(pixels);
    case ReduceKind::spread: break;
    default: return static_cast<double>(sum);
  }
  // As core/code_spread.hpp.
  const std::int64_t nearest = (2 * sum + pixels) / (2 * pixels), rest = sum - nearest * pixels;
  std::uint64_t about_nearest = 0;
  for (std::size_t code = 0; code < counts.size(); ++code) {
    const std::int64_t away = static_cast<std::int64_t>(code) - nearest;
    about_nearest += static_cast<std::uint64_t>(away * away * counts[code]);
  }
  return static_cast<double>(about_nearest) -
         static_cast<double>(rest) * static_cast<double>(rest) / static_cast<double>(pixels);
}

std::vector<double> binned(const Histogram& histogram, double white,
                           const std::vector<std::int64_t>& counts) {
  const double bins = histogram.bins;
  std::vector<double> out(static_cast<std::size_t>(histogram.bins));
  for (std::size_t code = 0; code < counts.size(); ++code) {
    double bin = static_cast<double>(code);
    if (histogram.rule == BinRule::centred) {
      bin = std::floor(std::min(bin, white) * (bins - 1) / white + 0.5);
    }
    if (bin < bins) out[static_cast<std::size_t>(bin)] += static_cast<double>(counts[code]);
  }
  return out;
}

double code_at(std::int64_t place, const std::vector<std::int64_t>& counts) {
  std::size_t code = 0;
  while (place >= counts[code]) place -= counts[code++];
  return static_cast<double>(code);
}

template <class Pixel>
void count_codes(const Plane& rows, std::vector<std::int64_t>& counts) {
  for (std::int64_t y = 0; y < rows.size().height; ++y) {
    const Pixel* row = rows.row_as<Pixel>(y);
    for (std::int64_t x = 0; x < rows.size().width; ++x) ++counts[row[x]];
  }
}

}  // namespace

bool RowStatistics::measures(const Node& node, const ImageType& image) {
  const bool is_single = image.cls == PixelClass::single;
  if (const auto* reduce = std::get_if<Reduce>(&node.primitive)) {
    if (reduce->kind == ReduceKind::user) return false;
    return (is_single ? ReduceKind::spread : ReduceKind::squared_deviation) != reduce->kind;
  }
  if (const auto* histogram = std::get_if<Histogram>(&node.primitive)) {
    return !is_single && histogram->rule != BinRule::user && histogram->tiles() == 1;
  }
  return !is_single && std::holds_alternative<Select>(node.primitive);
}

RowStatistics::RowStatistics(const ImageType& image, Size size, std::vector<Wanted> wanted)
    : image_(image), size_(size), wanted_(std::move(wanted)) {
  const auto channels = static_cast<std::size_t>(image.channels);
  if (image.cls == PixelClass::single) {
    const std::int64_t padded = (size.width + cell_side - 1) / cell_side * cell_side;
    const OfSingle none{.columns = std::vector<double>(static_cast<std::size_t>(padded)),
                        .cells = {},
                        .best = std::numeric_limits<double>::quiet_NaN()};
    singles_.assign(wanted_.size(), std::vector(channels, none));
  } else {
    const auto codes = static_cast<std::size_t>(class_max(image.cls)) + 1;
    counts_.assign(channels, std::vector<std::int64_t>(codes));
  }
}

void RowStatistics::add(const HostImage& rows) {
  for (std::size_t c = 0; c < rows.planes.size(); ++c) {
    const Plane& plane = rows.planes[c];
    if (image_.cls == PixelClass::uint16) {
      count_codes<std::uint16_t>(plane, counts_[c]);
    } else if (image_.cls != PixelClass::single) {
      count_codes<std::uint8_t>(plane, counts_[c]);
    } else {
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        add_single(wanted_[i], c, plane, singles_[i][c]);
      }
    }
  }
}

void RowStatistics::add_single(const Wanted& wanted, std::size_t channel, const Plane& rows,
                               OfSingle& found) {
  const Reduce& reduce = std::get<Reduce>(wanted.node->primitive);
  const bool is_max = reduce.kind == ReduceKind::max;
  const double from =
      reduce.kind == ReduceKind::squared_deviation ? wanted.arguments[channel].at(0) : 0;
  const auto mapped = [&](double v) {
    if (reduce.finite && v - v != 0) return 0.0;
    switch (reduce.kind) {
      case ReduceKind::absolute_sum: return std::abs(v);
      case ReduceKind::count: return 1.0;
      case ReduceKind::squared_deviation: return (v - from) * (v - from);
      default: return v;
    }
  };
  for (std::int64_t y = 0; y < rows.size().height; ++y) {
    const float* row = rows.row_as<float>(y);
    for (std::int64_t x = 0; x < rows.size().width; ++x) {
      const double v = row[x];
      if (!is_extremum(reduce.kind)) {
        found.columns[static_cast<std::size_t>(x)] += mapped(v);
      } else if ((!reduce.finite || v - v == 0) &&
                 ((is_max ? v > found.best : v < found.best) || found.best != found.best)) {
        found.best = v;
      }
    }
    if (++found.rows % cell_side == 0) finish_cells(found.columns, found.cells);
  }
}

std::vector<double> RowStatistics::of_counts(const Wanted& wanted, std::size_t channel) const {
  const std::vector<std::int64_t>& counts = counts_[channel];
  if (const auto* reduce = std::get_if<Reduce>(&wanted.node->primitive)) {
    return {reduced(reduce->kind, counts)};
  }
  if (const auto* histogram = std::get_if<Histogram>(&wanted.node->primitive)) {
    return binned(*histogram, image_.white > 0 ? image_.white : class_max(image_.cls), counts);
  }
  std::vector<double> out;
  for (const double place : wanted.arguments[channel]) {
    out.push_back(code_at(static_cast<std::int64_t>(place), counts));
  }
  return out;
}

std::vector<double> RowStatistics::found(std::size_t which) {
  const Wanted& wanted = wanted_[which];
  std::vector<double> out;
  for (std::size_t c = 0; c < static_cast<std::size_t>(image_.channels); ++c) {
    if (singles_.empty()) {
      const std::vector<double> values = of_counts(wanted, c);
      out.insert(out.end(), values.begin(), values.end());
      continue;
    }
    OfSingle& single = singles_[which][c];
    if (is_extremum(std::get<Reduce>(wanted.node->primitive).kind)) {
      out.push_back(single.best + 0.0);  // of 0 and -0 neither is the smaller
      continue;
    }
    if (single.rows % cell_side != 0) finish_cells(single.columns, single.cells);
    out.push_back(pairwise_sum(std::move(single.cells)));
  }
  return out;
}

}  // namespace impipe::engine
