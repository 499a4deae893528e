// Resampling as text. A resize has one kernel a direction that makes the weights, with the same
// bodies in double as the CPU, then one for the sums down the columns; the sums along the rows are
// made where the pixel is stored.
#include "backends/jit/resample.hpp"

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;

constexpr const char* taps_kernel = R"(  const int i = GROUP_X * $items + ITEM;
  const int k = i / $taps, t = i - k * $taps;
  if (k >= $to) return;
  if ($copies != 0) {
    $first[k] = (int)$copied;
    $weights[i] = 1.0f;
  } else {
    if (t == 0) $first[k] = (int)$begin;
    $weights[i] = (float)$weight;
  }
)";

// The texts of one direction's numbers.
struct AxisText {
  std::string from, taps, first, weights;
};

class ResizeText {
 public:
  ResizeText(Builder& to, int n) : to_(to), n_(n), image_(to.node(n).images[0]) {}

  void write(const std::string& name) {
    const Node& node = to_.node(n_);
    if (std::get<Resample>(node.primitive).method == Resample::Method::nearest) {
      write_taps("x", &ResizeAxes::x);
      write_taps("y", &ResizeAxes::y);
      const std::string x = axis("x", &ResizeAxes::x).first + "[x]";
      const std::string y = axis("y", &ResizeAxes::y).first + "[y]";
      to_.function(name, value_header(type_of(node.cls), name) + "  return " +
                             to_.value(image_, x, y, "c") + ";\n}\n");
      return;
    }
    write_taps("y", &ResizeAxes::y);
    write_columns();
    write_taps("x", &ResizeAxes::x);
    const std::string sum = columns().pixel();
    const std::string value = node.cls == PixelClass::logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum";
    const AxisText a = axis("x", &ResizeAxes::x);
    to_.function(name, "FUNCTION " + type_of(node.cls) + " " + name +
                           "(GIVEN, const int out_x, const int y, const int c) {\n" +
                           sum_over(a, "out_x", "x", sum) + "  return " +
                           converted(node.cls, "float", value) + ";\n}\n");
  }

 private:
  using Which = ResizeAxis ResizeAxes::*;

  // A number of one direction, found at the launch.
  template <class Number>
  std::string number(ParameterType type, const std::string& label, Which which, Number number) {
    const int n = n_;
    const Operand image = image_;
    return to_.parameter(type, Builder::name({false, n}) + "_" + label,
                         [n, image, which, number](const LaunchContext& at, int) {
                           const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
                           return number(resize_axes(now, at.size_of(image)).*which);
                         });
  }

  AxisText axis(const std::string& label, Which which) {
    const int n = n_;
    const Operand image = image_;
    const auto bytes = [n, image, which](bool weights) {
      return [n, image, which, weights](const LaunchContext& at) {
        const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
        const ResizeAxis a = resize_axes(now, at.size_of(image)).*which;
        return a.to * (weights ? a.taps : 1) * 4;
      };
    };
    const std::string own = Builder::name({false, n_});
    return {number(ParameterType::int32, "from_" + label, which,
                   [](const ResizeAxis& a) { return static_cast<double>(a.from); }),
            number(ParameterType::int32, "taps_" + label, which,
                   [](const ResizeAxis& a) { return static_cast<double>(a.taps); }),
            to_.scratch(own + "_first_" + label, "int", bytes(false)),
            to_.scratch(own + "_weights_" + label, "float", bytes(true))};
  }

  // Writes a body once, as a function of doubles.
  std::string body(const PointBody& body, const std::string& arguments) {
    std::vector<std::string> parameters = names_in(body.input_names);
    for (const std::string& p : names_in(body.parameter_names)) parameters.push_back(p);
    to_.body_once(body.name, "\n" + body_function(body.name, "double", "", parameters, body.text));
    return std::string(body.name) + "(" + arguments + ")";
  }

  void write_taps(const std::string& label, Which which) {
    const auto real = [&](const std::string& what, auto value) {
      return number(ParameterType::float64, what + "_" + label, which, value);
    };
    const std::string scale = real("scale", [](const ResizeAxis& a) { return a.scale; });
    const std::string narrow = real("narrow", [](const ResizeAxis& a) { return a.narrow; });
    const std::string before =
        real("before", [](const ResizeAxis& a) { return static_cast<double>(a.before); });
    const std::string last =
        real("last", [](const ResizeAxis& a) { return static_cast<double>(a.from - 1); });
    const std::string size = number(ParameterType::int32, "to_" + label, which,
                                    [](const ResizeAxis& a) { return static_cast<double>(a.to); });
    const std::string copies = number(ParameterType::int32, "copies_" + label, which,
                                      [](const ResizeAxis& a) { return a.copies ? 1.0 : 0.0; });
    const Resample::Method method = std::get<Resample>(to_.node(n_).primitive).method;
    const std::string copied = body(resize_copied_body(), "(double)k, " + scale + ", " + last);
    const std::string begin = body(resize_first_body(), "(double)k, " + scale + ", " + before);
    const std::string weight =
        body(resize_weight_body(method),
             "(double)k, (double)t, " + scale + ", " + narrow + ", " + before);
    const AxisText a = axis(label, which);
    const int n = n_;
    const Operand image = image_;
    to_.kernel(Builder::name({false, n_}) + "_taps_" + label, items,
               filled(taps_kernel, {{"items", std::to_string(items)},
                                    {"taps", a.taps},
                                    {"to", size},
                                    {"copies", copies},
                                    {"first", a.first},
                                    {"weights", a.weights},
                                    {"copied", copied},
                                    {"begin", begin},
                                    {"weight", weight}}),
               [n, image, which](const LaunchContext& at) {
                 const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
                 const ResizeAxis d = resize_axes(now, at.size_of(image)).*which;
                 return LaunchShape{{(d.to * d.taps + items - 1) / items, 1, 1}, {items, 1, 1}};
               });
  }

  // sum over the taps of output `out`; `place` is the coordinate that `value` reads.
  static std::string sum_over(const AxisText& a, const std::string& out, const std::string& place,
                              const std::string& value) {
    return "  const int taps = " + a.taps + ", begin = " + a.first + "[" + out +
           "];\n  float sum = 0.0f;\n  for (int t = 0; t < taps; ++t) {\n    const int " + place +
           " = symmetric(begin + t, " + a.from + ");\n    sum = fma(" + a.weights + "[(long)" + out +
           " * taps + t], " + value + ", sum);\n  }\n";
  }

  // Of the input's width and the result's height.
  PlaneText columns() {
    const int n = n_;
    const Operand image = image_;
    return to_.scratch_plane(Builder::name({false, n_}) + "_columns", PixelClass::single,
                             to_.channels(image_), [n, image](const LaunchContext& at) {
                               return Size{at.size_of(image).width, at.size_of({false, n}).height};
                             });
  }

  void write_columns() {
    const int n = n_;
    const Operand image = image_;
    const std::string name = Builder::name({false, n_}) + "_columns";
    const std::string value = "(float)" + to_.value(image_, "x", "y", "c");
    const AxisText a = axis("y", &ResizeAxes::y);
    to_.function(name + "_value",
                 "FUNCTION float " + name + "_value(GIVEN, const int x, const int out_y, const int c) {\n" +
                     sum_over(a, "out_y", "y", value) + "  return sum;\n}\n");
    const std::string sum = to_.call(name + "_value", "x", "y", "c");
    to_.pixel_kernel(
        "store_" + name, to_.width(image_), to_.height({false, n_}),
        [n, image](const LaunchContext& at) {
          return Size{at.size_of(image).width, at.size_of({false, n}).height};
        },
        "  for (int c = 0; c < " + std::to_string(to_.channels(image_)) + "; ++c) " +
            columns().pixel() + " = " + sum + ";\n");
  }

  Builder& to_;
  int n_;
  Operand image_;
};

constexpr const char* nearest_text = R"(  const double px = at_x + 0.5, py = at_y + 0.5;
  if (!(px >= 0.0 && px < (double)$width && py >= 0.0 && py < (double)$height)) return $fill;
  return $nearest;
}
)";

constexpr const char* bilinear_text = R"(  // Also where a place is NaN.
  if (!(at_x > -1.0 && at_x < (double)$width && at_y > -1.0 && at_y < (double)$height)) return $fill;
  const double left = floor(at_x), top = floor(at_y);
  const int px = (int)left, py = (int)top;
  const float across = (float)(at_x - left), down = (float)(at_y - top);
  const float a = $a, b = $b, d = $d, e = $e;
  const float upper = fma(across, b, fma(-across, a, a));
  const float lower = fma(across, e, fma(-across, d, d));
  const float sum = fma(down, lower, fma(-down, upper, upper));
  return $value;
}
)";

void write_affine(Builder& to, int n, const std::string& name) {
  const Node& node = to.node(n);
  const Operand image = node.images[0];
  const auto place = [&](const std::string& label, double AffinePlace::*which) {
    return to.parameter(ParameterType::float64, Builder::name({false, n}) + "_" + label,
                        [n, image, which](const LaunchContext& at, int) {
                          const Node& now = at.spec().nodes[static_cast<std::size_t>(n)];
                          return affine_place(now, at.size_of(image)).*which;
                        });
  };
  const auto coordinate = [](const std::string& u, const std::string& v, const std::string& w) {
    return "fma(" + u + ", (double)x, fma(" + v + ", (double)y, " + w + "))";
  };
  const std::string width = to.width(image), height = to.height(image);
  const std::string fill = to.argument(n, 9, "fill", "float", "c");
  const bool nearest = std::get<Resample>(node.primitive).method == Resample::Method::nearest;
  const std::string header =
      value_header(type_of(node.cls), name) + "  const double at_x = " +
      coordinate(place("a", &AffinePlace::a), place("b", &AffinePlace::b),
                 place("c", &AffinePlace::c)) +
      ";\n  const double at_y = " +
      coordinate(place("d", &AffinePlace::d), place("e", &AffinePlace::e),
                 place("f", &AffinePlace::f)) +
      ";\n";
  const std::string outside = converted(node.cls, "float", fill);
  if (nearest) {
    const std::string value = to.value(image, "(int)floor(px)", "(int)floor(py)", "c");
    to.function(name, header + filled(nearest_text, {{"width", width},
                                                     {"height", height},
                                                     {"fill", outside},
                                                     {"nearest", value}}));
    return;
  }
  const std::string at = name + "_at";
  write_border(to, at, "float", "(float)" + to.value(image, "x", "y", "c"), Border::constant, fill,
               width, height);
  const bool logical = node.cls == PixelClass::logical;
  const std::string value =
      converted(node.cls, "float", logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum");
  to.function(name, header + filled(bilinear_text, {{"width", width},
                                                    {"height", height},
                                                    {"fill", outside},
                                                    {"a", to.call(at, "px", "py", "c")},
                                                    {"b", to.call(at, "px + 1", "py", "c")},
                                                    {"d", to.call(at, "px", "py + 1", "c")},
                                                    {"e", to.call(at, "px + 1", "py + 1", "c")},
                                                    {"value", value}}));
}

}  // namespace

void write_resample(Builder& to, int n, const std::string& name) {
  if (std::get<Resample>(to.node(n).primitive).kind == Resample::Kind::affine) {
    write_affine(to, n, name);
  } else {
    ResizeText(to, n).write(name);
  }
}

}  // namespace impipe::jit
