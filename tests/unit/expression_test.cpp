// User expressions: what they mean, how they print, and what they give.
#include "core/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/row_evaluator.hpp"

namespace impipe {
namespace {

const ExpressionNames names{.known = {"x", "y", "z"}, .others = false, .taps = true};

Expression parsed(std::string_view text) { return parse_expression(text, names); }

// The value for one pixel; x, y, z are given, at(dx, dy) is 10 * dy + dx.
template <class real>
real value_of(std::string_view text, real x, real y, real z) {
  const Expression expression = parsed(text).with_variables({"x", "y", "z"});
  std::vector<real> cells = {x, y, z};
  for (const Tap& tap : expression.taps()) cells.push_back(real(10 * tap.dy + tap.dx));
  std::vector<const real*> inputs;
  for (const real& cell : cells) inputs.push_back(&cell);
  real out = -99;
  RowEvaluator<real>(expression).run(&out, inputs, 1);
  return out;
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Expression, Values) {
  // With x = 2, y = 3, z = -5.
  const struct {
    const char* text;
    double value;
  } table[] = {
      {"x", 2},
      {"7", 7},
      {"at(-1, 2)", 19},
      {"at(1,0) - at(-1,0)", 2},
      {"at(+1, -1) + at(1, -1)", -18},
      {"x + y * z", -13},
      {"(x + y) * z", -25},
      {"x - y - z", 4},
      {"y / x / x", 0.75},
      {"-x^2", -4},
      {"(-x)^2", 4},
      {"x^y^x", 512},
      {"x^-1", 0.5},
      {"pow(x, y)", 8},
      {"2^-x^2", 0.0625},
      {"1 < x", 1},
      {"x < 1 < x", 1},  // (x < 1) < x, as in C
      {"x == 2 && y == 4", 0},
      {"x == 2 || y == 4", 1},
      {"1 || 0 && 0", 1},
      {"x != y == 1", 1},
      {"x <= 2", 1},
      {"x >= 3", 0},
      {"x > y", 0},
      {"!x", 0},
      {"!(x - 2)", 1},
      {"!x == 0", 1},  // (!x) == 0
      {"+x", 2},
      {"--x", 2},
      {"x > y ? x : z > y ? y : z", -5},
      {"x ? y ? 1 : 2 : 3", 1},
      {"min(x, y, z)", -5},
      {"max(z, y, x, 2.5)", 3},
      {"abs(z)", 5},
      {"sqrt(x + 2)", 2},
      {"floor(-2.5)", -3},
      {"ceil(-2.5)", -2},
      {"round(-2.5) + round(2.5) * 10", 27},
      {"round(0.49999997)", 0},
      {"exp(0)", 1},
      {"log(1)", 0},
      {"sin(0)", 0},
      {"cos(0)", 1},
      {"tan(0)", 0},
      {"atan2(0, -1)", 3.141592653589793},
      {"pi", 3.141592653589793},
      {"clamp(z, -1, 1)", -1},
      {"clamp(y, -1, 1) + clamp(0.5, -1, 1)", 1.5},
      {"1e2 + .5 + 1.", 101.5},
      {"x / 0", inf},
      // MATLAB's spellings
      {"x .* y ./ x .^ x", 1.5},
      {"2.*x", 4},
      {"~x | x ~= 2", 0},
      {"x & y", 1},
  };
  for (const auto& row : table) {
    EXPECT_EQ(value_of<double>(row.text, 2, 3, -5), row.value) << row.text;
    EXPECT_EQ(value_of<float>(row.text, 2, 3, -5), static_cast<float>(row.value)) << row.text;
  }
}

TEST(Expression, NanRules) {
  const struct {
    const char* text;
    double value;
  } table[] = {
      {"min(x, 1)", 1},
      {"min(1, x)", nan},
      {"max(x, 1)", 1},
      {"max(1, x)", nan},
      {"clamp(x, 0, 1)", nan},
      {"x == x", 0},
      {"x != x", 1},
      {"x < 1", 0},
      {"!x", 0},
      {"x ? 1 : 2", 1},
      {"x && 1", 1},
      {"round(x)", nan},
  };
  for (const auto& row : table) {
    const double value = value_of<double>(row.text, nan, 0, 0);
    EXPECT_TRUE(value == row.value || (std::isnan(value) && std::isnan(row.value)))
        << row.text << " gave " << value;
  }
}

TEST(Expression, PrintsOneTextForOneTree) {
  const struct {
    const char* text;
    const char* printed;
  } table[] = {
      {"x+y*z", "x + y * z"},
      {"((x)+(y))*z", "(x + y) * z"},
      {"x-(y-z)", "x - (y - z)"},
      {"(x-y)-z", "x - y - z"},
      {"x-(y*z)", "x - y * z"},
      {"(x^y)^z", "(x ^ y) ^ z"},
      {"x.^(y.^z)", "x ^ y ^ z"},
      {"(-x)^-y", "(-x) ^ -y"},
      {"pow(x+1,2)", "(x + 1) ^ 2"},
      {"-(-x)", "--x"},
      {"~(x&y|z)", "!(x && y || z)"},
      {"x&&(y||z)", "x && (y || z)"},
      {"(x<y)==(y<z)", "x < y == y < z"},
      {"x<(y==z)", "x < (y == z)"},
      {"x?y:(z?1:2)", "x ? y : z ? 1 : 2"},
      {"(x?y:z)?1:2", "(x ? y : z) ? 1 : 2"},
      {"1+(x?y:z)", "1 + (x ? y : z)"},
      {"min(min(x,y),z)", "min(x, y, z)"},
      {"min(x,min(y,z))", "min(x, min(y, z))"},
      {"clamp(x,0.10,1e3)", "clamp(x, 0.1, 1000)"},
      {"at( -1 ,+2)*2", "at(-1, 2) * 2"},
      {"pi", "3.141592653589793"},
  };
  for (const auto& row : table) {
    const Expression expression = parsed(row.text);
    EXPECT_EQ(print_expression(expression), row.printed);
    EXPECT_EQ(parsed(row.printed), expression) << row.text;
  }
}

TEST(Expression, BodyIsCInTheVocabulary) {
  const std::vector<std::string> c_names = {"in0", "in1", "in2"};
  const struct {
    const char* text;
    const char* body;
  } table[] = {
      {"2*x", "(real(2.0) * in0)"},
      {"x^2+at(1,-1)", "(pow(in0, real(2.0)) + at(1, -1))"},
      {"-round(y/z)", "(-round_away((in1 / in2)))"},
      {"(x<y)/2", "(((in0 < in1) ? real(1.0) : real(0.0)) / real(2.0))"},
      {"x<y&&!z?1e22:.5", "(((in0 < in1) && (!(in2 != real(0.0)))) ? real(1e+22) : real(0.5))"},
      {"min(x,y,z)", "min(min(in0, in1), in2)"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(expression_body(parsed(row.text).with_variables({"x", "y", "z"}), c_names), row.body);
  }
}

TEST(Expression, ListsWhatItReads) {
  const Expression e = parsed("y + at(3,-1) * x - y / at(-2,0) + at(3,-1)");
  EXPECT_EQ(e.variables(), (std::vector<std::string>{"y", "x"}));
  EXPECT_EQ(e.taps(), (std::vector<Tap>{{3, -1}, {-2, 0}}));
  EXPECT_EQ(e.reach_x(), 3);
  EXPECT_EQ(e.reach_y(), 1);
  EXPECT_TRUE(e.uses("x"));
  EXPECT_FALSE(e.uses("z"));
  const Expression other = parse_expression("a - x", {.known = {"x"}, .others = true});
  EXPECT_EQ(other.variables(), (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(print_expression(other.with_variables({"x", "white", "a"})), "a - x");
}

TEST(RowEvaluator, LongRowsAtEveryLevelGiveTheSame) {
  constexpr int n = 1003;  // several chunks and a rest
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i) * 0.37f - 100;
    y[i] = static_cast<float>((i * 7919) % 251);
  }
  const Expression e = parse_expression(
      "x > y ? clamp(x * 0.5 + y, 10, 200) : round(y / 3) - abs(x) * (x + y) + min(x, 2, y)",
      names);
  const CpuLevel best = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                            ? CpuLevel::v3
                            : CpuLevel::baseline;
  for (const CpuLevel level : {CpuLevel::baseline, best}) {
    std::vector<float> out(n + 1, -7);
    const float* inputs[] = {x.data(), y.data()};
    RowEvaluator<float> evaluator(e, level);
    for (int repeat = 0; repeat < 2; ++repeat) evaluator.run(out.data(), inputs, n);
    for (int i = 0; i < n; ++i) {
      const float a = x[i], b = y[i];
      const float t = a * 0.5f + b;
      const float least = std::min(std::min(a, 2.f), b);
      const float products = std::abs(a) * (a + b);
      const float expected =
          a > b ? std::clamp(t, 10.f, 200.f) : std::round(b / 3) - products + least;
      ASSERT_EQ(out[i], expected) << i;
    }
    EXPECT_EQ(out[n], -7);
  }
}

// Small angles take another loop: in chunks of 256 values that have no others, and NaN is no angle.
template <class real>
void expect_functions_of_all_angles() {
  constexpr int n = 1003;
  std::vector<real> x(n), y(n), out(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<real>(i) * real(0.37) - 100;
  x[300] = std::numeric_limits<real>::infinity();
  x[301] = std::numeric_limits<real>::quiet_NaN();
  x[600] = real(3e9);
  x[601] = real(-65536);
  x[602] = real(1048576);
  const struct {
    const char* text;
    real (*of)(real);
  } all[] = {{"sin(x)", bodies::sin}, {"cos(x)", bodies::cos}, {"tan(x)", bodies::tan}};
  for (const auto& [text, of] : all) {
    const real* inputs[] = {x.data(), y.data()};
    RowEvaluator<real>(parse_expression(text, names)).run(out.data(), inputs, n);
    for (int i = 0; i < n; ++i) {
      const real expected = of(x[i]);
      ASSERT_TRUE(out[i] == expected || (std::isnan(out[i]) && std::isnan(expected)))
          << text << " of " << x[i];
    }
  }
}
TEST(RowEvaluator, FunctionsOfSmallAndLargeAnglesInFloat) {
  expect_functions_of_all_angles<float>();
}
TEST(RowEvaluator, FunctionsOfSmallAndLargeAnglesInDouble) {
  expect_functions_of_all_angles<double>();
}

}  // namespace
}  // namespace impipe
