// The text of neighbourhoods over the windows of a block.
#include <algorithm>
#include <map>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

void BlockWriter::around(int n, const std::string& name) {
  if (packed_ && !tile_) return around_packed(n, name);
  const Node& node = to_.node(n);
  if (tile_) {
    if (as<Extremum>(node) == nullptr) return weighted_tile(n, name);
    return packed_ ? extremes_tile_of_packed(n, name) : extremes_tile(n, name);
  }
  const std::string own = Builder::name({false, n});
  const Operand image = node.images[0];
  if (const auto* stencil = as<Stencil>(node)) {
    const Window w = window(image, stencil->footprint(), stencil->border, "float",
                            outside_value(to_, n, stencil->border), own);
    if (stencil->body == nullptr && stencil->expression == nullptr) {
      add(name, weighted_row(to_, name, px_, w, stencil->taps,
                             weights(to_, n, "weights", 0, stencil->taps.count()), node.cls));
    } else {
      add(name, body_row(to_, name, px_, w, n));
    }
  } else if (const auto* separable = as<Separable>(node)) {
    if (plan_.node(n).rows.by == RowPass::By::own_window) {
      both_passes(n, *separable, name);
    } else {
      columns(n, *separable, name);
    }
  } else if (const auto* extremum = as<Extremum>(node)) {
    extremes(n, *extremum, name);
  } else {
    ranked(n, *as<Rank>(node), name);
  }
}

void BlockWriter::both_passes(int n, const Separable& separable, const std::string& name) {
  const Node& node = to_.node(n);
  const Operand image = node.images[0];
  const std::string own = Builder::name({false, n});
  const std::string outside = outside_value(to_, n, separable.border);
  const Footprint f = separable.footprint();
  const Window w = window(image, f, separable.border, "float", outside, own);
  const Window rows{"rows_" + own, w.rows, px_, 0};
  const std::string weight = weights(to_, n, "row_weights", 0, separable.row.count());
  const std::string sums =
      for_each_pixel(to_, px_,
                     "float sum = 0.0f;\n" + weighted_taps(w, separable.row, weight) + rows.array +
                         "[r * " + number(px_) + " + k] = sum;");
  text_ += filled(part(kernels::block, "both_passes"),
                  {{"own", own},
                   {"column_count", number(rows.rows * rows.width)},
                   {"unroll", to_.unroll()},
                   {"window_rows", number(rows.rows)},
                   {"row_sums", sums},
                   {"border_rows", separable.border == Border::constant ? "1" : "0"},
                   {"up", number(f.up)},
                   {"below", number(py_ + f.down)},
                   {"height", to_.height(image)},
                   {"px", number(px_)},
                   {"outside_value", outside}});
  add(name, weighted_row(
                to_, name, px_, rows, separable.column,
                weights(to_, n, "column_weights", separable.row.count(), separable.column.count()),
                node.cls));
}

void BlockWriter::columns(int n, const Separable& separable, const std::string& name) {
  const Node& node = to_.node(n);
  const std::string rows = Builder::name({false, n}) + "_rows";
  const std::string edge = Builder::name({false, n}) + "_column_edge";
  const PlaneText plane = to_.scratch_plane(rows, PixelClass::single, nullptr);
  write_border(to_, edge, "float", plane.pixel(), separable.border,
               outside_value(to_, n, separable.border), to_.width({false, n}),
               to_.height(node.images[0]), true, true);
  const Footprint f = separable.column.footprint();
  Window w{"w_" + rows, py_ + f.up + f.down, px_, 0};
  interior_ = true;
  reaches({0, 0, f.up, f.down});
  to_.scratch_plane(rows, PixelClass::single, nullptr);
  const std::string load =
      wide_load(PixelClass::single, "row", "(" + w.array + " + r * " + number(w.width) + ")", 0,
                w.width, to_.tuning().load_bytes, "      ");
  text_ += filled(part(kernels::block, "columns"),
                  {{"own", rows},
                   {"column_count", number(w.rows * w.width)},
                   {"unroll", to_.unroll()},
                   {"window_rows", number(w.rows)},
                   {"window_row", plane.row("(y0 + r - " + number(f.up) + ")")},
                   {"load_columns", load},
                   {"px", number(px_)},
                   {"window_edge", to_.call(edge, "x0 + i", "y0 + r - " + number(f.up))}});
  add(name, weighted_row(
                to_, name, px_, w, separable.column,
                weights(to_, n, "column_weights", separable.row.count(), separable.column.count()),
                node.cls));
}

void BlockWriter::extremes(int n, const Extremum& extremum, const std::string& name) {
  const Node& node = to_.node(n);
  const Operand image = node.images[0];
  const bool single = node.cls == PixelClass::single;
  const std::string type = single ? "float" : "int";
  const std::string nothing = single ? (extremum.largest ? "-INFINITY" : "INFINITY")
                              : extremum.largest
                                  ? "0"
                                  : std::to_string(static_cast<int>(class_max(node.cls)));
  const std::string better = std::string(single             ? (extremum.largest ? "fmax" : "fmin")
                                         : extremum.largest ? "larger"
                                                            : "smaller");
  const std::string own = Builder::name({false, n});
  const Footprint f = extremum.mask.footprint();
  const auto same = std::find_if(windows_.begin(), windows_.end(), [&](const PackedWindow& other) {
    return other.image == image && other.kind == type && other.f == f;
  });
  Window w;
  if (same != windows_.end() && extremum.mask.full()) {
    w = same->window;
  } else {
    // A rectangle around its pixel has that of the image's pixels at its edge which lies nearest.
    const Border border = extremum.mask.full() ? Border::replicate : Border::absent;
    w = window(image, f, border, type, nothing, own);
    if (extremum.mask.full()) windows_.push_back({image, type, f, w});
  }
  const std::vector<Run> runs = runs_of(extremum.mask);
  std::map<int, std::string> of_length = {{1, w.array}};
  const int all = w.rows * w.width;
  const auto make = [&](int length) {
    while (!of_length.contains(length)) {
      int known = std::prev(of_length.upper_bound(length))->first;
      const int next = std::min(length, 2 * known);
      const std::string array = "run" + std::to_string(next) + "_" + own;
      const int count = all - (next - 1);
      text_ += "  " + type + " " + array + "[" + std::to_string(all) + "];\n" +
               to_.loop("k", count) + array + "[k] = " + better + "(" + of_length[known] + "[k], " +
               of_length[known] + "[k + " + std::to_string(next - known) + "]);\n";
      of_length[next] = array;
    }
  };
  std::string fold = type + " best = " + nothing + ";\n";
  for (const Run& run : runs) {
    make(run.length);
    fold += "      best = " + better + "(best, " + of_length[run.length] + "[" +
            w.place(run.x, run.y, f.up) + "]);\n";
  }
  row_text_ +=
      "  " + type_of(node.cls) + " " + name + "[" + std::to_string(px_) + "];\n" +
      for_each_pixel(to_, px_, fold + "      " + name + "[k] = (" + type_of(node.cls) + ")best;");
}

}  // namespace impipe::jit
