// A short run of scripts/campaign/texts.py: texts of the catalogue's names, up to their plans.
#include <gtest/gtest.h>

#include "support/catalogue_text.hpp"
#include "support/language_laws.hpp"
#include "support/plan_laws.hpp"

namespace impipe::test {
namespace {

TEST(CatalogueTexts, KeepTheLawsUpToTheirPlans) {
  constexpr int count = 3000;
  CatalogueText random(1);
  int bound = 0, planned = 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = random.any();
    ASSERT_EQ(judge_pipeline(text).broken_law, "") << "text " << i << ":\n" << text;
    const PlanVerdict verdict = judge_plan(text);
    ASSERT_EQ(verdict.broken_law, "") << "text " << i << ":\n" << text;
    bound += verdict.bound;
    planned += verdict.planned > 0;
  }
  // A generator that makes only errors, or none, tests nothing.
  EXPECT_GT(planned, count / 20);
  EXPECT_GT(bound, planned);
  EXPECT_LT(bound, count * 4 / 5);
}

}  // namespace
}  // namespace impipe::test
