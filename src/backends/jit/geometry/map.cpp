// Maps of any kind as text: the place of a pixel, and what lies there.
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

using Method = Resample::Method;

class MapText {
 public:
  MapText(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        node_(builder.node(n)),
        resample_(std::get<Resample>(node_.primitive)),
        width_(builder.width(node_.images[0])),
        height_(builder.height(node_.images[0])),
        fill_(builder.argument(n, static_cast<int>(node_.arguments.size()) - 1, "fill", "float")) {}

  void write(const std::string& name) {
    const bool logical = node_.cls == PixelClass::logical;
    const std::string value =
        converted(node_.cls, "float", logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum");
    std::string text = place();
    if (on_image() || resample_.method == Method::bicubic) {
      text += filled(part(kernels::map, "outside"), {{"has_value", has_value()}, {"fill", fill()}});
    }
    if (resample_.method == Method::nearest) {
      const std::string pixel = builder_.value(node_.images[0], "(int)floor(px)", "(int)floor(py)");
      text +=
          filled(part(kernels::resample, "nearest"),
                 {{"width", width_}, {"height", height_}, {"fill", fill()}, {"nearest", pixel}});
    } else if (resample_.method == Method::bicubic) {
      text += bicubic(name, value);
    } else {
      text += filled(part(kernels::resample, "bilinear"), {{"width", width_},
                                                           {"height", height_},
                                                           {"fill", fill()},
                                                           {"a", pixel(name, "px", "py")},
                                                           {"b", pixel(name, "px + 1", "py")},
                                                           {"d", pixel(name, "px", "py + 1")},
                                                           {"e", pixel(name, "px + 1", "py + 1")},
                                                           {"value", value}});
    }
    builder_.function(name, pixel_function(type_of(node_.cls), name, text));
  }

 private:
  bool on_image() const { return resample_.beside == Resample::Beside::on_image; }
  std::string fill() const { return converted(node_.cls, "float", fill_); }

  std::string number(const std::string& label, double MappedPlace::*which) {
    return builder_.parameter(ParameterType::float64, Builder::name({false, n_}) + "_" + label,
                              [n = n_, image = node_.images[0], which](const auto& at, int) {
                                return mapped_place(at.node(n), at.size_of(image)).*which;
                              });
  }

  std::string place() {
    const bool projective = resample_.kind == Resample::Kind::projective;
    const auto divisor = [&](const char* label, double MappedPlace::*which) {
      return projective ? number(label, which) : std::string("0");
    };
    return filled(part(kernels::map, "place"), {{"projective", projective ? "1" : "0"},
                                                {"u0", number("u0", &MappedPlace::u0)},
                                                {"v0", number("v0", &MappedPlace::v0)},
                                                {"x0", number("x0", &MappedPlace::x0)},
                                                {"y0", number("y0", &MappedPlace::y0)},
                                                {"a", number("a", &MappedPlace::a)},
                                                {"b", number("b", &MappedPlace::b)},
                                                {"c", number("c", &MappedPlace::c)},
                                                {"d", number("d", &MappedPlace::d)},
                                                {"e", number("e", &MappedPlace::e)},
                                                {"f", number("f", &MappedPlace::f)},
                                                {"g", divisor("g", &MappedPlace::g)},
                                                {"h", divisor("h", &MappedPlace::h)},
                                                {"i", divisor("i", &MappedPlace::i)}});
  }

  std::string has_value() const {
    const bool cubic = resample_.method == Method::bicubic;
    if (!on_image()) {
      return "at_x > -2.0 && at_x < (double)" + width_ +
             " + 1.0 && at_y > -2.0 && at_y < (double)" + height_ + " + 1.0";
    }
    const std::string more = cubic ? "0.5" : "0.0";
    return "at_x >= -" + more + " && at_x <= (double)" + width_ + " - 1.0 + " + more +
           " && at_y >= -" + more + " && at_y <= (double)" + height_ + " - 1.0 + " + more;
  }

  // Columns and rows that are read for a pixel are found once for all sixteen.
  std::string bicubic(const std::string& name, const std::string& value) {
    const std::string rule(name_of(Border::symmetric));
    const auto at = [&](const char* place, const std::string& size) {
      return on_image() ? rule + "(" + place + " - 1 + k, " + size + ")" : std::string("0");
    };
    const std::string pixel_text =
        on_image()
            ? "(float)" + builder_.value(node_.images[0], "columns[column + 1]", "rows[row + 1]")
            : pixel(name, "px + column", "py + row");
    return filled(part(kernels::map, "bicubic"), {{"by_rule", on_image() ? "1" : "0"},
                                                  {"column_at", at("px", width_)},
                                                  {"row_at", at("py", height_)},
                                                  {"pixel", pixel_text},
                                                  {"value", value}});
  }

  // The image's pixel, by the rule for places outside.
  std::string pixel(const std::string& name, const std::string& x, const std::string& y) {
    const std::string at = name + "_at";
    if (!builder_.has_function(at)) {
      write_border(builder_, at, "float", "(float)" + builder_.value(node_.images[0], "x", "y"),
                   on_image() ? Border::symmetric : Border::constant, fill_, width_, height_);
    }
    return builder_.call(at, x, y);
  }

  Builder& builder_;
  int n_;
  const Node& node_;
  const Resample& resample_;
  std::string width_, height_, fill_;
};

}  // namespace

void write_map(Builder& builder, int n, const std::string& name) {
  MapText(builder, n).write(name);
}

}  // namespace impipe::jit
