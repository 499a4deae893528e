// The rows of cells that are measured as they are made.
#include <algorithm>

#include "backends/jit/block/row.hpp"
#include "backends/jit/measure/reduce_cells.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int px = 4;
constexpr int step = 4;  // rows under way while others are made

}  // namespace

std::string cell_rows(Builder& builder, int n, const std::string& accumulate) {
  const Operand self{false, n}, image = builder.node(n).images[0];
  const Stencil& stencil = *as<Stencil>(builder.node(n));
  const Footprint f = stencil.footprint();
  const PixelClass cls = builder.cls(image);
  const int around = f.up + f.down, wide = f.left + px + f.right;
  const Window window{"window", around + 1, wide, f.left};
  const Row made = stencil.body != nullptr
                       ? body_row(builder, "made", px, window, n)
                       : weighted_row(builder, "made", px, window, stencil.taps,
                                      weights(builder, n, "weights", 0, stencil.taps.count()),
                                      builder.node(n).cls);
  const std::string name = Builder::name(self);
  const bool stored = builder.output_of(n) >= 0;
  const auto constant = [](const std::string& text) { return [text] { return text; }; };
  const Substitutions words{{
      {"items", constant(number(cell_items))},
      {"width", [&] { return builder.width(image); }},
      {"height", [&] { return builder.height(image); }},
      {"image", [&] { return builder.plane(image).pointer; }},
      {"image_stride", [&] { return builder.plane(image).stride; }},
      {"stores", constant(stored ? "1" : "0")},
      {"result", [&] { return builder.plane(self).pointer; }},
      {"stride", [&] { return builder.plane(self).stride; }},
      {"pixel", constant(type_of(cls))},
      {"name_row", constant(name + "_row")},
      {"up", constant(number(f.up))},
      {"left", constant(number(f.left))},
      {"right", constant(number(f.right))},
      {"around", constant(number(around))},
      {"halo", constant(number(std::max(f.left, f.right)))},
      {"wide", constant(number(wide))},
      {"last", constant(number(f.left - 1))},
      {"next", constant(number(f.left + 1))},
      {"end", constant(number(f.left + px))},
      {"after", constant(number(wide - 1 - f.left))},
      {"step", constant(number(step))},
      {"constant", constant(stencil.border == Border::constant ? "1" : "0")},
      {"outside", [&] { return outside_value(builder, n, stencil.border); }},
      {"window_count", constant(number(window.rows * window.width))},
      {"load_pixels",
       constant(wide_load(cls, "from", "(next + 4 * r)", 0, px, px * bytes_of(cls)))},
      {"made", constant(made.text)},
      {"accumulate", constant(accumulate)},
  }};
  const auto fill = [&](const char* part_name, Replacements own) {
    return words.filled(part(kernels::cell_rows_sub_groups, part_name), own);
  };
  builder.function(name + "_row", fill("row", {}));
  const std::string next = fill("load", {{"first_row", number(around)}});
  return fill("cell", {{"load", fill("load", {{"first_row", "0"}})},
                       {"load_next", "if (part + " + number(step) + " < 32) " + braced(next)}});
}

}  // namespace impipe::jit
