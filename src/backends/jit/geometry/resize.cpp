// A resize as text, a pixel a work-item: one kernel a direction makes the weights, one the sums
// down the columns; the sums along the rows are made where the pixel is stored.
#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/geometry/resize_axis.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;

// The texts of one direction's numbers.
struct AxisText {
  std::string from, taps, first, weights;
};

class ResizeText {
 public:
  ResizeText(Builder& builder, int n, LaunchTest wanted)
      : builder_(builder),
        n_(n),
        image_(builder.node(n).images[0]),
        wanted_(std::move(wanted)),
        x_(builder, n, "x", &ResizeAxes::x),
        y_(builder, n, "y", &ResizeAxes::y) {}

  void write(const std::string& name) {
    const Node& node = builder_.node(n_);
    if (std::get<Resample>(node.primitive).method == Resample::Method::nearest) {
      write_taps(x_, "x");
      write_taps(y_, "y");
      const std::string x = axis(x_, "x").first + "[x]", y = axis(y_, "y").first + "[y]";
      builder_.function(
          name, pixel_function(type_of(node.cls), name, returned(builder_.value(image_, x, y))));
      return;
    }
    y_.write_sums(wanted_, 1);
    write_taps(y_, "y");
    write_columns();
    x_.write_sums(wanted_, 1);
    write_taps(x_, "x");
    const std::string sum = columns().pixel();
    const std::string value = node.cls == PixelClass::logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum";
    const AxisText a = axis(x_, "x");
    builder_.function(
        name, function_of(
                  type_of(node.cls), name, "PARAMS, const int out_x, const int y",
                  sum_over(a, "out_x", "x", sum) + returned(converted(node.cls, "float", value))));
  }

 private:
  AxisText axis(const ResizeAxisText& text, const std::string& label) {
    const auto bytes = [text, wanted = wanted_](bool weights) {
      return [text, wanted, weights](const LaunchContext& at) {
        const ResizeAxis a = text.at(at);
        return wanted && !wanted(at) ? row_alignment : a.to * (weights ? a.taps : 1) * 4;
      };
    };
    const std::string own = Builder::name({false, n_});
    return {text.from(), text.taps(),
            builder_.scratch(own + "_first_" + label, "int", bytes(false)),
            builder_.scratch(own + "_weights_" + label, "float", bytes(true))};
  }

  void write_taps(const ResizeAxisText& text, const std::string& label) {
    const std::string size = text.size(), copies = text.copies(), copied = text.copied("k");
    const std::string begin = text.begin("k"), weight = text.weight("k", "t");
    const AxisText a = axis(text, label);
    builder_.kernel(
        Builder::name({false, n_}) + "_taps_" + label, items,
        filled(part(kernels::resize, "taps"), {{"items", std::to_string(items)},
                                               {"taps", a.taps},
                                               {"to", size},
                                               {"copies", copies},
                                               {"first", a.first},
                                               {"weights", a.weights},
                                               {"copied", copied},
                                               {"begin", begin},
                                               {"weight", weight}}),
        [text, wanted = wanted_](const LaunchContext& at) {
          if (wanted && !wanted(at)) return LaunchShape{{0, 0, 0}, {items, 1, 1}};
          const ResizeAxis d = text.at(at);
          return LaunchShape{{(d.to * d.taps + items - 1) / items, 1, 1}, {items, 1, 1}};
        });
  }

  // sum over the taps of output `out`; `place` is the coordinate that `value` reads.
  static std::string sum_over(const AxisText& a, const std::string& out, const std::string& place,
                              const std::string& value) {
    return filled(part(kernels::resize, "sum_over"), {{"taps", a.taps},
                                                      {"first", a.first},
                                                      {"out", out},
                                                      {"place", place},
                                                      {"inputs", a.from},
                                                      {"weights", a.weights},
                                                      {"input", value}});
  }

  // Of the input's width and the result's height.
  std::function<Size(const LaunchContext&)> columns_size(Size otherwise) const {
    const int n = n_;
    const Operand image = image_;
    return [n, image, otherwise, wanted = wanted_](const LaunchContext& at) {
      return wanted && !wanted(at) ? otherwise
                                   : Size{at.size_of(image).width, at.size_of({false, n}).height};
    };
  }
  PlaneText columns() {
    return builder_.scratch_plane(Builder::name({false, n_}) + "_columns", PixelClass::single,
                                  columns_size({1, 1}));
  }

  void write_columns() {
    const std::string name = Builder::name({false, n_}) + "_columns";
    const std::string value = "(float)" + builder_.value(image_, "x", "y");
    const AxisText a = axis(y_, "y");
    builder_.function(name + "_value",
                      function_of("float", name + "_value", "PARAMS, const int x, const int out_y",
                                  sum_over(a, "out_y", "y", value) + returned("sum")));
    const std::string sum = builder_.call(name + "_value", "x", "y");
    builder_.pixel_kernel("store_" + name, builder_.width(image_), builder_.height({false, n_}),
                          columns_size({0, 0}), assigned(columns().pixel(), sum));
  }

  Builder& builder_;
  int n_;
  Operand image_;
  LaunchTest wanted_;
  ResizeAxisText x_, y_;
};

}  // namespace

void write_resize(Builder& builder, int n, const std::string& name, LaunchTest wanted) {
  ResizeText(builder, n, std::move(wanted)).write(name);
}

}  // namespace impipe::jit
