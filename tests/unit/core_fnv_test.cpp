// FNV-1a, against the test vectors that its authors publish.
#include "core/fnv.hpp"

#include <gtest/gtest.h>

namespace impipe {
namespace {

TEST(Fnv1a, HasThePublishedValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
}

TEST(Fnv1a, OfPartsIsThatOfTheWhole) {
  Fnv1a parts;
  parts.add("foo");
  parts.add("bar");
  EXPECT_EQ(parts.value(), fnv1a("foobar"));
  Fnv1a number;
  number.add_number('f' | 'o' << 8 | std::uint64_t{'b'} << 56);
  EXPECT_EQ(number.value(), fnv1a(std::string_view("fo\0\0\0\0\0b", 8)));
}

}  // namespace
}  // namespace impipe
