// The methods of rank filters and what each costs. The numbers were fitted to medians of 3x3 to
// 201x201 of all classes on one core of an EPYC with AVX-512 (docs/decisions/0111).
#include <cmath>

#include "backends/cpu/neighbourhood/rank.hpp"
#include "backends/cpu/neighbourhood/rank_bytes.hpp"
#include "backends/cpu/neighbourhood/rank_columns.hpp"
#include "backends/cpu/neighbourhood/rank_histogram.hpp"
#include "backends/cpu/neighbourhood/rank_sliding.hpp"

namespace impipe::cpu {
namespace {

// Minima and maxima of a network, of which each takes a vector of values: nanoseconds for a byte.
constexpr double network_operation = 0.0098;
// By how much vectors of the baseline and of AVX2 are slower.
constexpr double network_factor[cpu_levels] = {4, 1.05, 1};
// Networks of more cells cost more than any other method, and milliseconds to make.
constexpr int max_network_cells = 256;

double network_cost(const RankQuestion& q, double operations) {
  const double bytes = bytes_of(q.cls);
  return bytes * network_factor[static_cast<int>(q.level)] * (0.1 + network_operation * operations);
}

double operations_of(const SelectionNetwork& network) {
  double operations = 0;
  for (const Exchange& exchange : network.exchanges) {
    operations += (exchange.keep_low ? 1 : 0) + (exchange.keep_high ? 1 : 0);
  }
  return operations;
}

template <RankMethod method>
Cost median_cost(const RankQuestion& q) {
  if (median_network(q.rank) != method) return std::nullopt;
  return network_cost(q, method == RankMethod::median_3x3 ? 4 : 12);
}

Cost columns_cost(const RankQuestion& q) {
  const Mask& mask = q.rank.mask;
  if (!mask.full() || mask.height < 2 || mask.count() > max_network_cells) return std::nullopt;
  const int last = q.rank.rank + (q.rank.average ? 1 : 0);
  const auto network = kept_columns_network(mask.width, mask.height, q.rank.rank, last);
  double operations = operations_of(network->selection);
  for (const SelectionNetwork& merge : network->merges) operations += operations_of(merge);
  return network_cost(q, operations);
}

// Without making the network: that of a median has about 0.37 n log2(n)^2 operations.
Cost cells_cost(const RankQuestion& q) {
  const int cells = q.rank.mask.count();
  if (cells > max_network_cells) return std::nullopt;
  const double levels = std::log2(cells);
  return network_cost(q, 0.37 * cells * levels * levels);
}

Cost byte_counts_cost(const RankQuestion& q) {
  if (bytes_of(q.cls) != 1 || !has_rank_bytes(q.rank, q.level)) return std::nullopt;
  return (q.rank.average ? 1.5 : 1) * (4.2 + 0.02 * q.rank.mask.height);
}

Cost tiles_cost(const RankQuestion& q) { return rank_tiles_cost(q); }
Cost sliding_cost(const RankQuestion& q) { return rank_sliding_cost(q); }

constexpr MethodRow<RankMethod, RankQuestion> rank_methods[] = {
    {RankMethod::median_3x3, "compiled 3x3 network", median_cost<RankMethod::median_3x3>},
    {RankMethod::median_5x5, "compiled 5x5 network", median_cost<RankMethod::median_5x5>},
    {RankMethod::columns, "shared columns network", columns_cost},
    {RankMethod::network, "selection network", cells_cost},
    {RankMethod::byte_counts, "column histograms", byte_counts_cost},
    {RankMethod::tiles, "numbered tiles", tiles_cost},
    {RankMethod::sliding, "sliding histogram", sliding_cost},
};

}  // namespace

std::optional<RankMethod> median_network(const Rank& rank) {
  const Mask& mask = rank.mask;
  if (!mask.full() || mask.width != mask.height || rank.average || rank.rank != mask.count() / 2) {
    return std::nullopt;
  }
  if (mask.width == 3) return RankMethod::median_3x3;
  return mask.width == 5 ? std::optional(RankMethod::median_5x5) : std::nullopt;
}

std::vector<Offer<RankMethod>> rank_offers(const RankQuestion& question) {
  return offers_of(rank_methods, question);
}

}  // namespace impipe::cpu
