// Bodies as trees: all of the catalogue's can be read and printed, and what backends ask about
// them.
#include "core/body_tree.hpp"

#include <gtest/gtest.h>

#include <map>

#include "pipeline/binder.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/random_pipeline.hpp"

namespace impipe::bodies {
extern const PointBody rgb2gray, imadjust, imadjust_linear, imcomplement, imdivide, imlincomb_3,
    mat2gray;
}  // namespace impipe::bodies

namespace impipe {
namespace {

const PartText as_it_is = [](const BodyTree&) { return ""; };

// The bodies of random pipelines' points.
std::map<std::string, const PointBody*> bodies_of_pipelines() {
  std::map<std::string, const PointBody*> found;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const test::RandomRun run = test::random_run(seed);
    try {
      const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(run.text));
      std::map<std::string, ImageType> types;
      for (const std::string& name : pipeline.operands) types[name] = run.operands.at(name).type;
      for (const Step& step : pipeline::lower(pipeline, run.image.type, types).steps) {
        const auto* point = std::get_if<Point>(&step.kernel.nodes[0].primitive);
        if (point != nullptr && point->body != nullptr) found[point->body->name] = point->body;
      }
    } catch (const Error&) {
    }
  }
  return found;
}

// A tree has constants and a result; noise is made in loops, hues by statements.
TEST(BodyTree, EveryPointBodyOfConstantsIsReadAndPrinted) {
  auto bodies = bodies_of_pipelines();
  std::erase_if(bodies, [](const auto& named) {
    const std::string_view text = named.second->text;
    return text.find("for (") != text.npos || text.find("if (") != text.npos;
  });
  EXPECT_GE(bodies.size(), 25u);
  for (const auto& [name, body] : bodies) {
    const auto trees = whole_body(body->text);
    ASSERT_TRUE(trees.has_value()) << name;
    // What is printed reads as the same tree, for it prints the same.
    const std::string text = body_text(*trees, as_it_is);
    const auto again = whole_body(text);
    ASSERT_TRUE(again.has_value()) << text;
    EXPECT_EQ(body_text(*again, as_it_is), text) << name;
  }
}

TEST(BodyTree, IsPrintedWithTheBracketsThatItNeeds) {
  for (const char* text :
       {"{ return (a - b) - c; }", "{ return a - (b - c); }", "{ return a / (b * c) + -d; }",
        "{ return (a + b) * max(c, real(-0.5)); }", "{ return a > b ? c : d != e ? f : g; }",
        "{ return (a > b) == (c > d) ? a : b; }", "{ return (a || b) && c; }",
        "{ const real v = at(-1, 2); return sqrt(v * v); }", "{ return (a != b) & (c | d); }"}) {
    const auto trees = whole_body(text);
    ASSERT_TRUE(trees.has_value()) << text;
    const std::string printed = body_text(*trees, as_it_is);
    // Brackets on the left of a chain say nothing.
    const bool left = std::string_view(text).find("(a - b) - c") != std::string_view::npos;
    EXPECT_EQ(printed, left ? "{ return a - b - c; }" : text);
  }
  for (const char* text : {"{ return a ? b; }", "{ if (a > b) return a; return b; }", "{ }"}) {
    EXPECT_FALSE(whole_body(text).has_value()) << text;
  }
}

TEST(BodyTree, PartsArePrintedInAnotherWay) {
  const auto trees = whole_body("{ const real v = over(x, w); return over(v + x, w) * w; }");
  ASSERT_TRUE(trees.has_value());
  const PartText quotient = [&](const BodyTree& part) {
    return part.kind == BodyTree::Kind::call ? "(" + tree_text(part.parts[0], quotient) + ")" : "";
  };
  EXPECT_EQ(body_text(*trees, quotient), "{ const real v = (x); return (v + x) * w; }");
}

TEST(BodyTraits, SayWhatABodyDoes) {
  const auto traits = [](const PointBody& body) {
    const BodyTraits t = traits_of(body);
    return std::string(t.powers ? "p" : "") + (t.quotients ? "q" : "") +
           (t.divides_by_uniform ? "u" : "");
  };
  EXPECT_EQ(traits(bodies::imadjust), "pqu");
  EXPECT_EQ(traits(bodies::imadjust_linear), "qu");
  EXPECT_EQ(traits(bodies::rgb2gray), "qu");
  EXPECT_EQ(traits(bodies::imdivide), "q");
  EXPECT_EQ(traits(bodies::mat2gray), "q");
  EXPECT_EQ(traits(bodies::imcomplement), "");
}

TEST(BodyTraits, WeightsOfALinearBody) {
  const std::vector<double> white = {255};
  const auto gray = linear_weights(bodies::rgb2gray, white);
  ASSERT_TRUE(gray.has_value());
  ASSERT_EQ(gray->size(), 4u);
  EXPECT_NEAR((*gray)[0], 0.298936, 1e-15);
  EXPECT_NEAR((*gray)[1], 0.587043, 1e-15);
  EXPECT_NEAR((*gray)[2], 0.114021, 1e-15);
  EXPECT_EQ((*gray)[3], 0);
  EXPECT_EQ(linear_weights(bodies::imcomplement, white), (std::vector<double>{-1, 255}));
  EXPECT_EQ(linear_weights(bodies::imlincomb_3, std::vector<double>{0.5, 2, -1, 7}),
            (std::vector<double>{0.5, 2, -1, 7}));
  EXPECT_EQ(linear_weights(bodies::imdivide, {}), std::nullopt);
  EXPECT_EQ(linear_weights(bodies::mat2gray, std::vector<double>{0, 1}), std::nullopt);
}

}  // namespace
}  // namespace impipe
