// Requests to the server as bytes: what is sent arrives, and nothing else is taken.
#include <gtest/gtest.h>

#include <random>

#include "cli/serve/process.hpp"
#include "cli/serve/request.hpp"
#include "core/error.hpp"

namespace impipe::cli::serve {
namespace {

Request example() {
  return {.process = {"build=1", ""},
          .variables = {"IMPIPE_QUALITY=90"},
          .arguments = {"imgaussfilt 2", "a b\n\xff.png", "", "-o", "out/"},
          .umask = 0027};
}

TEST(ServeRequest, ArrivesAsItWasSent) {
  EXPECT_EQ(parse_request(to_bytes(example())), example());
  EXPECT_EQ(parse_request(to_bytes({})), Request());
}

TEST(ServeRequest, HasTheFormThatIsDocumented) {
  EXPECT_EQ(to_bytes({.process = {"p"}, .variables = {}, .arguments = {"a", ""}, .umask = 18}),
            std::string("18\0"
                        "1\0p\0"
                        "0\0"
                        "2\0a\0\0",
                        14));
}

TEST(ServeRequest, IsRefusedWhereAnyOfItIsMissingOrMore) {
  const std::string bytes = to_bytes(example());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_request(bytes.substr(0, size)), Error) << size;
  }
  EXPECT_THROW(parse_request(bytes + "x"), Error);
  EXPECT_THROW(parse_request(bytes + std::string(1, '\0')), Error);
}

TEST(ServeRequest, RefusesNumbersThatAreNone) {
  for (const char* mask : {"", "-1", "+1", "01", " 1", "1 ", "512", "99999999999999999999", "x"}) {
    const std::string end(
        "\0"
        "0\0"
        "0\0"
        "0\0",
        7);
    EXPECT_THROW(parse_request(mask + end), Error) << mask;
    EXPECT_NO_THROW(parse_request("511" + end));
  }
}

TEST(ServeRequest, OfAnyBytesIsReadOrRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = to_bytes(example());
    for (auto changes = random() % 4 + 1; changes > 0; --changes) {
      bytes[random() % bytes.size()] =
          static_cast<char>(random() % 3 ? random() : '0' + random() % 10);
    }
    try {
      const Request read = parse_request(bytes);
      EXPECT_EQ(to_bytes(read), bytes);
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "the request is damaged");
    }
  }
}

TEST(ServeProcess, NamesWhatDiffers) {
  const std::vector<std::string> own = {"A=1", "C=2"};
  EXPECT_EQ(difference(own, own), "");
  EXPECT_EQ(difference(own, {"A=2", "C=2"}), "the server has another A");
  EXPECT_EQ(difference(own, {"A=1"}), "the server has another C");
  EXPECT_EQ(difference(own, {"A=1", "B=1", "C=2"}), "the server has another B");
  EXPECT_EQ(difference({}, own), "the server has another A");
}

TEST(ServeProcess, KnowsWhichVariablesAreReadOnce) {
  EXPECT_FALSE(is_read_once("IMPIPE_QUALITY=90"));
  EXPECT_FALSE(is_read_once("IMPIPE_SERVE=1"));
  EXPECT_FALSE(is_read_once("OCIO=/c.ocio"));
  EXPECT_TRUE(is_read_once("IMPIPE_CACHE_DIR=/c"));
  EXPECT_TRUE(is_read_once("HOME=/h"));
}

}  // namespace
}  // namespace impipe::cli::serve
