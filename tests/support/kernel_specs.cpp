// A table of kernels: every primitive with every class, 1 and 3 channels and every border, and
// fused chains.
#include "support/kernel_specs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "core/expression.hpp"
#include "core/object_table.hpp"
#include "core/pair_code.hpp"
#include "core/primitive_facts.hpp"
#include "support/masks.hpp"

IMPIPE_POINT_BODY(table_adjust, (x), (low, high, white), {
  const real v = clamp(x / white, low, high);
  return (v - low) / (high - low) * white;
})
IMPIPE_POINT_BODY(table_blend, (x, y), (k), { return k * x - y / real(3); })
IMPIPE_POINT_BODY(table_gray, (r, g, b), (),
                  { return real(0.25) * r + real(0.5) * g + real(0.25) * b; })
IMPIPE_POINT_BODY(table_above, (x), (threshold), { return x > threshold ? real(1) : real(0); })
IMPIPE_POINT_BODY(table_scale, (x), (k), { return x * k; })
IMPIPE_POINT_BODY(table_weighted, (r, g, b), (k, l, m, from),
                  { return r * k + g * l + b * m + from; })
IMPIPE_POINT_BODY(table_four, (a, b, c, d), (k), { return (a - b) * k + (c - d); })
IMPIPE_POINT_BODY(table_power, (x), (k), { return pow(x / real(65535), k) * real(65535); })
IMPIPE_STENCIL_BODY(table_gradient, (1, 1, 1, 1), (scale), {
  const real h = (at(-1, -1) + at(0, -1) + at(1, -1)) - (at(-1, 1) + at(0, 1) + at(1, 1));
  const real v = (at(-1, -1) + at(-1, 0) + at(-1, 1)) - (at(1, -1) + at(1, 0) + at(1, 1));
  return sqrt(h * h + v * v) * scale;
})
IMPIPE_STENCIL_BODY(table_difference, (0, 2, 1, 0), (), { return at(2, 0) - at(0, -1); })
IMPIPE_SCALAR_BODY(table_range, {
  double low = in[0];
  double high = in[0];
  const int n = (int)count[0];
  for (int i = 1; i < n; ++i) {
    low = min(low, in[i]);
    high = max(high, in[i]);
  }
  out[0] = low;
  out[1] = high + args[0];
})
// The place where half of what was counted lies below, and the parts below each.
IMPIPE_GROUP_BODY(table_parts, {
  const int bins = (int)count[0];
  const int part = (bins + items - 1) / items;
  const int first = item * part;
  const int end = first + part < bins ? first + part : bins;
  double own = 0;
  for (int i = first; i < end; ++i) own += in[i];
  double total;
  double seen = sum_before(own, &total);
  int from_end = -1;
  for (int i = first; i < end; ++i) {
    seen += in[i];
    if (from_end < 0 && seen > args[0] * total) from_end = bins - i;
    out[i + 1] = seen / total;
  }
  const double largest = largest_of_group(from_end);
  if (item == 0) out[0] = bins - largest;
})
IMPIPE_SCALAR_BODY(table_mean, { out[0] = in[0] / args[0] + floor(args[1]); })

namespace impipe::testing {
namespace {

constexpr PixelClass classes[] = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                  PixelClass::single};
constexpr Border borders[] = {Border::constant, Border::replicate, Border::symmetric,
                              Border::circular};

double white_of(PixelClass cls) { return class_max(cls); }

KernelInput image(PixelClass cls, int channels) {
  return {.cls = cls, .channels = channels, .white = white_of(cls)};
}
KernelInput measure(std::int64_t values, int channels) {
  return {.is_measure = true, .channels = channels, .values = values};
}
Operand input(int index) { return {true, index}; }
Operand result(int node) { return {false, node}; }
Argument number(double value) { return {.value = value}; }
Argument measured(int element, bool per_channel) {
  return {.source = Argument::Source::measured, .element = element, .per_channel = per_channel};
}

Node node(Primitive primitive, std::vector<Operand> images, std::vector<Argument> arguments,
          PixelClass cls, int channels) {
  return {.primitive = std::move(primitive),
          .images = std::move(images),
          .arguments = std::move(arguments),
          .cls = cls,
          .channels = channels,
          .white = white_of(cls)};
}
Node sink(Primitive primitive, Operand from, std::vector<Argument> arguments, int channels,
          std::int64_t values) {
  Node made =
      node(std::move(primitive), {from}, std::move(arguments), PixelClass::single, channels);
  made.is_measure = true;
  made.values = values;
  return made;
}

std::shared_ptr<const Expression> expression(const char* text, bool taps = false) {
  return std::make_shared<Expression>(parse_expression(
      text,
      {.known = {"x", "r", "g", "b", "col", "row", "width", "height", "white", "acc", "other"},
       .others = true,
       .taps = taps}));
}

std::vector<Argument> weights(int count, bool with_border) {
  std::vector<Argument> out;
  for (int i = 0; i < count; ++i) out.push_back(number((i % 5 - 1.25) / count));
  if (with_border) out.push_back(number(0.5));
  return out;
}

// Whole numbers, some of which leave the class.
std::vector<Argument> heights(int count) {
  std::vector<Argument> out;
  for (int i = 0; i < count; ++i) out.push_back(number(i % 7 * 40 - 100));
  return out;
}

class Table {
 public:
  std::vector<SpecCase> cases;

  void add(const std::string& name, std::vector<KernelInput> inputs, std::vector<Node> nodes,
           std::vector<int> outputs = {}, int least = 1) {
    if (outputs.empty()) outputs = {static_cast<int>(nodes.size()) - 1};
    cases.push_back({name, {std::move(inputs), std::move(nodes), std::move(outputs)}, least});
  }

  void add_points(PixelClass cls, int channels, const std::string& of) {
    const double w = white_of(cls);
    add("point adjust" + of, {image(cls, channels)},
        {node(Point{.body = &bodies::table_adjust}, {input(0)},
              {number(0.1), number(0.85), number(w)}, cls, channels)});
    add("point blend with one channel" + of, {image(cls, channels), image(PixelClass::uint8, 1)},
        {node(Point{.body = &bodies::table_blend}, {input(0), input(1)}, {number(1.5)}, cls,
              channels)});
    if (channels == 1) {
      add("point expression" + of, {image(cls, channels)},
          {node(
              Point{.expression = expression("x > white / 2 ? x - col : max(x, row) + width / 7")},
              {input(0)}, {}, cls, channels)});
    }
    Node own =
        node(Point{.body = &bodies::table_adjust}, {input(0)},
             {measured(0, true), measured(1, true), number(w)}, PixelClass::uint16, channels);
    own.measures = {input(1)};
    add("point measured" + of, {image(cls, channels), measure(2, channels)}, {own});
    if (channels == 3) {
      add("point gray" + of, {image(cls, 3)},
          {node(Point{.body = &bodies::table_gray, .mixes_channels = true}, {input(0)}, {}, cls,
                1)});
      add("point swap" + of, {image(cls, 3)},
          {node(Point{.expression = expression("(x + g) / 2 - b"), .mixes_channels = true},
                {input(0)}, {}, cls, 3)});
    }
    if (cls == PixelClass::single) {
      add("point in double" + of, {image(cls, channels)},
          {node(Point{.body = &bodies::table_scale, .in_double = true}, {input(0)}, {number(0.3)},
                cls, channels)});
    }
    if (cls == PixelClass::uint8) {
      add("point to logical" + of, {image(cls, channels)},
          {node(Point{.body = &bodies::table_above}, {input(0)}, {number(99.5)},
                PixelClass::logical, channels)});
    }
  }

  void add_permutes(PixelClass cls, int channels, const std::string& of) {
    add("permute transpose" + of, {image(cls, channels)},
        {node(Permute{.transpose = true}, {input(0)}, {}, cls, channels)});
    if (cls == PixelClass::logical || cls == PixelClass::uint16) return;
    if (channels == 1) {
      add("permute quarter" + of, {image(cls, channels)},
          {node(Permute{.transpose = true, .flip_x = true}, {input(0)}, {}, cls, channels)});
    } else {
      add("permute half" + of, {image(cls, channels)},
          {node(Permute{.flip_x = true, .flip_y = true}, {input(0)}, {}, cls, channels)});
    }
  }

  void add_bordered(PixelClass cls, int channels, Border border, const std::string& of) {
    const bool value = border == Border::constant;
    const Mask taps = border == Border::replicate ? disk(2) : rectangle(5, 3);
    add("stencil weights" + of, {image(cls, channels)},
        {node(Stencil{.taps = taps, .border = border}, {input(0)}, weights(taps.count(), value),
              cls, channels)});
    add("separable" + of, {image(cls, channels)},
        {node(Separable{.row = rectangle(5, 1), .column = rectangle(1, 7), .border = border},
              {input(0)}, weights(12, value), cls, channels)});
    const Mask window = border == Border::symmetric ? diamond(2) : rectangle(3, 3);
    std::vector<Argument> outside;
    if (value) outside.push_back(number(cls == PixelClass::single ? 0.25 : 1));
    const bool average = border == Border::circular;
    add("rank" + of, {image(cls, channels)},
        {node(Rank{.mask = window, .rank = 3, .average = average, .border = border}, {input(0)},
              outside, cls, channels)});
    // Counts of bytes and of more, and the further digits of wider classes.
    if (channels == 1 && (cls == PixelClass::uint8 || (cls == PixelClass::single && value))) {
      const Mask large = border == Border::symmetric  ? disk(4)
                         : border == Border::circular ? rectangle(9, 29)
                                                      : rectangle(8, 6);
      add("rank large" + of, {image(cls, channels)},
          {node(Rank{.mask = large, .rank = 20, .average = average, .border = border}, {input(0)},
                outside, cls, channels)});
    }
    const bool some = cls == PixelClass::uint8 || cls == PixelClass::single;
    if (value && channels == 1 && some) {
      std::vector<Argument> offsets = heights(window.count());
      offsets.insert(offsets.end(), outside.begin(), outside.end());
      add("rank offsets" + of, {image(cls, channels)},
          {node(Rank{.mask = window, .rank = 5, .offsets = true, .border = border}, {input(0)},
                offsets, cls, channels)});
    }
    if (value && channels == 1 && some) {
      const bool largest = cls != PixelClass::single;
      std::vector<Argument> all = heights(taps.count());
      all.push_back(number(largest ? -HUGE_VAL : HUGE_VAL));
      add("heights" + of, {image(cls, channels)},
          {node(Stencil{.taps = taps,
                        .combine = largest ? Combine::largest : Combine::smallest,
                        .border = border},
                {input(0)}, all, cls, channels)});
    }
    if (cls == PixelClass::uint16) return;  // the rest of a stencil does not depend on the class
    const bool few = border == Border::replicate || border == Border::symmetric;
    if (channels == 3 && (few || cls != PixelClass::uint8)) return;
    add("stencil body" + of, {image(cls, channels)},
        {node(Stencil{.body = &bodies::table_gradient, .border = border}, {input(0)},
              value ? std::vector{number(0.5), number(2)} : std::vector{number(0.5)},
              PixelClass::single, channels)});
    if (channels == 3 || few || cls == PixelClass::logical) return;
    Mask reach = rectangle(5, 3);
    add("stencil expression" + of, {image(cls, channels)},
        {node(
            Stencil{.expression = expression("(at(-2, 0) + at(2, 1) - x) / 3 + col / width", true),
                    .taps = reach,
                    .border = border},
            {input(0)}, value ? std::vector{number(1)} : std::vector<Argument>{}, cls, channels)});
  }

  void add_extrema(PixelClass cls, int channels, const std::string& of) {
    add("extremum 3x3" + of, {image(cls, channels)},
        {node(Extremum{.largest = false, .mask = rectangle(3, 3)}, {input(0)}, {}, cls, channels)});
    if (channels == 1) {
      add("extremum 15x7" + of, {image(cls, channels)},
          {node(Extremum{.largest = true, .mask = rectangle(15, 7)}, {input(0)}, {}, cls,
                channels)});
    }
    if (channels == 3 || cls == PixelClass::uint8) {
      add("extremum disk" + of, {image(cls, channels)},
          {node(Extremum{.largest = channels == 1, .mask = disk(channels == 1 ? 4 : 3)}, {input(0)},
                {}, cls, channels)});
    }
  }

  // Networks that share columns, and two neighbourhoods in one kernel.
  void add_shared(PixelClass cls, int channels, const std::string& of) {
    std::vector<Argument> outside = {number(cls == PixelClass::single ? 0.25 : 1)};
    add("rank 5x5" + of, {image(cls, channels)},
        {node(Rank{.mask = rectangle(5, 5), .rank = 12}, {input(0)}, outside, cls, channels)});
    add("rank 5x4" + of, {image(cls, channels)},
        {node(Rank{.mask = rectangle(5, 4), .rank = 9, .average = true}, {input(0)}, outside, cls,
              channels)});
    if (channels == 1) {
      add("rank of 29 cells" + of, {image(cls, channels)},
          {node(Rank{.mask = disk(3), .rank = 20}, {input(0)}, outside, cls, channels)});
      if (cls == PixelClass::uint8) {
        add("rank of 41 cells" + of, {image(cls, channels)},
            {node(Rank{.mask = diamond(4), .rank = 9}, {input(0)}, outside, cls, channels)});
      }
      // Few cells far apart.
      add("rank of a slanted line" + of, {image(cls, channels)},
          {node(Rank{.mask = diagonal(23), .rank = 9}, {input(0)}, outside, cls, channels)});
      add("rank of a long line" + of, {image(cls, channels)},
          {node(Rank{.mask = rectangle(45, 1), .rank = 21, .average = true}, {input(0)}, outside,
                cls, channels)});
    }
    const Mask tall = rectangle(3, 7);
    add("chain extremum 3x7 gradient" + of, {image(cls, channels)},
        {node(Extremum{.largest = true, .mask = tall}, {input(0)}, {}, cls, channels),
         node(Extremum{.largest = false, .mask = tall}, {input(0)}, {}, cls, channels),
         node(Point{.body = &bodies::table_blend}, {result(0), result(1)}, {number(1)}, cls,
              channels)});
  }

  // Of what a point makes, of its own class and of floats.
  void add_measured_points(Node point, PixelClass cls, const std::string& of) {
    constexpr int channels = 1;
    for (const PixelClass made : std::set{cls, PixelClass::single}) {
      point.cls = made;
      const bool codes = is_integer(made);
      std::vector<Node> nodes = {point};
      for (const ReduceKind kind :
           {ReduceKind::min, ReduceKind::max, codes ? ReduceKind::spread : ReduceKind::sum}) {
        nodes.push_back(sink(Reduce{.kind = kind}, result(0), {}, channels, 1));
      }
      const int counters = codes ? static_cast<int>(white_of(made)) + 1 : 700;
      const BinRule rule = codes ? BinRule::codes : BinRule::centred;
      nodes.push_back(
          sink(Histogram{.rule = rule, .bins = counters}, result(0), {}, channels, counters));
      // More bins than local memory holds.
      nodes.push_back(sink(Histogram{.rule = BinRule::user,
                                     .bins = 9000,
                                     .expression = expression("x / white * 9200 - 40")},
                           result(0), {}, channels, 9000));
      add("measured point " + std::string(name_of(made)) + of, {image(cls, channels)}, nodes,
          {1, 2, 3, 4, 5});
    }
  }

  void add_measurements(PixelClass cls, int channels, const std::string& of) {
    // Reductions of one image share a kernel.
    std::vector<Node> reductions;
    for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::absolute_sum, ReduceKind::min,
                                  ReduceKind::max, ReduceKind::squared_deviation}) {
      std::vector<Argument> arguments;
      if (kind == ReduceKind::squared_deviation) arguments.push_back(number(0.375));
      reductions.push_back(sink(Reduce{.kind = kind}, input(0), arguments, channels, 1));
    }
    add("reduce" + of, {image(cls, channels)}, reductions, {0, 1, 2, 3, 4});
    std::vector<Node> finite;
    for (const ReduceKind kind : {ReduceKind::sum, ReduceKind::absolute_sum, ReduceKind::count,
                                  ReduceKind::min, ReduceKind::max}) {
      finite.push_back(sink(Reduce{.kind = kind, .finite = true}, input(0), {}, channels, 1));
    }
    add("reduce finite" + of, {image(cls, channels)}, finite, {0, 1, 2, 3, 4});
    if (is_integer(cls)) {
      const Node spread = sink(Reduce{.kind = ReduceKind::spread}, input(0), {}, channels, 1);
      reductions.back() = spread;
      if (channels == 1) {
        add("spread" + of, {image(cls, channels)}, {spread});
      } else {
        add("spread and others" + of, {image(cls, channels)}, reductions, {0, 1, 2, 3, 4});
      }
    }
    if (channels == 1) {
      add("reduce user" + of, {image(cls, channels)},
          {sink(Reduce{.kind = ReduceKind::user, .expression = expression("acc * 0.5 + x / white")},
                input(0), {number(0.25)}, channels, 1)});
    }
    std::vector<Node> histograms = {
        sink(Histogram{.rule = BinRule::centred, .bins = 64}, input(0), {}, channels, 64),
        sink(
            Histogram{
                .rule = BinRule::user, .bins = 20, .expression = expression("x / white * 25 - 2")},
            input(0), {}, channels, 20)};
    if (is_integer(cls)) {
      const int codes = static_cast<int>(white_of(cls)) + 1;
      histograms.push_back(
          sink(Histogram{.rule = BinRule::codes, .bins = codes}, input(0), {}, channels, codes));
    }
    if (channels == 1) {
      histograms.push_back(sink(Histogram{.rule = BinRule::user,
                                          .bins = 5000,
                                          .expression = expression("x / white * 5200 - 40")},
                                input(0), {}, channels, 5000));
      // More bins than local memory holds beside the counts of few codes.
      histograms.push_back(sink(Histogram{.rule = BinRule::user,
                                          .bins = 9000,
                                          .expression = expression("x / white * 9200 - 40")},
                                input(0), {}, channels, 9000));
      histograms.push_back(
          sink(Histogram{.rule = BinRule::centred, .bins = 300}, input(0), {}, channels, 300));
    }
    std::vector<int> outputs(histograms.size());
    std::iota(outputs.begin(), outputs.end(), 0);
    add("histogram" + of, {image(cls, channels)}, histograms, outputs);
    if (cls == PixelClass::single || cls == PixelClass::uint16) {
      add("select" + of, {image(cls, channels)},
          {sink(Select{.places = 2}, input(0),
                {{.source = Argument::Source::rank_floor, .value = 0.1},
                 {.source = Argument::Source::rank_ceil, .value = 0.9}},
                channels, 2)});
      const Node places = sink(Select{.places = 2}, input(0),
                               {{.source = Argument::Source::rank_floor, .value = 0.2},
                                {.source = Argument::Source::rank_ceil, .value = 0.7}},
                               channels, 2);
      Node range = sink(Scalar{&bodies::table_range, 2}, result(0), {number(0.5)}, channels, 2);
      range.measures = {result(0)};
      range.images.clear();
      add("select and its range" + of, {image(cls, channels)}, {places, range}, {0, 1});
    }
  }

  void add_sizes(PixelClass cls, int channels, const std::string& of) {
    const Mask mask = rectangle(4, 3);
    add("stencil full" + of, {image(cls, channels)},
        {node(Stencil{.taps = mask, .grow_x = 3, .grow_y = 2, .shift_x = -2, .shift_y = -1},
              {input(0)}, weights(12, true), PixelClass::single, channels)});
    add("stencil valid" + of, {image(cls, channels)},
        {node(Stencil{.taps = mask, .grow_x = -3, .grow_y = -2, .shift_x = 1, .shift_y = 1},
              {input(0)}, weights(12, true), PixelClass::single, channels)},
        {}, 4);
    add("separable full" + of, {image(cls, channels)},
        {node(Separable{.row = rectangle(3, 1),
                        .column = rectangle(1, 5),
                        .grow_x = 2,
                        .grow_y = 4,
                        .shift_x = -1,
                        .shift_y = -2},
              {input(0)}, weights(8, true), PixelClass::single, channels)});
  }

  void add_others() {
    Node places = node(Point{.body = &bodies::table_scale, .in_double = true, .in_table = true},
                       {input(0)}, {number(0.05), measured(1, true)}, PixelClass::single, 3);
    places.measures = {input(1)};
    add("point in a measured table", {image(PixelClass::uint8, 3), measure(9, 3)}, {places});
    add("histogram of pairs", {image(PixelClass::uint8, 1), image(PixelClass::uint8, 1)},
        {node(Point{.body = &pair_code_body()}, {input(0), input(1)}, {number(256)},
              PixelClass::uint16, 1),
         sink(Histogram{.rule = BinRule::codes, .bins = 65536}, result(0), {}, 1, 65536)});
    // Four pairs only: at millions of pixels their counts leave the 16 bits of a field.
    add("histogram of few pairs", {image(PixelClass::logical, 1), image(PixelClass::logical, 1)},
        {node(Point{.body = &pair_code_body()}, {input(0), input(1)}, {number(256)},
              PixelClass::uint16, 1),
         sink(Histogram{.rule = BinRule::codes, .bins = 65536}, result(0), {}, 1, 65536)});
    add("point curve of codes", {image(PixelClass::uint16, 3)},
        {node(Point{.body = &bodies::table_power}, {input(0)}, {number(0.45)}, PixelClass::uint16,
              3)});
    const KernelInput plane = image(PixelClass::uint8, 1);
    const auto weighted = [&](double k, double l, double m, double from) {
      return node(Point{.body = &bodies::table_weighted}, {input(0), input(1), input(2)},
                  {number(k), number(l), number(m), number(from)}, PixelClass::uint8, 1);
    };
    add("two sums of bytes", {plane, plane, plane},
        {weighted(0.25, 0.5, 0.25, 0), weighted(-0.148, -0.291, 0.439, 128)}, {0, 1});
    add("point lookup", {image(PixelClass::uint8, 3), image(PixelClass::uint16, 1)},
        {node(Point{.lookup = true}, {input(0), input(1)}, {}, PixelClass::uint16, 3)});
    add("stencil body to one side", {image(PixelClass::uint8, 1)},
        {node(Stencil{.body = &bodies::table_difference, .border = Border::replicate}, {input(0)},
              {}, PixelClass::single, 1)});
    add("stencil of many weights", {image(PixelClass::uint8, 1)},
        {node(Stencil{.taps = rectangle(31, 29), .border = Border::symmetric}, {input(0)},
              weights(31 * 29, false), PixelClass::single, 1)});
    // Of one row, so that nothing above or below is waited for.
    for (const PixelClass cls : {PixelClass::logical, PixelClass::uint8, PixelClass::single}) {
      add("row of weights after a point " + std::string(name_of(cls)),
          {image(PixelClass::uint8, 3)},
          {node(Point{.body = &bodies::table_adjust}, {input(0)},
                {number(0.1), number(0.9), number(255)}, cls, 3),
           node(Stencil{.taps = rectangle(3, 1), .border = Border::constant}, {result(0)},
                weights(3, true), PixelClass::single, 3)});
    }
    add("two sums of long rows", {image(PixelClass::uint8, 1), image(PixelClass::single, 1)},
        {node(
             Separable{
                 .row = rectangle(65, 1), .column = rectangle(1, 65), .border = Border::replicate},
             {input(0)}, weights(130, false), PixelClass::single, 1),
         node(
             Separable{
                 .row = rectangle(63, 1), .column = rectangle(1, 63), .border = Border::replicate},
             {input(1)}, weights(126, false), PixelClass::single, 1),
         node(Point{.body = &bodies::table_blend}, {result(0), result(1)}, {number(0.25)},
              PixelClass::single, 1)});
    for (const int channels : {1, 3}) {
      Node range = sink(Scalar{&bodies::table_range, 2}, input(0), {number(0.5)}, channels, 2);
      range.images.clear();
      range.measures = {input(0)};
      add("scalar x" + std::to_string(channels), {measure(5, 3)}, {range});
      // A group makes several of them: of one measurement, of another one, of the first's result.
      Node other = range, last = range;
      other.measures = {input(1)};
      last.measures = {result(0)};
      add("three scalars x" + std::to_string(channels), {measure(5, 3), measure(2, 3)},
          {range, other, last}, {0, 1, 2});
    }
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16}) {
      const int bins = static_cast<int>(class_max(cls)) + 1;
      for (const int channels : {1, 3}) {
        Node parts = sink(Scalar{&bodies::table_parts, bins + 1}, result(0), {number(0.5)},
                          channels, bins + 1);
        parts.images.clear();
        parts.measures = {result(0)};
        add("parts of counts " + std::string(name_of(cls)) + " x" + std::to_string(channels),
            {image(cls, channels)},
            {sink(Histogram{.rule = BinRule::codes, .bins = bins}, input(0), {}, channels, bins),
             parts},
            {0, 1});
      }
    }
    Node mean = sink(Scalar{&bodies::table_mean, 1}, result(0),
                     {{.source = Argument::Source::constant, .value = 12}, number(1.5)}, 1, 1);
    mean.images.clear();
    mean.measures = {result(0)};
    add("scalar of a sum", {image(PixelClass::uint8, 1)},
        {sink(Reduce{}, input(0), {}, 1, 1), mean}, {0, 1});
  }

  // Every metric, with distances and with indices.
  void add_distances() {
    using Metric = Distance::Metric;
    PixelClass cls = PixelClass::logical;
    for (const Metric metric :
         {Metric::euclidean, Metric::cityblock, Metric::chessboard, Metric::quasi_euclidean}) {
      for (const bool index : {false, true}) {
        add("distance " + std::to_string(static_cast<int>(metric)) + (index ? " index " : " ") +
                std::string(name_of(cls)),
            {image(cls, 1)},
            {node(Distance{metric, index}, {input(0)}, {}, PixelClass::single, 1)});
        cls = cls == PixelClass::logical ? PixelClass::single : PixelClass::logical;
      }
    }
    add("distance uint16", {image(PixelClass::uint16, 1)},
        {node(Distance{}, {input(0)}, {}, PixelClass::single, 1)});
    add("distance uint8", {image(PixelClass::uint8, 1)},
        {node(Distance{}, {input(0)}, {}, PixelClass::single, 1)});
  }

  void add_projections() {
    std::vector<Argument> fours, list;
    for (const double angle : {20.5, 69.5, 110.5, 159.5, 45.0, 135.0, 0.0, 90.0}) {
      fours.push_back(number(angle));
    }
    for (const double angle : {-30.0, 0.0, 33.25, 45.0, 77.0, 101.5, 179.0, 200.5, 720.5}) {
      list.push_back(number(angle));
    }
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::single}) {
      const std::string of = " " + std::string(name_of(cls));
      add("project" + of, {image(cls, 1)},
          {node(Project{static_cast<int>(list.size())}, {input(0)}, list, PixelClass::single, 1)});
      add("project fours" + of, {image(cls, 1)},
          {node(Project{static_cast<int>(fours.size())}, {input(0)}, fours, PixelClass::single,
                1)});
    }
    using Filter = Project::Filter;
    for (const Filter filter : {Filter::none, Filter::ram_lak}) {
      const bool linear = filter != Filter::none;
      const PixelClass cls = linear ? PixelClass::single : PixelClass::uint16;
      add("backproject " + std::to_string(static_cast<int>(filter)), {image(cls, 1)},
          {node(Project{.angles = 1, .inverse = true, .filter = filter, .linear = linear},
                {input(0)}, {number(7.5), number(-20), number(linear ? 0.75 : 1), number(41)},
                PixelClass::single, 1)});
    }
  }

  void add_diffusions() {
    for (const PixelClass cls : classes) {
      Node dither = node(Diffuse{}, {input(0)}, {number(white_of(cls))}, PixelClass::logical, 1);
      add("diffuse " + std::string(name_of(cls)), {image(cls, 1)}, {dither});
    }
  }

  void add_labels(PixelClass cls) {
    const auto add_label = [&](Label::Kind kind, int connectivity, PixelClass result,
                               std::vector<Argument> arguments = {}) {
      const bool two = kind == Label::Kind::reconstruct;
      add("label " + std::to_string(static_cast<int>(kind)) + " conn " +
              std::to_string(connectivity) + " " + std::string(name_of(cls)),
          two ? std::vector{image(cls, 1), image(cls, 1)} : std::vector{image(cls, 1)},
          {node(Label{kind, connectivity},
                two ? std::vector{input(0), input(1)} : std::vector{input(0)}, std::move(arguments),
                result, 1)});
    };
    const PixelClass bits = PixelClass::logical;
    switch (cls) {
      case PixelClass::logical:
        for (const int conn : {4, 8}) {
          add_label(Label::Kind::components, conn, PixelClass::single);
          add_label(Label::Kind::large, conn, bits, {number(5)});
          add_label(Label::Kind::first_areas, conn, PixelClass::single);
        }
        add_label(Label::Kind::holes, 4, cls);
        add_label(Label::Kind::reconstruct, 8, cls);
        break;
      case PixelClass::uint8:
        add_label(Label::Kind::maxima, 8, bits);
        add_label(Label::Kind::minima, 4, bits);
        add_label(Label::Kind::holes, 8, cls);
        add_label(Label::Kind::reconstruct, 4, cls);
        add_label(Label::Kind::reach, 8, bits);
        break;
      case PixelClass::uint16:
        add_label(Label::Kind::maxima, 4, bits);
        add_label(Label::Kind::reconstruct, 8, cls);
        break;
      case PixelClass::single:
        add_label(Label::Kind::minima, 8, bits);
        add_label(Label::Kind::holes, 4, cls);
        add_label(Label::Kind::reconstruct, 8, cls);
        break;
    }
  }

  // Tables of windows, floods and entropies.
  void add_windows_and_floods() {
    const auto byte = PixelClass::uint8;
    Morph::Table border, single;
    for (std::size_t k = 0; k < border.size(); ++k) {
      border[k] = (k & 0b000010000) != 0 && (k & 0b010101010) != 0b010101010;
      single[k] = (k & 0b000010000) != 0 && k % 7 != 0;
    }
    const auto add_morph = [&](const char* name, Morph morph, double times) {
      add(std::string("morph ") + name, {image(PixelClass::logical, 1)},
          {node(std::move(morph), {input(0)}, {number(times)}, PixelClass::logical, 1)});
    };
    add_morph("one", {.tables = {single}}, 3);
    add_morph("two until the end", {.tables = {border, single}, .outside = true}, 300);
    add_morph("fields", {.tables = {border, single}, .in_fields = true}, 400);
    for (const PixelClass cls : {byte, PixelClass::uint16}) {
      add("flood " + std::string(name_of(cls)), {image(cls, 1), image(PixelClass::single, 1)},
          {node(Label{Label::Kind::flood, cls == byte ? 8 : 4}, {input(0), input(1)}, {},
                PixelClass::single, 1)});
      cases.back().most = 256;
    }
    // Measured by themselves in gpu_labels_test.cpp, too.
    for (const PixelClass cls : {byte, PixelClass::uint16, PixelClass::single}) {
      const bool codes = cls != byte;
      const int records = cls == byte ? 256 : 5;
      Node objects = sink(Objects{}, input(0), {}, 1, records * object_record::length(codes));
      if (codes) objects.images.push_back(input(1));
      std::vector<KernelInput> inputs{image(cls, 1)};
      if (codes) inputs.push_back(image(cls == PixelClass::single ? byte : cls, 1));
      add("objects " + std::string(name_of(cls)), inputs, {objects});
    }
    const Histogram bins{.bins = 300, .across = 3, .down = 2};
    const Histogram many{.bins = 3000, .across = 2, .down = 5};
    for (const PixelClass cls : classes) {
      const std::string of = " " + std::string(name_of(cls));
      for (const Histogram& tiles : {bins, many}) {
        const int values = tiles.across * tiles.down * tiles.bins;
        const std::string in = " of " + std::to_string(tiles.bins) + " bins" + of;
        add("tile histogram" + in, {image(cls, 1)}, {sink(tiles, input(0), {}, 1, values)});
        if (bytes_of(cls) == 1) continue;  // whose tables of large tiles are whole numbers
        Node between = node(BetweenTables{tiles.across, tiles.down, tiles.bins}, {input(0)},
                            {measured(0, true)}, cls, 1);
        between.measures = {input(1)};
        add("between tables" + in, {image(cls, 1), measure(values, 1)}, {between});
      }
    }
    Node small = node(BetweenTables{50, 50, 3}, {input(0)}, {measured(0, true)}, byte, 1);
    small.measures = {input(1)};
    add("between tables of small tiles", {image(byte, 1), measure(7500, 1)}, {small});
    const Mask mask{
        .width = 3, .height = 2, .origin_x = 1, .origin_y = 0, .cells = {1, 0, 1, 0, 1, 1}};
    add_fourier();
    add_moments();
    add_deviations(mask);
    add("entropy uint8", {image(byte, 1)},
        {node(Rank{.mask = mask, .border = Border::symmetric, .entropy = true}, {input(0)},
              {number(0), number(0), number(8589934592), number(20422738493), number(34359738368)},
              PixelClass::single, 1)});
  }

  // Of each form: rectangles of one block of windows and of several, columns that hold one another,
  // runs that are written out and those of a table, and masks that need a frame in memory.
  void add_deviations(const Mask& few) {
    Mask many = rectangle(19, 21), nested = rectangle(20, 30), framed = rectangle(200, 90);
    many.cells[0] = many.cells[150] = 0;
    for (int x = 0; x < 20; ++x) {
      for (int y = 0; y < 30; ++y) {
        nested.cells[y * 20 + x] = x != 3 && y >= x % 4 * 3 && y < 30 - x % 4 * 4 ? 1 : 0;
      }
    }
    for (std::size_t k = 0; k < framed.cells.size(); ++k) framed.cells[k] = k % 97 == 5 ? 1 : 0;
    const auto of = [&](const char* name, const Mask& mask, PixelClass cls) {
      add("deviation of " + std::string(name), {image(cls, 1)},
          {node(Moments{mask}, {input(0)}, {}, PixelClass::single, 1)});
    };
    of("few cells", few, PixelClass::uint8);
    of("many cells", many, PixelClass::uint16);
    of("a frame", framed, PixelClass::single);
    of("nested columns", nested, PixelClass::single);
    of("a rectangle", rectangle(9, 4), PixelClass::logical);
    of("a large rectangle", rectangle(17, 26), PixelClass::uint8);
    of("the widest rectangle", rectangle(Moments::max_columns_by_passes, 3), PixelClass::uint16);
    add_moments_of_rectangles();
  }

  // Means, variances and covariances, of rectangles as wide and tall as boxes are.
  void add_moments_of_rectangles() {
    using Of = Moments::Of;
    const auto of = [&](Of what, const Mask& mask, Border border, PixelClass cls) {
      const bool pair = what == Of::covariance;
      std::vector<KernelInput> images{image(cls, 1)};
      std::vector<Operand> operands{input(0)};
      if (pair) {
        images.push_back(image(PixelClass::single, 1));
        operands.push_back(input(1));
      }
      add(std::string(name_of(what)) + " of " + std::to_string(mask.height) + "x" +
              std::to_string(mask.width) + " " + std::string(name_of(border)),
          images, {node(Moments{mask, what, border}, operands, {}, PixelClass::single, 1)});
    };
    for (const Of what : {Of::mean, Of::variance, Of::covariance}) {
      of(what, rectangle(5, 4), Border::replicate, PixelClass::uint16);
      of(what, rectangle(17, 9), Border::constant, PixelClass::single);
      of(what, rectangle(255, 3), Border::replicate, PixelClass::single);
      of(what, rectangle(1, 40), Border::constant, PixelClass::uint8);
    }
  }

  // Sums by transforms, which take kernels of any size.
  void add_fourier() {
    const auto sums = [&](PixelClass from, PixelClass to, const Stencil& stencil) {
      add("fourier " + std::string(name_of(from)) + " " + std::string(name_of(stencil.border)) +
              " of " + std::to_string(stencil.fourier_side),
          {image(from, 1)},
          {node(stencil, {input(0)},
                weights(stencil.taps.count(), stencil.border == Border::constant), to, 1)});
    };
    Stencil of{.taps = rectangle(9, 6), .fourier_side = 512};
    sums(PixelClass::single, PixelClass::single, of);
    of.border = Border::circular;
    sums(PixelClass::logical, PixelClass::single, of);
    of.border = Border::symmetric;
    of.grow_x = 8, of.grow_y = 5, of.shift_x = -4, of.shift_y = -3;
    sums(PixelClass::uint16, PixelClass::uint16, of);
    of = {.taps = rectangle(33, 35), .border = Border::replicate, .fourier_side = 1024};
    sums(PixelClass::uint8, PixelClass::uint8, of);
    sums(PixelClass::single, PixelClass::uint16, of);
  }

  // Windows whose pixels count from themselves and from one of four, in tiles and by planes.
  void add_moments() {
    const std::pair<PixelClass, int> kinds[] = {{PixelClass::uint8, 1},
                                                {PixelClass::logical, 5},
                                                {PixelClass::single, 5},
                                                {PixelClass::uint16, 16}};
    for (const auto& [cls, reach] : kinds) {
      std::vector<Argument> arguments = weights(2 * reach + 1, false);
      arguments.push_back(number(0.75));
      add("moments " + std::string(name_of(cls)) + " reach " + std::to_string(reach),
          {image(cls, 1), image(cls, 1)},
          {node(Moments{.mask = rectangle(2 * reach + 1, 2 * reach + 1),
                        .of = Moments::Of::weighted,
                        .border = Border::replicate,
                        .body = &bodies::table_four},
                {input(0), input(1)}, arguments, PixelClass::single, 1)});
    }
  }

  // Chains as fusion makes them.
  void add_chains(PixelClass cls, int channels, const std::string& of) {
    const double w = white_of(cls);
    const Node adjust = node(Point{.body = &bodies::table_adjust}, {input(0)},
                             {number(0.1), number(0.85), number(w)}, cls, channels);
    const auto scale = [&](int from) {
      return node(Point{.body = &bodies::table_scale}, {result(from)}, {number(0.75)}, cls,
                  channels);
    };
    const auto above = [&](int from) {
      return node(Point{.body = &bodies::table_above}, {result(from)}, {number(w / 3)},
                  PixelClass::logical, channels);
    };
    const auto gradient = [&](Operand from) {
      return node(Stencil{.body = &bodies::table_gradient, .border = Border::replicate}, {from},
                  {number(0.5)}, PixelClass::single, channels);
    };
    const Mask square = rectangle(7, 7);
    const Node filter = node(Stencil{.taps = square, .border = Border::symmetric}, {result(0)},
                             weights(49, false), cls, channels);
    add("chain points" + of, {image(cls, channels)}, {adjust, scale(0), above(1)});
    add("chain point stencil point" + of, {image(cls, channels)},
        {adjust, gradient(result(0)), above(1)});
    add("chain two stencils" + of, {image(cls, channels)},
        {adjust, filter, gradient(result(1)), above(2)});
    add("chain extremum difference" + of, {image(cls, channels)},
        {node(Extremum{.largest = true, .mask = disk(2)}, {input(0)}, {}, cls, channels),
         node(Point{.body = &bodies::table_blend}, {result(0), input(0)}, {number(1)}, cls,
              channels)});
    add("chain table beside an extremum" + of, {image(cls, channels)},
        {adjust,
         node(Extremum{.largest = true, .mask = rectangle(3, 3)}, {input(0)}, {}, cls, channels),
         node(Point{.body = &bodies::table_blend}, {result(1), result(0)}, {number(1)}, cls,
              channels)});
    add("chain separable rank" + of, {image(cls, channels)},
        {node(
             Separable{
                 .row = rectangle(5, 1), .column = rectangle(1, 5), .border = Border::replicate},
             {input(0)}, weights(10, false), cls, channels),
         node(Rank{.mask = rectangle(3, 3), .rank = 4, .border = Border::symmetric}, {result(0)},
              {}, cls, channels)});
    add("chain map reduce" + of, {image(cls, channels)},
        {adjust, sink(Reduce{}, result(0), {}, channels, 1),
         sink(Histogram{.bins = 32}, result(0), {}, channels, 32)},
        {1, 2});
    if (channels == 1) add_measured_points(adjust, cls, of);
    if (channels == 1 && cls != PixelClass::logical) {
      add("chain around map reduce" + of, {image(cls, channels)},
          {node(Extremum{.largest = true, .mask = rectangle(3, 3)}, {input(0)}, {}, cls, channels),
           node(Point{.body = &bodies::table_blend}, {result(0), input(0)}, {number(1)}, cls,
                channels),
           sink(Reduce{}, result(1), {}, channels, 1)},
          {2});
    }
    add("chain image and its sum" + of, {image(cls, channels)},
        {gradient(input(0)), sink(Reduce{}, result(0), {}, channels, 1)}, {0, 1});
  }
};

std::vector<SpecCase> make_table() {
  Table table;
  for (const PixelClass cls : classes) {
    for (const int channels : {1, 3}) {
      const std::string of = " " + std::string(name_of(cls)) + " x" + std::to_string(channels);
      table.add_points(cls, channels, of);
      table.add_permutes(cls, channels, of);
      for (const Border border : borders) {
        table.add_bordered(cls, channels, border, of + " " + std::string(name_of(border)));
      }
      table.add_extrema(cls, channels, of);
      table.add_measurements(cls, channels, of);
    }
  }
  for (const PixelClass cls : classes) table.add_labels(cls);
  table.add_sizes(PixelClass::uint8, 1, " uint8 x1");
  table.add_shared(PixelClass::uint8, 1, " uint8 x1");
  table.add_shared(PixelClass::single, 1, " single x1");
  for (SpecCase& spec : geometry_specs()) table.cases.push_back(std::move(spec));
  table.add_others();
  table.add_distances();
  table.add_diffusions();
  table.add_projections();
  table.add_windows_and_floods();
  table.add_chains(PixelClass::uint8, 1, " uint8 x1");
  table.add_chains(PixelClass::uint8, 3, " uint8 x3");
  table.add_chains(PixelClass::single, 1, " single x1");
  return table.cases;
}

// The part of them that IMPIPE_TEST_PART=I/N names, I from 0: each N-th one.
std::vector<SpecCase> part_of(std::vector<SpecCase> chosen) {
  const char* part = std::getenv("IMPIPE_TEST_PART");
  if (part == nullptr) return chosen;
  std::size_t which = 0, parts = 0;
  char slash = 0;
  if (!(std::istringstream(part) >> which >> slash >> parts) || slash != '/' || which >= parts) {
    throw std::runtime_error("IMPIPE_TEST_PART='" + std::string(part) + "' is no I/N");
  }
  std::vector<SpecCase> some;
  for (std::size_t i = which; i < chosen.size(); i += parts) some.push_back(std::move(chosen[i]));
  return some;
}

}  // namespace

const std::vector<SpecCase>& kernel_specs() {
  static const std::vector<SpecCase> table = make_table();
  return table;
}

bool is_whole_table() {
  const char* table = std::getenv("IMPIPE_TEST_TABLE");
  return table != nullptr && std::string(table) == "all";
}

std::vector<SpecCase> chosen_specs() {
  const char* table = std::getenv("IMPIPE_TEST_TABLE");
  const char* only = std::getenv("IMPIPE_TEST_SPEC");
  const bool all = is_whole_table();
  const std::size_t step = table != nullptr && std::string(table) == "few" ? 16 : 4;
  std::vector<SpecCase> chosen;
  std::set<std::string> primitives;
  for (std::size_t i = 0; i < kernel_specs().size(); ++i) {
    const SpecCase& c = kernel_specs()[i];
    const bool new_to_it =
        std::any_of(c.spec.nodes.begin(), c.spec.nodes.end(), [&primitives](const Node& node) {
          return primitives.insert(std::string(name_of(node.primitive))).second;
        });
    const bool is_chosen = all || i % step == 0 || new_to_it;
    if (only != nullptr ? c.name.find(only) != std::string::npos : is_chosen) chosen.push_back(c);
  }
  if (chosen.empty()) {
    throw std::runtime_error("IMPIPE_TEST_SPEC='" + std::string(only) + "' names no kernel");
  }
  return part_of(std::move(chosen));
}

const SpecCase& spec_named(const std::string& name) {
  for (const SpecCase& c : kernel_specs()) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("the table has no kernel '" + name + "'");
}

}  // namespace impipe::testing
