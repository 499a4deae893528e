// Elements with heights, ranks with offsets, and elements of two and more cells, against the
// definitions computed naively in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/pipeline_runner.hpp"
#include "support/test_image.hpp"

namespace impipe {
namespace {

using reference::Image;
using test::run;

// Row major, as large as the mask.
struct Heights {
  int rows, columns;
  std::vector<int> cells;
  std::vector<double> values;
};

const Heights hill{3,
                   4,
                   {1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0},
                   {0, 2.5, 99, -7, 30, 60.5, 30, 1, 99, -300, 12.25, 99}};

std::string text_of(const Heights& h, bool cells) {
  std::string text = "[";
  for (std::size_t i = 0; i < h.values.size(); ++i) {
    if (i > 0) text += i % static_cast<std::size_t>(h.columns) == 0 ? "; " : " ";
    text += std::to_string(cells ? h.cells[i] : h.values[i]);
  }
  return text + "]";
}

// Rounded half away from zero and saturated.
double stored(PixelClass cls, double v) {
  if (cls == PixelClass::single) return static_cast<float>(v);
  const double most = class_max(cls);
  return std::clamp(std::round(std::clamp(v, -1.0, most + 1)), 0.0, most);
}

// max over { A(r - (i - o), c - (j - o)) + h } or min over { A(r + i - o, c + j - o) - h }.
Image moved(const Image& in, const Heights& h, bool largest) {
  Image out = in;
  const double infinity = std::numeric_limits<double>::infinity();
  for (int r = 0; r < in.rows; ++r) {
    for (int c = 0; c < in.columns; ++c) {
      for (int k = 0; k < in.channels; ++k) {
        double best = largest ? -infinity : infinity;
        for (int i = 0; i < h.rows; ++i) {
          for (int j = 0; j < h.columns; ++j) {
            const std::size_t cell = static_cast<std::size_t>(i * h.columns + j);
            const int dr = i - (h.rows - 1) / 2, dc = j - (h.columns - 1) / 2;
            const int y = largest ? r - dr : r + dr, x = largest ? c - dc : c + dc;
            if (h.cells[cell] == 0 || y < 0 || y >= in.rows || x < 0 || x >= in.columns) continue;
            const double v = in.at(y, x, k) + (largest ? h.values[cell] : -h.values[cell]);
            if (largest ? v > best : v < best) best = v;
          }
        }
        out.at(r, c, k) = stored(in.cls, best);
      }
    }
  }
  return out;
}

Image minus(const Image& a, const Image& b) {
  Image out = a;
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] = stored(a.cls, a.values[i] - b.values[i]);
  }
  return out;
}

constexpr PixelClass with_heights[] = {PixelClass::uint8, PixelClass::uint16, PixelClass::single};
const Size sizes[] = {{1, 1}, {2, 9}, {37, 5}, {70, 33}};

TEST(Heights, AreAddedByDilationAndTakenAwayByErosion) {
  const std::string element = " " + text_of(hill, true) + " heights=" + text_of(hill, false);
  std::uint64_t seed = 1;
  for (const PixelClass cls : with_heights) {
    for (const Size size : sizes) {
      const HostImage image = test::test_image(cls, size.width % 2 == 0 ? 3 : 1, size, ++seed);
      const Image a = reference::from_host(image);
      const Image dilated = moved(a, hill, true), eroded = moved(a, hill, false);
      const Image opened = moved(eroded, hill, true), closed = moved(dilated, hill, false);
      const std::pair<const char*, Image> expected[] = {{"imdilate", dilated},
                                                        {"imerode", eroded},
                                                        {"imopen", opened},
                                                        {"imclose", closed},
                                                        {"imtophat", minus(a, opened)},
                                                        {"imbothat", minus(closed, a)},
                                                        {"imgradmorph", minus(dilated, eroded)}};
      for (const auto& [name, result] : expected) {
        EXPECT_EQ(test::difference(result, run(name + element, image).image), "")
            << name << " on " << test::describe(image);
      }
    }
  }
}

TEST(Heights, OfZeroAreAFlatElement) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {40, 30}, 9);
  EXPECT_EQ(test::difference(run("imdilate disk,1", image).image,
                             run("imdilate disk,1 [0 0 0; 0 0 0; 0 0 0]", image).image),
            "");
}

TEST(Heights, LeaveOutNaN) {
  const HostImage image = test::test_image_with_specials(1, {31, 17}, 4);
  const HostImage got = run("imdilate square,3 [1 1 1; 1 2 1; 1 1 1]", image).image;
  const Image expected = moved(reference::from_host(image),
                               {3, 3, std::vector<int>(9, 1), {1, 1, 1, 1, 2, 1, 1, 1, 1}}, true);
  EXPECT_EQ(test::difference(expected, got), "");
}

TEST(Heights, MustFitTheElementAndTheImage) {
  const HostImage image = test::test_image(PixelClass::uint8, 1, {5, 5}, 2);
  EXPECT_NE(test::error_of("imerode square,3 heights=[1 2 3]", image)
                .find("imerode: it is 1x3, the element 3x3"),
            std::string::npos);
  EXPECT_NE(test::error_of("ordfilt2 1 square,2 offsets=[1 2 3]", image)
                .find("ordfilt2: it is 1x3, the element 2x2"),
            std::string::npos);
  const HostImage mask = test::test_image(PixelClass::logical, 1, {5, 5}, 2);
  EXPECT_NE(test::error_of("imerode square,1 heights=[1]", mask)
                .find("imerode: a logical image takes a flat element only"),
            std::string::npos);
}

TEST(Offsets, AreAddedBeforeTheOrderIsFound) {
  std::uint64_t seed = 50;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Size size : sizes) {
      for (const int nth : {1, 4, 9}) {
        const HostImage image = test::test_image(cls, 1, size, ++seed);
        const Image a = reference::from_host(image);
        Image expected = a;
        for (int r = 0; r < a.rows; ++r) {
          for (int c = 0; c < a.columns; ++c) {
            std::vector<double> window;
            for (int i = 0; i < hill.rows; ++i) {
              for (int j = 0; j < hill.columns; ++j) {
                const std::size_t cell = static_cast<std::size_t>(i * hill.columns + j);
                if (hill.cells[cell] == 0) continue;
                const int y = r + i - 1, x = c + j - 1;  // zeros outside take part
                const bool inside = y >= 0 && y < a.rows && x >= 0 && x < a.columns;
                window.push_back(stored(cls, (inside ? a.at(y, x, 0) : 0) + hill.values[cell]));
              }
            }
            std::sort(window.begin(), window.end());
            expected.at(r, c, 0) = window[static_cast<std::size_t>(nth - 1)];
          }
        }
        const std::string text = "ordfilt2 " + std::to_string(nth) + " " + text_of(hill, true) +
                                 " offsets=" + text_of(hill, false);
        EXPECT_EQ(test::difference(expected, run(text, image).image), "")
            << text << " on " << test::describe(image);
      }
    }
  }
}

// As strel("pair", [2 -1]) and strel("periodicline", 2, [1 -2]) place their cells.
TEST(Elements, OfPairsAndPeriodicLines) {
  Image dot(PixelClass::uint8, 255, 9, 13, 1);
  dot.at(4, 6, 0) = 200;
  const auto lit = [&](const char* element) {
    const Image got = reference::from_host(
        run(std::string("imdilate ") + element, reference::to_host(dot)).image);
    std::vector<std::pair<int, int>> places;
    for (int r = 0; r < got.rows; ++r) {
      for (int c = 0; c < got.columns; ++c) {
        if (got.at(r, c, 0) == 200) places.emplace_back(r - 4, c - 6);
      }
    }
    return places;
  };
  using Places = std::vector<std::pair<int, int>>;
  EXPECT_EQ(lit("pair,2,-1"), (Places{{0, 0}, {2, -1}}));
  EXPECT_EQ(lit("pair,-3,4"), (Places{{-3, 4}, {0, 0}}));
  EXPECT_EQ(lit("pair,0,0"), (Places{{0, 0}}));
  EXPECT_EQ(lit("periodicline,2,1,-2"), (Places{{-2, 4}, {-1, 2}, {0, 0}, {1, -2}, {2, -4}}));
  EXPECT_EQ(lit("periodicline,0,3,3"), (Places{{0, 0}}));
}

}  // namespace
}  // namespace impipe
