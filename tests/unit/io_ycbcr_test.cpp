// Colours of video are those of the formula in whole numbers: of bytes all of them.
#include "io/picture/ycbcr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace impipe::io {
namespace {

using Row = std::vector<std::uint8_t>;

// numerator / divisor rounded half up, and cut to 0 … 255.
int rounded(std::int64_t numerator, std::int64_t divisor) {
  const std::int64_t twice = 2 * numerator + divisor;
  return twice < 0 ? 0 : static_cast<int>(std::min<std::int64_t>(twice / (2 * divisor), 255));
}

// ITU-R BT.601, 709 and 2020 by whole numbers: weights of red, green and blue in Y and their sum;
// spans of Y and of Cb and Cr, and Y of black.
struct Formula {
  std::int64_t red, green, blue, all, luma, chroma, black;
  Formula(YcbcrMatrix matrix, bool full) {
    constexpr std::array<std::array<std::int64_t, 3>, 3> weights{
        {{299, 587, 114}, {2126, 7152, 722}, {2627, 6780, 593}}};
    const auto& w = weights[static_cast<std::size_t>(matrix)];
    red = w[0], green = w[1], blue = w[2], all = red + green + blue;
    luma = full ? 255 : 219, chroma = full ? 255 : 224, black = full ? 0 : 16;
  }
  // Red of Y and Cr, blue of Y and Cb.
  int from_one(std::int64_t weight, int y, int difference) const {
    return rounded(
        255 * ((y - black) * chroma * all + 2 * (all - weight) * luma * (difference - 128)),
        luma * chroma * all);
  }
  int green_of(int y, int cb, int cr) const {
    const std::int64_t chromas =
        2 * luma * (blue * (all - blue) * (cb - 128) + red * (all - red) * (cr - 128));
    return rounded(255 * ((y - black) * chroma * all * green - chromas),
                   luma * chroma * all * green);
  }
};

std::vector<YcbcrCode> codes() {
  std::vector<YcbcrCode> out;
  for (const auto matrix : {YcbcrMatrix::bt601, YcbcrMatrix::bt709, YcbcrMatrix::bt2020}) {
    for (const bool full : {false, true}) out.push_back({matrix, 8, full});
  }
  return out;
}

TEST(Ycbcr, AllBytesBecomeTheColoursOfTheFormula) {
  constexpr int n = 256;
  Row y(n), cb(n), cr(n), red(n), green(n), blue(n);
  for (int i = 0; i < n; ++i) cb[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i);
  for (const YcbcrCode& code : codes()) {
    const Formula formula(code.matrix, code.full_range);
    YcbcrReader<std::uint8_t> reader(code, 1, n);
    std::int64_t wrong = 0;
    for (int v = 0; v < n; ++v) {
      std::fill(cr.begin(), cr.end(), static_cast<std::uint8_t>(v));
      reader.set_chroma(cb.data(), cr.data());
      for (int luma = 0; luma < n; ++luma) {
        std::fill(y.begin(), y.end(), static_cast<std::uint8_t>(luma));
        reader.read(y.data(), red.data(), green.data(), blue.data());
        const int expected_red = formula.from_one(formula.red, luma, v);
        for (int u = 0; u < n; ++u) {
          const auto i = static_cast<std::size_t>(u);
          wrong += red[i] != expected_red;
          wrong += green[i] != formula.green_of(luma, u, v);
          if (v == 0) wrong += blue[i] != formula.from_one(formula.blue, luma, u);
        }
      }
    }
    EXPECT_EQ(wrong, 0) << static_cast<int>(code.matrix) << (code.full_range ? " full" : "");
  }
}

TEST(Ycbcr, ASampleOfCbAndCrIsThatOfAllPixelsOfItsBlock) {
  constexpr int width = 23;
  std::mt19937 random(1);
  const auto row = [&](std::size_t count) {
    Row out(count);
    for (auto& value : out) value = static_cast<std::uint8_t>(random());
    return out;
  };
  for (const YcbcrCode& code : codes()) {
    for (const int across : {1, 2, 4}) {
      const auto samples = static_cast<std::size_t>((width + across - 1) / across);
      const Row y = row(width), cb = row(samples), cr = row(samples);
      Row red(width), green(width), blue(width);
      YcbcrReader<std::uint8_t> reader(code, across, width);
      reader.set_chroma(cb.data(), cr.data());
      reader.read(y.data(), red.data(), green.data(), blue.data());
      const Formula formula(code.matrix, code.full_range);
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t at = x / static_cast<std::size_t>(across);
        ASSERT_EQ(red[x], formula.from_one(formula.red, y[x], cr[at]));
        ASSERT_EQ(green[x], formula.green_of(y[x], cb[at], cr[at]));
        ASSERT_EQ(blue[x], formula.from_one(formula.blue, y[x], cb[at]));
      }
    }
  }
}

// Blocks at the right edge have fewer pixels; where samples of the input stay, each pixel counts
// with its own.
TEST(Ycbcr, CbAndCrAreMeansOfTheirBlocks) {
  constexpr int width = 23, rows = 2;
  std::mt19937 random(2);
  const auto row = [&](std::size_t count, unsigned most) {
    Row out(count);
    for (auto& value : out) value = static_cast<std::uint8_t>(random() % (most + 1));
    return out;
  };
  for (const YcbcrCode& code : codes()) {
    const Formula f(code.matrix, code.full_range);
    for (const int across : {1, 2, 4}) {
      const auto samples = static_cast<std::size_t>((width + across - 1) / across);
      const Row red = row(rows * width, 255), green = row(rows * width, 255);
      const Row blue = row(rows * width, 255), old_y = row(width, 255), old = row(samples, 255);
      Row same = row(samples * static_cast<std::size_t>(across), 1);
      std::fill(same.begin() + width, same.end(), 0);
      for (const bool keeps : {false, true}) {
        YcbcrWriter<std::uint8_t> writer(code, across, width);
        YcbcrWriter<std::uint8_t>::Kept kept;
        if (keeps) kept = {same.data(), old_y.data(), old.data(), old.data()};
        Row y(width), cb(samples), cr(samples);
        for (std::size_t k = 0; k < rows; ++k) {
          const std::size_t at = k * width;
          writer.write(red.data() + at, green.data() + at, blue.data() + at, kept, y.data());
        }
        writer.end_chroma(cb.data(), cr.data());
        for (std::size_t at = 0; at < samples; ++at) {
          const std::int64_t scale = 2 * (f.all - f.blue) * 255;
          std::int64_t sum = 0, pixels = 0;
          const std::size_t first = at * static_cast<std::size_t>(across);
          const std::size_t end =
              std::min<std::size_t>(first + static_cast<std::size_t>(across), width);
          for (std::size_t k = 0; k < rows; ++k) {
            for (std::size_t x = first; x < end; ++x) {
              const std::size_t i = k * width + x;
              const std::int64_t luma = f.red * red[i] + f.green * green[i] + f.blue * blue[i];
              sum += keeps && same[x] != 0 ? (old[at] - 128) * scale
                                           : f.chroma * (f.all * blue[i] - luma);
              ++pixels;
            }
          }
          ASSERT_EQ(cb[at], rounded(sum + 128 * scale * pixels, scale * pixels));
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::io
