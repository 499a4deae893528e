// Random texts: never a crash, and what parses prints to text that parses to the same.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/language_laws.hpp"
#include "support/random_text.hpp"

namespace impipe::test {
namespace {

// scripts/random_pipelines.sh asks for more than the tests do.
std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* value = std::getenv(name);
  return value == nullptr ? fallback : std::strtoull(value, nullptr, 10);
}

TEST(RandomPipelines, KeepTheLaws) {
  const std::uint64_t count = from_environment("IMPIPE_RANDOM_TEXTS", 10'000);
  const std::uint64_t seed = from_environment("IMPIPE_RANDOM_SEED", 1);
  RandomText random(seed);
  std::uint64_t parsed = 0, expressions = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string text = random.any();
    const LanguageVerdict verdict = judge_pipeline(text);
    parsed += verdict.parsed;
    expressions += static_cast<std::uint64_t>(verdict.expressions);
    ASSERT_EQ(verdict.broken_law, "") << "seed " << seed << ", text " << i << ":\n" << text;
  }
  // A generator that makes only errors, or none, tests nothing.
  EXPECT_GT(parsed, count / 5);
  EXPECT_LT(parsed, count * 4 / 5);
  EXPECT_GT(expressions, count / 50);
  std::printf("%llu texts: %llu pipelines, %llu expressions in them, seed %llu\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(parsed),
              static_cast<unsigned long long>(expressions), static_cast<unsigned long long>(seed));
}

TEST(RandomPipelines, ValidOnesAreAccepted) {
  RandomText random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random.valid_pipeline();
    EXPECT_TRUE(judge_pipeline(text).parsed) << text;
  }
}

}  // namespace
}  // namespace impipe::test
