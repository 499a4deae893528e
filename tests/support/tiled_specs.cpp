// Kernels whose groups share work, and sizes around those of their tiles.
#include "support/tiled_specs.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "backends/cpu/device.hpp"
#include "core/moderate.hpp"
#include "support/backend_compare.hpp"
#include "support/masks.hpp"

namespace impipe::bodies {
extern const ScalarBody otsu_parts, otsu;
}
IMPIPE_POINT_BODY(chain_scale, (x), (k), { return x * k + real(3); })
IMPIPE_POINT_BODY(tiled_quotients, (x), (low, high, white),
                  { return over(over(x, white) - low, high - low) * white; })
IMPIPE_POINT_BODY(chain_blend, (x, y), (k), { return k * x + y; })
IMPIPE_POINT_BODY(tiled_mix, (r, g, b), (k), { return k * r + real(0.25) * g - b * r / real(3); })
IMPIPE_POINT_BODY(tiled_mean, (r, g, b), (white), {
  return (real(0.299) * over(r, white) + real(0.587) * over(g, white) +
          real(0.114) * over(b, white)) *
         white;
})
// Halves, so that the body has to decide.
IMPIPE_POINT_BODY(tiled_halves, (r, g, b), (white), {
  return (real(0.25) * over(r, white) + real(0.5) * over(g, white) + real(0.125) * over(b, white)) *
         white;
})
IMPIPE_POINT_BODY(tiled_offset, (x), (middle), { return x - middle; })
IMPIPE_POINT_BODY(tiled_square, (x), (), { return x * x; })
IMPIPE_POINT_BODY(tiled_part_of_square, (x), (scale),
                  { return fma(floor(x * x * scale), real(3), -x); })
IMPIPE_POINT_BODY(tiled_moderate, (x, y), (a, b),
                  { return quotient(y * a, y + b) + root(y) * quotient(abs(x), abs(x) * a + b); })
IMPIPE_POINT_BODY(tiled_spread, (sum, squares), (cells), { return cells * squares - sum * sum; })
// Of pixels at all ends of a window that no registers hold.
IMPIPE_STENCIL_BODY(tiled_far, (7, 6, 5, 8), (scale), {
  return (at(-7, -5) - at(6, 8)) * scale + (at(-7, 8) + at(6, -5)) + at(0, 0);
})
IMPIPE_STENCIL_BODY(chain_gradient, (1, 1, 1, 2), (scale),
                    { return (at(-1, -1) + at(1, 2) - at(0, 0) - at(1, -1)) * scale; })

namespace impipe::testing {
namespace {

KernelInput image(PixelClass cls, int channels) {
  return {.cls = cls, .channels = channels, .white = class_max(cls)};
}

SpecCase of_one(const std::string& name, Primitive primitive, std::vector<double> arguments,
                PixelClass cls, int channels) {
  Node node{.primitive = std::move(primitive),
            .images = {{true, 0}},
            .cls = cls,
            .channels = channels,
            .white = class_max(cls)};
  for (const double value : arguments) node.arguments.push_back({.value = value});
  return {name + " " + std::string(name_of(cls)) + " x" + std::to_string(channels),
          {{image(cls, channels)}, {node}, {0}},
          1};
}

Node one(Primitive primitive, int from, std::vector<double> arguments, PixelClass cls) {
  Node node{.primitive = std::move(primitive),
            .images = {{false, from}},
            .cls = cls,
            .white = class_max(cls)};
  for (const double value : arguments) node.arguments.push_back({.value = value});
  return node;
}

// Without some rows, and with two runs in others.
Mask with_gaps(Mask mask) {
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (y / 4 % 5 == 1 || (y > 30 && x / 9 == 2)) mask.cells[y * mask.width + x] = 0;
    }
  }
  return mask;
}

// Extrema with heights of extrema with heights.
SpecCase closing_with_heights(PixelClass cls) {
  constexpr double beyond = std::numeric_limits<double>::infinity();
  const auto stage = [&](Combine combine, double outside) {
    const double sign = combine == Combine::largest ? 1 : -1, step = 0.125 * class_max(cls);
    return one(Stencil{.taps = rectangle(3, 2), .combine = combine, .border = Border::constant}, 0,
               {0, sign * step, 0, -sign * step, 0, sign * step, outside}, cls);
  };
  Node first = stage(Combine::largest, -beyond);
  first.images = {{true, 0}};
  return {"closing with heights " + std::string(name_of(cls)),
          {{image(cls, 1)}, {first, stage(Combine::smallest, beyond)}, {1}},
          1};
}

std::vector<double> weights(int count, bool with_border) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back((i % 5 + 0.25) / count);
  if (with_border) out.push_back(0.5);
  return out;
}

// Those that lie in blocks that are sorted first: two of them to each side, more, and one.
template <class Add>
void add_ranks_of_blocks(const Add& add) {
  Mask aside = rectangle(80, 3);
  aside.origin_x = 78;
  aside.origin_y = 0;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    add("rank 63x63", rectangle(63, 63), 1984, Border::symmetric, cls);
    add("rank 48x50", rectangle(48, 50), 1199, Border::constant, cls, true);
    add("rank 65x65", rectangle(65, 65), 0, Border::replicate, cls);
    add("rank disk 31 with gaps", with_gaps(disk(31)), 700, Border::reflect, cls);
    add("rank blocks aside", aside, 239, Border::reflect, cls);
  }
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    add("rank 70x67", rectangle(70, 67), 2344, Border::circular, cls, true);
    add("rank 130x66", rectangle(130, 66), 8579, Border::constant, cls);
    add("rank 3x140", rectangle(3, 140), 210, Border::replicate, cls);
    add("rank disk 40 with gaps", with_gaps(disk(40)), 2000, Border::symmetric, cls, true);
    add("rank 700x1", rectangle(700, 1), 9, Border::symmetric, cls);
  }
  add("rank 70x40", rectangle(70, 40), 1399, Border::constant, PixelClass::logical, true);
  add("rank 180x180", rectangle(180, 180), 16000, Border::symmetric, PixelClass::uint16);
}

// Ranks of windows that sorted columns and tiles of ranks take, beside some that they do not.
void add_ranks(std::vector<SpecCase>& specs) {
  const auto add = [&](const std::string& name, Mask mask, int rank, Border border, PixelClass cls,
                       bool average = false) {
    std::vector<double> outside;
    if (border == Border::constant) outside.push_back(cls == PixelClass::single ? 0.25 : 1);
    specs.push_back(
        of_one(name + " rank " + std::to_string(rank) + " " + std::string(name_of(border)),
               Rank{.mask = std::move(mask), .rank = rank, .average = average, .border = border},
               outside, cls, 1));
  };
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    add("rank 7x7", rectangle(7, 7), 24, Border::constant, cls);
    add("rank 7x7", rectangle(7, 7), 0, Border::symmetric, cls);
    add("rank 7x7", rectangle(7, 7), 47, Border::replicate, cls, true);
    add("rank 7x6", rectangle(7, 6), 20, Border::circular, cls, true);
    add("rank 7x2", rectangle(7, 2), 9, Border::reflect, cls);
    add("rank 6x6", rectangle(6, 6), 17, Border::symmetric, cls, true);
    add("rank 6x3", rectangle(6, 3), 17, Border::constant, cls);
    add("rank 4x4", rectangle(4, 4), 7, Border::replicate, cls, true);
    add("rank 4x7", rectangle(4, 7), 1, Border::circular, cls);
    add("rank 5x7", rectangle(5, 7), 17, Border::constant, cls);
    add("rank 3x6", rectangle(3, 6), 8, Border::reflect, cls, true);
  }
  add("rank 7x7", rectangle(7, 7), 24, Border::constant, PixelClass::logical);
  // Two of them in a program.
  for (const PixelClass cls : {PixelClass::uint16, PixelClass::single}) {
    Node first =
        one(Rank{.mask = rectangle(9, 9), .rank = 40, .border = Border::replicate}, 0, {}, cls);
    first.images = {{true, 0}};
    const Node second =
        one(Rank{.mask = disk(6), .rank = 50, .border = Border::symmetric}, 0, {}, cls);
    specs.push_back(
        {"rank of ranks " + std::string(name_of(cls)), {{image(cls, 1)}, {first, second}, {1}}, 1});
  }
  add("rank disk 10", disk(10), 149, Border::circular, PixelClass::uint8);
  add("rank disk 24 with gaps", with_gaps(disk(24)), 500, Border::constant, PixelClass::uint8,
      true);
  // Histograms: averages, and columns of masks.
  for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8}) {
    add("rank 8x8", rectangle(8, 8), 31, Border::constant, cls, true);
    add("rank 20x20", rectangle(20, 20), 199, Border::symmetric, cls, true);
    add("rank disk 5", disk(5), 40, Border::replicate, cls);
    add("rank disk 7", disk(7), 74, Border::constant, cls, true);
    add("rank disk 31", disk(31), 1500, Border::symmetric, cls);
  }
  for (const PixelClass cls : {PixelClass::uint16, PixelClass::single}) {
    add("rank 8x8", rectangle(8, 8), 31, Border::constant, cls, true);
    add("rank disk 7", disk(7), 74, Border::reflect, cls, true);
  }
  Mask aside = rectangle(40, 3);
  aside.origin_x = 38;
  aside.origin_y = 0;
  for (const PixelClass cls : {PixelClass::uint16, PixelClass::single}) {
    add("rank 31x31", rectangle(31, 31), 480, Border::constant, cls);
    add("rank 9x9", rectangle(9, 9), 0, Border::symmetric, cls);
    add("rank 5x55", rectangle(5, 55), 273, Border::replicate, cls, true);
    add("rank aside", aside, 119, Border::reflect, cls);
    add("rank disk 10", disk(10), 149, Border::circular, cls);
    add("rank disk 24 with gaps", with_gaps(disk(24)), 500, Border::constant, cls, true);
    add("rank 57x3", rectangle(57, 3), 80, Border::constant, cls);
  }
  add_ranks_of_blocks(add);
}

// Channels of one filter that a point mixes, which a tile makes one after the other; stored, before
// another point, and measured.
void add_mixed(std::vector<SpecCase>& specs) {
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate, Border::circular}) {
      const int side = border == Border::circular ? 33 : 11;
      SpecCase c = of_one(
          "mixed separable " + std::string(name_of(border)),
          Separable{.row = rectangle(side, 1), .column = rectangle(1, side), .border = border},
          weights(2 * side, border == Border::constant), cls, 3);
      std::vector<Node>& nodes = c.spec.nodes;
      nodes.push_back(
          one(Point{.body = &bodies::tiled_mix, .mixes_channels = true}, 0, {0.375}, cls));
      if (border == Border::replicate) {
        nodes.push_back(one(Point{.body = &bodies::chain_scale}, 1, {0.5}, cls));
      }
      c.spec.outputs = {static_cast<int>(nodes.size()) - 1};
      if (border == Border::constant) {
        Node sum = one(Reduce{.kind = ReduceKind::sum}, 1, {}, PixelClass::single);
        sum.is_measure = true;
        sum.values = 1;
        nodes.push_back(sum);
        c.spec.outputs = {2};
      }
      specs.push_back(std::move(c));
    }
  }
}

// Windows that are longer than registers hold, by themselves and mixed; and the same of a point
// that divides by white.
void add_long_windows(std::vector<SpecCase>& specs) {
  const std::pair<int, int> sides[] = {{61, 61}, {101, 3}, {125, 89}, {58, 130}, {70, 301}};
  const Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                            Border::reflect};
  int turn = 0;
  for (const auto& [width, height] : sides) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      const Border border = borders[turn++ % 4];
      Mask row = rectangle(width, 1);
      if (turn % 3 == 0) row.origin_x = width - 3;
      SpecCase c = of_one("long separable " + std::to_string(width) + "x" + std::to_string(height) +
                              " " + std::string(name_of(border)),
                          Separable{.row = row, .column = rectangle(1, height), .border = border},
                          weights(width + height, border == Border::constant), cls, 1);
      specs.push_back(std::move(c));
    }
  }
  Mask gaps = rectangle(61, 1);
  gaps.cells[2] = gaps.cells[50] = 0;
  specs.push_back(of_one("long separable with gaps",
                         Separable{.row = gaps, .column = rectangle(1, 61)}, weights(120, true),
                         PixelClass::uint8, 1));
  for (const int side : {7, 61}) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
      SpecCase c = of_one(
          "mean of mixed separable " + std::to_string(side),
          Separable{.row = rectangle(side, 1), .column = rectangle(1, side), .border = borders[0]},
          weights(2 * side, true), cls, 3);
      c.spec.nodes[0].cls = PixelClass::single;
      c.spec.nodes.push_back(one(Point{.body = &bodies::tiled_mean, .mixes_channels = true}, 0,
                                 {class_max(cls)}, PixelClass::single));
      c.spec.outputs = {1};
      specs.push_back(std::move(c));
    }
  }
}

// Bodies that read around a pixel further than registers reach, alone and before a point.
void add_far_bodies(std::vector<SpecCase>& specs) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate, Border::symmetric}) {
      std::vector<double> arguments = {0.25};
      if (border == Border::constant) arguments.push_back(7);
      SpecCase c = of_one("far body, " + std::string(name_of(border)),
                          Stencil{.body = &bodies::tiled_far, .border = border}, arguments, cls, 1);
      specs.push_back(c);
      c.name += " before a point";
      c.spec.nodes.push_back(one(Point{.body = &bodies::chain_scale}, 0, {0.5}, cls));
      c.spec.outputs = {1};
      specs.push_back(std::move(c));
    }
  }
}

// Quotients and roots of moderate numbers, 0 among them.
void add_moderate_numbers(std::vector<SpecCase>& specs) {
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    for (const double b : {1e-9, 0.37, 4e11}) {
      SpecCase c = of_one("moderate numbers " + std::to_string(b),
                          Point{.body = &bodies::tiled_offset}, {128}, cls, 1);
      std::vector<Node>& nodes = c.spec.nodes;
      nodes[0].cls = PixelClass::single;
      nodes.push_back(one(Point{.body = &bodies::tiled_square}, 0, {}, PixelClass::single));
      nodes.push_back(
          one(Point{.body = &bodies::tiled_moderate}, 0, {3e-3, b}, PixelClass::single));
      nodes.back().images.push_back({false, 1});
      c.spec.outputs = {2};
      specs.push_back(std::move(c));
    }
  }
}

// Behind sums of a plane and of its squares and what a point makes of both: an image of that and of
// the sums, and sums of the two images.
void sum_again(SpecCase& c) {
  std::vector<Node>& nodes = c.spec.nodes;
  c.name += " and of what they make";
  Separable again = std::get<Separable>(nodes[2].primitive);
  again.any_order = false;
  std::vector<double> all;
  for (const Argument& argument : nodes[2].arguments) all.push_back(argument.value);
  nodes.push_back(one(Point{.body = &bodies::chain_blend}, 2, {0.5}, PixelClass::single));
  nodes.back().images.push_back({false, 4});
  nodes.push_back(one(again, 5, all, PixelClass::single));
  nodes.push_back(one(again, 4, all, PixelClass::single));
  nodes.push_back(one(Point{.body = &bodies::chain_blend}, 6, {0.25}, c.spec.inputs[0].cls));
  nodes.back().images.push_back({false, 7});
  c.spec.outputs = {8};
}

SpecCase sums_of_points(int width, int height, Border border, PixelClass cls, bool ones) {
  const bool value = border == Border::constant;
  std::vector<double> all = weights(width + height, value);
  if (ones) std::fill(all.begin(), all.begin() + width + height, 1.0);
  if (value) all.back() = 3;
  const Separable sum{.row = rectangle(width, 1),
                      .column = rectangle(1, height),
                      .border = border,
                      .any_order = ones};
  SpecCase c = of_one("sums of " + std::to_string(width) + "x" + std::to_string(height) +
                          (ones ? " in any order " : " ") + std::string(name_of(border)),
                      Point{.body = &bodies::tiled_offset}, {128}, cls, 1);
  std::vector<Node>& nodes = c.spec.nodes;
  nodes[0].cls = PixelClass::single;
  nodes.push_back(one(Point{.body = &bodies::tiled_square}, 0, {}, PixelClass::single));
  nodes.push_back(one(sum, 0, all, PixelClass::single));
  nodes.push_back(one(sum, 1, all, PixelClass::single));
  nodes.push_back(one(Point{.body = &bodies::tiled_spread}, 2,
                      {static_cast<double>(width * height)}, PixelClass::single));
  nodes.back().images.push_back({false, 3});
  c.spec.outputs = {4};
  return c;
}

// The same of other classes, by points of a few steps that read the plane itself.
SpecCase sums_of_parts(int width, int height, Border border, PixelClass cls, bool ones) {
  SpecCase c = sums_of_points(width, height, border, cls, ones);
  c.name = "parts: " + c.name;
  const bool codes = cls == PixelClass::uint16;
  for (std::size_t k = 0; k < 2; ++k) {
    Node& node = c.spec.nodes[k];
    node.primitive = Point{.body = &bodies::tiled_part_of_square};
    node.images = {{true, 0}};
    node.arguments = {{.value = (k == 0 ? 1 : 0.5) * (codes ? 0x1p-16 : 100)}};
  }
  return c;
}

// Sums of bytes and of their squares over rectangles, which a tile makes one after the other of
// what it reads once: in any order, and by weights that are none of ones. The same of parts of the
// squares of 16 bits and of floats.
void add_sums_of_points(std::vector<SpecCase>& specs) {
  const std::pair<int, int> sides[] = {{9, 9}, {4, 6}, {1, 15}, {15, 2}, {5, 1}};
  int turn = 0;
  for (const auto& [width, height] : sides) {
    for (const Border border : {Border::constant, Border::replicate, Border::symmetric}) {
      const PixelClass cls = turn % 4 == 3 ? PixelClass::logical : PixelClass::uint8;
      const bool ones = turn++ % 3 != 2;
      const bool exact = ones && turn % 2 == 0;  // of floats in any order
      specs.push_back(sums_of_parts(width, height, border,
                                    exact || turn % 4 > 1 ? PixelClass::uint16 : PixelClass::single,
                                    exact));
      SpecCase c = sums_of_points(width, height, border, cls, ones);
      specs.push_back(c);
      if (border == Border::constant || !ones || width == 1 || height == 1) continue;
      sum_again(c);
      specs.push_back(std::move(c));
    }
  }
}

// Neighbourhoods that are stored and measured: by CUDA as they are made.
void add_measured_neighbourhoods(std::vector<SpecCase>& specs) {
  Mask low = rectangle(4, 3), steep = rectangle(2, 5);
  low.origin_x = 2;
  steep.origin_x = 0;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate}) {
      const bool constant = border == Border::constant;
      for (const Mask& mask : {low, steep, Mask{}}) {
        const bool sums = mask.width > 0;
        std::vector<double> arguments =
            sums ? weights(mask.count(), constant) : std::vector<double>{0.5};
        if (!sums && constant) arguments.push_back(-3);
        const Stencil body{.body = &bodies::chain_gradient, .border = border};
        SpecCase c =
            of_one("measured neighbourhood " + std::string(name_of(border)) +
                       (sums ? " of " + std::to_string(mask.width) : ""),
                   sums ? Stencil{.taps = mask, .border = border} : body, arguments, cls, 1);
        c.spec.nodes[0].cls = PixelClass::single;
        for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::min, ReduceKind::max}) {
          if (kind == ReduceKind::min && !constant) continue;
          Node measure = one(Reduce{.kind = kind}, 0, {}, PixelClass::single);
          measure.is_measure = true;
          measure.values = 1;
          c.spec.outputs.push_back(static_cast<int>(c.spec.nodes.size()));
          c.spec.nodes.push_back(measure);
        }
        specs.push_back(c);
        // Nothing but its measurements leaves the kernel.
        c.spec.outputs.erase(c.spec.outputs.begin());
        c.name += ", not stored";
        specs.push_back(std::move(c));
      }
    }
  }
}

}  // namespace

std::vector<SpecCase> many_weight_specs() {
  std::vector<SpecCase> specs;
  Mask aside = rectangle(12, 5);
  aside.origin_x = 11;
  aside.origin_y = 0;
  const std::vector<std::pair<std::string, Mask>> masks = {
      {"disk 4", disk(4)},          {"31x31", rectangle(31, 31)},
      {"9x8", rectangle(9, 8)},     {"disk 9 with gaps", with_gaps(disk(9))},
      {"37x3", rectangle(37, 3)},   {"aside", aside},
      {"63x63", rectangle(63, 63)}, {"disk 24 with gaps", with_gaps(disk(24))},
      {"3x37", rectangle(3, 37)},   {"37x5 with gaps", with_gaps(rectangle(37, 5))}};
  const Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                            Border::circular};
  int turn = 0;
  for (const auto& [name, mask] : masks) {
    for (const PixelClass cls :
         {PixelClass::uint8, PixelClass::single, PixelClass::uint16, PixelClass::logical}) {
      if (cls == PixelClass::logical && turn % 3 != 0) continue;
      const Border border = borders[turn++ % 4];
      specs.push_back(of_one("many weights " + name + " " + std::string(name_of(border)),
                             Stencil{.taps = mask, .border = border},
                             weights(mask.count(), border == Border::constant), cls,
                             turn % 5 == 0 ? 3 : 1));
    }
  }
  return specs;
}

// Boxes of codes, whose sums floats hold or not: with a point behind them, mixed from channels, and
// of all places that they reach, which no tile makes.
void add_boxes(std::vector<SpecCase>& specs) {
  const std::pair<int, int> sides[] = {{5, 5},   {4, 7},    {16, 31}, {45, 2},
                                       {63, 63}, {33, 120}, {70, 9}};
  const Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                            Border::circular};
  int turn = 0;
  for (const auto& [width, height] : sides) {
    for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
      const Border border = borders[turn++ % 4];
      std::vector<double> all(static_cast<std::size_t>(width), 1);
      all.insert(all.end(), static_cast<std::size_t>(height), 1.0 / width / height);
      if (border == Border::constant) all.push_back(0);
      Separable box{.row = rectangle(width, 1),
                    .column = rectangle(1, height),
                    .border = border,
                    .any_order = true};
      const std::string name = "box " + std::to_string(width) + "x" + std::to_string(height) + " " +
                               std::string(name_of(border));
      SpecCase c = of_one(name, box, all, cls, 1);
      if (cls == PixelClass::logical) c.spec.nodes[0].cls = PixelClass::single;
      specs.push_back(c);
      c.name += " and a point";
      c.spec.nodes.push_back(
          one(Point{.body = &bodies::tiled_offset}, 0, {128}, PixelClass::single));
      c.spec.outputs = {1};
      specs.push_back(std::move(c));
      if (turn % 2 == 0) {
        box.grow_x = width - 1;
        box.grow_y = height - 1;
        box.shift_x = box.row.origin_x - box.grow_x;
        box.shift_y = box.column.origin_y - box.grow_y;
        specs.push_back(of_one(name + " full", box, all, cls, 1));
        if (cls == PixelClass::logical) specs.back().spec.nodes[0].cls = PixelClass::single;
        continue;
      }
      SpecCase mixed = of_one(name + " mixed", box, all, cls, 3);
      mixed.spec.nodes[0].cls = PixelClass::single;
      mixed.spec.nodes.push_back(one(Point{.body = &bodies::tiled_mean, .mixes_channels = true}, 0,
                                     {class_max(cls)}, PixelClass::single));
      mixed.spec.outputs = {1};
      specs.push_back(std::move(mixed));
    }
  }
}

// Points with quotients behind neighbourhoods of bytes, which look their results up.
void add_tables(std::vector<SpecCase>& specs) {
  const auto separable = [](int width, int height) {
    return Separable{
        .row = rectangle(width, 1), .column = rectangle(1, height), .border = Border::replicate};
  };
  const auto stretched = [](PixelClass cls) {
    return one(Point{.body = &bodies::tiled_quotients}, 0, {0.1, 0.8, 255}, cls);
  };
  std::vector<SpecCase> before = {
      of_one("separable 7x5", separable(7, 5), weights(12, false), PixelClass::uint8, 1),
      of_one("separable 33x33", separable(33, 33), weights(66, false), PixelClass::uint8, 3),
      of_one("separable 63x63", separable(63, 63), weights(126, false), PixelClass::uint8, 1),
      of_one("sums of 19x19", Stencil{.taps = rectangle(19, 19), .border = Border::replicate},
             weights(361, false), PixelClass::uint8, 1),
      of_one("sums of 3x2", Stencil{.taps = rectangle(3, 2), .border = Border::replicate},
             weights(6, false), PixelClass::uint8, 1),
      of_one("rank 5x5", Rank{.mask = rectangle(5, 5), .rank = 13}, {0}, PixelClass::uint8, 1),
      of_one("rank disk", Rank{.mask = disk(4), .rank = 20}, {0}, PixelClass::uint8, 1),
      of_one("extremum disk", Extremum{.largest = true, .mask = disk(6)}, {}, PixelClass::uint8, 1),
      of_one("extremum 3x3", Extremum{.largest = false, .mask = rectangle(3, 3)}, {},
             PixelClass::logical, 1)};
  for (SpecCase& c : before) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
      SpecCase after = c;
      after.name += " looked up " + std::string(name_of(cls));
      after.spec.nodes.push_back(stretched(cls));
      after.spec.outputs = {1};
      specs.push_back(after);
    }
  }
  // Channels that are mixed behind them.
  for (const std::size_t n : {std::size_t{0}, std::size_t{5}, std::size_t{7}}) {
    SpecCase mixed = before[n];
    mixed.name += " looked up and mixed";
    mixed.spec.inputs[0].channels = mixed.spec.nodes[0].channels = 3;
    mixed.spec.nodes.push_back(stretched(PixelClass::uint8));
    mixed.spec.nodes[1].channels = 3;
    mixed.spec.nodes.push_back(one(Point{.body = &bodies::tiled_mean, .mixes_channels = true}, 1,
                                   {255}, PixelClass::uint8));
    mixed.spec.outputs = {2};
    specs.push_back(std::move(mixed));
  }
  // In chains, and two tables of one result.
  SpecCase chain =
      of_one("looked up in a chain", separable(3, 3), weights(6, false), PixelClass::uint8, 1);
  chain.spec.nodes.push_back(stretched(PixelClass::uint8));
  chain.spec.nodes.push_back(one(separable(3, 3), 1, weights(6, false), PixelClass::single));
  chain.spec.outputs = {2};
  specs.push_back(chain);
  // Bytes that a point makes of 16-bit pixels.
  SpecCase narrowed = of_one("looked up after 16 bits", Point{.body = &bodies::chain_scale},
                             {0.003}, PixelClass::uint16, 1);
  narrowed.spec.nodes[0].cls = PixelClass::uint8;
  narrowed.spec.nodes.push_back(stretched(PixelClass::uint8));
  narrowed.spec.outputs = {1};
  specs.push_back(narrowed);
  SpecCase two = before[0];
  two.name = "two looked up";
  two.spec.nodes.push_back(stretched(PixelClass::uint8));
  two.spec.nodes.push_back(
      one(Point{.body = &bodies::tiled_quotients}, 0, {0.3, 0.4, 255}, PixelClass::uint8));
  Node both = one(Point{.body = &bodies::chain_blend}, 1, {0.25}, PixelClass::single);
  both.images.push_back({false, 2});
  two.spec.nodes.push_back(both);
  two.spec.outputs = {3};
  specs.push_back(two);
}

std::vector<SpecCase> tiled_specs() {
  std::vector<SpecCase> specs = many_weight_specs();
  add_boxes(specs);
  add_tables(specs);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate, Border::symmetric}) {
      const std::string of = " " + std::string(name_of(border));
      const bool value = border == Border::constant;
      specs.push_back(
          of_one("separable 33x33" + of,
                 Separable{.row = rectangle(33, 1), .column = rectangle(1, 33), .border = border},
                 weights(66, value), cls, 1));
      specs.push_back(
          of_one("separable 7x5" + of,
                 Separable{.row = rectangle(7, 1), .column = rectangle(1, 5), .border = border},
                 weights(12, value), cls, 3));
    }
  }
  add_sums_of_points(specs);
  add_far_bodies(specs);
  add_moderate_numbers(specs);
  add_long_windows(specs);
  Mask gap = rectangle(9, 1);
  gap.cells[2] = gap.cells[8] = 0;
  specs.push_back(of_one("separable with gaps", Separable{.row = gap, .column = rectangle(1, 3)},
                         weights(10, true), PixelClass::uint16, 1));
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    specs.push_back(
        of_one("extremum 63x63", Extremum{.largest = true, .mask = rectangle(63, 63)}, {}, cls, 1));
    specs.push_back(of_one("extremum 150x10",
                           Extremum{.largest = false, .mask = rectangle(150, 10)}, {}, cls, 1));
  }
  Mask aside = rectangle(12, 300);
  aside.origin_x = 0;
  aside.origin_y = 260;
  specs.push_back(of_one("extremum to one side", Extremum{.largest = false, .mask = aside}, {},
                         PixelClass::uint8, 3));
  specs.push_back(of_one("extremum 2x33", Extremum{.largest = true, .mask = rectangle(2, 33)}, {},
                         PixelClass::single, 3));
  specs.push_back(of_one("extremum 9x1", Extremum{.largest = true, .mask = rectangle(9, 1)}, {},
                         PixelClass::single, 1));
  // More runs than a kernel's text names.
  const Mask checkers = mask_of(13, 13, [](int x, int y) { return (x + y) % 2 == 0; });
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    specs.push_back(of_one("rank of 85 runs", Rank{.mask = checkers, .rank = 40}, {}, cls, 1));
  }
  std::mt19937 random(11);
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    const Extremum many{.largest = cls != PixelClass::logical,
                        .mask = random_mask(random, 11, 11, 0.5)};
    specs.push_back(of_one("extremum of many runs", many, {}, cls, 1));
    const Mask line = mask_of(17, 17, [](int x, int y) { return x + y == 0 || x + y == 1; });
    specs.push_back(of_one("extremum of a long line",
                           Extremum{.largest = cls == PixelClass::uint8, .mask = line}, {}, cls,
                           1));
    specs.push_back(
        of_one("extremum disk 7", Extremum{.largest = true, .mask = disk(7)}, {}, cls, 1));
    specs.push_back(of_one("extremum disk 37 with gaps",
                           Extremum{.largest = false, .mask = with_gaps(disk(37))}, {}, cls, 1));
    specs.push_back(of_one("transpose", Permute{.transpose = true}, {}, cls, 1));
    specs.push_back(of_one("quarter turn", Permute{.transpose = true, .flip_y = true}, {}, cls, 1));
  }
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    specs.push_back(of_one("column of weights",
                           Stencil{.taps = rectangle(1, 7), .border = Border::symmetric},
                           weights(7, false), cls, 1));
  }
  Mask nothing = rectangle(1, 1);
  nothing.cells[0] = 0;
  specs.push_back(of_one("no weights", Stencil{.taps = nothing, .border = Border::symmetric}, {},
                         PixelClass::single, 1));
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    specs.push_back(closing_with_heights(cls));
  }
  // White is 1, and is not; the last divides by what is too small for a reciprocal.
  for (const std::vector<double>& limits :
       {std::vector<double>{0.1, 0.8, 1}, {0.25, 0.75, 3}, {0, 1e-9, 1}}) {
    specs.push_back(of_one("quotients", Point{.body = &bodies::tiled_quotients}, limits,
                           PixelClass::single, 1));
  }
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    for (const PointBody* body : {&bodies::tiled_mean, &bodies::tiled_halves}) {
      for (const double white : {class_max(cls), 1e-150}) {
        SpecCase mean =
            of_one("mean of codes", Point{.body = body, .mixes_channels = true}, {white}, cls, 3);
        mean.spec.nodes[0].channels = 1;
        specs.push_back(std::move(mean));
      }
    }
  }
  // In double; the last two leave the range of a reciprocal.
  for (const std::vector<double>& limits : {std::vector<double>{0.1, 0.8, 65535},
                                            {13.0 / 65535, 0.7, 65535},
                                            {0.25, 0.25, 65535},
                                            {0, 1e-200, 65535}}) {
    specs.push_back(of_one("quotients", Point{.body = &bodies::tiled_quotients}, limits,
                           PixelClass::uint16, 1));
  }
  add_ranks(specs);
  add_mixed(specs);
  return specs;
}

std::vector<SpecCase> measured_specs() {
  std::vector<SpecCase> specs;
  add_measured_neighbourhoods(specs);
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    std::vector<Node> nodes;
    for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::min, ReduceKind::max}) {
      nodes.push_back({.primitive = Reduce{.kind = kind}, .images = {{true, 0}}});
    }
    nodes.push_back({.primitive = Reduce{.kind = ReduceKind::squared_deviation},
                     .images = {{true, 0}},
                     .arguments = {{.value = 0.375}}});
    nodes.push_back({.primitive = Histogram{.bins = 40}, .images = {{true, 0}}});
    for (Node& node : nodes) {
      node.is_measure = true;
      node.cls = PixelClass::single;
      node.values = 1;
    }
    nodes.back().values = 40;
    specs.push_back({"measurements " + std::string(name_of(cls)),
                     {{image(cls, 1)}, nodes, {0, 1, 2, 3, 4}},
                     1});
  }
  // What one scalar's group makes is read by all work-items of the next one's; of 65,536 codes by
  // several groups.
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
    const int codes = static_cast<int>(class_max(cls)) + 1, groups = codes > 256 ? 64 : 1;
    const auto measured = [](Primitive primitive, int values) {
      Node node{.primitive = std::move(primitive), .cls = PixelClass::single};
      node.is_measure = true;
      node.values = values;
      return node;
    };
    Node counts = measured(Histogram{.rule = BinRule::codes, .bins = codes}, codes);
    counts.images = {{true, 0}};
    const int values = 1 + 3 * groups;
    Node parts = measured(Scalar{&bodies::otsu_parts, values, groups}, values);
    parts.measures = {{false, 0}};
    parts.arguments = {{.value = class_max(cls)}, {.value = 0}, {.value = 0}};
    Node threshold = measured(Scalar{&bodies::otsu, 2}, 2);
    threshold.measures = {{false, 1}};
    threshold.arguments = {{.value = class_max(cls)}, {.value = 0}, {.value = 2}};
    specs.push_back({"threshold " + std::string(name_of(cls)),
                     {{image(cls, 1)}, {counts, parts, threshold}, {2}},
                     1});
  }
  return specs;
}

std::vector<SpecCase> chained_specs() {
  std::vector<SpecCase> specs;
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate}) {
      for (const bool separable : {true, false}) {
        const bool value = border == Border::constant;
        Node adjust = one(Point{.body = &bodies::chain_scale}, 0, {0.75}, cls);
        adjust.images = {{true, 0}};
        Node filter =
            separable ? one(Separable{.row = rectangle(5, 1),
                                      .column = rectangle(1, 7),
                                      .border = border},
                            0, weights(12, value), cls)
                      : one(Stencil{.taps = disk(2), .border = border}, 0, weights(13, value), cls);
        std::vector<double> shift = {0.5};
        if (!value) shift.push_back(-3);
        const Node gradient = one(Stencil{.body = &bodies::chain_gradient,
                                          .border = value ? Border::replicate : Border::constant},
                                  1, shift, PixelClass::single);
        Node blend = one(Point{.body = &bodies::chain_blend}, 2, {0.25}, cls);
        blend.images.push_back({true, 0});
        specs.push_back({"chain " + std::string(name_of(cls)) + " " + std::string(name_of(border)) +
                             (separable ? " separable" : ""),
                         {{image(cls, 1)}, {adjust, filter, gradient, blend}, {3}},
                         1});
      }
    }
  }
  // Two neighbourhoods read one plane, and a third reads around what one of them makes.
  for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const Border border : {Border::constant, Border::replicate}) {
      const bool value = border == Border::constant;
      std::vector<double> shift = {0.5};
      if (value) shift.push_back(-3);
      Node slope = one(Stencil{.body = &bodies::chain_gradient, .border = border}, 0, shift,
                       PixelClass::single);
      slope.images = {{true, 0}};
      const Node again = one(Stencil{.body = &bodies::chain_gradient, .border = Border::constant},
                             0, {0.25, 2}, PixelClass::single);
      Node sum =
          one(Stencil{.taps = disk(1), .border = border}, 0, weights(5, value), PixelClass::single);
      sum.images = {{true, 0}};
      Node blend = one(Point{.body = &bodies::chain_blend}, 1, {0.25}, cls);
      blend.images.push_back({false, 2});
      specs.push_back({"chain that reads a plane twice, " + std::string(name_of(cls)) + " " +
                           std::string(name_of(border)),
                       {{image(cls, 1)}, {slope, again, sum, blend}, {3}},
                       1});
    }
  }
  // What is summed again, before it and behind it, is read at several places on the way.
  const std::pair<int, int> sides[] = {{5, 5}, {4, 3}, {2, 5}};
  for (const auto& [width, height] : sides) {
    for (const Border border : {Border::constant, Border::replicate}) {
      for (const bool ones : {true, false}) {
        const PixelClass cls = height == 3 ? PixelClass::logical : PixelClass::uint8;
        specs.push_back(sums_of_points(width, height, border, cls, ones));
        sum_again(specs.back());
        specs.back().name = "forked chain, " + specs.back().name;
      }
    }
  }
  return specs;
}

const std::vector<Size> tile_sizes = {{1, 300}, {300, 1}, {64, 128}, {131, 67}, {200, 290}};
const std::vector<Size> measured_sizes = {{2100, 40}, {33, 700}, {1024, 1100},
                                          {1, 2000},  {129, 65}, {1026, 31}};

void expect_bits_of_the_cpu(const std::vector<SpecCase>& specs, const std::vector<Size>& sizes,
                            Device& device) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  compile(device, specs);
  for (const SpecCase& spec : specs) {
    try {
      Comparison comparison(spec, *cpu, device);
      for (const Size size : sizes) {
        EXPECT_EQ(comparison.difference(size, 7), "") << spec.name << " at " << to_string(size);
      }
    } catch (const std::exception& e) {
      ADD_FAILURE() << spec.name << ": " << e.what();
    }
  }
}

std::vector<SpecCase> all_specs() {
  std::vector<SpecCase> all;
  std::set<std::string> known;
  for (const std::vector<SpecCase>& part :
       {kernel_specs(), tiled_specs(), measured_specs(), chained_specs(), pointed_specs(),
        stored_point_specs(), moved_specs(), byte_specs()}) {
    for (const SpecCase& c : part) {
      if (known.insert(c.spec.key()).second) all.push_back(c);
    }
  }
  return all;
}

void expect_numbers_beside_none(Device& device) {
  ThreadPool pool(0);
  const std::unique_ptr<Device> cpu = cpu::open(0, pool);
  constexpr Size size{150, 90};
  for (const SpecCase& spec : many_weight_specs()) {
    if (spec.spec.nodes[0].cls != PixelClass::single || spec.spec.nodes[0].channels > 1) continue;
    Plane plane(PixelClass::single, size);
    for (int y = 0; y < size.height; ++y) {
      for (int x = 0; x < size.width; ++x) {
        plane.row_as<float>(y)[x] = static_cast<float>((x * 7 + y * 13) % 31);
      }
    }
    plane.row_as<float>(45)[70] = std::numeric_limits<float>::infinity();
    plane.row_as<float>(20)[131] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Planes> images(1, Planes(1, plane));
    EXPECT_EQ(Comparison(spec, *cpu, device).difference(images), "") << spec.name;
  }
}

}  // namespace impipe::testing
