// Affine maps as text.
#include "backends/jit/resample.hpp"

#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

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
  const std::string header = value_header(type_of(node.cls), name) + "  const double at_x = " +
                             coordinate(place("a", &AffinePlace::a), place("b", &AffinePlace::b),
                                        place("c", &AffinePlace::c)) +
                             ";\n  const double at_y = " +
                             coordinate(place("d", &AffinePlace::d), place("e", &AffinePlace::e),
                                        place("f", &AffinePlace::f)) +
                             ";\n";
  const std::string outside = converted(node.cls, "float", fill);
  if (nearest) {
    const std::string value = to.value(image, "(int)floor(px)", "(int)floor(py)", "c");
    to.function(
        name,
        header +
            filled(nearest_text,
                   {{"width", width}, {"height", height}, {"fill", outside}, {"nearest", value}}));
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

void write_resample(Builder& to, int n, const std::string& name, LaunchTest wanted) {
  if (std::get<Resample>(to.node(n).primitive).kind == Resample::Kind::affine) {
    write_affine(to, n, name);
  } else {
    write_resize(to, n, name, std::move(wanted));
  }
}

}  // namespace impipe::jit
