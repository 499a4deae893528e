// Sums of bytes in the halves of words: which bodies have them, and what ranges they are given.
#include <gtest/gtest.h>

#include "backends/jit/plan/packed_arithmetic.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

const PackedLeaf bytes = [](const BodyTree& tree) -> std::optional<PackedSum> {
  if (tree.kind != Kind::tap && tree.name != "x" && tree.name != "y") return std::nullopt;
  return PackedSum{tree.kind == Kind::tap ? "t" : tree.name, 255, 0};
};
const UniformText uniform = [](const BodyTree& tree) -> std::string {
  return tree.kind == Kind::equal ? "one" : "";
};
const LeafRange range = [](const BodyTree& tree) -> std::optional<Range> {
  return tree.name == "scale" ? std::nullopt : std::optional(Range{-1020, 1020, true});
};

BodyTree value(const std::string& text) {
  const auto body = parsed_body("{ return " + text + "; }");
  EXPECT_TRUE(body.has_value()) << text;
  return body ? body->result : BodyTree{};
}

TEST(BodyTrees, AreOfSumsProductsAndComparisons) {
  const auto body = parsed_body(
      "{ const real a = at(-1, 2) + real(2) * at(0, 0); return a > x || k == real(1) ? real(1) : "
      "real(0); }");
  ASSERT_TRUE(body.has_value());
  ASSERT_EQ(body->locals.size(), 1u);
  EXPECT_EQ(body->locals[0].first, "a");
  EXPECT_EQ(float_text(body->locals[0].second, range), "fma(real(2), at(0, 0), at(-1, 2))");
  EXPECT_EQ(float_text(body->result, range), "(((a > x) || (k == real(1))) ? real(1) : real(0))");
  for (const char* text :
       {"{ return x / y; }", "{ return -x; }", "{ return clamp(x, y, z); }", "{ return x >= y; }",
        "{ const bool b = x > y; return b; }", "{ return x; } }", "{ return x }", "", "{ x; }"}) {
    EXPECT_FALSE(parsed_body(text).has_value()) << text;
  }
}

TEST(PackedSum, HoldSumsThatFit) {
  const auto sum = packed_sum(value("(at(0, 0) + real(2) * x) - y"), bytes);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->text, "((t + (2u * x)) + 16711935u - y)");  // 255 in both halves
  EXPECT_EQ(sum->high, 1020);
  EXPECT_EQ(sum->bias, 255);
  EXPECT_TRUE(packed_sum(value("real(256) * x + x"), bytes).has_value());
  EXPECT_FALSE(packed_sum(value("real(256) * x + real(2) * x"), bytes).has_value());
  EXPECT_FALSE(packed_sum(value("real(0.5) * x"), bytes).has_value());
  EXPECT_FALSE(packed_sum(value("real(0) * x"), bytes).has_value());
  EXPECT_FALSE(packed_sum(value("x * y"), bytes).has_value());
  EXPECT_FALSE(packed_sum(value("x + k"), bytes).has_value());
}

TEST(PackedSum, AreSaturatedAndCompared) {
  EXPECT_EQ(saturated_packed({"s", 255, 0}), "s");
  EXPECT_EQ(saturated_packed({"s", 510, 255}), "(packed_max(s, 16711935u) - 16711935u)");
  EXPECT_EQ(saturated_packed({"s", 510, 0}), "packed_min(s, 16711935u)");
  EXPECT_EQ(packed_condition(value("x > y || k == real(1)"), bytes, uniform),
            "(((((x + 16711935u - y) + 0u) >> 8) & 0x10001u) | (one ? 0x10001u : 0u))");
  EXPECT_FALSE(packed_condition(value("x > k"), bytes, uniform).has_value());
}

TEST(Ranges, SayWhichRootsAreOfWholeNumbers) {
  EXPECT_EQ(float_text(value("sqrt(a * a + b * b)"), range), "regular_root(fma(b, b, (a * a)))");
  EXPECT_EQ(float_text(value("sqrt(a * b)"), range), "sqrt((a * b))");  // may be below 0
  EXPECT_EQ(float_text(value("sqrt(a * a * scale)"), range), "sqrt(((a * a) * scale))");
  EXPECT_EQ(float_text(value("sqrt(real(17) * (a * a))"), range), "sqrt((real(17) * (a * a)))");
  EXPECT_EQ(float_text(value("sqrt(real(16) * (a * a))"), range),
            "regular_root((real(16) * (a * a)))");
}

}  // namespace
}  // namespace impipe::jit
