// Rows of numbers and of codes, and rows of runs: each instruction set makes what the baseline
// does, whatever the length of a row.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "backends/cpu/tile/rows.hpp"
#include "backends/cpu/tile/run_values.hpp"
#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

constexpr std::int64_t longest = 300;
constexpr std::byte untouched{0xa5};

// Numbers at and beside halves, beyond every class, and none.
template <class real>
std::vector<real> numbers() {
  const real infinity = std::numeric_limits<real>::infinity();
  std::vector<real> values = {0,
                              -real(0),
                              real(0.5),
                              -1,
                              255,
                              256,
                              65535,
                              65536,
                              real(3e9),
                              real(-3e9),
                              infinity,
                              -infinity,
                              std::numeric_limits<real>::quiet_NaN()};
  for (const real half : {real(0.5), real(1.5), real(254.5), real(255.5), real(65534.5)}) {
    values.push_back(std::nextafter(half, real(0)));
    values.push_back(half);
    values.push_back(std::nextafter(half, infinity));
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<real> any(-10, 70000);
  while (values.size() < longest) values.push_back(any(random));
  return values;
}

template <class real>
void check_stores(PixelClass cls) {
  const std::vector<real> values = numbers<real>();
  const std::size_t room = longest * 4 + 8;
  for (std::int64_t n = 1; n < longest; ++n) {
    std::vector<std::byte> expected(room, untouched);
    const real* from = values.data() + (longest - n) % 11;
    const std::int64_t count = std::min<std::int64_t>(n, longest - 11);
    cpu::store_row(expected.data(), from, cls, count, CpuLevel::baseline);
    for (const CpuLevel level : usable_levels()) {
      std::vector<std::byte> codes(room, untouched);
      cpu::store_row(codes.data(), from, cls, count, level);
      ASSERT_EQ(codes, expected) << name_of(cls) << ", " << count << " numbers of " << sizeof(real)
                                 << " bytes, level " << static_cast<int>(level);
    }
  }
}

template <class real>
void check_loads(PixelClass cls) {
  std::vector<std::byte> codes(longest * 4);
  std::mt19937 random(9);
  for (std::byte& code : codes) code = static_cast<std::byte>(random());
  for (std::int64_t n = 1; n < longest; ++n) {
    std::vector<real> expected(longest + 1, real(-5));
    cpu::load_row(expected.data(), codes.data(), cls, n, CpuLevel::baseline);
    for (const CpuLevel level : usable_levels()) {
      std::vector<real> numbers(longest + 1, real(-5));
      cpu::load_row(numbers.data(), codes.data(), cls, n, level);
      ASSERT_EQ(numbers, expected) << name_of(cls) << ", " << n << " numbers of " << sizeof(real)
                                   << " bytes, level " << static_cast<int>(level);
    }
  }
}

TEST(CpuRows, StoreTheCodesOfTheBaseline) {
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
    check_stores<float>(cls);
    check_stores<double>(cls);
  }
}

TEST(CpuRows, LoadTheNumbersOfTheBaseline) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    check_loads<float>(cls);
    check_loads<double>(cls);
  }
}

TEST(CpuRows, RunsHaveTheirValues) {
  std::mt19937 random(11);
  std::vector<float> values(longest + 1 + cpu::run_values_padding);
  for (float& value : values) value = static_cast<float>(random() % 1000 + 1);
  for (std::int64_t n = 1; n < longest; ++n) {
    // Long runs, short ones, and every other pixel.
    const unsigned rare = n % 3 == 0 ? 9 : 2;
    std::vector<std::uint64_t> bits((longest + 63) / 64, 0);
    bool set = false;
    for (std::int64_t x = 0; x < n; ++x) {
      if (n % 5 == 0 || random() % rare == 0) set = !set;
      bits[x / 64] |= std::uint64_t{set} << x % 64;
    }
    std::vector<float> expected(n);
    std::vector<std::int32_t> begins, ends;
    int runs = 0;
    for (std::int64_t x = 0; x < n; ++x) {
      const bool here = (bits[x / 64] >> x % 64 & 1) != 0;
      const bool before = x > 0 && (bits[(x - 1) / 64] >> (x - 1) % 64 & 1) != 0;
      if (here && !before) begins.push_back(static_cast<std::int32_t>(x)), ++runs;
      if (before && !here) ends.push_back(static_cast<std::int32_t>(x));
      expected[x] = here ? values[runs] : 0;
    }
    if (begins.size() > ends.size()) ends.push_back(static_cast<std::int32_t>(n));
    for (const CpuLevel level : usable_levels()) {
      std::vector<float> out(n + 1, -1);
      cpu::write_run_values(bits.data(), values.data(), n, out.data(), level);
      ASSERT_EQ(out.back(), -1);
      out.pop_back();
      ASSERT_EQ(out, expected) << n << " pixels, level " << static_cast<int>(level);
      std::vector<std::int32_t> from(longest), to(longest);
      const auto count = cpu::find_runs(bits.data(), n, from.data(), to.data());
      from.resize(count);
      to.resize(count);
      ASSERT_EQ(from, begins) << n << " pixels, level " << static_cast<int>(level);
      ASSERT_EQ(to, ends) << n << " pixels, level " << static_cast<int>(level);
    }
  }
}

}  // namespace
}  // namespace impipe::testing
