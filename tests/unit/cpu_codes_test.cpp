// Points of 16-bit codes that are lines or steps: every code has the value of the definition, on
// every instruction set, with ties, slopes of either sign and values beyond the class.
#include <gtest/gtest.h>

#include "core/body.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(test_code_line, (x), (slope, offset), { return x * slope + offset; })
IMPIPE_POINT_BODY(test_code_step, (x), (last, low, high), { return x > last ? high : low; })
IMPIPE_POINT_BODY(test_code_curve, (x), (scale), { return x * x * scale; })

namespace impipe::testing {
namespace {

SpecResult all_codes(PixelClass cls) {
  std::mt19937 random(1);
  SpecResult image = random_image(random, cls, 1, {257, 259}, false);
  const int codes = cls == PixelClass::uint8 ? 256 : 65536;
  int next = 0;
  for (double& value : image.image.values) value = next++ % codes;
  return image;
}

void check(const PointBody& body, const std::vector<double>& args, PixelClass from, PixelClass to) {
  SpecBuilder b;
  const Operand in = b.input(from, 1);
  const KernelSpec spec = b.finish({b.add(Point{.body = &body}, {in}, args, to, 1)});
  const std::vector<SpecResult> inputs{all_codes(from)};
  const std::vector<SpecResult> expected = evaluate_spec(spec, inputs);
  for (const CpuLevel level : usable_levels()) {
    for (int round = 0; round < 2; ++round) {  // the second finds what the first remembered
      ASSERT_EQ(difference(run_spec(spec, inputs, level, 2)[0], expected[0]), "")
          << body.name << " " << ::testing::PrintToString(args) << ", " << name_of(from) << " to "
          << name_of(to) << ", level " << static_cast<int>(level);
    }
  }
}

TEST(CpuCodes, HaveTheValuesOfTheDefinition) {
  const PixelClass uint8 = PixelClass::uint8, uint16 = PixelClass::uint16;
  const std::vector<double> lines[] = {{1, 0},           {-1, 65535},        {0.5, 0},
                                       {0.5, 3},         {0.25, 0.25},       {-0.5, 300.5},
                                       {0.7, 0},         {1.3, -900},        {257, 0},
                                       {1.0 / 257, 0},   {300, -7e4},        {1.2345678, -12.3456},
                                       {0.3, 7},         {0, 12.5},          {1e-4, 0.4999},
                                       {-3.7, 200000.5}, {1, 0.49999999999}, {1e300, -1e300},
                                       {-1, 255},        {-1, 100},          {-1, 300},
                                       {-1, 40000},      {-1, 99.5},         {-1, 0}};
  for (const std::vector<double>& line : lines) {
    for (const auto& [from, to] :
         {std::pair{uint16, uint16}, {uint16, uint8}, {uint8, uint16}, {uint8, uint8}}) {
      check(bodies::test_code_line, line, from, to);
    }
  }
  for (const double last : {-1.0, 0.0, 1.0, 32767.0, 65534.0, 65535.0}) {
    for (const PixelClass to : {uint8, uint16, PixelClass::logical}) {
      check(bodies::test_code_step, {last, 0, 1}, uint16, to);
      check(bodies::test_code_step, {last, 1, 0}, uint16, to);
    }
    check(bodies::test_code_step, {last, 65535, 300}, uint16, uint16);
  }
  check(bodies::test_code_curve, {1.0 / 65535}, uint16, uint16);
  check(bodies::test_code_curve, {1e-9}, uint16, uint16);
  // Looked up, with ends of rows that are no eight bytes.
  for (const PixelClass from : {uint8, uint16}) {
    for (const PixelClass to : {uint8, uint16, PixelClass::single}) {
      check(bodies::test_code_curve, {1e-3}, from, to);
    }
  }
}

}  // namespace
}  // namespace impipe::testing
