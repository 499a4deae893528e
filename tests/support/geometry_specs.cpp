// The table's windows and resampled images; parts, frames and flips at any byte of a row.
#include "core/expression.hpp"
#include "core/placement.hpp"
#include "support/kernel_specs.hpp"
#include "support/tiled_specs.hpp"

IMPIPE_POINT_BODY(moved_scale, (x), (k), { return x * k; })
IMPIPE_POINT_BODY(moved_above, (x), (threshold), { return x > threshold ? real(1) : real(0); })

namespace impipe::testing {
namespace {

KernelInput image(PixelClass cls, int channels) {
  return {.cls = cls, .channels = channels, .white = class_max(cls)};
}
Operand input(int index) { return {true, index}; }
Operand result(int node) { return {false, node}; }

std::vector<Argument> numbers(const std::vector<double>& values) {
  std::vector<Argument> out;
  for (const double v : values) out.push_back({.value = v});
  return out;
}

Node node(Primitive primitive, std::vector<Operand> images, const std::vector<double>& arguments,
          PixelClass cls, int channels) {
  return {.primitive = std::move(primitive),
          .images = std::move(images),
          .arguments = numbers(arguments),
          .cls = cls,
          .channels = channels,
          .white = class_max(cls)};
}

Node scaled(const Operand& from, double by, PixelClass cls, int channels) {
  return node(Point{.body = &bodies::moved_scale}, {from}, {by}, cls, channels);
}

std::shared_ptr<const Expression> expression(const char* text) {
  return std::make_shared<Expression>(
      parse_expression(text, {.known = {"x", "col", "row"}, .others = true}));
}

class Table {
 public:
  std::vector<SpecCase> cases;

  void add(const std::string& name, std::vector<KernelInput> inputs, std::vector<Node> nodes) {
    const int last = static_cast<int>(nodes.size()) - 1;
    cases.push_back({name, {std::move(inputs), std::move(nodes), {last}}});
  }

  void add_windows() {
    // Nine columns and three rows more, and 40 % of the width around the middle.
    const std::vector<double> frame = {-2, 0, 9, 1, -3, 0, 3, 1, 1};
    add("window constant uint8 x3", {image(PixelClass::uint8, 3)},
        {node(Window{}, {input(0)}, frame, PixelClass::uint8, 3)});
    add("window symmetric single x1", {image(PixelClass::single, 1)},
        {node(Window{.border = Border::symmetric}, {input(0)}, frame, PixelClass::single, 1)});
    add("window inside uint16 x1", {image(PixelClass::uint16, 1)},
        {node(Window{.border = Border::absent}, {input(0)}, {0, 0.3, 0.6, 0.4, -2, 0, 300, 0},
              PixelClass::uint16, 1)});
    add("chain point window point uint8 x1", {image(PixelClass::uint8, 1)},
        {scaled(input(0), 0.75, PixelClass::uint8, 1),
         node(Window{.border = Border::replicate}, {result(0)}, frame, PixelClass::uint8, 1),
         node(Point{.body = &bodies::moved_above}, {result(1)}, {99.5}, PixelClass::logical, 1)});
  }

  // Rows that begin at any byte of the image's, of every class.
  void add_moves(PixelClass cls, int channels, Border border) {
    const std::vector<double> frame = {-5, 0, 9, 1, -3, 0, 7, 1, 1};
    const std::string of = " " + std::string(name_of(cls)) + " x" + std::to_string(channels);
    const auto one = [&](const std::string& name, Primitive primitive,
                         const std::vector<double>& arguments) {
      add("move " + name + of, {image(cls, channels)},
          {node(std::move(primitive), {input(0)}, arguments, cls, channels)});
    };
    one("inside", Window{.border = Border::absent}, {0, 0.1, 0, 0.8, 0, 0.2, 0, 0.5});
    one("constant", Window{}, frame);
    one("repeated", Window{.border = border}, frame);
    if (channels == 1) one("reflected", Window{.border = Border::reflect}, frame);
    one("left to right", Permute{.flip_x = true}, {});
    if (channels == 1) {
      one("half", Permute{.flip_x = true, .flip_y = true}, {});
      one("back", Permute{.transpose = true, .flip_x = true}, {});
    }
    if (cls != PixelClass::uint8) return;
    add("move between points" + of, {image(cls, channels)},
        {scaled(input(0), 0.75, cls, channels),
         node(Window{.border = Border::symmetric}, {result(0)}, frame, cls, channels),
         scaled(result(1), 1.5, cls, channels)});
    add("move a frame after a point" + of, {image(cls, channels)},
        {scaled(input(0), 0.75, cls, channels), node(Window{}, {result(0)}, frame, cls, channels)});
  }

  void add_moves_beside_points() {
    const auto bytes = PixelClass::uint8;
    for (const Permute flip : {Permute{.flip_x = true}, Permute{.flip_y = true}}) {
      add(flip.flip_x ? "move beside itself" : "move beside itself, upside down", {image(bytes, 1)},
          {scaled(input(0), 0.75, bytes, 1), node(flip, {result(0)}, {}, bytes, 1),
           node(Point{.expression = expression("x / 2 + y / 4 + col - row")}, {result(1), input(0)},
                {}, bytes, 1)});
    }
    add("move a turned image", {image(bytes, 1)},
        {scaled(input(0), 0.75, bytes, 1),
         node(Permute{.transpose = true}, {result(0)}, {}, bytes, 1),
         scaled(result(1), 1.5, bytes, 1)});
    add("move by places", {image(PixelClass::uint16, 1)},
        {node(Point{.expression = expression("x + 3 * col - row")}, {input(0)}, {},
              PixelClass::uint16, 1),
         node(Permute{.flip_x = true}, {result(0)}, {}, PixelClass::uint16, 1)});
  }

  void add_resize(Resample::Method method, bool antialias, PixelClass cls, int channels,
                  const std::vector<double>& how) {
    const char* const names[] = {"nearest", "bilinear", "bicubic", "lanczos2", "lanczos3", "box"};
    add("resample " + std::string(names[static_cast<int>(method)]) + " " +
            std::string(name_of(cls)),
        {image(cls, channels)},
        {node(Resample{.method = method, .antialias = antialias}, {input(0)}, how, cls, channels)});
  }

  // By one ratio in both directions, which kernels know.
  void add_whole_resize(Resample::Method method, bool antialias, PixelClass cls, double scale) {
    const Resample resize{.method = method, .antialias = antialias};
    add("resample whole " + std::to_string(scale).substr(0, 4) + " " + std::string(name_of(cls)),
        {image(cls, 1)},
        {node(with_whole_ratio(resize, scale), {input(0)}, {0, 0, scale, scale}, cls, 1)});
  }

  void add_whole_resizes() {
    using Method = Resample::Method;
    add_whole_resize(Method::bicubic, true, PixelClass::uint8, 0.5);
    add_whole_resize(Method::bilinear, true, PixelClass::uint16, 0.5);
    add_whole_resize(Method::bicubic, false, PixelClass::single, 0.5);
    add_whole_resize(Method::bicubic, true, PixelClass::single, 1.0 / 3);
    add_whole_resize(Method::bilinear, false, PixelClass::uint8, 0.25);
    add_whole_resize(Method::bicubic, true, PixelClass::uint16, 0.25);
    add_whole_resize(Method::bicubic, true, PixelClass::uint8, 2);
    add_whole_resize(Method::bilinear, true, PixelClass::logical, 2);
    add_whole_resize(Method::bicubic, true, PixelClass::single, 2);
    add_whole_resize(Method::bicubic, true, PixelClass::uint8, 4);
    add_whole_resize(Method::bilinear, true, PixelClass::uint16, 4);
  }

  void add_affine(Resample::Method method, PixelClass cls, int channels) {
    add("resample affine " + std::string(name_of(cls)), {image(cls, channels)},
        {node(Resample{Resample::Kind::affine, method, false}, {input(0)},
              {40, 0, 0.8, -0.6, 1.3, 0.6, 0.8, -2.1, 1, 1}, cls, channels)});
  }

  // Arguments: the place of the centre and the turn; 0.001 and 0.002 tilt a projective one.
  void add_map(Resample::Kind kind, Resample::Method method, Resample::Beside beside,
               Resample::View view, PixelClass cls) {
    std::vector<double> how{0, 0, 0.8, -0.6, 0, 0.6, 0.8, 0, 1};
    if (kind == Resample::Kind::projective) how.insert(how.end(), {0.001, 0.002, 1});
    how.push_back(1);
    add("resample map " + std::to_string(static_cast<int>(method)) + " " +
            std::to_string(static_cast<int>(beside)) + " " + std::string(name_of(cls)),
        {image(cls, 1)},
        {node(Resample{kind, method, false, beside, view}, {input(0)}, how, cls, 1)});
  }

  void add_maps() {
    using enum Resample::Kind;
    using enum Resample::Method;
    using Beside = Resample::Beside;
    using View = Resample::View;
    add_map(affine, nearest, Beside::on_image, View::turned, PixelClass::uint8);
    add_map(affine, bilinear, Beside::on_image, View::given, PixelClass::logical);
    add_map(affine, bicubic, Beside::on_image, View::turned, PixelClass::single);
    add_map(affine, bicubic, Beside::filled, View::all, PixelClass::uint16);
    add_map(projective, bilinear, Beside::filled, View::given, PixelClass::uint8);
    add_map(projective, nearest, Beside::filled, View::given, PixelClass::single);
    add_map(projective, bicubic, Beside::filled, View::given, PixelClass::uint8);
  }

  void add_uncommon_resamples() {
    using Method = Resample::Method;
    add_maps();
    add_resize(Method::lanczos2, true, PixelClass::uint8, 1, {0, 0, 0.4, 1.7});
    add_resize(Method::lanczos3, false, PixelClass::single, 1, {20, 30, 0, 0});
    add_resize(Method::box, true, PixelClass::uint16, 1, {0, 0, 0.3, 0.2});
    add_resize(Method::bilinear, true, PixelClass::logical, 1, {0, 0, 2.6, 0.6});
    // Columns that local memory does not hold.
    add_resize(Method::bicubic, true, PixelClass::uint8, 3, {0, 0, 0.015, 2});
  }

  void add_resamples() {
    using Method = Resample::Method;
    add_resize(Method::bicubic, true, PixelClass::uint8, 1, {0, 0, 0.4, 1.7});
    add_resize(Method::bilinear, false, PixelClass::uint16, 3, {0, 0, 0.3, 1});
    add_resize(Method::bicubic, true, PixelClass::single, 3, {20, 30, 0, 0});
    add_resize(Method::nearest, false, PixelClass::single, 1, {0, 0, 2.3, 0.7});
    add_affine(Method::bilinear, PixelClass::uint8, 3);
    add_affine(Method::bilinear, PixelClass::single, 1);
    add_affine(Method::nearest, PixelClass::uint16, 1);
  }
};

}  // namespace

std::vector<SpecCase> geometry_specs() {
  Table table;
  table.add_windows();
  table.add_resamples();
  table.add_whole_resizes();
  return table.cases;
}

std::vector<SpecCase> moved_specs() {
  Table table;
  const Border borders[] = {Border::replicate, Border::circular, Border::symmetric};
  int next = 0;
  for (const PixelClass cls :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    for (const int channels : {1, 3}) table.add_moves(cls, channels, borders[next++ % 3]);
  }
  table.add_moves_beside_points();
  table.add_uncommon_resamples();
  return table.cases;
}

}  // namespace impipe::testing
