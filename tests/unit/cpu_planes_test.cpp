// Kernels of several channels on the CPU: they become planes, and each channel gets what it gets as
// an image of its own.
#include <gtest/gtest.h>

#include <numeric>

#include "backends/cpu/plane_graph.hpp"
#include "core/expression.hpp"
#include "core/plane_kernel.hpp"
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
  const cpu::PlaneGraph graph = cpu::plane_graph(plane_kernel(chain(uint8, 3)).spec);
  EXPECT_EQ(graph.groups, 3);
  EXPECT_EQ(graph.inputs.size(), 3u);
  EXPECT_EQ(groups_of(graph),
            (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(CpuPlanes, ATableForAllChannelsDoesNotJoinThem) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3), table = b.input(uint8, 1);
  const KernelSpec spec = b.finish({b.add(Point{.lookup = true}, {in, table}, {}, uint8, 3)});
  const cpu::PlaneGraph graph = cpu::plane_graph(plane_kernel(spec).spec);
  EXPECT_EQ(graph.groups, 3);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(graph.nodes[c].images, (std::vector<Operand>{{true, c}, {true, 3}}));
  }
}

TEST(PlaneKernel, ReadsThreePlanesWhereChannelsAreMixed) {
  SpecBuilder b;
  const Operand in = b.input(uint8, 3);
  const Operand scaled = b.add(Point{.body = &bodies::planes_scale}, {in}, {1.25}, uint8, 3);
  const Operand gray =
      b.add(Point{.body = &bodies::planes_gray, .mixes_channels = true}, {scaled}, {}, uint8, 1);
  const PlaneKernel made = plane_kernel(b.finish({gray}));
  EXPECT_EQ(made.spec.planes, 1);
  EXPECT_EQ(made.inputs, (std::vector<int>{0, 0, 0}));
  ASSERT_EQ(made.spec.nodes.size(), 4u);
  EXPECT_EQ(made.spec.nodes[3].images, (std::vector<Operand>{{false, 0}, {false, 1}, {false, 2}}));
  EXPECT_EQ(made.spec.output_channels, (std::vector<int>{own_channel}));
  EXPECT_EQ(cpu::plane_graph(made.spec).groups, 1);
}

TEST(PlaneKernel, HasAPlaneForEachVariableOfAnExpression) {
  SpecBuilder b;
  const Operand in = b.input(single, 3), other = b.input(single, 1);
  const auto expression = std::make_shared<const Expression>(
      parse_expression("x + b * o - row", {.known = {}, .others = true, .taps = false})
          .with_variables({"x", "r", "g", "b", "o", "row"}));
  const KernelSpec spec = b.finish(
      {b.add(Point{.expression = expression, .mixes_channels = true}, {in, other}, {}, single, 3)});
  const PlaneKernel made = plane_kernel(spec);
  EXPECT_EQ(made.inputs, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(made.outputs, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(made.spec.output_channels, (std::vector<int>{0, 1, 2}));
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(made.spec.nodes[c].images,
              (std::vector<Operand>{{true, c}, {true, 0}, {true, 1}, {true, 2}, {true, 3}}));
  }
}

TEST(PlaneKernel, MakesEachChannelFromAnImageOfItsOwn) {
  SpecBuilder b;
  const Operand first = b.input(uint8, 1), second = b.input(uint8, 1);
  const Operand scaled = b.add(Point{.body = &bodies::planes_scale}, {first}, {1.25}, uint8, 1);
  const PlaneKernel made =
      plane_kernel(b.finish({b.add(Point{.body = &bodies::planes_scale, .mixes_channels = true},
                                   {scaled, second, scaled}, {1.0}, uint8, 3)}));
  EXPECT_EQ(made.spec.planes, 1);
  EXPECT_EQ(made.spec.output_channels, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(made.spec.nodes.size(), 4u);
  EXPECT_EQ(made.spec.nodes[1].images, (std::vector<Operand>{{false, 0}}));
  EXPECT_EQ(made.spec.nodes[2].images, (std::vector<Operand>{{true, 1}}));
  EXPECT_EQ(made.spec.nodes[3].images, (std::vector<Operand>{{false, 0}}));
}

TEST(PlaneKernel, GivesAGrayImageToEveryChannel) {
  SpecBuilder b;
  const Operand colour = b.input(uint8, 3), gray = b.input(uint8, 1);
  const Operand scaled = b.add(Point{.body = &bodies::planes_scale}, {gray}, {1.25}, uint8, 1);
  const PlaneKernel made = plane_kernel(b.finish(
      {b.add(Point{.body = &bodies::planes_gray}, {colour, scaled, scaled}, {}, uint8, 3)}));
  EXPECT_EQ(made.spec.planes, 1);
  ASSERT_EQ(made.spec.nodes.size(), 4u);  // the gray one is computed once
  int gray_node = 0;
  while (made.spec.nodes[static_cast<std::size_t>(gray_node)].images.size() != 1) ++gray_node;
  for (const int output : made.spec.outputs) {
    const std::vector<Operand>& images = made.spec.nodes[static_cast<std::size_t>(output)].images;
    ASSERT_EQ(images.size(), 3u);
    EXPECT_TRUE(images[0].external);
    EXPECT_EQ(images[1], (Operand{false, gray_node}));
    EXPECT_EQ(images[2], (Operand{false, gray_node}));
  }
}

TEST(PlaneKernel, KeepsNumbersOfAChannelWithIt) {
  // A point of colour that takes its own channel's number of one measurement and channel 0's of
  // another.
  KernelSpec spec{.inputs = {{.channels = 3},
                             {.is_measure = true, .channels = 3, .values = 2},
                             {.is_measure = true, .channels = 3, .values = 2}},
                  .outputs = {0}};
  Node node{.primitive = Point{.body = &bodies::planes_scale},
            .images = {{true, 0}},
            .measures = {{true, 1}, {true, 2}},
            .channels = 3};
  const auto measured = Argument::Source::measured;
  node.arguments = {{.source = measured, .measure = 0, .element = 1, .per_channel = true},
                    {.source = measured, .measure = 1, .element = 0}};
  spec.nodes = {node};
  const PlaneKernel made = plane_kernel(spec);
  EXPECT_EQ(made.spec.planes, 3);
  ASSERT_EQ(made.spec.inputs.size(), 3u);
  EXPECT_EQ(made.spec.inputs[1].channel, own_channel);
  EXPECT_EQ(made.spec.inputs[2].channel, 0);
  EXPECT_EQ(made.spec.nodes[0].arguments[0].measure, 0);
  EXPECT_EQ(made.spec.nodes[0].arguments[1].measure, 1);
  // Plane 4 is channel 1 of the second image; channel 0 of that image is the stack's plane 3.
  EXPECT_EQ(plane_of(own_channel, 4, 3, 3), 4);
  EXPECT_EQ(plane_of(0, 4, 3, 3), 3);
  EXPECT_EQ(plane_of(whole_image, 4, 1, 3), 1);
}

}  // namespace
}  // namespace impipe::testing
