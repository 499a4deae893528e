// A resize by a ratio of whole numbers: all places are known when the kernel is compiled, and a few
// weights serve every output. Work-items sum four columns each for all rows of a tile, then take
// runs of outputs along the rows from local memory.
#include <algorithm>

#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/geometry/resize_axis.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"
#include "core/placement.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int rows = 8;       // of a tile
constexpr int fours = items;  // of columns that local memory holds: a work-item makes one

// What the ratio settles, and the class: a run is at most what a work-item stores at once, so that
// work-items side by side write whole sectors.
struct WholeTile {
  int phases, step, taps, before, bytes;

  // floor of the place of output i, counted from 1.
  int place(int i) const { return (2 * step * i + phases + step) / (2 * phases); }
  int lead() const { return place(0); }
  int span(int outputs) const { return place(outputs - 1) - place(0) + taps; }
  // Of outputs side by side, and the columns from one run to the next.
  int run() const { return std::min(4 * phases, 16 / bytes); }
  int columns() const { return run() * step / phases; }
  // Of a load: columns of sums.
  int wide() const { return std::min(4, columns()); }
  // Columns before the first of a run that its outputs read.
  int reach() const { return before + 1 - lead(); }
  // Columns that stand before those of a tile: what it reads, and what the mirror shows of the
  // image's last columns where its last output begins a tile.
  int margin() const {
    const int mirrored = taps - reach() - 2 + (phases > 1 ? 1 : 0);
    return (std::max({reach(), mirrored, 0}) + 3) / 4 * 4;
  }
  int reads() const { return (margin() - reach() + span(run()) + wide() - 1) / wide(); }
  int max_runs() const { return (4 * fours - wide() * reads()) / columns() + 1; }
  // Work-items for the runs of a row.
  int lanes() const {
    int lanes = 4 * items;
    while (lanes / 2 >= max_runs()) lanes /= 2;
    return lanes;
  }
  std::int64_t runs(std::int64_t width) const { return (width + run() - 1) / run(); }
  // Of a tile, where all have about as many.
  std::int64_t across(std::int64_t width) const {
    // Tiles begin at multiples of 4 columns.
    const std::int64_t even = 4 / wide(), most = max_runs() / even * even;
    const std::int64_t all = runs(width), tiles = (all + most - 1) / most;
    return ((all + tiles - 1) / tiles + even - 1) / even * even;
  }
};

WholeTile tile_of(const Node& node) {
  const Resample& resample = std::get<Resample>(node.primitive);
  // Taps depend on the ratio alone.
  Node whole = node;
  whole.arguments = {{.value = 0},
                     {.value = 0},
                     {.value = double(resample.phases) / resample.step},
                     {.value = double(resample.phases) / resample.step}};
  const ResizeAxis axis = resize_axes(whole, {64, 64}).x;
  return {resample.phases, resample.step, axis.taps, axis.before, bytes_of(node.cls)};
}

// The pixels of a run at `row`.
std::string stored(const Builder& builder, PixelClass cls, int run) {
  const std::string count = std::to_string(run);
  if (cls == PixelClass::uint8) {
    // An instruction rounds where the code stays in its second byte.
    std::string text =
        statement("uint codes[" + count + "], words[" + std::to_string(run / 4) + "]") +
        builder.loop("k", run) +
        assigned("codes[k]", "ROUNDED_CODE(fmin(POSITIVE(sum[k]), 255.0f))");
    for (int g = 0; g < run / 4; ++g) {
      text += assigned("words[" + std::to_string(g) + "]",
                       "SECOND_BYTES((&codes[" + std::to_string(4 * g) + "]))");
    }
    return text + statement("store_" + count + "_bytes(row + " + count + " * quad, words)");
  }
  const std::string value = cls == PixelClass::logical ? "sum[k] >= 0.5f ? 1.0f : 0.0f" : "sum[k]";
  return array_of(type_of(cls), "made", run) + builder.loop("k", run) +
         assigned("made[k]", converted(cls, "float", value)) +
         wide_store(cls, "(row + " + count + " * quad)", "made", run, builder.tuning().load_bytes);
}

// [phase][tap]
std::string weights_of(Builder& builder, int n, const WholeTile& tile) {
  return builder.array(
      ParameterType::float32, Builder::name({false, n}) + "_weights", tile.phases * tile.taps,
      [n, tile](const LaunchContext& at, int i) {
        ResizeAxis axis = resize_axes(at, n).x;
        axis.to = tile.phases;
        const auto method = std::get<Resample>(at.node(n).primitive).method;
        return double(resize_taps(method, axis).weights[static_cast<std::size_t>(i)]);
      });
}

void write_whole_resize(Builder& builder, int n) {
  const Node& node = builder.node(n);
  const WholeTile tile = tile_of(node);
  const Operand self{false, n}, image = node.images[0];
  const PlaneText in = builder.plane(image), out = builder.plane(self);
  const auto number = [&](const std::string& what, auto value) {
    return builder.of_size(Builder::name(self) + "_" + what, self,
                           [value](Size size) { return value(size.width); });
  };
  const std::string phases = std::to_string(tile.phases), step = std::to_string(tile.step);
  const std::string apart = "inputs_apart_" + phases + "_" + step;
  const std::string lead = std::to_string(tile.lead());
  builder.body_once(apart,
                    filled(part(kernels::resize_whole, "apart"),
                           {{"apart", apart}, {"phases", phases}, {"step", step}, {"lead", lead}}));
  builder.kernel(
      "store_" + Builder::name(self), items,
      filled(part(kernels::resize_whole, "whole"),
             {{"items", std::to_string(items)},
              {"rows", std::to_string(rows)},
              {"fours", std::to_string(fours)},
              {"span", std::to_string(tile.span(rows))},
              {"across", number("across", [tile](auto w) { return tile.across(w); })},
              {"quads_x", number("runs", [tile](auto w) { return tile.runs(w); })},
              {"width", builder.width(image)},
              {"height", builder.height(image)},
              {"to_height", builder.height(self)},
              {"step", step},
              {"phases", phases},
              {"lead", lead},
              {"before", std::to_string(tile.before)},
              {"taps", std::to_string(tile.taps)},
              {"margin", std::to_string(tile.margin())},
              {"reads", std::to_string(tile.reads())},
              {"columns", std::to_string(tile.columns())},
              {"wide", std::to_string(tile.wide())},
              {"vector", tile.wide() == 1 ? "float" : "float" + std::to_string(tile.wide())},
              {"of_two", tile.wide() > 1 ? "1" : "0"},
              {"of_four", tile.wide() > 2 ? "1" : "0"},
              {"run", std::to_string(tile.run())},
              {"lanes", std::to_string(tile.lanes())},
              {"apart", apart},
              {"weights", weights_of(builder, n, tile)},
              {"pixel", type_of(node.cls)},
              {"plane", in.pointer},
              {"stride", in.stride},
              {"each", builder.unroll()},
              {"load", four_loaded(node.cls)},
              {"out_row", out.row("y")},
              {"store", stored(builder, node.cls, tile.run())}}),
      [self, tile](const LaunchContext& at) {
        const Size size = at.size_of(self);
        const std::int64_t across = tile.across(size.width);
        return launch_tiles(Size{tile.runs(size.width), size.height}, across, rows, items);
      });
}

Offer offer_whole_resize(const FormQuestion& question) {
  const auto* resample = as<Resample>(question.node());
  if (resample == nullptr || resample->phases == 0) return vetoed("no ratio of whole numbers");
  return {
      .work = {.bytes = bytes_moved(question.context, question.n), .operations = 20, .launches = 1},
      .form = FamilyForm{&whole_resize_form},
      .reason = "weights and offsets repeat themselves"};
}

}  // namespace

const FormRow whole_resize_form = {"tiles of one ratio", offer_whole_resize,
                                   [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                     write_whole_resize(builder, n);
                                     return nullptr;
                                   }};

}  // namespace impipe::jit
