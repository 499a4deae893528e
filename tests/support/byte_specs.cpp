// Kernels of what bytes are made of in whole numbers: means, rounded roots of sums, differences and
// comparisons of extrema.
#include "support/masks.hpp"
#include "support/tiled_specs.hpp"

IMPIPE_STENCIL_BODY(byte_size, (1, 1, 1, 0), (), {
  const real a = (real(3) * at(1, 0) + at(0, -1)) - at(-1, 0);
  const real b = at(0, -1) - at(0, 0) - at(-1, -1);
  const real all = b * b + a * a;
  return sqrt(all);
})
IMPIPE_STENCIL_BODY(byte_slope, (1, 0, 0, 2), (scale), {
  const real a = at(0, 2) - at(-1, 1);
  const real s = a * scale;
  return s - a;
})
IMPIPE_POINT_BODY(byte_same, (x), (), { return x; })
IMPIPE_POINT_BODY(byte_less, (x, y), (), { return x - y; })
IMPIPE_POINT_BODY(byte_peak, (x, around), (alone),
                  { return x > around || alone == real(1) ? real(1) : real(0); })

namespace impipe::testing {
namespace {

constexpr PixelClass bytes = PixelClass::uint8;

Node make(Primitive primitive, std::vector<Operand> images, std::vector<Argument> arguments,
          PixelClass cls = bytes) {
  return {.primitive = std::move(primitive),
          .images = std::move(images),
          .arguments = std::move(arguments),
          .cls = cls,
          .white = class_max(cls)};
}

SpecCase spec(const std::string& name, int channels, std::vector<Node> nodes) {
  for (Node& node : nodes) node.channels = channels;
  const int last = static_cast<int>(nodes.size()) - 1;
  return {name + " x" + std::to_string(channels),
          {{{.cls = bytes, .channels = channels, .white = 255}}, std::move(nodes), {last}},
          1};
}

}  // namespace

std::vector<SpecCase> byte_specs() {
  const Operand input{true, 0}, first{false, 0}, second{false, 1};
  std::vector<SpecCase> specs;
  for (const Border border :
       {Border::constant, Border::replicate, Border::symmetric, Border::circular}) {
    const std::string of = " " + std::string(name_of(border));
    const bool value = border == Border::constant;
    for (const double weight : {1.0 / 9, 0.1}) {  // a mean, and none
      std::vector<Argument> weights(3, {.value = 1});
      weights.insert(weights.end(), 3, {.value = weight});
      if (value) weights.push_back({.value = 0});
      const Separable box{.row = rectangle(3, 1), .column = rectangle(1, 3), .border = border};
      specs.push_back(spec((weight == 0.1 ? "sum" : "mean") + of,
                           border == Border::symmetric ? 3 : 1, {make(box, {input}, weights)}));
    }
    std::vector<Argument> outside;
    if (value) outside.push_back({.value = 200});
    specs.push_back(spec("root" + of, border == Border::replicate ? 3 : 1,
                         {make(Stencil{.body = &bodies::byte_size, .border = border}, {input},
                               outside, PixelClass::single),
                          make(Point{.body = &bodies::byte_same}, {first}, {})}));
    outside.insert(outside.begin(), {.value = 0.375});
    specs.push_back(spec("slope" + of, 1,
                         {make(Stencil{.body = &bodies::byte_slope, .border = border}, {input},
                               outside, PixelClass::single)}));
  }
  // Windows that leave a work-item one column: rows are no whole words then.
  for (const int channels : {1, 3}) {
    const Separable wide{
        .row = rectangle(53, 1), .column = rectangle(1, 53), .border = Border::replicate};
    specs.push_back(spec("wide sum", channels,
                         {make(wide, {input}, std::vector<Argument>(106, {.value = 1.0 / 53}))}));
  }
  const auto extremum = [&](bool largest, const Mask& mask) {
    return make(Extremum{.largest = largest, .mask = mask}, {input}, {});
  };
  const Node less = make(Point{.body = &bodies::byte_less}, {first, second}, {});
  specs.push_back(spec("gradient", 1,
                       {extremum(true, rectangle(7, 3)), extremum(false, rectangle(7, 3)), less}));
  // Often below 0.
  specs.push_back(
      spec("other gradient", 1, {extremum(false, rectangle(3, 5)), extremum(true, disk(1)), less}));
  specs.push_back(
      spec("other gradient", 3, {extremum(true, disk(2)), extremum(false, rectangle(3, 3)), less}));
  Mask around = rectangle(3, 3);
  around.cells[4] = 0;
  specs.push_back(spec(
      "peak", 1,
      {extremum(true, around), make(Point{.body = &bodies::byte_peak}, {input, first},
                                    {{.source = Argument::Source::pixels}}, PixelClass::logical)}));
  return specs;
}

const std::vector<Size> byte_sizes = {{1, 1}, {1, 300}, {300, 1}, {130, 67}, {1003, 277}};

}  // namespace impipe::testing
