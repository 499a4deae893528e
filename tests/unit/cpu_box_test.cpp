// Means of codes over rectangles: the codes of the sums in float32, on every instruction set, for
// pictures whose means lie near halves or on them.
#include <gtest/gtest.h>

#include <functional>

#include "support/spec_case.hpp"

namespace impipe::testing {
namespace {

struct Picture {
  const char* name;
  std::function<int(std::int64_t x, std::int64_t y, std::mt19937& random)> code;
};

const Picture pictures[] = {
    {"noise", [](auto, auto, auto& random) { return static_cast<int>(random() % 256); }},
    {"white", [](auto, auto, auto&) { return 255; }},
    {"nearly white", [](auto, auto, auto& random) { return 255 - static_cast<int>(random() % 2); }},
    {"checkers about a half",
     [](auto x, auto y, auto&) { return 127 + static_cast<int>((x + y) % 2); }},
    {"noise about a half",
     [](auto, auto, auto& random) { return 127 + static_cast<int>(random() % 2); }},
    {"stripes", [](auto x, auto, auto&) { return static_cast<int>(x % 2); }},
    {"a ramp", [](auto x, auto y, auto&) { return static_cast<int>((x / 3 + y / 2) % 256); }}};

SpecResult drawn(const Picture& picture, Size size, std::mt19937& random) {
  SpecResult image = random_image(random, PixelClass::uint8, 1, size, false);
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      image.image.at(x, y, 0) = picture.code(x, y, random);
    }
  }
  return image;
}

KernelSpec mean_over(int width, int height, bool whole_rows, Border border) {
  SpecBuilder b;
  const Operand in = b.input(PixelClass::uint8, 1);
  const double row = whole_rows ? 1 : 1.0 / width,
               column = 1.0 / (whole_rows ? width * height : height);
  std::vector<double> arguments(static_cast<std::size_t>(width), row);
  arguments.insert(arguments.end(), static_cast<std::size_t>(height), column);
  arguments.push_back(0);
  const Operand out = b.add(Separable{.row = rectangle(width, 1, width / 2, 0),
                                      .column = rectangle(1, height, 0, height / 2),
                                      .border = border},
                            {in}, arguments, PixelClass::uint8, 1);
  return b.finish({out});
}

TEST(CpuBox, HasTheCodesOfTheSums) {
  std::mt19937 random(11);
  const int sides[][2] = {{1, 3},   {3, 1},   {3, 3},   {5, 5},  {7, 7}, {9, 11},
                          {15, 15}, {17, 15}, {13, 19}, {1, 21}, {8, 8}, {12, 10},
                          {16, 9},  {31, 31}, {30, 32}, {63, 63}};
  for (const auto& [width, height] : sides) {
    for (const Border border :
         {Border::constant, Border::circular, Border::replicate, Border::symmetric}) {
      for (const bool whole_rows : {true, false}) {
        const KernelSpec spec = mean_over(width, height, whole_rows, border);
        for (const Picture& picture : pictures) {
          const std::vector<SpecResult> inputs{drawn(picture, {90, 9}, random)};
          const std::vector<SpecResult> all = evaluate_spec(spec, inputs);
          for (const CpuLevel level : usable_levels()) {
            ASSERT_EQ(difference(run_spec(spec, inputs, level, 1)[0], all[0]), "")
                << picture.name << ", " << width << "x" << height << ", border " << name_of(border)
                << ", rows of " << (whole_rows ? "sums" : "means") << ", level "
                << static_cast<int>(level);
          }
        }
      }
    }
  }
}

// Rows of weight 1 over codes of 16 bits, as floats that show every bit: their sums run along the
// row where they are whole numbers that a float has; 300 of 65,535 are not, nor thirds.
TEST(CpuBox, HasTheSumsOfLongCodes) {
  std::mt19937 random(12);
  const int sides[][2] = {{2, 3}, {3, 3},   {4, 1},   {5, 5},  {6, 2},   {7, 7},
                          {8, 8}, {15, 15}, {31, 31}, {63, 5}, {256, 2}, {300, 2}};
  for (const auto& [width, height] : sides) {
    for (const Size size : {Size{90, 9}, Size{331, 6}, Size{17, 5}}) {
      SpecResult image = random_image(random, PixelClass::uint16, 2, size, false);
      for (std::int64_t x = 0; x < size.width; ++x) image.image.at(x, 0, 1) = 65535;
      for (const Border border :
           {Border::constant, Border::circular, Border::replicate, Border::symmetric}) {
        for (const double beside : {0.0, 65535.0, 0.5}) {
          const double weight = beside == 65535 && height == 2 ? 1.0 / 3 : 1;
          SpecBuilder b;
          const Operand in = b.input(PixelClass::uint16, 2);
          std::vector<double> arguments(static_cast<std::size_t>(width), weight);
          arguments.insert(arguments.end(), static_cast<std::size_t>(height), 1.0 / width / height);
          arguments.push_back(beside);
          const Operand out = b.add(Separable{.row = rectangle(width, 1, width / 2, 0),
                                              .column = rectangle(1, height, 0, height / 2),
                                              .border = border},
                                    {in}, arguments, PixelClass::single, 2);
          const KernelSpec spec = b.finish({out});
          const std::vector<SpecResult> all = evaluate_spec(spec, {image});
          for (const CpuLevel level : usable_levels()) {
            ASSERT_EQ(difference(run_spec(spec, {image}, level, 1)[0], all[0]), "")
                << width << "x" << height << ", " << to_string(size) << ", border "
                << name_of(border) << " of " << beside << ", level " << static_cast<int>(level);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace impipe::testing
