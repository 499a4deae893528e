// Windows of planes.
#include "backends/jit/block/windows.hpp"

#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

LoadedWindow loaded_window(const Block& block, const Operand& operand, const Footprint& f,
                           Border border, const std::string& type, const std::string& outside,
                           const std::string& own) {
  const std::string name = "w_" + own, edge = own + "_edge";
  if (block.plan.in_groups(operand)) {
    return window_of_points(block, operand, f, border, type, outside, name);
  }
  Builder& builder = block.builder;
  const int px = block.size.px, py = block.size.py;
  write_border(builder, edge, type, builder.value(operand, "x", "y"), border, outside,
               builder.width(operand), builder.height(operand));
  const PixelClass cls = builder.cls(operand);
  const int bytes = bytes_of(cls);
  // Floats from wide neighbourhoods come by whole vectors.
  const int vector = bytes == 4 && px % 4 == 0 && std::max(f.left, f.right) > 1 ? 16 : 4;
  const auto aligned = [&](int pixels) {
    return (pixels * bytes + vector - 1) / vector * vector / bytes;
  };
  Window w{name, py + f.up + f.down, 0, aligned(f.left)};
  w.width = w.first + px + aligned(f.right);
  const std::string raw = "raw_" + Builder::name(operand), row = "row_of_" + raw;
  const std::string place = "(" + raw + " + r * " + number(w.width) + ")";
  const int widest = builder.tuning().load_bytes;
  const int beside = bytes == 4 && px % 4 == 0 && w.first % 4 == 0 ? widest : 4;
  const std::string load_row =
      // One load for several columns, though it reads a few that nobody needs.
      wide_load(cls, row, place, 0, w.first, f.left > 1 ? beside : 4) +
      // The block's own pixels are aligned more widely than the window's first.
      wide_load(cls, "(" + row + " + " + number(w.first) + ")",
                "(" + place + " + " + number(w.first) + ")", 0, px, widest) +
      wide_load(cls, row, place, w.first + px, w.width - w.first - px, beside);
  std::string text = builder.filled(
      part(kernels::block, "window"),
      {{"type", type},
       {"own", own},
       {"window_count", number(w.rows * w.width)},
       {"pixel", type_of(cls)},
       {"plane", Builder::name(operand)},
       {"window_row", builder.plane(operand).row("(y0 - " + number(f.up) + ")")},
       {"first", number(w.first)},
       {"window_rows", number(w.rows)},
       {"load_row", load_row},
       {"stride", builder.plane(operand).stride},
       {"reach_wide", number(px + f.left + f.right)},
       {"window_wide", number(w.width)},
       {"margin", number(w.first - f.left)},
       {"window_edge",
        builder.call(edge, "x0 + i - " + number(f.left), "y0 + r - " + number(f.up))}});
  return {w,
          {.windows = std::move(text),
           .has_window = true,
           .tests_interior = true,
           .reach = f,
           .reach_left = w.first}};
}

}  // namespace impipe::jit
