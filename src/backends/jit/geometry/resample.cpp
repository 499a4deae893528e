// Affine maps as text.
#include "backends/jit/geometry/resample.hpp"

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

void write_affine(Builder& builder, int n, const std::string& name) {
  const Node& node = builder.node(n);
  const Operand image = node.images[0];
  const auto place = [&](const std::string& label, double AffinePlace::*which) {
    return builder.parameter(ParameterType::float64, Builder::name({false, n}) + "_" + label,
                             [n, image, which](const LaunchContext& at, int) {
                               return affine_place(at.node(n), at.size_of(image)).*which;
                             });
  };
  const auto coordinate = [](const std::string& u, const std::string& v, const std::string& w) {
    return "fma(" + u + ", (double)x, fma(" + v + ", (double)y, " + w + "))";
  };
  const std::string width = builder.width(image), height = builder.height(image);
  const std::string fill = builder.argument(n, 9, "fill", "float");
  const bool nearest = std::get<Resample>(node.primitive).method == Resample::Method::nearest;
  const std::string at_x = coordinate(place("a", &AffinePlace::a), place("b", &AffinePlace::b),
                                      place("c", &AffinePlace::c)),
                    at_y = coordinate(place("d", &AffinePlace::d), place("e", &AffinePlace::e),
                                      place("f", &AffinePlace::f));
  const auto write = [&](const std::string& value) {
    builder.function(name, pixel_function(type_of(node.cls), name,
                                          declared("const double", "at_x", at_x) +
                                              declared("const double", "at_y", at_y) + value));
  };
  const std::string outside = converted(node.cls, "float", fill);
  if (nearest) {
    const std::string value = builder.value(image, "(int)floor(px)", "(int)floor(py)");
    write(filled(part(kernels::resample, "nearest"),
                 {{"width", width}, {"height", height}, {"fill", outside}, {"nearest", value}}));
    return;
  }
  const std::string at = name + "_at";
  write_border(builder, at, "float", "(float)" + builder.value(image, "x", "y"), Border::constant,
               fill, width, height);
  const bool logical = node.cls == PixelClass::logical;
  const std::string value =
      converted(node.cls, "float", logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum");
  write(filled(part(kernels::resample, "bilinear"), {{"width", width},
                                                     {"height", height},
                                                     {"fill", outside},
                                                     {"a", builder.call(at, "px", "py")},
                                                     {"b", builder.call(at, "px + 1", "py")},
                                                     {"d", builder.call(at, "px", "py + 1")},
                                                     {"e", builder.call(at, "px + 1", "py + 1")},
                                                     {"value", value}}));
}

}  // namespace

void write_resample(Builder& builder, int n, const std::string& name, LaunchTest wanted) {
  const Resample& resample = std::get<Resample>(builder.node(n).primitive);
  if (resample.kind == Resample::Kind::resize) {
    write_resize(builder, n, name, std::move(wanted));
  } else if (is_plain_affine(resample)) {
    write_affine(builder, n, name);
  } else {
    write_map(builder, n, name);
  }
}

}  // namespace impipe::jit
