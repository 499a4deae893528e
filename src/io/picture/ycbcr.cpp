// Colours as video has them, to red, green, blue and back.
#include "io/picture/ycbcr.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/body.hpp"
#include "core/has_v3.hpp"

namespace impipe::io {
namespace {

// Of red, green and blue, in parts of their sum.
struct Weights {
  std::int64_t red, green, blue;
  std::int64_t sum() const { return red + green + blue; }
};

Weights weights_of(YcbcrMatrix matrix) {
  switch (matrix) {
    case YcbcrMatrix::bt601: return {299, 587, 114};
    case YcbcrMatrix::bt709: return {2126, 7152, 722};
    case YcbcrMatrix::bt2020: return {2627, 6780, 593};
  }
  return {};
}

// Codes between black and white, and of Cb and Cr between their ends: span * unit.
struct Spans {
  std::int64_t luma, chroma, unit, black, zero;
};
Spans spans_of(const YcbcrCode& code) {
  const std::int64_t zero = std::int64_t{1} << (code.bits - 1);
  if (code.full_range) return {1, 1, code.largest(), 0, zero};
  const std::int64_t unit = std::int64_t{1} << (code.bits - 8);
  return {219, 224, unit, 16 * unit, zero};
}

std::int64_t white_of(int bits) { return bits == 8 ? 255 : 65535; }

// Of factors and a divisor that are whole numbers, without what they have in common.
YcbcrSum sum_of(std::int64_t y, std::int64_t first, std::int64_t second, std::int64_t divisor) {
  const std::int64_t common = std::gcd(std::gcd(y, first), std::gcd(second, divisor));
  return {static_cast<double>(y / common), static_cast<double>(first / common),
          static_cast<double>(second / common), 0, static_cast<double>(divisor / common)};
}

// What rounds a quotient of whole numbers when it is cut off, half away from zero: it leaves half a
// step to the next whole number, so that the multiplication by a reciprocal cannot fall short of
// one.
double rounding_of(double divisor) { return divisor / 2 + (std::fmod(divisor, 2) == 0 ? 0.5 : 0); }

// Bytes are made in whole numbers of 16 bits. A value is (factor * Y + m) / 73, cut off, where
// factor is 85 (255 / 219 of a step is 85 / 73) or 73, and m what Cb and Cr add in parts of 73, cut
// off too: both cuts together are the one of the formula. With `bias` m is above 0 for all samples,
// and sums stay below 65536; multiplying by 57457 / 2^22 divides by 73 what is below 256 * 73.
constexpr int parts = 73, bias = 22000;
constexpr std::uint16_t largest_parts = 256 * parts - 1;
constexpr std::uint32_t reciprocal = 57457, reciprocal_shift = 22;

// What is added to the factor times Y, out of the formula's numerator and denominator.
inline void to_term(double numerator, double, double& term) { term = numerator; }
inline void to_term(double numerator, double divisor, std::uint16_t& term) {
  term =
      static_cast<std::uint16_t>(static_cast<std::int32_t>(numerator * (parts / divisor) + bias));
}

// The loops, for the instructions that the processor has. A value is cut to 0 … top first, which
// makes the cast a floor.
#define IMPIPE_YCBCR_LOOPS(level)                                                                  \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void values_##level(const T* in, const double* terms, double factor,       \
                                            double inverse, double top, T* out, std::int64_t n) {  \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      const double value = (factor * static_cast<double>(in[i]) + terms[i]) * inverse;             \
      const double inside = value > 0 ? (value < top ? value : top) : 0;                           \
      out[i] = static_cast<T>(static_cast<std::int32_t>(inside));                                  \
    }                                                                                              \
  }                                                                                                \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void lumas_##level(const T* red, const T* green, const T* blue,            \
                                           const YcbcrSum& sum, double scale, double top,          \
                                           double* sums, T* out, std::int64_t n) {                 \
    const double a = sum.y, b = sum.first, c = sum.second, offset = sum.offset;                    \
    const double inverse = 1 / sum.divisor;                                                        \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      const double all = a * red[i] + b * green[i] + c * blue[i];                                  \
      const double value = (scale * all + offset) * inverse;                                       \
      sums[i] = all;                                                                               \
      out[i] = static_cast<T>(static_cast<std::int32_t>(value < top ? value : top));               \
    }                                                                                              \
  }                                                                                                \
  IMPIPE_TARGET_##level void bytes_##level(const std::uint8_t* in, const std::uint16_t* terms,     \
                                           std::uint16_t factor, std::uint8_t* out,                \
                                           std::int64_t n) {                                       \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      const auto sum = static_cast<std::uint16_t>(in[i] * factor + terms[i]);                      \
      const auto above = static_cast<std::uint16_t>((sum > bias ? sum : bias) - bias);             \
      const std::uint16_t inside = above < largest_parts ? above : largest_parts;                  \
      out[i] = static_cast<std::uint8_t>(inside * reciprocal >> reciprocal_shift);                 \
    }                                                                                              \
  }                                                                                                \
  template <int across, class T, class Term>                                                       \
  IMPIPE_TARGET_##level void terms_##level(const T* cb, const T* cr, const YcbcrSum& sum,          \
                                           Term* out, std::int64_t n) {                            \
    const double first = sum.first, second = sum.second, offset = sum.offset,                      \
                 divisor = sum.divisor;                                                            \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      Term term;                                                                                   \
      to_term(first* cb[i] + second * cr[i] + offset, divisor, term);                              \
      for (int k = 0; k < across; ++k) out[i * across + k] = term;                                 \
    }                                                                                              \
  }                                                                                                \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void differences_##level(                                                  \
      const T* colour, const double* sums, double weight, double factor, const std::uint8_t* same, \
      double* out, std::int64_t n) {                                                               \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      const double part = factor * (weight * static_cast<double>(colour[i]) - sums[i]);            \
      out[i] = same[i] != 0 ? 0 : part;                                                            \
    }                                                                                              \
  }                                                                                                \
  template <int across, class T>                                                                   \
  IMPIPE_TARGET_##level void blocks_##level(const double* part, const std::uint8_t* same,          \
                                            const T* old, double zero, double scale, double* sums, \
                                            std::int64_t n) {                                      \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      double sum = 0;                                                                              \
      for (int k = 0; k < across; ++k) sum += part[i * across + k];                                \
      sums[i] += sum;                                                                              \
    }                                                                                              \
    if (old == nullptr) return;                                                                    \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      int count = 0;                                                                               \
      for (int k = 0; k < across; ++k) count += same[i * across + k];                              \
      sums[i] += count * ((old[i] - zero) * scale);                                                \
    }                                                                                              \
  }                                                                                                \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void quotients_##level(const double* sums, double add, double divisor,     \
                                               double top, T* out, std::int64_t n) {               \
    _Pragma("GCC ivdep") for (std::int64_t i = 0; i < n; ++i) {                                    \
      const double value = (sums[i] + add) / divisor;                                              \
      const double inside = value > 0 ? (value < top ? value : top) : 0;                           \
      out[i] = static_cast<T>(static_cast<std::int32_t>(inside));                                  \
    }                                                                                              \
  }
IMPIPE_YCBCR_LOOPS(baseline)
IMPIPE_YCBCR_LOOPS(v3)
#undef IMPIPE_YCBCR_LOOPS

template <class T>
void values(const T* in, const double* terms, const YcbcrSum& sum, double top, T* out,
            std::int64_t n) {
  (has_v3() ? values_v3<T> : values_baseline<T>)(in, terms, sum.y, 1 / sum.divisor, top, out, n);
}
void values(const std::uint8_t* in, const std::uint16_t* terms, const YcbcrSum& sum, double,
            std::uint8_t* out, std::int64_t n) {
  const auto factor = static_cast<std::uint16_t>(parts * sum.y / sum.divisor);
  (has_v3() ? bytes_v3 : bytes_baseline)(in, terms, factor, out, n);
}

// Calls do_it with the number of pixels across, as a constant.
template <class Do>
void with_across(int across, Do do_it) {
  if (across == 1) do_it(std::integral_constant<int, 1>());
  if (across == 2) do_it(std::integral_constant<int, 2>());
  if (across == 4) do_it(std::integral_constant<int, 4>());
}

}  // namespace

template <class T>
YcbcrReader<T>::YcbcrReader(const YcbcrCode& code, int across, std::int64_t width)
    : across_(across), width_(width), top_(static_cast<double>(white_of(code.bits))) {
  const Weights w = weights_of(code.matrix);
  const Spans s = spans_of(code);
  const std::int64_t white = white_of(code.bits), all = w.sum();
  const std::int64_t over = all * s.luma * s.chroma * s.unit;
  const std::int64_t y = white * all * s.chroma;
  sums_[0] = sum_of(y, 0, white * 2 * (all - w.red) * s.luma, over);
  sums_[1] = sum_of(y * w.green, -white * 2 * w.blue * (all - w.blue) * s.luma,
                    -white * 2 * w.red * (all - w.red) * s.luma, over * w.green);
  sums_[2] = sum_of(y, white * 2 * (all - w.blue) * s.luma, 0, over);
  gray_ = sum_of(white, 0, 0, s.luma * s.unit);
  for (YcbcrSum* sum : {&sums_[0], &sums_[1], &sums_[2], &gray_}) {
    sum->offset = rounding_of(sum->divisor) - sum->y * static_cast<double>(s.black) -
                  (sum->first + sum->second) * static_cast<double>(s.zero);
  }
  samples_ = (width + across - 1) / across;
  Term term{};
  to_term(gray_.offset, gray_.divisor, term);
  for (std::vector<Term>& terms : terms_) {
    terms.assign(static_cast<std::size_t>(samples_ * across), term);
  }
}

template <class T>
void YcbcrReader<T>::set_chroma(const T* cb, const T* cr) {
  for (int c = 0; c < 3; ++c) {
    Term* const terms = terms_[c].data();
    with_across(across_, [&](auto across) {
      (has_v3() ? terms_v3<across(), T, Term> : terms_baseline<across(), T, Term>)(cb, cr, sums_[c],
                                                                                   terms, samples_);
    });
  }
}

template <class T>
void YcbcrReader<T>::read(const T* y, T* red, T* green, T* blue) const {
  T* const out[] = {red, green, blue};
  for (int c = 0; c < 3; ++c) values(y, terms_[c].data(), sums_[c], top_, out[c], width_);
}

template <class T>
void YcbcrReader<T>::read_gray(const T* y, T* gray) const {
  values(y, terms_[0].data(), gray_, top_, gray, width_);
}

template <class T>
YcbcrWriter<T>::YcbcrWriter(const YcbcrCode& code, int across, std::int64_t width)
    : code_(code), across_(across), width_(width), top_(code.largest()) {
  const Weights w = weights_of(code.matrix);
  const Spans s = spans_of(code);
  const std::int64_t white = white_of(code.bits), all = w.sum();
  luma_ = {static_cast<double>(w.red), static_cast<double>(w.green), static_cast<double>(w.blue), 0,
           static_cast<double>(all * white)};
  gray_ = {static_cast<double>(s.luma * s.unit), 0, 0, 0, static_cast<double>(white)};
  for (YcbcrSum* sum : {&luma_, &gray_}) {
    sum->offset = sum->divisor * static_cast<double>(s.black) + rounding_of(sum->divisor);
  }
  chroma_factor_ = static_cast<double>(s.chroma * s.unit);
  weight_sum_ = static_cast<double>(all);
  cb_scale_ = static_cast<double>(2 * (all - w.blue) * white);
  cr_scale_ = static_cast<double>(2 * (all - w.red) * white);
  luma_sums_.assign(static_cast<std::size_t>(width), gray_.offset);
  cb_sums_.resize(static_cast<std::size_t>((width + across - 1) / across));
  cr_sums_.resize(cb_sums_.size());
  parts_.resize(cb_sums_.size() * static_cast<std::size_t>(across));
  none_same_.resize(parts_.size());
}

template <class T>
void YcbcrWriter<T>::collect(const T* colour, const Kept& kept, const T* old, double scale,
                             std::vector<double>& sums) {
  const std::uint8_t* const same = kept.same != nullptr ? kept.same : none_same_.data();
  (has_v3() ? differences_v3<T> : differences_baseline<T>)(colour, luma_sums_.data(), weight_sum_,
                                                           chroma_factor_, same, parts_.data(),
                                                           width_);
  const double zero = 1 << (code_.bits - 1);
  with_across(across_, [&](auto across) {
    (has_v3() ? blocks_v3<across(), T>
              : blocks_baseline<across(), T>)(parts_.data(), same, old, zero, scale, sums.data(),
                                              static_cast<std::int64_t>(sums.size()));
  });
}

template <class T>
void YcbcrWriter<T>::write(const T* red, const T* green, const T* blue, const Kept& kept, T* y) {
  (has_v3() ? lumas_v3<T> : lumas_baseline<T>)(red, green, blue, luma_, gray_.y, top_,
                                               luma_sums_.data(), y, width_);
  collect(blue, kept, kept.cb, cb_scale_, cb_sums_);
  collect(red, kept, kept.cr, cr_scale_, cr_sums_);
  ++rows_;
  if (kept.same == nullptr) return;
  const std::uint8_t* const same = kept.same;
  const T* const old = kept.y;
  _Pragma("GCC ivdep") for (std::int64_t x = 0; x < width_; ++x) y[x] =
      same[x] != 0 ? old[x] : y[x];
}

template <class T>
void YcbcrWriter<T>::end(std::vector<double>& sums, double scale, T* out) const {
  const double zero = 1 << (code_.bits - 1);
  const std::int64_t full = width_ / across_, rest = width_ % across_;
  const auto divide = [&](std::int64_t first, std::int64_t count, std::int64_t pixels) {
    const double divisor = scale * static_cast<double>(rows_ * pixels);
    (has_v3() ? quotients_v3<T> : quotients_baseline<T>)(sums.data() + first,
                                                         zero * divisor + rounding_of(divisor),
                                                         divisor, top_, out + first, count);
  };
  divide(0, full, across_);
  if (rest > 0) divide(full, 1, rest);  // the last block has fewer pixels
  std::ranges::fill(sums, 0.0);
}

template <class T>
void YcbcrWriter<T>::end_chroma(T* cb, T* cr) {
  end(cb_sums_, cb_scale_, cb);
  end(cr_sums_, cr_scale_, cr);
  rows_ = 0;
}

template <class T>
void YcbcrWriter<T>::write_gray(const T* gray, T* y) const {
  values(gray, luma_sums_.data(), gray_, top_, y, width_);
}

template class YcbcrReader<std::uint8_t>;
template class YcbcrReader<std::uint16_t>;
template class YcbcrWriter<std::uint8_t>;
template class YcbcrWriter<std::uint16_t>;

}  // namespace impipe::io
