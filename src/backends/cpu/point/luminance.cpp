// Weighted sums of three planes of codes, without the divisions and doubles of their bodies: an
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

constexpr std::int64_t block = 64;  // pixels

#if IMPIPE_HAS_INTRINSICS
// Of 16 bits, in double: more than the error of either sum, 2^18 * 20 / 2^53.
constexpr double near_tie = 1e-9;

#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/point/luminance.inc"
#include "backends/cpu/simd/each_level.inc"
#endif

struct Exact {
  const PointBody& body;
  const double* args;
  PixelClass cls;
  CpuLevel level;
};

// The body itself, in double; n <= block.
void run_exactly(std::byte* out, const std::byte* const* in, std::int64_t n, const Exact& exact) {
  double channels[3][block], result[block];
  const double* rows[] = {channels[0], channels[1], channels[2]};
  for (int c = 0; c < 3; ++c) load_row(channels[c], in[c], exact.cls, n, exact.level);
  exact.body.rows_double[static_cast<int>(exact.level)](result, rows, n, exact.args);
  store_row(out, result, exact.cls, n, exact.level);
}

// Makes whole blocks and sets unsafe[k] where block k has a sum close to a tie.
using CodesFunction = void (*)(std::byte* out, const std::byte* const* in, std::int64_t blocks,
                               const double* weights, std::uint8_t* unsafe);

CodesFunction codes_function([[maybe_unused]] PixelClass cls, [[maybe_unused]] CpuLevel level) {
#if IMPIPE_HAS_INTRINSICS
  const bool bytes = cls == PixelClass::uint8;
  if (level == CpuLevel::v4) return bytes ? v4::codes_of_bytes : v4::codes_of_words;
  if (level == CpuLevel::v3) return bytes ? v3::codes_of_bytes : v3::codes_of_words;
#endif
  return nullptr;
}

struct MeanRow {
  CodesFunction codes;
  const MeanWeights& weights;
  Exact exact;
  bool many_ties = false;

  void run(std::byte* out, const std::byte* const* in, std::int64_t blocks) {
    constexpr std::int64_t max_blocks = 64;
    const std::int64_t bytes = block * bytes_of(exact.cls);
    const auto at = [&](std::int64_t k) {
      return std::array{in[0] + k * bytes, in[1] + k * bytes, in[2] + k * bytes};
    };
    for (std::int64_t first = 0; first < blocks; first += max_blocks) {
      const std::int64_t count = std::min(max_blocks, blocks - first);
      std::uint8_t unsafe[max_blocks];
      if (many_ties) {
        std::fill_n(unsafe, count, std::uint8_t{1});
      } else {
        codes(out + first * bytes, at(first).data(), count, weights.data(), unsafe);
      }
      // Weights like a half and two quarters are close to a tie in every block.
      many_ties = 2 * std::count(unsafe, unsafe + count, 1) > count;
      for (std::int64_t k = 0; k < count; ++k) {
        if (unsafe[k] == 0) continue;
        run_exactly(out + (first + k) * bytes, at(first + k).data(), block, exact);
      }
    }
  }
};

// Whether all sums, and the parts of one that are there before it, are codes of `to`.
bool are_codes(const MeanWeights& weights, PixelClass to) {
  const double largest = class_max(to), margin = 1e-3;
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
  const bool codes = to == PixelClass::uint8 || to == PixelClass::uint16;
  const bool same = std::all_of(from.begin(), from.end(), [to](PixelClass c) { return c == to; });
  if (codes_function(to, level) == nullptr || body.inputs != 3 || !codes || !same) {
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
  return small && are_codes(weights, to) ? std::optional(weights) : std::nullopt;
}

void run_mean(std::byte* out, const std::byte* const* in, PixelClass cls, std::int64_t n,
              const PointBody& body, const MeanWeights& weights, const std::vector<double>& args,
              CpuLevel level) {
  MeanRow row{codes_function(cls, level), weights, {body, args.data(), cls, level}};
  const std::int64_t whole = n / block, rest = n % block, bytes = bytes_of(cls);
  row.run(out, in, whole);
  if (rest == 0) return;
  // The last pixels in a block of their own.
  std::byte padded[3][2 * block] = {}, result[2 * block];
  const std::byte* rows[] = {padded[0], padded[1], padded[2]};
  for (int c = 0; c < 3; ++c) std::memcpy(padded[c], in[c] + whole * block * bytes, rest * bytes);
  row.run(result, rows, 1);
  std::memcpy(out + whole * block * bytes, result, rest * bytes);
}

}  // namespace impipe::cpu
