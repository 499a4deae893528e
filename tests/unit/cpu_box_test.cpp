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

// How sums are made: by their definition as others are, or as those of boxes.
enum class Sums : std::uint8_t { of_means, of_rows, in_any_order };

KernelSpec mean_over(int width, int height, Sums sums, Border border, PixelClass from,
                     PixelClass to, double weight = 1) {
  SpecBuilder b;
  const Operand in = b.input(from, 1);
  const bool means = sums == Sums::of_means;
  const double row = means ? 1.0 / width : 1, column = weight / (means ? height : width * height);
  std::vector<double> arguments(static_cast<std::size_t>(width), row);
  arguments.insert(arguments.end(), static_cast<std::size_t>(height), column);
  arguments.push_back(0);
  const Operand out = b.add(Separable{.row = rectangle(width, 1, width / 2, 0),
                                      .column = rectangle(1, height, 0, height / 2),
                                      .border = border,
                                      .any_order = sums == Sums::in_any_order},
                            {in}, arguments, to, 1);
  return b.finish({out});
}

constexpr Border borders[] = {Border::constant, Border::circular, Border::replicate,
                              Border::symmetric};

void expect_definition(const KernelSpec& spec, const SpecResult& image, const std::string& what) {
  const std::vector<SpecResult> inputs{image}, all = evaluate_spec(spec, inputs);
  for (const CpuLevel level : usable_levels()) {
    ASSERT_EQ(difference(run_spec(spec, inputs, level, 1)[0], all[0]), "")
        << what << ", level " << static_cast<int>(level);
  }
}

TEST(CpuBox, HasTheCodesOfTheSums) {
  std::mt19937 random(11);
  const int sides[][2] = {{1, 3},   {3, 1},   {3, 3},   {5, 5},  {7, 7}, {9, 11},
                          {15, 15}, {17, 15}, {13, 19}, {1, 21}, {8, 8}, {12, 10},
                          {16, 9},  {31, 31}, {30, 32}, {63, 63}};
  for (const auto& [width, height] : sides) {
    for (const Border border : borders) {
      for (const Sums sums : {Sums::of_means, Sums::of_rows, Sums::in_any_order}) {
        const KernelSpec spec =
            mean_over(width, height, sums, border, PixelClass::uint8, PixelClass::uint8);
        for (const Picture& picture : pictures) {
          expect_definition(spec, drawn(picture, {90, 9}, random),
                            std::string(picture.name) + ", " + std::to_string(width) + "x" +
                                std::to_string(height) + ", border " +
                                std::string(name_of(border)) + ", sums " +
                                std::to_string(static_cast<int>(sums)));
        }
      }
    }
  }
}

// All classes that they are made of and as: whole blocks and what they leave over, several tiles,
// windows larger than the picture, sums of more than 2^24, weights that saturate, negative ones.
TEST(CpuBox, SumsCodesInAnyOrder) {
  std::mt19937 random(13);
  const int sides[][2] = {{5, 2}, {5, 5}, {16, 17}, {3, 63}, {63, 4}, {101, 101}, {33, 300}};
  int turn = 0;
  for (const auto& [width, height] : sides) {
    for (const Size size : {Size{331, 40}, Size{64, 9}, Size{17, 70}, Size{1, 5}, Size{4200, 3}}) {
      for (const PixelClass from : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
        SpecResult image = random_image(random, from, 1, size, false);
        if (turn % 3 == 0) {
          for (std::int64_t y = 0; y < size.height; ++y) {
            for (std::int64_t x = 0; x < size.width; ++x) image.image.at(x, y, 0) = class_max(from);
          }
        }
        const double weights[] = {1, 1.5, -1, 1};
        const double weight = weights[turn % 4];
        const Border border = borders[turn++ % 4];
        for (const PixelClass to : {from, PixelClass::single}) {
          if (to == PixelClass::logical) continue;
          expect_definition(
              mean_over(width, height, Sums::in_any_order, border, from, to, weight), image,
              std::to_string(width) + "x" + std::to_string(height) + " of " + to_string(size) +
                  ", border " + std::string(name_of(border)) + " times " + std::to_string(weight) +
                  " from " + std::string(name_of(from)) + " to " + std::string(name_of(to)));
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
