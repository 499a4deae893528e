// Kernels on the CPU against the naive evaluation: every primitive, border, class and size, fused
// and not, at every instruction set, with 1, 2 and 5 threads: equal bits.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/error.hpp"
#include "support/rounds.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(test_stretch, (x), (gain, offset), { return x * gain + offset; })
IMPIPE_POINT_BODY(test_blend, (x, y), (k), { return x * k + y * (real(1) - k); })
IMPIPE_POINT_BODY(test_sum, (x, y), (k1, k2, add), { return k1 * x + k2 * y + add; })
IMPIPE_POINT_BODY(test_gray, (r, g, b), (),
                  { return real(0.25) * r + real(0.5) * g + real(0.25) * b; })
IMPIPE_POINT_BODY(test_ratio_of_channels, (r, g, b), (k), { return (r - k * b) / (g + real(1)); })
IMPIPE_POINT_BODY(test_above, (x), (limit), { return x > limit ? real(1) : real(0); })
IMPIPE_STENCIL_BODY(test_gradient, (1, 2, 1, 0), (k),
                    { return abs(at(2, 0) - at(-1, -1)) * k + at(0, -1); })
IMPIPE_SCALAR_BODY(test_scalar, {
  for (int i = 0; i < 2; ++i) out[i] = in[i] * args[0] + static_cast<double>(count[0]);
})

namespace impipe::testing {
namespace {

using enum PixelClass;

// The tall thin ones are made in parts side by side, and wide ones of singles in strips.
const Size sizes[] = {{1, 1},     {1, 9},   {13, 1},   {2, 3},   {31, 17}, {101, 70},
                      {530, 140}, {1, 331}, {5, 1511}, {32, 97}, {700, 6}};
constexpr Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                              Border::reflect, Border::circular};

struct Case {
  std::string name;
  KernelSpec spec;
};

std::string text_of(const Case& c, Size size, CpuLevel level, int threads) {
  return c.name + " " + to_string(size) + " level " + std::to_string(static_cast<int>(level)) +
         " threads " + std::to_string(threads) + "\n" + c.spec.key();
}

// Against the reference at every size; large images at one level with several threads too.
void check(const Case& c, bool with_nan = true) {
  std::mt19937 random(7);
  for (const Size size : sizes) {
    std::vector<SpecResult> inputs;
    for (const KernelInput& input : c.spec.inputs) {
      if (input.is_measure) {
        inputs.push_back({{}, {}});
        for (int k = 0; k < input.channels * input.values; ++k) {
          inputs.back().measure.push_back(0.5 + 0.25 * k);
        }
      } else {
        inputs.push_back(random_image(random, input.cls, input.channels, size, with_nan));
      }
    }
    const std::vector<SpecResult> all = evaluate_spec(c.spec, inputs);
    for (const CpuLevel level : usable_levels()) {
      for (const int threads : {1, 2, 5}) {
        if (threads > 1 && level != usable_levels().back()) continue;
        if (threads == 2 && test::is_sanitized()) continue;
        const std::vector<SpecResult> got = run_spec(c.spec, inputs, level, threads);
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(difference(got[i], all[c.spec.outputs[i]]), "")
              << "output " << i << " of " << text_of(c, size, level, threads);
        }
      }
    }
    if (c.spec.nodes.size() == 1) continue;
    const CpuLevel best = usable_levels().back();
    const std::vector<SpecResult> apart = run_unfused(c.spec, inputs, best, 1);
    for (std::size_t i = 0; i < apart.size(); ++i) {
      ASSERT_EQ(difference(apart[i], all[c.spec.outputs[i]]), "")
          << "unfused output " << i << " of " << text_of(c, size, best, 1);
    }
  }
}

std::vector<double> weights(int count, double border) {
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back((k * 7 % 11 - 3) / 8.0 + 0.01);
  out.push_back(border);
  return out;
}

TEST(CpuStep, UnaryPointsOfEveryClass) {
  for (const PixelClass from : {logical, uint8, uint16, single}) {
    for (const PixelClass to : {logical, uint8, uint16, single}) {
      for (const int channels : {1, 3}) {
        SpecBuilder b;
        const Operand in = b.input(from, channels);
        const Operand out =
            b.add(Point{.body = &bodies::test_stretch}, {in}, {1.7, -3.5}, to, channels);
        check({"stretch", b.finish({out})});
      }
    }
  }
}

TEST(CpuStep, ChainsOfTablesAreOneTable) {
  for (const int channels : {1, 3}) {
    SpecBuilder b;
    Operand image = b.input(uint8, channels);
    std::vector<Operand> kept;
    for (int k = 0; k < 10; ++k) {
      const PixelClass to = k == 4 ? uint16 : uint8;
      image = b.add(Point{.body = &bodies::test_stretch}, {image}, {k == 4 ? 257.0 : 0.97, k - 3.0},
                    to, channels);
      if (k == 3) kept.push_back(image);
    }
    kept.push_back(b.add(Point{.body = &bodies::test_above}, {image}, {99.5}, logical, channels));
    check({"ten tables", b.finish(kept)});
  }
}

TEST(CpuStep, PointsOfTwoImages) {
  for (const PixelClass a : {uint8, uint16, single}) {
    for (const PixelClass to : {logical, uint8, uint16, single}) {
      SpecBuilder b;
      const Operand x = b.input(a, 3), y = b.input(uint8, 3);
      const Operand out = b.add(Point{.body = &bodies::test_blend}, {x, y}, {0.3}, to, 3);
      check({"blend", b.finish({out})});
      std::get<Point>(b.last().primitive).in_double = true;
      check({"blend in double", b.finish({})});
    }
  }
}

// Large enough for the shortcuts that were tried for all codes to be taken; every pair of codes.
TEST(CpuStep, SumsOfTwoByteImagesAreThoseOfDouble) {
  SpecImage a{uint8, 1, 640, 512, {}}, c = a;
  for (std::int64_t y = 0; y < a.height; ++y) {
    for (std::int64_t x = 0; x < a.width; ++x) {
      a.values.push_back(static_cast<double>(x % 256));
      c.values.push_back(static_cast<double>(y % 256));
    }
  }
  const std::vector<std::vector<double>> sums{{0.6, 0.4, 3},  {0.5, 0.5, 0},    {1, -1, 0},
                                              {0.3, 0.7, 0},  {-1.5, 2.25, 20}, {100, -99, 0},
                                              {300, -299, 7}, {1e-9, 1, 0.5},   {NAN, 1, 0},
                                              {0.5, 0.3, 0},  {0.1, 0.9, 0},    {-0.3, -0.5, 200}};
  for (const std::vector<double>& sum : sums) {
    SpecBuilder b;
    const Operand x = b.input(uint8, 1), y = b.input(uint8, 1);
    const KernelSpec spec =
        b.finish({b.add(Point{.body = &bodies::test_sum}, {x, y}, sum, uint8, 1)});
    const std::vector<SpecResult> inputs{{a, {}}, {c, {}}};
    const SpecResult expected = evaluate_spec(spec, inputs)[0];
    for (const CpuLevel level : usable_levels()) {
      EXPECT_EQ(difference(run_spec(spec, inputs, level, 1)[0], expected), "")
          << sum[0] << " " << sum[1] << " " << sum[2];
    }
  }
}

TEST(CpuStep, RoundingIsHalfAwayNextToEveryHalf) {
  SpecImage in{single, 1, 6, 65536, {}};
  for (int k = 0; k < 65536; ++k) {
    const float half = static_cast<float>(k) + 0.5f;
    for (const float v : {half, std::nextafterf(half, 0), std::nextafterf(half, 1e9f),
                          static_cast<float>(k), -half, static_cast<float>(k) * 1e9f}) {
      in.values.push_back(v);
    }
  }
  for (const PixelClass to : {uint8, uint16}) {
    SpecBuilder b;
    const Operand image = b.input(single, 1);
    const KernelSpec spec =
        b.finish({b.add(Point{.body = &bodies::test_stretch}, {image}, {1, 0}, to, 1)});
    const std::vector<SpecResult> inputs{{in, {}}};
    const SpecResult expected = evaluate_spec(spec, inputs)[0];
    for (const CpuLevel level : usable_levels()) {
      EXPECT_EQ(difference(run_spec(spec, inputs, level, 1)[0], expected), "");
    }
  }
}

TEST(CpuStep, ChannelsMix) {
  for (const PixelClass cls : {uint8, uint16, single}) {
    SpecBuilder b;
    const Operand in = b.input(cls, 3);
    const Operand gray =
        b.add(Point{.body = &bodies::test_gray, .mixes_channels = true}, {in}, {}, cls, 1);
    const Operand next = b.add(Point{.body = &bodies::test_stretch}, {gray}, {1.3, -4}, cls, 1);
    check({"gray", b.finish({next})});
  }
}

// They share rows of numbers where they make singles of the same part of an image.
TEST(CpuStep, PointsOfTheSamePlanes) {
  for (const PixelClass cls : {logical, uint8, uint16, single}) {
    SpecBuilder b;
    const Operand in = b.input(cls, 3);
    const auto mixed = [&](const PointBody& body, const std::vector<double>& args, PixelClass to) {
      return b.add(Point{.body = &body, .mixes_channels = true}, {in}, args, to, 1);
    };
    const Operand gray = mixed(bodies::test_gray, {}, single);
    const Operand far = mixed(bodies::test_ratio_of_channels, {0.7}, single);
    const Operand codes = mixed(bodies::test_gray, {}, uint8);
    const Operand wider = mixed(bodies::test_ratio_of_channels, {1.5}, single);
    const Operand next = b.add(Point{.body = &bodies::test_stretch}, {gray}, {1.3, -4}, single, 1);
    const Operand around =
        b.add(Stencil{.body = &bodies::test_gradient, .border = Border::symmetric}, {wider},
              {0.5, 3}, single, 1);
    check({"the same planes", b.finish({gray, far, codes, next, around})});
  }
}

TEST(CpuStep, ArgumentsMayDifferFromChannelToChannel) {
  for (const PixelClass cls : {uint8, uint16, single}) {
    SpecBuilder b;
    const Operand in = b.input(cls, 3);
    b.add(Point{.body = &bodies::test_stretch}, {in}, {}, cls, 3);
    b.last().measures = {{true, 1}};
    for (int k = 0; k < 2; ++k) {
      b.last().arguments.push_back(
          {.source = Argument::Source::measured, .element = k, .per_channel = true});
    }
    KernelSpec spec = b.finish({{false, 0}});
    spec.inputs.push_back({.is_measure = true, .channels = 3, .values = 2});
    check({"per channel", spec});
  }
}

TEST(CpuStep, LookUp) {
  for (const int channels : {1, 3}) {
    SpecBuilder b;
    const Operand in = b.input(uint8, channels), table = b.input(uint8, 1);
    const Operand out = b.add(Point{.lookup = true}, {in, table}, {}, uint8, channels);
    const KernelSpec spec = b.finish({out});
    std::mt19937 random(3);
    for (const Size size : sizes) {
      const std::vector<SpecResult> inputs{random_image(random, uint8, channels, size, false),
                                           random_image(random, uint8, 1, {16, 16}, false)};
      const SpecResult expected = evaluate_spec(spec, inputs)[0];
      for (const CpuLevel level : usable_levels()) {
        EXPECT_EQ(difference(run_spec(spec, inputs, level, 2)[0], expected), "");
      }
    }
  }
}

TEST(CpuStep, ATableOfTheWrongSizeIsAnError) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 1), table = b.input(uint8, 1);
  const KernelSpec spec = b.finish({b.add(Point{.lookup = true}, {in, table}, {}, uint8, 1)});
  std::mt19937 random(3);
  try {
    run_spec(spec,
             {random_image(random, uint8, 1, {4, 4}, false),
              random_image(random, uint8, 1, {5, 5}, false)},
             CpuLevel::baseline, 1);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "a table for uint8 must have 256 values; this one has 25");
  }
}

TEST(CpuStep, PermutationsBesidePoints) {
  for (const PixelClass cls : {logical, uint8, uint16, single}) {
    for (const int channels : {1, 3}) {
      for (int k = 0; k < 8; ++k) {
        const Permute permute{(k & 1) != 0, (k & 2) != 0, (k & 4) != 0};
        SpecBuilder b;
        const Operand in = b.input(cls, channels);
        const Operand moved = b.add(permute, {in}, {}, cls, channels);
        const Operand out =
            b.add(Point{.body = &bodies::test_stretch}, {moved}, {0.5, 1}, single, channels);
        check({"permute", b.finish({moved, out})});
      }
    }
  }
}

TEST(CpuStep, StencilsOfEveryBorder) {
  for (const Border border : borders) {
    for (const PixelClass cls : {logical, uint8, uint16, single}) {
      for (const PixelClass to : {cls, single}) {
        const int channels = cls == uint16 ? 3 : 1;
        Mask taps = rectangle(5, 4, 1, 2);
        taps.cells[7] = taps.cells[12] = 0;
        SpecBuilder b;
        const Operand in = b.input(cls, channels);
        const Operand sum = b.add(Stencil{.taps = taps, .border = border}, {in},
                                  weights(taps.count(), 0.75), to, channels);
        const Operand body = b.add(Stencil{.body = &bodies::test_gradient, .border = border}, {in},
                                   {0.5, 3}, to, channels);
        check({"stencil " + std::string(name_of(border)), b.finish({sum, body})});
      }
    }
  }
}

TEST(CpuStep, SeparablesOfEveryBorder) {
  for (const Border border : borders) {
    for (const PixelClass cls : {uint8, single}) {
      SpecBuilder b;
      const Operand in = b.input(cls, 3);
      const Operand out = b.add(
          Separable{
              .row = rectangle(7, 1, 3, 0), .column = rectangle(1, 4, 0, 1), .border = border},
          {in}, weights(11, 12), cls, 3);
      check({"separable " + std::string(name_of(border)), b.finish({out})});
    }
  }
}

// Bytes to bytes have a way of their own: rows of 1 to 9 taps, columns that four rows share or not,
// border values that are codes or not.
TEST(CpuStep, SeparablesOfGrayBytes) {
  for (const Border border : borders) {
    for (const int taps : {1, 2, 7, 9}) {
      for (const double outside : {12.0, 0.5}) {
        for (const PixelClass cls : {uint8, logical}) {
          SpecBuilder b;
          const Operand in = b.input(cls, 1);
          const Operand out = b.add(Separable{.row = rectangle(taps, 1, taps / 2, 0),
                                              .column = rectangle(1, 10 - taps, 0, (9 - taps) / 2),
                                              .border = border},
                                    {in}, weights(10, cls == uint8 ? outside : 1.0), uint8, 1);
          check({"gray bytes " + std::string(name_of(border)), b.finish({out})});
        }
      }
    }
  }
}

TEST(CpuStep, FullAndValidConvolution) {
  for (const bool full : {true, false}) {
    const int grow = full ? 4 : -4, shift = full ? -2 : 2;
    SpecBuilder b;
    const Operand in = b.input(uint8, 1);
    const Operand sum = b.add(Stencil{.taps = rectangle(5, 5, 2, 2),
                                      .grow_x = grow,
                                      .grow_y = grow,
                                      .shift_x = shift,
                                      .shift_y = shift},
                              {in}, weights(25, 0), single, 1);
    const Operand next = b.add(Separable{.row = rectangle(5, 1, 2, 0),
                                         .column = rectangle(1, 5, 0, 2),
                                         .grow_x = grow,
                                         .grow_y = grow,
                                         .shift_x = shift,
                                         .shift_y = shift},
                               {in}, weights(10, 0), single, 1);
    const KernelSpec spec = b.finish({sum, next});
    std::mt19937 random(3);
    for (const Size size : {Size{5, 5}, Size{40, 6}, Size{601, 90}}) {
      const std::vector<SpecResult> inputs{random_image(random, uint8, 1, size, false)};
      const std::vector<SpecResult> all = evaluate_spec(spec, inputs);
      for (const CpuLevel level : usable_levels()) {
        const std::vector<SpecResult> got = run_spec(spec, inputs, level, 2);
        EXPECT_EQ(difference(got[0], all[0]), "") << to_string(size);
        EXPECT_EQ(difference(got[1], all[1]), "") << to_string(size);
      }
    }
  }
}

TEST(CpuStep, BordersOfAFusedIntermediateComeFromItsOwnPixels) {
  for (const Border first : borders) {
    for (const Border second : borders) {
      SpecBuilder b;
      const Operand in = b.input(uint8, 1);
      const Operand bright = b.add(Point{.body = &bodies::test_stretch}, {in}, {0.5, 40}, uint8, 1);
      const Operand one = b.add(Stencil{.taps = rectangle(3, 5, 1, 2), .border = first}, {bright},
                                weights(15, 9), uint8, 1);
      const Operand two = b.add(
          Separable{
              .row = rectangle(5, 1, 2, 0), .column = rectangle(1, 3, 0, 1), .border = second},
          {one}, weights(8, 17), single, 1);
      const Operand both = b.add(Point{.body = &bodies::test_blend}, {two, one}, {0.25}, uint16, 1);
      check({"chain", b.finish({both})});
    }
  }
}

TEST(CpuStep, ExtremaAndRanks) {
  Mask mask = rectangle(4, 3, 1, 2);
  mask.cells[3] = mask.cells[8] = 0;
  for (const PixelClass cls : {logical, uint8, uint16, single}) {
    for (const Border border : borders) {
      SpecBuilder b;
      const Operand in = b.input(cls, 3, class_max(cls));
      const Operand image =
          b.add(Point{.body = &bodies::test_stretch}, {in}, {0.75, 0.125}, cls, 3);
      const Operand low = b.add(Extremum{.largest = false, .mask = mask}, {image}, {}, cls, 3);
      const Operand high = b.add(Extremum{.largest = true, .mask = mask}, {low}, {}, cls, 3);
      const Operand middle =
          b.add(Rank{.mask = mask, .rank = 4, .border = border}, {high}, {1}, cls, 3);
      check({"neighbourhoods", b.finish({low, middle})}, false);
    }
  }
}

TEST(CpuStep, CommonMedians) {
  for (const PixelClass cls : {uint8, uint16, single}) {
    for (const Border border : borders) {
      SpecBuilder b;
      const Operand in = b.input(cls, 1, class_max(cls));
      const Operand small = b.add(Rank{.mask = rectangle(3, 3, 1, 1), .rank = 4, .border = border},
                                  {in}, {1}, cls, 1);
      const Operand large = b.add(Rank{.mask = rectangle(5, 5, 2, 2), .rank = 12, .border = border},
                                  {in}, {1}, cls, 1);
      check({"medians", b.finish({small, large})}, false);
    }
  }
}

TEST(CpuStep, APicture) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 1);
  const Operand bright = b.add(Point{.body = &bodies::test_stretch}, {in}, {1.5, -40}, uint8, 1);
  const Operand smooth =
      b.add(Stencil{.taps = rectangle(7, 7, 3, 3)}, {bright}, weights(49, 0), single, 1);
  const Operand sum = b.measure(Reduce{}, smooth, {}, 1, 1);
  const KernelSpec spec = b.finish({smooth, sum});
  std::mt19937 random(3);
  const std::vector<SpecResult> inputs{random_image(random, uint8, 1, {640, 480}, false)};
  const std::vector<SpecResult> all = evaluate_spec(spec, inputs);
  for (const int threads : {1, 2, 5}) {
    const std::vector<SpecResult> got = run_spec(spec, inputs, usable_levels().back(), threads);
    EXPECT_EQ(difference(got[0], all[1]), "");
    EXPECT_EQ(difference(got[1], all[2]), "");
  }
}

TEST(CpuStep, ReductionsShareAPass) {
  for (const PixelClass cls : {logical, uint8, uint16, single}) {
    for (const int channels : {1, 3}) {
      for (const bool with_nan : {false, true}) {
        if (with_nan && cls != single) continue;
        SpecBuilder b;
        const Operand in = b.input(cls, channels, class_max(cls));
        const Operand image =
            b.add(Point{.body = &bodies::test_stretch}, {in}, {0.75, 0.125}, cls, channels);
        std::vector<Operand> outputs{image};
        for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::squared_deviation,
                                      ReduceKind::absolute_sum, ReduceKind::min, ReduceKind::max}) {
          outputs.push_back(b.measure(Reduce{.kind = kind}, image, {0.3}, channels, 1));
        }
        for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::absolute_sum, ReduceKind::count,
                                      ReduceKind::min, ReduceKind::max}) {
          outputs.push_back(
              b.measure(Reduce{.kind = kind, .finite = true}, image, {}, channels, 1));
        }
        if (cls != single) {
          outputs.push_back(b.measure(Reduce{.kind = ReduceKind::spread}, image, {}, channels, 1));
        }
        for (const int bins : {2, 16, 256}) {
          outputs.push_back(b.measure(Histogram{.bins = bins}, image, {}, channels, bins));
        }
        check({"reductions", b.finish(outputs)}, with_nan);
      }
    }
  }
}

// As large as 32 bits hold of a piece, rows with a gap behind them and without.
TEST(CpuStep, SumsOfWhite) {
  for (const PixelClass cls : {uint8, uint16}) {
    for (const Size size :
         {Size{4096, 64}, Size{4095, 64}, Size{8192, 32}, Size{31, 3}, Size{140000, 3}}) {
      SpecBuilder b;
      const Operand in = b.input(cls, 1, class_max(cls));
      const KernelSpec spec =
          b.finish({b.measure(Reduce{.kind = ReduceKind::sum}, in, {}, 1, 1),
                    b.measure(Reduce{.kind = ReduceKind::spread}, in, {}, 1, 1)});
      SpecResult image;
      image.image = {cls, 1, size.width, size.height,
                     std::vector<double>(static_cast<std::size_t>(size.pixels()), class_max(cls))};
      for (const CpuLevel level : usable_levels()) {
        const std::vector<SpecResult> got = run_spec(spec, {image}, level, 1);
        EXPECT_EQ(got[0].measure[0], static_cast<double>(size.pixels()) * class_max(cls))
            << name_of(cls) << " " << to_string(size) << ", level " << static_cast<int>(level);
        EXPECT_EQ(got[1].measure[0], 0)
            << name_of(cls) << " " << to_string(size) << ", level " << static_cast<int>(level);
      }
    }
  }
}

TEST(CpuStep, OneBinACode) {
  for (const PixelClass cls : {logical, uint8, uint16}) {
    const int bins = static_cast<int>(class_max(cls)) + 1;
    SpecBuilder b;
    const Operand in = b.input(cls, 3);
    check({"codes", b.finish({b.measure(Histogram{.rule = BinRule::codes, .bins = bins}, in, {}, 3,
                                        bins)})});
  }
}

TEST(CpuStep, Select) {
  SpecBuilder b;
  const Operand in = b.input(single, 3);
  check({"select", b.finish({b.measure(Select{2}, in, {0, 0}, 3, 2)})});
  SpecBuilder ends;
  const Operand image = ends.input(single, 1);
  const Operand out = ends.measure(Select{2}, image, {}, 1, 2);
  ends.last().arguments = {{.source = Argument::Source::rank_floor, .value = 0.3},
                           {.source = Argument::Source::rank_ceil, .value = 0.9}};
  std::mt19937 random(5);
  SpecResult input = random_image(random, single, 1, {31, 17}, true);
  const std::vector<double> got =
      run_spec(ends.finish({out}), {input}, CpuLevel::baseline, 1)[0].measure;
  std::vector<double> sorted = input.image.values;
  std::sort(sorted.begin(), sorted.end(),
            [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; });
  EXPECT_EQ(got[0], sorted[158]);  // floor(0.3 * 527)
  EXPECT_EQ(got[1], sorted[474]);  // ceil(0.9 * 527) - 1
}

TEST(CpuStep, ScalarsRunOnceAChannel) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3, 255);
  const Operand counts = b.measure(Histogram{.bins = 4}, in, {}, 3, 4);
  b.measure(Scalar{&bodies::test_scalar, 2}, in, {0.5}, 3, 2);
  b.last().images.clear();
  b.last().measures = {counts};
  check({"scalar", b.finish({counts, {false, 1}})});
}

TEST(CpuStep, AScalarOfOneChannelTakesAllValues) {
  Node scalar{.primitive = Scalar{&bodies::test_scalar, 2},
              .measures = {{true, 0}},
              .arguments = {{.value = 0.5}},
              .is_measure = true,
              .cls = single,
              .values = 2};
  check({"scalar of three channels",
         {.inputs = {{.is_measure = true, .channels = 3, .values = 4}},
          .nodes = {scalar},
          .outputs = {0}}});
}

TEST(CpuStep, AllNanHasNoExtremeButNan) {
  SpecBuilder b;
  const Operand in = b.input(single, 1);
  const Operand low = b.measure(Reduce{.kind = ReduceKind::min}, in, {}, 1, 1);
  const Operand high = b.measure(Reduce{.kind = ReduceKind::max}, in, {}, 1, 1);
  const KernelSpec spec = b.finish({low, high});
  SpecImage image{single, 1, 40, 40, std::vector<double>(1600, std::nan(""))};
  for (const CpuLevel level : usable_levels()) {
    const auto got = run_spec(spec, {{image, {}}}, level, 1);
    EXPECT_TRUE(std::isnan(got[0].measure[0]) && std::isnan(got[1].measure[0]));
  }
}

TEST(CpuStep, AnImageCannotWaitForAMeasurementOfItsOwnKernel) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 1);
  const Operand sum = b.measure(Reduce{}, in, {}, 1, 1);
  const Operand out = b.add(Point{.body = &bodies::test_above}, {in}, {}, logical, 1);
  b.last().measures = {sum};
  b.last().arguments = {{.source = Argument::Source::measured}};
  const KernelSpec spec = b.finish({out});
  ThreadPool pool(0);
  try {
    cpu::open_at(CpuLevel::baseline, pool)->prepare(spec);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.what(),
              "cpu: a kernel can't be run: an image waits for a measurement\n" + spec.key());
    EXPECT_EQ(e.code(), ExitCode::backend);
  }
}

}  // namespace
}  // namespace impipe::testing
