// Rows of interleaved pixels to a row for each channel, and back.
#include "core/interleave.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace impipe {
namespace {

constexpr std::byte guard{0xA5};

// Value c of pixel i is made of both, and of all its bytes.
std::byte byte_of(std::int64_t i, int c, int b) {
  return static_cast<std::byte>((i * 31 + c * 7 + b * 3 + 1) & 127);
}

struct Rows {
  Rows(int channels, int bytes, std::int64_t n)
      : together(static_cast<std::size_t>(channels * bytes * n + 1), guard) {
    for (int c = 0; c < channels; ++c) {
      apart.emplace_back(static_cast<std::size_t>(bytes * n + 1), guard);
    }
  }
  std::vector<std::byte> together;
  std::vector<std::vector<std::byte>> apart;
};

Rows filled(int channels, int bytes, std::int64_t n) {
  Rows rows(channels, bytes, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int c = 0; c < channels; ++c) {
      for (int b = 0; b < bytes; ++b) {
        rows.apart[c][i * bytes + b] = byte_of(i, c, b);
        rows.together[(i * channels + c) * bytes + b] = byte_of(i, c, b);
      }
    }
  }
  return rows;
}

TEST(Interleave, RowsGoApartAndTogether) {
  for (const int channels : {1, 2, 3, 4, 5, 7}) {
    for (const int bytes : {1, 2, 4}) {
      for (std::int64_t n = 0; n < 140; ++n) {
        const Rows expected = filled(channels, bytes, n);
        Rows got(channels, bytes, n);
        std::vector<std::byte*> to;
        std::vector<const std::byte*> from;
        for (int c = 0; c < channels; ++c) {
          to.push_back(got.apart[c].data());
          from.push_back(expected.apart[c].data());
        }
        split_row(to.data(), expected.together.data(), channels, bytes, n);
        join_row(got.together.data(), from.data(), channels, bytes, n);
        ASSERT_EQ(got.apart, expected.apart) << channels << " channels of " << bytes << ", " << n;
        ASSERT_EQ(got.together, expected.together)
            << channels << " channels of " << bytes << ", " << n;
      }
    }
  }
}

}  // namespace
}  // namespace impipe
