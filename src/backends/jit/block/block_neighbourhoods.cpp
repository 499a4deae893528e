// Neighbourhoods over the windows of a block.
#include <algorithm>
#include <map>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

// `text`, and then the row.
MadeRow after(BlockText text, const std::string& name, const Row& row) {
  MadeRow made = made_row(name, row);
  text += made.text;
  return {made.places, std::move(text)};
}

// The column pass of what the row pass left in `rows`, an array of the block's columns.
MadeRow column_pass(const Block& block, int n, BlockText text, const Window& rows,
                    const std::string& name) {
  Builder& builder = block.builder;
  const Separable& separable = *as<Separable>(builder.node(n));
  return after(std::move(text), name,
               weighted_row(builder, name, block.size.px, rows, separable.column,
                            weights(builder, n, "column_weights", separable.row.count(),
                                    separable.column.count()),
                            builder.node(n).cls));
}

// Rows, then columns, from one window.
MadeRow both_passes_row(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Separable& separable = *as<Separable>(builder.node(n));
  const Operand image = builder.node(n).images[0];
  const int px = block.size.px;
  const std::string own = Builder::name({false, n});
  const std::string outside = outside_value(builder, n, separable.border);
  const Footprint f = separable.footprint();
  auto [w, text] = loaded_window(block, image, f, separable.border, "float", outside, own);
  const Window rows{"rows_" + own, w.rows, px, 0};
  const std::string weight = weights(builder, n, "row_weights", 0, separable.row.count());
  const std::string sums =
      for_each_pixel(builder, px,
                     declared("float", "sum", "0.0f") + weighted_taps(w, separable.row, weight) +
                         assigned(rows.array + "[r * " + number(px) + " + k]", "sum"));
  text.windows += builder.filled(part(kernels::block, "both_passes"),
                                 {{"own", own},
                                  {"column_count", number(rows.rows * rows.width)},
                                  {"window_rows", number(rows.rows)},
                                  {"row_sums", sums},
                                  {"border_rows", separable.border == Border::constant ? "1" : "0"},
                                  {"up", number(f.up)},
                                  {"below", number(block.size.py + f.down)},
                                  {"height", builder.height(image)},
                                  {"px", number(px)},
                                  {"outside_value", outside}});
  return column_pass(block, n, std::move(text), rows, name);
}

// Columns of the plane that the row pass has made.
MadeRow columns_row(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Separable& separable = *as<Separable>(builder.node(n));
  const int px = block.size.px;
  const std::string rows = Builder::name({false, n}) + "_rows";
  const std::string edge = Builder::name({false, n}) + "_column_edge";
  const PlaneText plane = builder.scratch_plane(rows, PixelClass::single, nullptr);
  write_border(builder, edge, "float", plane.pixel(), separable.border,
               outside_value(builder, n, separable.border), builder.width({false, n}),
               builder.height(builder.node(n).images[0]), true, true);
  const Footprint f = separable.column.footprint();
  const Window w{"w_" + rows, block.size.py + f.up + f.down, px, 0};
  const std::string load =
      wide_load(PixelClass::single, "row", "(" + w.array + " + r * " + number(px) + ")", 0, px,
                builder.tuning().load_bytes);
  BlockText text{.windows = builder.filled(
                     part(kernels::block, "columns"),
                     {{"own", rows},
                      {"column_count", number(w.rows * px)},
                      {"window_rows", number(w.rows)},
                      {"window_row", plane.row("(y0 + r - " + number(f.up) + ")")},
                      {"load_columns", load},
                      {"px", number(px)},
                      {"window_edge", builder.call(edge, "x0 + i", "y0 + r - " + number(f.up))}}),
                 .has_window = true,
                 .tests_interior = true,
                 .reach = {0, 0, f.up, f.down}};
  return column_pass(block, n, std::move(text), w, name);
}

MadeRow stencil_row(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Stencil& stencil = *as<Stencil>(builder.node(n));
  auto [w, text] =
      loaded_window(block, builder.node(n).images[0], stencil.footprint(), stencil.border, "float",
                    outside_value(builder, n, stencil.border), Builder::name({false, n}));
  const bool weighted = stencil.body == nullptr && stencil.expression == nullptr;
  return after(std::move(text), name,
               weighted ? weighted_row(builder, name, block.size.px, w, stencil.taps,
                                       weights(builder, n, "weights", 0, stencil.taps.count()),
                                       builder.node(n).cls)
                        : body_row(builder, name, block.size.px, w, n));
}

// The window of an extremum's mask, which extrema over the same rectangle share.
LoadedWindow window_of_mask(const Block& block, KnownWindows& windows, int n, const Mask& mask,
                            const std::string& type, const std::string& nothing) {
  const Operand image = block.builder.node(n).images[0];
  const Footprint f = mask.footprint();
  const bool full = mask.full();
  for (const KnownWindow& other : windows.of_pixels) {
    if (full && other.image == image && other.kind == type && other.f == f) {
      return {other.window, {}};
    }
  }
  // A rectangle around its pixel has that of the image's pixels at its edge which lies nearest.
  LoadedWindow loaded = loaded_window(block, image, f, full ? Border::replicate : Border::absent,
                                      type, nothing, Builder::name({false, n}));
  if (full) windows.of_pixels.push_back({image, type, f, loaded.window});
  return loaded;
}

// Runs of the mask's rows: each length from half of itself, for the whole window.
MadeRow extremes_row(const Block& block, KnownWindows& windows, int n, const std::string& name) {
  const Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const bool single = node.cls == PixelClass::single, largest = extremum.largest;
  const std::string type = single ? "float" : "int";
  const std::string nothing = single    ? (largest ? "-INFINITY" : "INFINITY")
                              : largest ? "0"
                                        : number(static_cast<int>(class_max(node.cls)));
  const std::string better = single ? (largest ? "fmax" : "fmin") : largest ? "larger" : "smaller";
  const std::string own = Builder::name({false, n});
  auto [w, text] = window_of_mask(block, windows, n, extremum.mask, type, nothing);
  std::map<int, std::string> of_length = {{1, w.array}};
  const int all = w.rows * w.width;
  std::string folds;
  for (const Run& run : runs_of(extremum.mask)) {
    while (!of_length.contains(run.length)) {
      const int known = std::prev(of_length.upper_bound(run.length))->first;
      const int next = std::min(run.length, 2 * known);
      const std::string array = "run" + number(next) + "_" + own;
      text.windows +=
          builder.filled(part(kernels::block, "run"), {{"type", type},
                                                       {"run", array},
                                                       {"window_count", number(all)},
                                                       {"run_count", number(all - (next - 1))},
                                                       {"better", better},
                                                       {"shorter", of_length[known]},
                                                       {"apart_by", number(next - known)}});
      of_length[next] = array;
    }
    folds += assigned("best", better + "(best, " + of_length[run.length] + "[" +
                                  w.place(run.x, run.y, extremum.mask.footprint().up) + "])");
  }
  text.rows += builder.filled(part(kernels::block, "row_of_runs"),
                              {{"pixel", type_of(node.cls)},
                               {"name", name},
                               {"px", number(block.size.px)},
                               {"type", type},
                               {"nothing", nothing},
                               {"folds", folds},
                               {"folded", single ? "one_zero(best)" : "best"}});
  return {{name}, std::move(text)};
}

}  // namespace

MadeRow neighbourhood_row(const Block& block, KnownWindows& windows, int n,
                          const std::string& name) {
  const Node& node = block.builder.node(n);
  const bool packed = block.size.packed;
  if (block.size.tile) {
    if (as<Extremum>(node) == nullptr) return weighted_tile_row(block, n, name);
    return packed ? packed_extremes_tile_row(block, n, name) : extremes_tile_row(block, n, name);
  }
  if (as<Stencil>(node) != nullptr) {
    return packed ? packed_sums_row(block, windows, n, name) : stencil_row(block, n, name);
  }
  if (as<Separable>(node) != nullptr) {
    if (packed) return packed_means_row(block, windows, n, name);
    const bool own_window = block.plan.node(n).rows.by == RowPass::By::own_window;
    return own_window ? both_passes_row(block, n, name) : columns_row(block, n, name);
  }
  if (packed) return packed_row(block, windows, n, name);
  return as<Extremum>(node) != nullptr ? extremes_row(block, windows, n, name)
                                       : ranked_row(block, n, name);
}

MadeRow row_pass(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Separable& separable = *as<Separable>(builder.node(n));
  auto [w, text] =
      loaded_window(block, builder.node(n).images[0], separable.row.footprint(), separable.border,
                    "float", outside_value(builder, n, separable.border), name);
  return after(std::move(text), name,
               weighted_row(builder, name, block.size.px, w, separable.row,
                            weights(builder, n, "row_weights", 0, separable.row.count()),
                            PixelClass::single));
}

}  // namespace impipe::jit
