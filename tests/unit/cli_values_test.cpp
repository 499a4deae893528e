// Values of flags, and the errors of wrong ones.
#include "cli/values.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace impipe::cli {
namespace {

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Amounts, HaveUnits) {
  EXPECT_EQ(parse_amount("--memory", "512M", 1024), 536870912);
  EXPECT_EQ(parse_amount("--memory", "1.5g", 1024), 1610612736);
  EXPECT_EQ(parse_amount("--max-pixels", "2k", 1000), 2000);
  EXPECT_EQ(parse_amount("--max-pixels", "77", 1000), 77);
  for (const char* text : {"", "M", "-1", "0", "1X", "1MB", "1e30", "nan"}) {
    EXPECT_EQ(message([&] { parse_amount("--memory", text, 1024); }),
              std::string("--memory: '") + text + "' is not an amount such as 512M or 2G");
  }
}

TEST(Shards, AreCountedFromOne) {
  EXPECT_EQ(parse_shard("2/8").index, 2);
  EXPECT_EQ(parse_shard("2/8").count, 8);
  for (const char* text : {"0/3", "4/3", "1", "1/", "/3", "a/b", "1/3x"}) {
    EXPECT_EQ(message([&] { parse_shard(text); }),
              std::string("--shard: '") + text + "' is not I/N with I from 1 to N, such as 2/8");
  }
}

TEST(Choices, SuggestTheNearest) {
  EXPECT_EQ(parse_choice("--progress", "json", {"auto", "json"}), 1);
  EXPECT_EQ(message([] {
              parse_choice("--progress", "jsno", {"auto", "json"});
            }),
            "--progress: 'jsno' is none of auto, json; did you mean 'json'?");
  EXPECT_EQ(parse_class("-d", "uint16"), PixelClass::uint16);
  EXPECT_EQ(message([] { parse_class("-d", "half"); }),
            "-d: 'half' is none of logical, uint8, uint16, single");
}

TEST(Threads, ZeroIsAllCores) {
  EXPECT_GE(parse_threads(0), 1);
  EXPECT_EQ(parse_threads(3), 3);
  EXPECT_EQ(message([] { parse_threads(-1); }),
            "-j: -1 is not a number of threads from 0 (all cores) to 1024");
}

}  // namespace
}  // namespace impipe::cli
