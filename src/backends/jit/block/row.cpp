// Parts of kernels that make a row of pixels from a window in registers.
#include "backends/jit/block/row.hpp"

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

std::string Window::place(int dx, int dy, int up) const {
  return "(r + " + number(up + dy) + ") * " + number(width) + " + " + number(first + dx) + " + i";
}

Row row_of_floats(const Builder& builder, const std::string& name, PixelClass cls, int count,
                  const std::string& value) {
  const bool bytes = cls == PixelClass::uint8 && count % 4 == 0;
  return {Substitutions({{"pixel", type_of(cls)},
                         {"name", name},
                         {"count", number(count)},
                         {"words", number(count / 4)},
                         {"unroll", builder.unroll()},
                         {"value", value},
                         {"of_value", converted(cls, "float", value)}})
              .filled(part(kernels::row, bytes ? "bytes" : "floats")),
          bytes ? "words_" + name : ""};
}

Row row_of_pixels(const Builder& builder, const std::string& name, PixelClass cls, int count,
                  const std::string& value, bool names_column) {
  return {builder.filled(part(kernels::row, "pixels"),
                         {{"pixel", type_of(cls)},
                          {"name", name},
                          {"count", number(count)},
                          {"x", names_column ? "const int x = x0 + i;" : ""},
                          {"of_value", value}})};
}

Row weighted_row(const Builder& builder, const std::string& name, int px, const Window& w,
                 const Mask& mask, const std::string& weight, PixelClass cls) {
  Row row = row_of_floats(builder, name, cls, px, "sums_" + name + "[k]");
  row.text =
      builder.filled(
          part(kernels::row, "sums"),
          {{"name", name}, {"count", number(px)}, {"taps", weighted_taps(w, mask, weight)}}) +
      row.text;
  return row;
}

std::string weighted_taps(const Window& w, const Mask& mask, const std::string& weight) {
  std::string text;
  int k = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      text += assigned("sum", "fma(" + weight + "[" + number(k++) + "], " + w.array + "[" +
                                  w.place(x - mask.origin_x, y - mask.origin_y, mask.origin_y) +
                                  "], sum)");
    }
  }
  return text;
}

Row body_row(Builder& builder, const std::string& name, int px, const Window& w, int n) {
  const Node& node = builder.node(n);
  const Stencil& stencil = std::get<Stencil>(node.primitive);
  const std::string body = Builder::name({false, n}) + "_in_window";
  const std::string centre = w.place(0, 0, stencil.footprint().up);
  std::string all = w.array + " + " + centre;
  for (const std::string& argument : write_stencil_function(
           builder, n, body, "const float* at_place",
           "at_place[(dy) * " + number(w.width) + " + (dx)]", w.array + "[" + centre + "]")) {
    all += ", " + argument;
  }
  return row_of_pixels(builder, name, node.cls, px,
                       converted(node.cls, "float", body + "(" + all + ")"),
                       stencil.expression != nullptr);
}

bool names_place(const Node& node) {
  const auto* point = as<Point>(node);
  return point != nullptr && point->expression != nullptr;
}

std::string code_value(Builder& builder, int n, const Operand& source) {
  return point_value(builder, n, [&](const Operand& image) {
    return image == source ? "(" + type_of(builder.cls(source)) + ")code"
                           : code_value(builder, image.index, source);
  });
}

std::string for_each_pixel(const Builder& builder, int count, const std::string& step) {
  return builder.loop("i", count) + braced(declared("const int", "k", "i") + step);
}

}  // namespace impipe::jit
