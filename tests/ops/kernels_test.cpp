// Kernels, structuring elements and matrix files: their values, and what is said when they are
// wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <numeric>

#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/matrix_file.hpp"
#include "ops/morphology/element.hpp"
#include "support/pipeline_runner.hpp"
#include "support/reference/filter.hpp"
#include "support/test_image.hpp"

namespace impipe::ops {
namespace {

double sum(const Matrix& m) { return std::accumulate(m.values.begin(), m.values.end(), 0.0); }

void expect_near(const Matrix& expected, const Matrix& got, double tolerance) {
  ASSERT_EQ(expected.rows, got.rows);
  ASSERT_EQ(expected.columns, got.columns);
  for (size_t i = 0; i < got.values.size(); ++i) {
    EXPECT_NEAR(expected.values[i], got.values[i], tolerance) << "element " << i;
  }
}

// semantics 3.3 at alpha 0.2, worked out by hand.
TEST(Fspecial, SmallKernels) {
  const double c = 1 / 6.0, s = 2 / 3.0;
  expect_near({3, 3, {c, s, c, s, -10 / 3.0, s, c, s, c}}, laplacian_kernel(0.2), 1e-15);
  expect_near({3, 3, {-c, -s, -c, -s, 13 / 3.0, -s, -c, -s, -c}}, unsharp_kernel(0.2), 1e-15);
  expect_near({1, 2, {0.5, 0.5}}, average_kernel(1, 2), 0);
  expect_near({1, 2, {0.5, 0.5}}, gaussian_kernel(1, 2, 0.3), 1e-15);
  EXPECT_NEAR(sum(gaussian_kernel(5, 7, 1.3)), 1, 1e-15);
  // e^-2 beside 1 beside e^-2 for sigma 0.5
  const double e = std::exp(-2);
  expect_near({1, 3, {e / (1 + 2 * e), 1 / (1 + 2 * e), e / (1 + 2 * e)}},
              gaussian_kernel(1, 3, 0.5), 1e-15);
  EXPECT_NEAR(sum(log_kernel(5, 5, 0.5)), -0.713, 5e-4);
}

// The area of each pixel inside the disk, by counting points.
TEST(Fspecial, DiskIsTheAreaInside) {
  EXPECT_EQ(disk_kernel(0), (Matrix{1, 1, {1}}));
  constexpr int fine = 400;
  for (const int radius : {1, 2, 5}) {
    const Matrix got = disk_kernel(radius);
    EXPECT_NEAR(sum(got), 1, 1e-14);
    for (int y = -radius; y <= radius; ++y) {
      for (int x = -radius; x <= radius; ++x) {
        int inside = 0;
        for (int i = 0; i < fine; ++i) {
          for (int j = 0; j < fine; ++j) {
            const double py = y - 0.5 + (i + 0.5) / fine, px = x - 0.5 + (j + 0.5) / fine;
            inside += px * px + py * py <= radius * radius;
          }
        }
        const double area = inside / (1.0 * fine * fine);
        EXPECT_NEAR(got.values[(y + radius) * got.columns + x + radius] * std::numbers::pi *
                        radius * radius,
                    area, 2e-3)
            << radius << " at " << x << ", " << y;
      }
    }
  }
}

TEST(Fspecial, MotionAlongTheAxesIsExact) {
  EXPECT_EQ(motion_kernel(1, 30), (Matrix{1, 1, {1}}));
  const Matrix row = motion_kernel(3, 0);
  EXPECT_EQ(row, (Matrix{3, 3, {0, 0, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0, 0}}));
  EXPECT_EQ(motion_kernel(3, 90), (Matrix{3, 3, {0, 1 / 3.0, 0, 0, 1 / 3.0, 0, 0, 1 / 3.0, 0}}));
  EXPECT_EQ(motion_kernel(3, -180), row);
  // An even length sits left of the centre; a quarter turn brings its left end down.
  EXPECT_EQ(motion_kernel(2, 0), (Matrix{3, 3, {0, 0, 0, 0.5, 0.5, 0, 0, 0, 0}}));
  EXPECT_EQ(motion_kernel(2, 90), (Matrix{3, 3, {0, 0, 0, 0, 0.5, 0, 0, 0.5, 0}}));
  for (const double degrees : {10.0, 45.0, 123.0, 359.0}) {
    EXPECT_NEAR(sum(motion_kernel(9, degrees)), 1, 1e-14);
  }
}

TEST(RankOne, IsDecidedByTheValues) {
  struct Row {
    Matrix kernel;
    bool two_passes;
  };
  const Row rows[] = {
      {sobel_kernel(), true},  // 6 elements, 3 + 2 in two passes
      {gaussian_kernel(7, 7, 1.2), true},
      {gaussian_kernel(31, 31, 5), true},
      {average_kernel(3, 3), true},
      {average_kernel(2, 2), false},  // 4 elements either way
      {average_kernel(1, 9), false},
      {disk_kernel(3), false},
      {laplacian_kernel(0.2), false},
      {log_kernel(9, 9, 1.4), false},
      {{3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1.000001}}, false},
      {{3, 3, {1, 0, 1, 0, 0, 0, 1, 0, 1}}, false},  // 4 elements, 2 + 2 in two passes
      {{3, 3, {0, 0, 0, 0, 0, 0, 0, 0, 0}}, false},
  };
  for (const Row& row : rows) {
    const auto factors = rank_one(row.kernel);
    EXPECT_EQ(factors.has_value(), row.two_passes) << "row " << &row - rows;
    if (!factors) continue;
    for (int i = 0; i < row.kernel.rows; ++i) {
      for (int j = 0; j < row.kernel.columns; ++j) {
        EXPECT_NEAR(factors->column[i] * factors->row[j],
                    row.kernel.values[i * row.kernel.columns + j], 1e-12);
      }
    }
  }
}

// Dividing by the pivot keeps the weights of such kernels exact in float32.
TEST(RankOne, KeepsSmallIntegersExact) {
  const auto factors = rank_one(sobel_kernel());
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->row, (std::vector<double>{0.5, 1, 0.5}));
  EXPECT_EQ(factors->column, (std::vector<double>{2, 0, -2}));
}

std::string picture(const Mask& m) {
  std::string out;
  for (int y = 0; y < m.height; ++y) {
    for (int x = 0; x < m.width; ++x) out += m.at(x, y) ? '#' : '.';
    out += '\n';
  }
  return out;
}

TEST(Elements, LookAsTheyShould) {
  EXPECT_EQ(picture(disk_element(3)),
            "...#...\n.#####.\n.#####.\n#######\n.#####.\n.#####.\n...#...\n");
  EXPECT_EQ(picture(disk_element(0)), "#\n");
  EXPECT_EQ(picture(diamond_element(2)), "..#..\n.###.\n#####\n.###.\n..#..\n");
  EXPECT_EQ(picture(octagon_element(3)),
            "..###..\n.#####.\n#######\n#######\n#######\n.#####.\n..###..\n");
  EXPECT_EQ(picture(line_element(5, 0)), "#####\n");
  EXPECT_EQ(picture(line_element(5, 90)), "#\n#\n#\n#\n#\n");
  EXPECT_EQ(picture(line_element(5, 45)), "..#\n.#.\n#..\n");  // semantics 7.1: only 3 pixels
  EXPECT_EQ(picture(line_element(5, 135)), "#..\n.#.\n..#\n");
  EXPECT_EQ(picture(line_element(1, 33)), "#\n");
}

TEST(Elements, LinesAreThoseOfTheirDefinition) {
  for (int length = 1; length <= 15; ++length) {
    for (int degrees = -180; degrees <= 360; degrees += 7) {
      const Matrix expected = reference::line_element(length, degrees);
      const Mask got = line_element(length, degrees);
      ASSERT_EQ(got.width, expected.columns) << length << " at " << degrees;
      ASSERT_EQ(got.height, expected.rows) << length << " at " << degrees;
      EXPECT_EQ(got.origin_x, (got.width - 1) / 2);
      EXPECT_EQ(got.origin_y, (got.height - 1) / 2);
      int wrong = 0;
      for (size_t i = 0; i < got.cells.size(); ++i) wrong += got.cells[i] != expected.values[i];
      // Where Octave's formula leaves the quarter it fails; one pixel a side is ours to choose.
      EXPECT_LE(wrong, 2) << length << " at " << degrees;
    }
  }
}

TEST(Elements, ReflectionMovesTheOrigin) {
  const Mask even = rectangle_element(2, 4);
  EXPECT_EQ(even.origin_x, 1);
  EXPECT_EQ(even.origin_y, 0);
  const Mask turned = reflected(even);
  EXPECT_EQ(turned.origin_x, 2);
  EXPECT_EQ(turned.origin_y, 1);
  EXPECT_EQ(reflected(turned), even);
}

TEST(MatrixFile, ReadsRowsOfNumbers) {
  EXPECT_EQ(parse_matrix("1 2 3\n4,5 ,6\n", "k"), (Matrix{2, 3, {1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(parse_matrix("1 2; 3,4;\n;5 6;\n", "k"), (Matrix{3, 2, {1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(parse_matrix("1; 2; 3\n", "k"), (Matrix{3, 1, {1, 2, 3}}));
  EXPECT_EQ(parse_matrix("1;\n2;\n", "k"), (Matrix{2, 1, {1, 2}}));
  EXPECT_EQ(parse_matrix("# a comment\r\n\r\n -1e-1,\t.5 # more\r\n", "k"),
            (Matrix{1, 2, {-0.1, 0.5}}));
}

TEST(MatrixFile, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "k.txt has no numbers"},
      {"# nothing\n\n", "k.txt has no numbers"},
      {"1 2\n3 x\n", "k.txt, line 2: 'x' is not a number"},
      {"1 nan\n", "k.txt, line 1: 'nan' is not a number"},
      {"1 2\n\n3\n", "k.txt, line 3: 1 numbers in this row, 2 in the first"},
      {"1 2; 3\n", "k.txt, line 1: 1 numbers in this row, 2 in the first"},
      {"1;2\n3;4\n",
       "k.txt: a semicolon ends a row; numbers of a row have blanks or commas between"},
  };
  for (const auto& [text, message] : rows) {
    try {
      parse_matrix(text, "k.txt");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

TEST(MatrixFile, IsAKernelAndAnElement) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("impipe-kernel-" + std::to_string(::getpid()) + ".txt");
  const HostImage image = test::test_image(PixelClass::uint8, 1, {31, 17}, 1);
  std::ofstream(path) << "1 0 1\n1 1 0\n";
  for (const char* op : {"conv2", "imfilter", "imdilate", "ordfilt2 2"}) {
    EXPECT_EQ(test::difference(test::run(op + std::string(" [1 0 1; 1 1 0]"), image).image,
                               test::run(op + (" @'" + path.string() + "'"), image).image),
              "")
        << op;
  }
  std::filesystem::remove(path);
  EXPECT_EQ(test::error_of("conv2 @/nowhere/k.txt", image),
            "pipeline:1:7: conv2: /nowhere/k.txt: No such file or directory\n"
            "  conv2 @/nowhere/k.txt\n"
            "        ^^^^^^^^^^^^^^^");
}

}  // namespace
}  // namespace impipe::ops
