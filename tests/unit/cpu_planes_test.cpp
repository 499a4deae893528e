// Kernels of several channels on the CPU: they become planes, and each channel gets what it gets as
// an image of its own.
#include <gtest/gtest.h>

#include <numeric>

#include "backends/cpu/plane_graph.hpp"
#include "core/expression.hpp"
#include "support/spec_case.hpp"

IMPIPE_POINT_BODY(planes_scale, (x), (gain), { return x * gain; })
IMPIPE_POINT_BODY(planes_gray, (r, g, b), (),
                  { return real(0.25) * r + real(0.5) * g + real(0.25) * b; })
IMPIPE_STENCIL_BODY(planes_step, (1, 1, 0, 1), (k), { return abs(at(1, 1) - at(-1, 0)) * k; })

namespace impipe::testing {
namespace {

using enum PixelClass;

SpecImage channel_of(const SpecImage& image, int channel) {
  SpecImage out{image.cls, 1, image.width, image.height, {}};
  for (std::size_t i = static_cast<std::size_t>(channel); i < image.values.size();
       i += static_cast<std::size_t>(image.channels)) {
    out.values.push_back(image.values[i]);
  }
  return out;
}

// Results of every kind, the image turned at the end.
KernelSpec chain(PixelClass cls, int channels) {
  SpecBuilder b;
  const Operand in = b.input(cls, channels);
  const Operand scaled = b.add(Point{.body = &bodies::planes_scale}, {in}, {1.25}, cls, channels);
  const Operand stepped = b.add(Stencil{.body = &bodies::planes_step, .border = Border::symmetric},
                                {scaled}, {0.5}, cls, channels);
  const Operand eroded = b.add(Extremum{.largest = false, .mask = rectangle(3, 2, 1, 0)}, {stepped},
                               {}, cls, channels);
  const Operand turned =
      b.add(Permute{.transpose = true, .flip_x = true}, {eroded}, {}, cls, channels);
  const Operand sums = b.measure(Reduce{}, stepped, {}, channels, 1);
  const Operand counts = b.measure(Histogram{.bins = 5}, scaled, {}, channels, 5);
  return b.finish({turned, sums, counts});
}

TEST(CpuPlanes, EachOfAnyNumberOfChannelsGetsWhatItGetsAlone) {
  std::mt19937 random(11);
  for (const int channels : {2, 3, 4, 7}) {
    for (const PixelClass cls : {uint8, uint16, single}) {
      const SpecResult in = random_image(random, cls, channels, {53, 38}, false);
      for (const int threads : {1, 4}) {
        const auto all = run_spec(chain(cls, channels), {in}, CpuLevel::baseline, threads);
        for (int c = 0; c < channels; ++c) {
          const auto alone =
              run_spec(chain(cls, 1), {{channel_of(in.image, c), {}}}, CpuLevel::baseline, 1);
          EXPECT_EQ(channel_of(all[0].image, c).values, alone[0].image.values);
          EXPECT_EQ(all[1].measure[c], alone[1].measure[0]);
          const auto first = all[2].measure.begin() + 5 * c;
          EXPECT_EQ(std::vector<double>(first, first + 5), alone[2].measure);
        }
      }
    }
  }
}

TEST(CpuPlanes, WholeImagesToo) {
  std::mt19937 random(12);
  const auto resized = [](int channels) {
    SpecBuilder b;
    const Operand in = b.input(uint16, channels);
    return b.finish({b.add(Resample{}, {in}, {17, 0, 0, 0}, uint16, channels)});
  };
  const SpecResult in = random_image(random, uint16, 5, {40, 23}, false);
  const SpecResult all = run_spec(resized(5), {in}, CpuLevel::baseline, 3)[0];
  for (int c = 0; c < 5; ++c) {
    const SpecResult alone =
        run_spec(resized(1), {{channel_of(in.image, c), {}}}, CpuLevel::baseline, 1)[0];
    EXPECT_EQ(channel_of(all.image, c).values, alone.image.values);
  }
}

std::vector<int> groups_of(const cpu::PlaneGraph& graph) {
  std::vector<int> groups;
  for (const cpu::PlaneNode& node : graph.nodes) groups.push_back(node.group);
  return groups;
}

TEST(CpuPlanes, ChannelsThatDoNotMixShareNothing) {
  const cpu::PlaneGraph graph = cpu::plane_graph(chain(uint8, 3));
  EXPECT_EQ(graph.groups, 3);
  EXPECT_EQ(graph.inputs.size(), 3u);
  EXPECT_EQ(graph.channels, (std::vector<int>{3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(groups_of(graph),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(CpuPlanes, ATableForAllChannelsDoesNotJoinThem) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3), table = b.input(uint8, 1);
  const KernelSpec spec = b.finish({b.add(Point{.lookup = true}, {in, table}, {}, uint8, 3)});
  const cpu::PlaneGraph graph = cpu::plane_graph(spec);
  EXPECT_EQ(graph.groups, 3);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(graph.nodes[c].images, (std::vector<Operand>{{true, c}, {true, 3}}));
  }
}

TEST(CpuPlanes, APointThatMixesChannelsReadsThreePlanes) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3);
  const Operand scaled = b.add(Point{.body = &bodies::planes_scale}, {in}, {1.25}, uint8, 3);
  const Operand gray =
      b.add(Point{.body = &bodies::planes_gray, .mixes_channels = true}, {scaled}, {}, uint8, 1);
  const cpu::PlaneGraph graph = cpu::plane_graph(b.finish({gray}));
  EXPECT_EQ(graph.groups, 1);
  EXPECT_EQ(graph.first_of_node, (std::vector<int>{0, 3}));
  EXPECT_EQ(graph.nodes[3].images, (std::vector<Operand>{{false, 0}, {false, 1}, {false, 2}}));
}

TEST(CpuPlanes, AnExpressionNamesItsPlanes) {
  SpecBuilder b;
  const Operand in = b.input(single, 3), other = b.input(single, 1);
  const auto expression = std::make_shared<const Expression>(
      parse_expression("x + b * o - row", {.known = {}, .others = true, .taps = false})
          .with_variables({"x", "r", "g", "b", "o", "row"}));
  const KernelSpec spec = b.finish(
      {b.add(Point{.expression = expression, .mixes_channels = true}, {in, other}, {}, single, 3)});
  const cpu::PlaneGraph graph = cpu::plane_graph(spec);
  // r and g are not read: the channel that x is stands for them.
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(graph.nodes[c].images,
              (std::vector<Operand>{{true, c}, {true, c}, {true, c}, {true, 2}, {true, 3}}));
  }
}

}  // namespace
}  // namespace impipe::testing
