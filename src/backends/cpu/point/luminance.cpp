// Weighted sums of three planes of bytes, without the divisions and doubles of their bodies: an
// approximation whose error has a bound, and the body itself for the few pixels that lie that close
// to a half.
#include "backends/cpu/point/luminance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "backends/cpu/simd/level.hpp"
#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/body_tree.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t block = 64;       // pixels
constexpr std::int64_t max_blocks = 64;  // made together
constexpr std::size_t max_results = 3;   // likewise

// Which of these blocks have a sum close to a tie.
using Unsafe = std::uint8_t[max_blocks];

#define IMPIPE_KERNELS "backends/cpu/point/luminance.inc"
#include "backends/cpu/simd/vector_levels.inc"

// Makes whole blocks of each result. weights: four numbers a result.
using CodesFunction = void (*)(std::byte* const* outs, const std::byte* const* in,
                               std::int64_t blocks, const double* const* weights, Unsafe* unsafe);

CodesFunction codes_function([[maybe_unused]] std::size_t results, CpuLevel level) {
  return IMPIPE_VECTORS_OR(level, nullptr, codes_of_bytes[results - 1]);
}

struct MeanRows {
  std::span<const MeanBody> means;
  CpuLevel level;
  bool many_ties[max_results] = {};

  void run(const std::byte* const* in, std::byte* const* outs, std::int64_t blocks) {
    const std::size_t results = means.size();
    const CodesFunction codes = codes_function(results, level);
    const double* weights[max_results];
    for (std::size_t r = 0; r < results; ++r) weights[r] = means[r].weights->data();
    for (std::int64_t first = 0; first < blocks; first += max_blocks) {
      const std::int64_t count = std::min(max_blocks, blocks - first);
      Unsafe unsafe[max_results];
      std::byte* to[max_results];
      for (std::size_t r = 0; r < results; ++r) to[r] = outs[r] + first * block;
      const std::byte* from[] = {in[0] + first * block, in[1] + first * block,
                                 in[2] + first * block};
      if (!std::all_of(many_ties, many_ties + results, [](bool many) { return many; })) {
        codes(to, from, count, weights, unsafe);
      }
      for (std::size_t r = 0; r < results; ++r) {
        if (many_ties[r]) std::fill_n(unsafe[r], count, std::uint8_t{1});
        // Weights like a half and two quarters are close to a tie in every block.
        many_ties[r] = 2 * std::count(unsafe[r], unsafe[r] + count, 1) > count;
        for (std::int64_t k = 0; k < count; ++k) {
          if (unsafe[r][k] != 0) run_exactly(means[r], from, to[r], k * block);
        }
      }
    }
  }

  // A block by the body itself, in double.
  void run_exactly(const MeanBody& mean, const std::byte* const* in, std::byte* out,
                   std::int64_t from) const {
    double channels[3][block], result[block];
    const double* rows[] = {channels[0], channels[1], channels[2]};
    for (int c = 0; c < 3; ++c)
      load_row(channels[c], in[c] + from, PixelClass::uint8, block, level);
    mean.body->rows_double[static_cast<int>(level)](result, rows, block, mean.args->data());
    store_row(out + from, result, PixelClass::uint8, block, level);
  }
};

// Whether all sums, and the parts of one that are there before it, are codes.
bool are_codes(const MeanWeights& weights) {
  const double largest = 255, margin = 1e-3;
  double low = weights[3], high = weights[3];
  for (int c = 0; c < 3; ++c) {
    if (!(low >= -largest && high <= largest && std::abs(weights[c]) <= 1)) return false;
    low += std::min(weights[c], 0.0) * largest;
    high += std::max(weights[c], 0.0) * largest;
  }
  return low >= -0.5 + margin && high <= largest + 0.5 - margin;
}

}  // namespace

std::optional<MeanWeights> mean_weights(const PointBody& body, std::span<const PixelClass> from,
                                        PixelClass to, const std::vector<double>& args,
                                        CpuLevel level) {
  const auto is_byte = [](PixelClass cls) { return cls == PixelClass::uint8; };
  if (codes_function(1, level) == nullptr || body.inputs != 3 || !is_byte(to) ||
      !std::ranges::all_of(from, is_byte)) {
    return std::nullopt;
  }
  // Differences could take away what the bounds on the body's own error are relative to; of what
  // is below 0 the bound is that of its size, if no such sum divides.
  const BodyTraits traits = traits_of(body);
  const bool signs = std::any_of(args.begin(), args.end(), [](double a) { return a < 0; });
  if (traits.differences || (signs && traits.quotients)) return std::nullopt;
  std::vector<double> sizes = args;
  for (double& size : sizes) size = std::abs(size);
  const std::optional<std::vector<double>> sum = linear_weights(body, args);
  const std::optional<std::vector<double>> most = linear_weights(body, sizes);
  if (!sum || !most) return std::nullopt;
  const MeanWeights weights{(*sum)[0], (*sum)[1], (*sum)[2], (*sum)[3]};
  double largest = (*most)[3];
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (!(std::abs(weights[k]) <= (*most)[k] * (1 + 1e-12))) return std::nullopt;
    if (k < 3) largest += (*most)[k] * class_max(to);
  }
  const bool small = largest <= 4 * (class_max(to) + 1);
  return small && are_codes(weights) ? std::optional(weights) : std::nullopt;
}

void run_means(std::span<std::byte* const> outs, const std::byte* const* in, std::int64_t n,
               std::span<const MeanBody> means, CpuLevel level) {
  if (means.size() > max_results) {
    run_means(outs.subspan(max_results), in, n, means.subspan(max_results), level);
    means = means.first(max_results);
  }
  MeanRows rows{means, level};
  const std::int64_t whole = n / block, rest = n % block;
  rows.run(in, outs.data(), whole);
  if (rest == 0) return;
  // The last pixels in a block of their own.
  std::byte padded[3][block] = {}, results[max_results][block];
  const std::byte* from[] = {padded[0], padded[1], padded[2]};
  std::byte* to[] = {results[0], results[1], results[2]};
  for (int c = 0; c < 3; ++c) std::memcpy(padded[c], in[c] + whole * block, rest);
  rows.run(from, to, 1);
  for (std::size_t r = 0; r < means.size(); ++r) {
    std::memcpy(outs[r] + whole * block, results[r], rest);
  }
}

}  // namespace impipe::cpu
