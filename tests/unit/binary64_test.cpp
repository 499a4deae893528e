// kernels/binary64.clh, compiled as C++, beside the processor's own doubles.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace impipe::testing {
namespace {

using uint = std::uint32_t;
using ulong = std::uint64_t;

#define FUNCTION [[maybe_unused]] inline
#define FUNCTION_SELDOM [[maybe_unused]] inline
#define OVERLOADED [[maybe_unused]] inline
#define LEADING_ZEROS_LONG(bits) __builtin_clzll(bits)
#define HIGH_PRODUCT_LONG(a, b) static_cast<ulong>(static_cast<unsigned __int128>(a) * (b) >> 64)
#define FLOAT_BITS(value) __builtin_bit_cast(uint, value)
#define BITS_FLOAT(bits) __builtin_bit_cast(float, bits)
#include "backends/jit/kernels/binary64.clh"

double of(binary64 a) { return __builtin_bit_cast(double, a.bits); }

// The same bits, or both no number.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         __builtin_bit_cast(ulong, a) == __builtin_bit_cast(ulong, b);
}
bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || FLOAT_BITS(a) == FLOAT_BITS(b);
}

// Ends of ranges, ties, and what lies next to them, of both signs.
std::vector<ulong> special_bits() {
  std::vector<ulong> all = {0, 1, 2, 3, 0x0008000000000000, 0x000fffffffffffff};
  for (const ulong exponent :
       {1,    2,    52,   54,   873,  874,  896,  897,  970,  1021, 1022, 1023,
        1024, 1053, 1054, 1074, 1075, 1076, 1085, 1086, 1150, 1151, 2045, 2046}) {
    for (const ulong fraction :
         {0x0ul, 0x1ul, 0x8000000000000ul, 0xfffffffffffffUL, 0x0000010000000ul}) {
      all.push_back(exponent << 52 | fraction);
    }
  }
  all.insert(all.end(), {0x7ff0000000000000, 0x7ff8000000000000});
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(all[i] | 1ul << 63);
  return all;
}

// Random bits; half of them numbers of about the same size, of few bits or many.
class RandomBits {
 public:
  ulong operator()() {
    const ulong any = random_();
    const int kind = static_cast<int>(random_() % 4);
    if (kind < 2) return any;
    const ulong exponent = 1023 - 30 + any % 61;
    const ulong fraction = kind == 2 ? any >> 12 : any >> 40 << 28;
    return (any & 1ul << 63) | exponent << 52 | fraction;
  }

 private:
  std::mt19937_64 random_{1};
};

void expect_pair(ulong x, ulong y) {
  const binary64 a{x}, b{y};
  const double p = of(a), q = of(b);
  ASSERT_TRUE(same(of(binary64_add(a, b)), p + q)) << std::hexfloat << p << " + " << q;
  ASSERT_TRUE(same(of(binary64_subtract(a, b)), p - q)) << std::hexfloat << p << " - " << q;
  ASSERT_TRUE(same(of(binary64_multiply(a, b)), p * q)) << std::hexfloat << p << " * " << q;
  ASSERT_TRUE(same(of(binary64_divide(a, b)), p / q)) << std::hexfloat << p << " / " << q;
  ASSERT_EQ(binary64_less(a, b), p < q) << p << " " << q;
  ASSERT_EQ(binary64_less_equal(a, b), p <= q) << p << " " << q;
  ASSERT_EQ(binary64_greater(a, b), p > q) << p << " " << q;
  ASSERT_EQ(binary64_greater_equal(a, b), p >= q) << p << " " << q;
  ASSERT_EQ(binary64_equal(a, b), p == q) << p << " " << q;
  ASSERT_EQ(binary64_not_equal(a, b), p != q) << p << " " << q;
  ASSERT_EQ(of(binary64_fmin(a, b)) == std::fmin(p, q), std::fmin(p, q) == std::fmin(p, q));
  ASSERT_EQ(of(binary64_fmax(a, b)) == std::fmax(p, q), std::fmax(p, q) == std::fmax(p, q));
}

void expect_fma(ulong x, ulong y, ulong z) {
  const binary64 a{x}, b{y}, c{z};
  ASSERT_TRUE(same(of(binary64_fma(a, b, c)), std::fma(of(a), of(b), of(c))))
      << std::hexfloat << of(a) << " * " << of(b) << " + " << of(c);
}

// Whole numbers that a type holds: C++ does not say what becomes of others.
template <class T>
bool holds(double v) {
  const double low = std::is_signed_v<T> ? -std::ldexp(1.0, 8 * sizeof(T) - 1) : 0.0;
  const double end = std::ldexp(1.0, 8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0));
  return std::trunc(v) >= low && std::trunc(v) < end;
}
template <class T>
T nearest_end(double v) {
  using limits = std::numeric_limits<T>;
  if (holds<T>(v)) return static_cast<T>(v);
  return std::isnan(v) ? T{0} : v < 0.0 ? limits::min() : limits::max();
}

void expect_single(ulong x) {
  const binary64 a{x};
  const double p = of(a);
  ASSERT_TRUE(same(of(binary64_sqrt(a)), std::sqrt(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_floor(a)), std::floor(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_ceil(a)), std::ceil(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_trunc(a)), std::trunc(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_rint(a)), std::nearbyint(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_fabs(a)), std::fabs(p))) << std::hexfloat << p;
  ASSERT_TRUE(same(of(binary64_negate(a)), -p)) << std::hexfloat << p;
  ASSERT_TRUE(same(binary64_to_float(a), static_cast<float>(p))) << std::hexfloat << p;
  ASSERT_EQ(binary64_is_true(a) != 0, p != 0.0) << std::hexfloat << p;
  ASSERT_EQ(binary64_to_int(a), nearest_end<int>(p)) << std::hexfloat << p;
  ASSERT_EQ(binary64_to_uint(a), nearest_end<uint>(p)) << std::hexfloat << p;
  ASSERT_EQ(binary64_to_long(a), nearest_end<long>(p)) << std::hexfloat << p;
  ASSERT_EQ(binary64_to_ulong(a), nearest_end<ulong>(p)) << std::hexfloat << p;
}

void expect_made(ulong x) {
  const auto word = static_cast<uint>(x);
  const float single = BITS_FLOAT(word);
  ASSERT_TRUE(same(of(binary64_from(x)), static_cast<double>(x))) << x;
  ASSERT_TRUE(
      same(of(binary64_from(static_cast<long>(x))), static_cast<double>(static_cast<long>(x))));
  ASSERT_TRUE(same(of(binary64_from(word)), static_cast<double>(word))) << word;
  ASSERT_TRUE(
      same(of(binary64_from(static_cast<int>(word))), static_cast<double>(static_cast<int>(word))));
  ASSERT_TRUE(same(of(binary64_from(single)), static_cast<double>(single))) << single;
}

TEST(Binary64, HasTheProcessorsBits) {
  ASSERT_EQ(std::fegetround(), FE_TONEAREST);
  RandomBits bits;
  for (int i = 0; i < 1'000'000 && !HasFatalFailure(); ++i) {
    const ulong x = bits(), y = bits();
    expect_pair(x, y);
    expect_single(x);
    expect_made(x >> y % 64);
    // Sums that cancel, too.
    const double product = of({x}) * of({y});
    expect_fma(x, y, i % 2 == 0 ? bits() : __builtin_bit_cast(ulong, -product) + bits() % 3);
  }
}

TEST(Binary64, HasTheProcessorsBitsOfSpecialNumbers) {
  // Just above a tie: (2^26 + 1) (2^52 - 2^26 + 1) is 2^78 + 1, and half of a last place of 2^131.
  const double above = 0x1p52 - 0x1p26 + 1.0;
  expect_fma(__builtin_bit_cast(ulong, 0x1p26 + 1.0), __builtin_bit_cast(ulong, above),
             __builtin_bit_cast(ulong, 0x1p131));
  const std::vector<ulong> all = special_bits();
  for (const ulong x : all) {
    expect_single(x);
    expect_made(x);
    expect_made(x >> 32);
    for (const ulong y : all) {
      expect_pair(x, y);
      for (std::size_t k = 0; k < all.size() && !HasFatalFailure(); k += 3) {
        expect_fma(x, y, all[(k + x + y) % all.size()]);
      }
      const double product = of({x}) * of({y});
      expect_fma(x, y, __builtin_bit_cast(ulong, -product));
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace impipe::testing
