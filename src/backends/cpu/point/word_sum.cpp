// Weighted sums of two or three uint16 planes in fixed point: twice as many in a vector as in
// float32, four times as many as in double, with 15 fractional bits. Sums closer to a half than
// these can decide are computed by the body itself.
#include "backends/cpu/point/word_sum.hpp"

#include <algorithm>
#include <cmath>

#include "backends/cpu/simd/vectors.hpp"
#include "backends/cpu/tile/rows.hpp"
#include "core/body_tree.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr std::int64_t block = 32;  // pixels

using WordSums = void (*)(std::uint16_t* out, const std::uint16_t* const* in, std::int64_t blocks,
                          const WordSum& sum, std::uint8_t* unsafe);
#define IMPIPE_KERNELS "backends/cpu/point/word_sum.inc"
#include "backends/cpu/simd/vector_levels.inc"

WordSums kernel_of(const WordSum& sum, CpuLevel level) {
  return (level == CpuLevel::v4 ? v4::word_sums_of : v3::word_sums_of)(sum);
}

constexpr int max_shift = 15;
constexpr double middle = 32768;

// Multiples of 2^unit that are less than 2^high in size.
struct Multiples {
  int unit = 0, high = 0;
};
using Known = std::vector<std::pair<std::string, Multiples>>;

std::optional<Multiples> multiples_of(double number) {
  Multiples out{0, 0};
  if (number == 0) return out;
  out.high = std::ilogb(number) + 1;
  for (out.unit = out.high; std::fmod(number, std::ldexp(1.0, out.unit)) != 0;) --out.unit;
  return out;
}

// What a part of a body can be, if double keeps it exactly.
std::optional<Multiples> exact_part(const BodyTree& part, const Known& known) {
  using Kind = BodyTree::Kind;
  if (part.kind == Kind::number) return multiples_of(part.number);
  if (part.kind == Kind::name) {
    const auto found = std::ranges::find(known, part.name, &Known::value_type::first);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  if (part.kind != Kind::sum && part.kind != Kind::product) return std::nullopt;
  const std::optional<Multiples> a = exact_part(part.parts[0], known);
  const std::optional<Multiples> b = exact_part(part.parts[1], known);
  if (!a || !b) return std::nullopt;
  const Multiples out = part.kind == Kind::sum
                            ? Multiples{std::min(a->unit, b->unit), std::max(a->high, b->high) + 1}
                            : Multiples{a->unit + b->unit, a->high + b->high};
  return out.high - out.unit <= 53 ? std::optional(out) : std::nullopt;
}

// Whether double loses nothing of a body of 16-bit codes.
bool is_exact(const PointBody& body, const std::vector<double>& args) {
  const std::optional<BodyTrees> trees = parsed_body(body.text);
  if (!trees || !trees->locals.empty()) return false;
  Known known;
  for (const std::string& input : names_in(body.input_names)) known.push_back({input, {0, 16}});
  const std::vector<std::string> names = names_in(body.parameter_names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<Multiples> of = multiples_of(args[i]);
    if (!of) return false;
    known.emplace_back(names[i], *of);
  }
  return exact_part(trees->result, known).has_value();
}

// The sum with these weights and what is added behind them.
std::optional<WordSum> sum_of(const std::vector<double>& weights) {
  const std::size_t inputs = weights.size() - 1;
  double size = 0, all = 0;
  for (std::size_t i = 0; i < inputs; ++i) {
    size += std::abs(weights[i]);
    all += weights[i];
  }
  const double added = weights[inputs] + 0.5 + middle * all;
  const double largest = size * middle + std::abs(added) + 8;  // and what the low parts add
  WordSum out{.inputs = static_cast<int>(inputs), .shift = max_shift};
  const auto fits = [&](int shift) {
    return std::ldexp(largest, shift) < 0x1p31 && std::ldexp(size, shift) <= 32767;
  };
  while (out.shift > 0 && !fits(out.shift)) --out.shift;
  constexpr int min_shift = 11;
  if (out.shift < min_shift) return std::nullopt;
  for (std::size_t i = 0; i < inputs; ++i) {
    const double scaled = std::ldexp(weights[i], out.shift), high = std::nearbyint(scaled);
    out.high[i] = static_cast<std::int16_t>(high);
    out.low[i] = static_cast<std::int16_t>(std::nearbyint((scaled - high) * 0x1p15));
  }
  out.offset = static_cast<std::int32_t>(std::nearbyint(std::ldexp(added, out.shift)));
  // Half a unit an input and of what is added, and the fraction of the low parts; the body's own
  // error is far less.
  out.near = 5;
  return out;
}

bool has_no_rest(const WordSum& sum, const std::vector<double>& weights) {
  bool none = true;
  double all = 0;
  for (int i = 0; i < sum.inputs; ++i) {
    none = none && std::ldexp(weights[i], sum.shift) == sum.high[i];
    all += weights[i];
  }
  return none && std::ldexp(weights[sum.inputs] + 0.5 + middle * all, sum.shift) == sum.offset;
}

// Whether few of all sums are left to the body: of hundredths a quarter of all blocks would be,
// with a tie each, which takes longer than the body alone.
bool is_seldom_unsafe(const WordSum& sum, CpuLevel level) {
  constexpr std::int64_t blocks = 64;
  std::vector<std::uint16_t> planes[WordSum::max_inputs], codes(blocks * block);
  const std::uint16_t* in[WordSum::max_inputs];
  std::uint32_t number = 1;
  for (int c = 0; c < WordSum::max_inputs; ++c) {
    for (std::int64_t i = 0; i < blocks * block; ++i) {
      number = number * 1664525u + 1013904223u;
      planes[c].push_back(static_cast<std::uint16_t>(number >> 16));
    }
    in[c] = planes[c].data();
  }
  std::uint8_t unsafe[blocks];
  kernel_of(sum, level)(codes.data(), in, blocks, sum, unsafe);
  return std::count(unsafe, unsafe + blocks, 1) <= blocks / 8;
}

// The body itself.
void run_exactly(std::byte* out, const std::byte* const* in, std::int64_t n, const PointBody& body,
                 const double* args, CpuLevel level) {
  constexpr std::int64_t chunk = 16 * block;
  double channels[WordSum::max_inputs][chunk], result[chunk];
  const double* rows[] = {channels[0], channels[1], channels[2]};
  for (std::int64_t i = 0; i < n; i += chunk) {
    const std::int64_t count = std::min(chunk, n - i);
    for (int c = 0; c < body.inputs; ++c) {
      load_row(channels[c], in[c] + 2 * i, PixelClass::uint16, count, level);
    }
    body.rows_double[static_cast<int>(level)](result, rows, count, args);
    store_row(out + 2 * i, result, PixelClass::uint16, count, level);
  }
}

}  // namespace

std::optional<WordSum> word_sum(const PointBody& body, std::span<const PixelClass> from,
                                PixelClass to, const std::vector<double>& args, CpuLevel level) {
  const auto is_word = [](PixelClass cls) { return cls == PixelClass::uint16; };
  if (level == CpuLevel::baseline || body.inputs < 2 || body.inputs > WordSum::max_inputs ||
      !is_word(to) || !std::ranges::all_of(from, is_word)) {
    return std::nullopt;
  }
  // The body's own error is relative to its parts, which differences could take away; of what is
  // below 0 it is that of its size, if no such sum divides.
  const BodyTraits traits = traits_of(body);
  const bool signs = std::any_of(args.begin(), args.end(), [](double a) { return a < 0; });
  if (traits.differences || (signs && traits.quotients)) return std::nullopt;
  std::vector<double> sizes = args;
  for (double& size : sizes) size = std::abs(size);
  const std::optional<std::vector<double>> weights = linear_weights(body, args);
  const std::optional<std::vector<double>> parts = linear_weights(body, sizes);
  if (!weights || !parts) return std::nullopt;
  double largest = parts->back();  // of what the body computes on its way
  for (int i = 0; i < body.inputs; ++i) largest += 65535 * (*parts)[static_cast<std::size_t>(i)];
  if (!(largest < 0x1p24)) return std::nullopt;
  std::optional<WordSum> sum = sum_of(*weights);
  if (!sum) return std::nullopt;
  if (has_no_rest(*sum, *weights) && is_exact(body, args)) {
    sum->near = 0;
    return sum;
  }
  return is_seldom_unsafe(*sum, level) ? sum : std::nullopt;
}

void run_word_sum(std::byte* out, const std::byte* const* in, std::int64_t n, const WordSum& sum,
                  const PointBody& body, const std::vector<double>& args, CpuLevel level) {
  constexpr std::int64_t max_blocks = 64;
  const WordSums kernel = kernel_of(sum, level);
  const auto at = [&](std::int64_t pixel, const auto& then) {
    const std::byte* rows[WordSum::max_inputs] = {};
    for (int c = 0; c < sum.inputs; ++c) rows[c] = in[c] + 2 * pixel;
    then(out + 2 * pixel, rows);
  };
  const auto exactly = [&](std::int64_t pixel, std::int64_t pixels) {
    at(pixel, [&](std::byte* to, const std::byte* const* rows) {
      run_exactly(to, rows, pixels, body, args.data(), level);
    });
  };
  const std::int64_t blocks = n / block;
  for (std::int64_t first = 0; first < blocks; first += max_blocks) {
    const std::int64_t count = std::min(max_blocks, blocks - first);
    std::uint8_t unsafe[max_blocks + 1] = {};
    at(first * block, [&](std::byte* to, const std::byte* const* rows) {
      const std::uint16_t* words[WordSum::max_inputs];
      for (int c = 0; c < WordSum::max_inputs; ++c) {
        words[c] = reinterpret_cast<const std::uint16_t*>(rows[c]);
      }
      kernel(reinterpret_cast<std::uint16_t*>(to), words, count, sum, unsafe);
    });
    for (std::int64_t k = 0, end = 0; k < count; k = end + 1) {
      for (end = k; unsafe[end] != 0;) ++end;
      if (end > k) exactly((first + k) * block, (end - k) * block);
    }
  }
  if (n > blocks * block) exactly(blocks * block, n - blocks * block);
}
#else
std::optional<WordSum> word_sum(const PointBody&, std::span<const PixelClass>, PixelClass,
                                const std::vector<double>&, CpuLevel) {
  return std::nullopt;
}
void run_word_sum(std::byte*, const std::byte* const*, std::int64_t, const WordSum&,
                  const PointBody&, const std::vector<double>&, CpuLevel) {}
#endif

}  // namespace impipe::cpu
