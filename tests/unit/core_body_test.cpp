// Tests that a body gives the same bits on every instruction set, and that the words of the
// vocabulary do what their comments say about NaN, zeros and ties.
#include "core/body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace impipe::bodies {
extern const PointBody word_min, word_max, word_clamp, word_abs, word_floor, word_ceil, word_trunc,
    word_sqrt, word_fma, word_round_away, word_to_code, word_divide, word_multiply_add, word_choose,
    word_quotient, word_root, word_pow, word_power, word_exp, word_log, word_cube_root, word_atan2,
    scalar_sin, scalar_cos, scalar_tan, word_exp2_below_0, word_small_sin, word_small_cos,
    word_small_tan;
extern const StencilBody word_at, word_weighted_mean;
}  // namespace impipe::bodies

namespace impipe {
namespace {

using namespace bodies;

const PointBody* const words[] = {
    &word_min,          &word_max,        &word_clamp,        &word_abs,       &word_floor,
    &word_ceil,         &word_trunc,      &word_sqrt,         &word_fma,       &word_to_code,
    &word_divide,       &word_round_away, &word_quotient,     &word_root,      &word_pow,
    &word_power,        &word_exp,        &word_multiply_add, &word_choose,    &word_log,
    &scalar_sin,        &scalar_cos,      &scalar_tan,        &word_atan2,     &word_cube_root,
    &word_exp2_below_0, &word_small_sin,  &word_small_cos,    &word_small_tan,
};

template <class real>
auto bits(real value) {
  using Bits = std::conditional_t<sizeof(real) == 4, std::uint32_t, std::uint64_t>;
  if (std::isnan(value)) value = std::numeric_limits<real>::quiet_NaN();  // NaNs are not told apart
  return std::bit_cast<Bits>(value);
}

// Zeros, denormals, infinities, NaN, rounding ties and their neighbours, then random bit patterns
// and values of the size pixels have; in an order that depends on the seed.
template <class real>
std::vector<real> awkward_values(std::size_t count, unsigned seed) {
  using Limits = std::numeric_limits<real>;
  std::vector<real> values = {0,
                              Limits::denorm_min(),
                              Limits::min(),
                              Limits::min() / 2,
                              Limits::max(),
                              Limits::infinity(),
                              Limits::quiet_NaN(),
                              real(1) / Limits::epsilon(),
                              real(0.5) / Limits::epsilon()};
  for (const double tie : {0.5, 1.5, 2.5, 3.5, 127.5, 254.5, 255.5, 65534.5, 8388607.5}) {
    const real at = static_cast<real>(tie);
    values.insert(values.end(), {at, std::nextafter(at, real(0)), std::nextafter(at, real(1e9))});
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  std::mt19937_64 random(seed);
  while (values.size() < count) {
    using Bits = decltype(bits(real()));
    values.push_back(std::bit_cast<real>(static_cast<Bits>(random())));
    values.push_back(static_cast<real>(static_cast<double>(random() % 80000) / 256 - 20));
  }
  std::shuffle(values.begin(), values.end(), random);
  values.resize(count);
  return values;
}

bool processor_has(CpuLevel level) {
  if (level == CpuLevel::baseline) return true;
  return level == CpuLevel::v3 ? __builtin_cpu_supports("x86-64-v3")
                               : __builtin_cpu_supports("x86-64-v4");
}

template <class real>
std::vector<real> run(const PointBody& body, CpuLevel level, std::size_t count,
                      const std::vector<std::vector<real>>& inputs) {
  const real parameters[] = {real(0.25), real(200.5)};
  std::vector<const real*> rows;
  for (const auto& input : inputs) rows.push_back(input.data());
  std::vector<real> out(count + 1, real(-77));
  const int index = static_cast<int>(level);
  if constexpr (sizeof(real) == 4) {
    body.rows_float[index](out.data(), rows.data(), static_cast<std::int64_t>(count), parameters);
  } else {
    body.rows_double[index](out.data(), rows.data(), static_cast<std::int64_t>(count), parameters);
  }
  EXPECT_EQ(out[count], real(-77)) << body.name << " writes past its row";
  out.resize(count);
  return out;
}

template <class real>
void expect_equal_bits_on_every_level() {
  constexpr std::size_t most = 5003;
  const std::vector<std::vector<real>> inputs = {
      awkward_values<real>(most, 1), awkward_values<real>(most, 2), awkward_values<real>(most, 3)};
  for (const PointBody* body : words) {
    for (const std::size_t count : {most, std::size_t{1}, std::size_t{37}}) {
      const std::vector<real> expected = run(*body, CpuLevel::baseline, count, inputs);
      for (const CpuLevel level : {CpuLevel::v3, CpuLevel::v4}) {
        if (!processor_has(level)) continue;
        const std::vector<real> got = run(*body, level, count, inputs);
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(bits(got[i]), bits(expected[i]))
              << body->name << " level " << static_cast<int>(level) << " of " << inputs[0][i]
              << ", " << inputs[1][i] << ", " << inputs[2][i] << ": " << got[i] << ", not "
              << expected[i];
        }
      }
    }
  }
}

TEST(Body, GivesTheSameBitsOnEveryLevelInFloat) { expect_equal_bits_on_every_level<float>(); }
TEST(Body, GivesTheSameBitsOnEveryLevelInDouble) { expect_equal_bits_on_every_level<double>(); }

TEST(Body, StencilGivesTheSameBitsOnEveryLevelAndStep) {
  constexpr std::int64_t count = 1001;
  const float weight = 1.7f;
  for (const std::int64_t step : {1, 3}) {
    std::vector<std::vector<float>> image;
    std::vector<const float*> rows;
    for (unsigned k = 0; k < 3; ++k) image.push_back(awkward_values<float>(count + 2 * 3, k));
    for (const auto& row : image) rows.push_back(row.data() + 3);
    std::vector<float> expected(count), got(count);
    word_at.rows[0](expected.data(), rows.data(), count, step, &weight);
    for (const CpuLevel level : {CpuLevel::v3, CpuLevel::v4}) {
      if (!processor_has(level)) continue;
      word_at.rows[static_cast<int>(level)](got.data(), rows.data(), count, step, &weight);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits(got[i]), bits(expected[i])) << i;
    }
    const auto at = [&](int dx, int dy) {
      return rows[static_cast<std::size_t>(dy + 1)][500 + dx * step];
    };
    const float across = std::fma(at(1, 0), weight, at(1, -1) + at(1, 1)) - at(-1, 0);
    EXPECT_EQ(bits(expected[500]), bits(std::sqrt(std::fma(across, across, at(0, 1) * at(0, -1)))));
  }
}

// One word against the C library, over awkward values; a zero's sign is compared as well.
template <class real, class Reference>
void expect_word(const PointBody& body, Reference reference) {
  const std::size_t count = 20000;
  const std::vector<std::vector<real>> inputs = {awkward_values<real>(count, 4),
                                                 awkward_values<real>(count, 5),
                                                 awkward_values<real>(count, 6)};
  const std::vector<real> got = run(body, CpuLevel::baseline, count, inputs);
  for (std::size_t i = 0; i < count; ++i) {
    const real expected = reference(inputs[0][i], inputs[1][i], inputs[2][i]);
    ASSERT_EQ(bits(got[i]), bits(expected))
        << body.name << " of " << inputs[0][i] << ", " << inputs[1][i] << ", " << inputs[2][i];
  }
}

template <class real>
void expect_words_as_documented() {
  expect_word<real>(word_abs, [](real x, real, real) { return std::abs(x); });
  expect_word<real>(word_floor, [](real x, real, real) { return std::floor(x); });
  expect_word<real>(word_ceil, [](real x, real, real) { return std::ceil(x); });
  expect_word<real>(word_trunc, [](real x, real, real) { return std::trunc(x); });
  expect_word<real>(word_sqrt, [](real x, real, real) { return std::sqrt(x); });
  expect_word<real>(word_fma, [](real x, real y, real z) { return std::fma(x, y, z); });
  expect_word<real>(word_round_away, [](real x, real, real) {
    return std::round(x) == 0 ? real(0) : std::round(x);
  });
  expect_word<real>(word_to_code, [](real x, real, real) {  // the first parameter, 0.25, is largest
    return std::isnan(x) ? real(0) : std::round(std::fmin(std::fmax(x, real(0)), real(0.25)));
  });
  expect_word<real>(word_clamp, [](real x, real, real) {
    return std::isnan(x) ? x : std::fmin(std::fmax(x, real(0.25)), real(200.5));
  });
}

TEST(Vocabulary, AgreesWithTheCLibraryInFloat) { expect_words_as_documented<float>(); }
TEST(Vocabulary, AgreesWithTheCLibraryInDouble) { expect_words_as_documented<double>(); }

// How many units in the last place lie between the two; 0 of the nearest number.
template <class real>
double units_apart(real got, long double exact) {
  const real nearest = static_cast<real>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (got == nearest) return 0;
  if (std::isinf(got) || std::isinf(nearest)) return HUGE_VAL;
  using Limits = std::numeric_limits<real>;
  int power = 0;
  static_cast<void>(std::frexp(nearest, &power));
  const int unit = std::max(power - Limits::digits, Limits::min_exponent - Limits::digits);
  return static_cast<double>(std::abs(got - exact) / std::ldexp(1.0L, unit));
}

// The functions against the C library's of long double. tests/accuracy/functions.cpp tries more.
template <class real>
void expect_functions_near(double tan_most) {
  using One = real (*)(real);
  using Two = real (*)(real, real);
  const struct {
    const char* name;
    One own;
    long double (*exact)(long double);
    double most;
  } ones[] = {{"exp", [](real x) { return bodies::exp(x); }, std::exp, 1},
              {"exp2_below_0", [](real x) { return bodies::exp2_below_0(-std::abs(x)); },
               [](long double x) {
                 const long double least = std::numeric_limits<real>::min_exponent - 1.5L;
                 return -std::abs(x) < least ? 0 : std::exp2(-std::abs(x));
               },
               2.2},
              {"log", [](real x) { return bodies::log(x); }, std::log, 1},
              {"sin", [](real x) { return bodies::sin(x); }, std::sin, 1},
              {"cos", [](real x) { return bodies::cos(x); }, std::cos, 1},
              {"tan", [](real x) { return bodies::tan(x); }, std::tan, tan_most}};
  const struct {
    const char* name;
    Two own;
    long double (*exact)(long double, long double);
    double most;
  } twos[] = {{"pow", [](real x, real y) { return bodies::pow(x, y); }, std::pow, 1.2},
              {"atan2", [](real y, real x) { return bodies::atan2(y, x); }, std::atan2, 1.6}};
  std::vector<real> x = awkward_values<real>(100000, 7), y = awkward_values<real>(100000, 8);
  for (int k = -3000; k < 3000; ++k) {  // near the zeros of sin and cos; near powers of one
    x[static_cast<std::size_t>(k + 3000)] = static_cast<real>(k * 1.5707963267948966);
    x[static_cast<std::size_t>(k + 9000)] = static_cast<real>(1 + k * 1e-6);
    y[static_cast<std::size_t>(k + 9000)] = static_cast<real>(k * 10);
  }
  for (const auto& f : ones) {
    for (const real v : x)
      ASSERT_LE(units_apart(f.own(v), f.exact(v)), f.most) << f.name << " " << v;
  }
  for (const auto& f : twos) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(units_apart(f.own(x[i], y[i]), f.exact(x[i], y[i])), f.most)
          << f.name << " " << x[i] << ", " << y[i];
    }
  }
}

TEST(Vocabulary, FunctionsAreNearTheTrueOnesInFloat) { expect_functions_near<float>(2.5); }
TEST(Vocabulary, FunctionsAreNearTheTrueOnesInDouble) { expect_functions_near<double>(2.2); }

template <class real>
void expect_cube_root(real x) {
  ASSERT_LE(units_apart(bodies::cube_root(x), std::cbrt(static_cast<long double>(x))), 1) << x;
}

TEST(Vocabulary, CubeRootIsWithinAUnit) {
  // Three exponents closely, as a third of an exponent leaves three rests; all others.
  const std::uint32_t first = std::bit_cast<std::uint32_t>(0.125f),
                      end = std::bit_cast<std::uint32_t>(1.0f);
  for (std::uint32_t bits = first; bits < end; bits += 63) {
    expect_cube_root(std::bit_cast<float>(bits));
    expect_cube_root(std::bit_cast<float>(bits) * (1 + bits * 0x1p-54));
  }
  for (std::uint32_t bits = 0x00800000; bits < 0x7f800000; bits += 10007) {
    expect_cube_root(std::bit_cast<float>(bits));
    expect_cube_root(std::bit_cast<double>(std::uint64_t{bits} << 32 | bits));
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bodies::cube_root(infinity), infinity);
  EXPECT_EQ(bodies::cube_root(double{infinity}), infinity);
  EXPECT_EQ(bodies::cube_root(27.0), 3.0);
}

// Also of every sign of zero.
template <class real>
void expect_specials() {
  constexpr real infinity = std::numeric_limits<real>::infinity();
  const real nan = std::numeric_limits<real>::quiet_NaN(), tiny = std::numeric_limits<real>::min();
  const real values[] = {0,    real(-0.0),     1,         -1,        2,          -2,
                         0.5,  -0.5,           3,         -3,        2.5,        real(1e30),
                         nan,  infinity,       -infinity, 16777216,  tiny,       tiny / 4,
                         1e17, real(16777219), 16777215,  real(0.1), real(-1e30)};
  const auto expect = [](const char* name, real got, real expected, real x, real y) {
    EXPECT_LE(units_apart(got, expected), 3) << name << " " << x << ", " << y << ": " << got;
    if (std::isnan(got)) return;
    EXPECT_EQ(std::signbit(got), std::signbit(expected)) << name << " " << x << ", " << y;
  };
  for (const real x : values) {
    expect("exp", bodies::exp(x), std::exp(x), x, 0);
    expect("log", bodies::log(x), std::log(x), x, 0);
    expect("sin", bodies::sin(x), std::sin(x), x, 0);
    expect("cos", bodies::cos(x), std::cos(x), x, 0);
    expect("tan", bodies::tan(x), std::tan(x), x, 0);
    for (const real y : values) {
      expect("pow", bodies::pow(x, y), std::pow(x, y), x, y);
      expect("atan2", bodies::atan2(x, y), std::atan2(x, y), x, y);
    }
  }
}

TEST(Vocabulary, FunctionsOfZerosInfinitiesNanAndNegativeNumbersAreTheCLibrarys) {
  expect_specials<float>();
  expect_specials<double>();
}

// 3^2 is 9, and the root of 9 is 3.
TEST(Vocabulary, WholePowersAndRootsOfSquaresAreExact) {
  for (int x = 0; x < 4096; ++x) {
    const float square = static_cast<float>(x) * static_cast<float>(x);
    ASSERT_EQ(bodies::pow(static_cast<float>(x), 2.0f), square);
    ASSERT_EQ(bodies::pow(square, 0.5f), static_cast<float>(x));
  }
  for (double x = 0; x < 65536; ++x) {
    ASSERT_EQ(bodies::pow(x, 2.0), x * x);
    ASSERT_EQ(bodies::pow(x, 3.0), x * x * x);
    ASSERT_EQ(bodies::pow(x * x, 0.5), x);
  }
}

TEST(Body, WeightedMeanIsTheSumInTheOrderOfItsText) {
  constexpr std::int64_t count = 1203;  // more than two chunks
  constexpr int last = 3;
  const float args[] = {-0.02f, -0.003f, last};
  std::vector<std::vector<float>> image;
  std::vector<const float*> rows;
  std::mt19937 random(9);
  for (int k = 0; k < 2 * last + 1; ++k) {
    image.emplace_back(count + 2 * last);
    for (float& v : image.back()) v = static_cast<float>(random() % 1000) / 4;
  }
  for (const auto& row : image) rows.push_back(row.data() + last);
  std::vector<float> expected(count), got(count);
  for (std::int64_t i = 0; i < count; ++i) {
    float weights = 0, sum = 0;
    for (int dy = -last; dy <= last; ++dy) {
      for (int dx = -last; dx <= last; ++dx) {
        const float value = rows[last + dy][i + dx], apart = value - rows[last][i];
        const float distance = static_cast<float>(dx * dx + dy * dy);
        const float w = bodies::exp(std::fma(apart * apart, args[1], distance * args[0]));
        weights += w;
        sum = std::fma(w, value, sum);
      }
    }
    expected[i] = sum / weights;
  }
  for (const CpuLevel level : {CpuLevel::baseline, CpuLevel::v3, CpuLevel::v4}) {
    if (!processor_has(level)) continue;
    word_weighted_mean.rows[static_cast<int>(level)](got.data(), rows.data(), count, 1, args);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(bits(got[i]), bits(expected[i])) << i;
  }
}

TEST(Vocabulary, MinAndMaxTakeTheSecondUnlessTheComparisonHolds) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    float a, b, least, most;
  } rows[] = {{1, 2, 1, 2},
              {2, 1, 1, 2},
              {nan, 3, 3, 3},
              {3, nan, nan, nan},
              {0.0f, -0.0f, -0.0f, -0.0f},
              {-0.0f, 0.0f, 0.0f, 0.0f}};
  for (const auto& row : rows) {
    EXPECT_EQ(bits(bodies::min(row.a, row.b)), bits(row.least)) << row.a << ", " << row.b;
    EXPECT_EQ(bits(bodies::max(row.a, row.b)), bits(row.most)) << row.a << ", " << row.b;
  }
}

TEST(Vocabulary, ToCodeRoundsSaturatesAndMakesNanZero) {
  const struct {
    double value, code;
  } rows[] = {{0.5, 1},  {0.49999999999999994, 0}, {254.5, 255},    {300, 255},    {-3, 0},
              {-0.0, 0}, {std::nan(""), 0},        {INFINITY, 255}, {-INFINITY, 0}};
  for (const auto& row : rows) {
    EXPECT_EQ(bits(bodies::to_code(row.value, 255.0)), bits(row.code)) << row.value;
  }
}

TEST(Vocabulary, KeepsItsTextForRunTimeCompilers) {
  std::string names;
  for (const ComposedWord& word : composed_words) names += std::string(word.name) + " ";
  EXPECT_EQ(names, "min max clamp round_away over to_code ");
  EXPECT_STREQ(composed_words[0].parameters, "(a, b)");
  EXPECT_STREQ(composed_words[0].text, "{ return a < b ? a : b; }");
  EXPECT_STREQ(builtin_words[0].builtin, "fabs");
}

TEST(Body, KeepsItsTextAndNames) {
  EXPECT_STREQ(word_clamp.text, "{ return clamp(x, low, high); }");
  EXPECT_STREQ(word_clamp.input_names, "(x)");
  EXPECT_STREQ(word_clamp.parameter_names, "(low, high)");
  EXPECT_EQ(word_clamp.parameters, 2);
  EXPECT_EQ(word_fma.inputs, 3);
  EXPECT_EQ(word_at.footprint, (Footprint{1, 1, 1, 1}));
}

}  // namespace
}  // namespace impipe
