// Points before one neighbourhood: points of every kind, each with neighbourhoods of every kind.
#include <gtest/gtest.h>

#include <limits>

#include "backends/cpu/device.hpp"
#include "core/expression.hpp"
#include "support/backend_compare.hpp"
#include "support/masks.hpp"
#include "support/tiled_specs.hpp"

IMPIPE_POINT_BODY(pointed_scale, (x), (k), { return x * k + real(3); })
IMPIPE_POINT_BODY(pointed_blend, (x, y), (k), { return k * x - y; })
IMPIPE_POINT_BODY(pointed_gray, (r, g, b), (k), { return k * r + b - g; })
IMPIPE_POINT_BODY(pointed_power, (x), (k), { return pow(x * x, k); })
IMPIPE_POINT_BODY(pointed_quotient, (x), (k), { return over(x, k); })
IMPIPE_POINT_BODY(pointed_true_quotient, (x), (white),
                  { return over(x, white) == x / white ? real(1) : real(0); })
IMPIPE_POINT_BODY(pointed_stretch, (x), (low, high, from, to, white), {
  const real v = clamp(over(x, white), low, high);
  return (from + (to - from) * over(v - low, high - low)) * white;
})
IMPIPE_POINT_BODY(pointed_line, (x), (k, a, b), { return b - over(a + x * k, b - a); })
IMPIPE_POINT_BODY(pointed_quotients, (r, g, b), (white), {
  const real most = max(max(r, g), b);
  const real apart = most - min(min(r, g), b);
  const real part = (g - b) / apart / real(6);
  const real more = real(1) - b / (r + real(0.25)) + (b - r) / -g;
  return apart == real(0) ? more : part + over(most, white) + more;
})
IMPIPE_STENCIL_BODY(pointed_gradient, (1, 1, 1, 0), (), {
  const real a = (real(3) * at(1, 0) + at(0, -1)) - at(-1, 0);
  const real b = at(0, -1) - at(0, 0) - at(-1, -1);
  const real all = b * b + a * a;
  return sqrt(all);
})

namespace impipe::testing {
namespace {

std::vector<Argument> numbers(std::vector<double> values) {
  std::vector<Argument> out;
  for (const double value : values) out.push_back({.value = value});
  return out;
}

std::vector<Argument> weights(int count, Border border) {
  std::vector<Argument> out;
  for (int i = 0; i < count; ++i) out.push_back({.value = (i % 5 + 0.25) / count});
  if (border == Border::constant) out.push_back({.value = 0.5});
  return out;
}

struct Around {
  const char* name;
  Primitive primitive;
  std::vector<Argument> arguments;
};

std::vector<Around> neighbourhoods(PixelClass cls, Border border) {
  const auto value = [&](double outside) {
    return border == Border::constant ? numbers({outside}) : numbers({});
  };
  const auto separable = [&](const char* name, int width, int height) {
    return Around{
        name,
        Separable{.row = rectangle(width, 1), .column = rectangle(1, height), .border = border},
        weights(width + height, border)};
  };
  std::vector<Around> out = {
      {"weights 3x3", Stencil{.taps = rectangle(3, 3), .border = border}, weights(9, border)},
      {"weights disk", Stencil{.taps = disk(2), .border = border}, weights(13, border)},
      {"gradient", Stencil{.body = &bodies::pointed_gradient, .border = border}, value(200)},
      separable("separable 3x3", 3, 3),
      separable("separable 7x5", 7, 5),
      separable("separable 25x31", 25, 31),
      {"extremum 3x3", Extremum{.largest = true, .mask = rectangle(3, 3)}, {}},
      {"extremum disk", Extremum{.largest = false, .mask = disk(3)}, {}},
      {"rank 3x3", Rank{.mask = rectangle(3, 3), .rank = 4, .border = border}, value(7)},
      {"rank disk", Rank{.mask = disk(2), .rank = 3, .border = border}, value(7)},
  };
  if (cls == PixelClass::single) {
    std::mt19937 random(5);
    out.push_back({"extremum of many runs",
                   Extremum{.largest = true, .mask = random_mask(random, 11, 11, 0.5)},
                   {}});
    out.push_back({"extremum 9x8", Extremum{.largest = false, .mask = rectangle(9, 8)}, {}});
  }
  return out;
}

struct Before {
  const char* name;
  Point point;
  int images;
  std::vector<Argument> arguments;
  int channels_in, channels;
};

const Before scale{"scale", {.body = &bodies::pointed_scale}, 1, numbers({0.75}), 1, 1};
const Before gray{
    "gray", {.body = &bodies::pointed_gray, .mixes_channels = true}, 1, numbers({0.5}), 3, 1};

// Those of one channel first.
std::vector<Before> points(PixelClass cls) {
  const auto place = std::make_shared<Expression>(
      parse_expression("x + col - row * 0.5", {.known = {"x", "col", "row"}}));
  const Point blend{.body = &bodies::pointed_blend};
  Before scale_of_colours = scale;
  scale_of_colours.channels_in = scale_of_colours.channels = 3;
  return {
      scale,
      {"blend", blend, 2, numbers({1.5}), 1, 1},
      {"place", {.expression = place}, 1, {}, 1, 1},
      cls == PixelClass::single ? gray : scale,
      scale_of_colours,
      {"blend", blend, 2, numbers({1.5}), 3, 3},
  };
}

SpecCase spec(const Before& before, const Around& around, PixelClass cls) {
  const KernelInput input{.cls = cls, .channels = before.channels_in, .white = class_max(cls)};
  const auto node = [&](Primitive primitive, std::vector<Operand> images,
                        std::vector<Argument> arguments) {
    return Node{.primitive = std::move(primitive),
                .images = std::move(images),
                .arguments = std::move(arguments),
                .cls = cls,
                .channels = before.channels,
                .white = class_max(cls)};
  };
  std::vector<KernelInput> inputs(static_cast<std::size_t>(before.images), input);
  std::vector<Operand> images;
  for (int i = 0; i < before.images; ++i) images.push_back({true, i});
  return {std::string(before.name) + " before " + around.name + " " + std::string(name_of(cls)) +
              " x" + std::to_string(before.channels),
          {std::move(inputs),
           {node(before.point, images, before.arguments),
            node(around.primitive, {{false, 0}}, around.arguments)},
           {1}},
          1};
}

}  // namespace

std::vector<SpecCase> pointed_specs() {
  constexpr Border borders[] = {Border::constant, Border::replicate, Border::symmetric};
  std::vector<SpecCase> specs;
  std::size_t next = 0;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single, PixelClass::uint16}) {
    const std::vector<Before> before = points(cls);
    const std::size_t kinds = neighbourhoods(cls, Border::constant).size();
    for (std::size_t k = 0; k < kinds; ++k, ++next) {
      const Around around = neighbourhoods(cls, borders[next % 3])[k];
      // Where three channels would take more registers or local memory than a group has.
      const std::string_view name = around.name;
      const bool disks = cls != PixelClass::uint8 && name.find("disk") != name.npos;
      const bool wide = disks || name == "separable 25x31";
      specs.push_back(spec(before[next % (wide ? 4 : before.size())], around, cls));
    }
  }
  for (const char* name : {"extremum disk", "rank 3x3"}) {
    for (const Around& around : neighbourhoods(PixelClass::logical, Border::replicate)) {
      if (around.name == std::string_view(name)) {
        specs.push_back(spec(scale, around, PixelClass::logical));
      }
    }
  }
  return specs;
}

// The last has groups that lie inside with all they read.
const std::vector<Size> pointed_sizes = {{1, 1}, {1, 70}, {290, 1}, {130, 41}, {803, 57}};

std::vector<SpecCase> stored_point_specs() {
  Before power = scale, quotient = scale;
  power.point.body = &bodies::pointed_power;
  quotient.point.body = &bodies::pointed_quotient;
  const auto around = [](PixelClass cls, Border border) { return neighbourhoods(cls, border)[0]; };
  const PixelClass bytes = PixelClass::uint8, words = PixelClass::uint16,
                   floats = PixelClass::single;
  return {spec(power, around(floats, Border::replicate), floats),
          spec(quotient, around(words, Border::replicate), words),
          spec(gray, around(bytes, Border::replicate), bytes),
          spec(scale, around(bytes, Border::circular), bytes)};
}

namespace {

// Planes of bytes in which every two of the first two meet, and a third.
std::vector<Planes> three_of_bytes() {
  std::vector<Planes> out;
  for (int plane = 0; plane < 3; ++plane) {
    Plane bytes(PixelClass::uint8, {512, 256});
    for (std::int64_t y = 0; y < 256; ++y) {
      for (std::int64_t x = 0; x < 512; ++x) {
        const std::int64_t third = x < 256 ? (x * 37 + y * 11) / 3 : x == 511 ? y : 255 - x / 2;
        bytes.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(plane == 0   ? y
                                                                     : plane == 1 ? x
                                                                                  : third);
      }
    }
    Planes planes;
    planes.push_back(std::move(bytes));
    out.push_back(std::move(planes));
  }
  return out;
}

SpecCase of_three_bytes(const PointBody& body, const std::vector<double>& arguments,
                        PixelClass cls) {
  const KernelInput input{.cls = PixelClass::uint8, .channels = 1};
  const Node node{.primitive = Point{.body = &body},
                  .images = {{true, 0}, {true, 1}, {true, 2}},
                  .arguments = numbers(arguments),
                  .cls = cls,
                  .white = class_max(cls)};
  return {body.name, {{input, input, input}, {node}, {0}}, 1};
}

Plane all_codes() {
  Plane codes(PixelClass::uint16, {256, 256});
  for (std::int64_t y = 0; y < 256; ++y) {
    for (std::int64_t x = 0; x < 256; ++x) {
      codes.row_as<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(256 * y + x);
    }
  }
  return codes;
}

}  // namespace

void expect_true_quotients_by_white(Device& device) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const Plane codes = all_codes();
  for (const double white : {255.0, 1000.0, 4095.0, 65535.0}) {
    Node node{.primitive = Point{.body = &bodies::pointed_true_quotient},
              .images = {{true, 0}},
              .arguments = {{.value = white}},
              .cls = PixelClass::uint16,
              .white = white};
    const SpecCase spec{"quotients",
                        {{{.cls = PixelClass::uint16, .channels = 1, .white = white}}, {node}, {0}},
                        1};
    EXPECT_EQ(Comparison(spec, *cpu, device).difference({{codes}}), "") << white;
  }
}

void expect_stretches_of_all_codes(Device& device) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const Plane codes = all_codes();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  struct Row {
    const PointBody& body;
    std::vector<double> arguments;
  };
  const Row rows[] = {
      // Limits, many halves, steep and flat lines, down and constant.
      {bodies::pointed_stretch, {0.2, 0.9, 0, 1, 65535}},
      {bodies::pointed_stretch, {0, 1, 0.25, 0.75, 65535}},
      {bodies::pointed_stretch, {0, 1, 0, 1.5, 65535}},
      {bodies::pointed_stretch, {0.1, 0.9, 0.9, 0.1, 65535}},
      {bodies::pointed_stretch, {0.5, 0.503, 0, 1, 65535}},
      {bodies::pointed_stretch, {0.5, 0.50002, 0.1, 1, 65535}},
      {bodies::pointed_stretch, {0.1, 0.9, 0.3, 0.3, 65535}},
      {bodies::pointed_stretch, {0, 1, 0, 1, 4095}},
      {bodies::pointed_stretch, {0.25, 2.5, 0, 0.5, 1000}},
      // Beyond all codes; the wrong way round; nothing between; no numbers; too large.
      {bodies::pointed_stretch, {2, 3, 0.1, 1, 65535}},
      {bodies::pointed_stretch, {-2, -1, 0.1, 0.6, 65535}},
      {bodies::pointed_stretch, {0.9, 0.2, 0, 1, 65535}},
      {bodies::pointed_stretch, {0.5, 0.5, 0, 1, 65535}},
      {bodies::pointed_stretch, {nan, 0.5, 0, 1, 65535}},
      {bodies::pointed_stretch, {0, 1, 1e30, 1, 65535}},
      {bodies::pointed_stretch, {0, 1, 0, 1, 1e-300}},
      {bodies::pointed_line, {-7, -65535, 65535}},
      {bodies::pointed_line, {0.5, 3, 4}},
      {bodies::pointed_line, {1, 1e16, 1e16 + 2}},
      {bodies::pointed_line, {0, 5, 5}},
  };
  for (const PixelClass cls : {PixelClass::uint16, PixelClass::uint8}) {
    for (const Row& row : rows) {
      const Node node{.primitive = Point{.body = &row.body},
                      .images = {{true, 0}},
                      .arguments = numbers(row.arguments),
                      .cls = cls,
                      .white = class_max(cls)};
      const SpecCase spec{"lines", {{{.cls = PixelClass::uint16, .channels = 1}}, {node}, {0}}, 1};
      EXPECT_EQ(Comparison(spec, *cpu, device).difference({{codes}}), "")
          << row.body.name << " " << &row - rows << " " << name_of(cls);
    }
  }
}

void expect_quotients_of_codes(Device& device) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  const std::vector<Planes> bytes = three_of_bytes();
  for (const double white : {255.0, 200.0, 1.0}) {
    const SpecCase spec = of_three_bytes(bodies::pointed_quotients, {white}, PixelClass::single);
    EXPECT_EQ(Comparison(spec, *cpu, device).difference(bytes), "") << white;
  }
}

}  // namespace impipe::testing
