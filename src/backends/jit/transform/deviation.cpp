// Deviations of windows as text.
#include <algorithm>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/deviation.hpp"

namespace impipe::jit {
namespace {

constexpr int windows = 8;  // of a work-item
constexpr int items_of_passes = 256;
// Cells of masks whose runs are written out, each with its own length: of more, NVIDIA's compiler
// begins with so many loads that registers don't hold them.
constexpr int max_cells_written = 41;
// On a processor; of those whose work-items have a column and some pixels at once.
constexpr int groups_at_once = 4, groups_of_columns = 2;

std::string as_float(std::int64_t n) { return std::to_string(n) + ".0f"; }

// Cells of a mask, one below the other, from its upper left corner.
struct Run {
  int row, column, cells;
};

// Column by column.
std::vector<Run> runs_of(const Mask& mask) {
  std::vector<Run> runs;
  for (int x = 0; x < mask.width; ++x) {
    for (int y = 0; y < mask.height; ++y) {
      if (!mask.at(x, y)) continue;
      if (y > 0 && mask.at(x, y - 1)) {
        ++runs.back().cells;
      } else {
        runs.push_back({y, x, 1});
      }
    }
  }
  return runs;
}

// The pixels of a group, and what local memory its values take.
struct TileOfWindows {
  int across = 64, down = 32;
  bool fits = true;
  int items() const { return across * down / windows; }
};

// Of a rectangle's group; columns of values, and how far its rows are apart.
struct Passes {
  int across = 0, columns = 0, stride = 0, down = 32;
};

class Deviations : WholeImageText<Moments> {
 public:
  using WholeImageText::WholeImageText;

  void write() {
    builder_.body_once("deviation_sums", builder_.filled(part(kernels::deviation, "sums")));
    if (what_.of == Moments::Of::covariance) {
      write_pairs();
    } else if (what_.by_passes()) {
      write_passes();
    } else if (const auto columns = nested_columns(mask_)) {
      write_nested(*columns);
    } else {
      write_cells();
    }
  }

 private:
  std::string text(const std::string& name, Replacements own) const {
    return Substitutions(
               {{"unroll", [this] { return builder_.unroll(); }},
                {"once", [this] { return once(); }},
                {"width", [this] { return builder_.width(image_); }},
                {"height", [this] { return builder_.height(image_); }},
                {"value", [this] { return value(0); }},
                {"second_value", [this] { return value(1); }},
                {"rule", [this] { return rule(); }},
                {"wide", [this] { return number(mask_.width); }},
                {"tall", [this] { return number(mask_.height); }},
                {"across_cells", [this] { return as_float(mask_.width); }},
                {"down_cells", [this] { return as_float(mask_.height); }},
                {"cells", [this] { return as_float(mask_.count()); }},
                {"items", [] { return number(items_of_passes); }},
                {"across", [this] { return number(passes_.across); }},
                {"down", [this] { return number(passes_.down); }},
                {"columns", [this] { return number(passes_.columns); }},
                {"stride", [this] { return number(passes_.stride); }},
                {"values", [this] { return number(std::int64_t{passes_.down} * passes_.stride); }},
                {"made", [this] { return made(); }},
                {"out_row", [this] { return builder_.plane(self_).row("(long)y"); }},
                {"left", [this] { return number(mask_.origin_x); }},
                {"up", [this] { return number(mask_.origin_y); }},
                {"rest", [this] { return as_float(std::max(mask_.count() - 1, 1)); }}})
        .filled(part(kernels::deviation, name), own);
  }
  // Which place of the image a place outside it has; those of a constant are tested besides.
  bool filled_outside() const { return what_.border == Border::constant; }
  std::string rule() const {
    return std::string(name_of(filled_outside() ? Border::replicate : what_.border));
  }
  std::string value(int image) const {
    const Operand& operand = builder_.node(n_).images.at(static_cast<std::size_t>(image));
    const std::string inside = "(float)" + builder_.value(operand, "x", "y");
    return filled_outside() ? "(x == at_x && y == at ? " + inside + " : 0.0f)" : inside;
  }
  // What a rectangle's pixel is, of what columns and rows sum.
  std::string made() const {
    if (what_.of == Moments::Of::mean) return "fma(sum[k], 1.0f / $across_cells, from[k])";
    const std::string squares = "fma($down_cells, between, inside[k])";
    if (what_.of == Moments::Of::variance) return squares + " * (1.0f / $cells)";
    return "sqrt(" + squares + " * (1.0f / $rest))";
  }
  // What stands before a loop whose turns are not written out.
  std::string once() const { return builder_.tuning().unroll ? unroll_pragma(1) : ""; }

  void kernel(const std::string& name, int across, int down, int items, const std::string& text,
              int groups = groups_at_once) {
    builder_.kernel(name_ + name, items, text, launch_tiles(self_, across, down, items), groups);
  }

  TileOfWindows tile_of_cells() const {
    for (const auto& [across, down] : {std::pair(64, 32), {64, 16}, {32, 32}, {32, 16}}) {
      const std::int64_t values =
          std::int64_t{across + mask_.width - 1} * (down + mask_.height - 1);
      if (4 * values <= builder_.tuning().local_bytes) return {across, down};
    }
    return {.fits = false};
  }

  void write_cells() {
    const TileOfWindows tile = tile_of_cells();
    const int stride = tile.across + mask_.width - 1, rows = tile.down + mask_.height - 1;
    const std::string frame_width = tile.fits ? "" : write_frame(tile);
    const std::string step = tile.fits ? number(stride) : frame_width;
    builder_.body(
        builder_.filled(part(kernels::deviation, "run"),
                        {{"once", once()}, {"memory", tile.fits ? "IN_LOCAL" : "GLOBAL"}}));
    const std::vector<Run> runs = runs_of(mask_);
    const std::string some = builder_.tuning().unroll ? unroll_pragma(4) : "";
    const std::string begin = tile.fits
                                  ? text("tile", {{"items", number(tile.items())},
                                                  {"across", number(tile.across)},
                                                  {"stride", step},
                                                  {"values", number(std::int64_t{stride} * rows)},
                                                  {"unroll_some", some}})
                                  : text("framed", {{"across", number(tile.across)},
                                                    {"frame", frame_},
                                                    {"frame_width", frame_width}});
    kernel("_deviation", tile.across, tile.down, tile.items(),
           text("cells", {{"across", number(tile.across)},
                          {"down", number(tile.down)},
                          {"tile", begin},
                          {"first_cell", place(runs.front(), step)},
                          {"stride", step},
                          {"table", runs_text(runs, step)},
                          {"cells", as_float(mask_.count())},
                          {"out", builder_.plane(self_).pixel()}}));
  }

  static std::string place(const Run& run, const std::string& stride) {
    return number(run.row) + " * " + stride + " + " + number(run.column);
  }

  std::string runs_text(const std::vector<Run>& runs, const std::string& stride) {
    if (mask_.count() > max_cells_written) {
      std::vector<double> values;
      for (const Run& run : runs) {
        values.insert(values.end(), {1.0 * run.row, 1.0 * run.column, 1.0 * run.cells});
      }
      values.resize(values.size() + 3);  // read behind the last run
      const std::string table = builder_.table(ParameterType::int32, name_ + "_runs",
                                               [values](const LaunchContext&) { return values; });
      return text("table", {{"run_count", number(static_cast<std::int64_t>(runs.size()))},
                            {"runs", table},
                            {"stride", stride}});
    }
    std::string all;
    for (const Run& run : runs) {
      all += statement("add_run(own + " + place(run, stride) + ", " + stride + ", " +
                       number(run.cells) + ", from, sum, squares)");
    }
    return all;
  }

  // The framed image in scratch memory; text of its width.
  std::string write_frame(const TileOfWindows& tile) {
    const int across = tile.across, down = tile.down;
    const Size more{mask_.width - 1, mask_.height - 1};
    const auto size_of = [=, self = self_](const LaunchContext& at) {
      const Size size = at.size_of(self);
      return Size{(size.width + across - 1) / across * across + more.width,
                  (size.height + down - 1) / down * down + more.height};
    };
    frame_ = builder_.scratch(name_ + "_frame", "float", [size_of](const LaunchContext& at) {
      return 4 * size_of(at).pixels();
    });
    const std::string width = builder_.integer(
        name_ + "_frame_width", [size_of](const LaunchContext& at) { return size_of(at).width; });
    constexpr int items = 256;
    builder_.kernel(
        name_ + "_frame", items,
        text("frame", {{"items", number(items)}, {"frame", frame_}, {"frame_width", width}}),
        [size_of](const LaunchContext& at) { return launch_tiles(size_of(at), items, 1, items); });
    return width;
  }

  // first and last row of each round, counted from where all begin, and which of the columns are
  // its; then the columns.
  static std::vector<double> table_of(const NestedColumns& columns) {
    std::vector<double> values, all;
    for (const NestedColumns::Round& round : columns.rounds) {
      const auto begin = static_cast<double>(all.size());
      all.insert(all.end(), round.columns.begin(), round.columns.end());
      values.insert(values.end(),
                    {1.0 * (round.first - columns.start), 1.0 * (round.last - columns.start), begin,
                     static_cast<double>(all.size())});
    }
    values.insert(values.end(), all.begin(), all.end());
    return values;
  }

  void write_nested(const NestedColumns& columns) {
    constexpr int items = 256, down = 16, most = items * windows / down;
    const int across = (most - mask_.width + 1) / 16 * 16;
    const int tile_columns = across + mask_.width - 1, stride = tile_columns | 1;
    const std::string table =
        builder_.table(ParameterType::int32, name_ + "_rounds",
                       [values = table_of(columns)](const LaunchContext&) { return values; });
    kernel(
        "_deviation", across, down, items,
        text("nested", {{"items", number(items)},
                        {"across", number(across)},
                        {"down", number(down)},
                        {"columns", number(tile_columns)},
                        {"stride", number(stride)},
                        {"values", number(std::int64_t{down} * stride)},
                        {"start", number(columns.start - mask_.origin_y)},
                        {"rounds", table},
                        {"round_count", number(static_cast<std::int64_t>(columns.rounds.size()))},
                        {"pixels", number(across * down / items)},
                        {"cells", as_float(mask_.count())},
                        {"out", builder_.plane(self_).pixel()}}),
        groups_of_columns);
  }

  // The tile of a rectangle's group: of columns of values as many pixels have windows of their own
  // as may be. planes: of such values in local memory.
  Passes passes_of(int planes) const {
    const int most = mask_.width <= 9 ? 64 : mask_.width <= 65 ? 128 : 64 + mask_.width - 1;
    Passes out{.across = (most - mask_.width + 1) / windows * windows};
    out.columns = out.across + mask_.width - 1;
    out.stride = out.columns | 1;
    const std::int64_t row = std::int64_t{4} * planes * out.stride;
    while (out.down > windows && row * out.down > builder_.tuning().local_bytes) out.down /= 2;
    return out;
  }

  void write_passes() {
    passes_ = passes_of(2);
    const auto column = [&](const std::string& row) { return text("column", {{"row", row}}); };
    write_rectangle(
        "_deviation",
        text("passes", {{"column", column("at")},
                        {"mirrored", column(rule() + "(at, " + builder_.height(image_) + ")")},
                        {"store_eight", wide_store(PixelClass::single, "to", "made", windows,
                                                   builder_.tuning().load_bytes)}}));
  }

  void write_pairs() {
    passes_ = passes_of(3);
    builder_.body_once("pair_sums", builder_.filled(part(kernels::deviation, "pair_sums"), {}));
    write_rectangle("_covariance", text("pairs", {}));
  }

  void write_rectangle(const std::string& name, const std::string& text) {
    kernel(name, passes_.across, passes_.down, items_of_passes, text);
  }

  const Mask& mask_ = what_.mask;
  std::string frame_;
  Passes passes_;
};

}  // namespace

void write_deviation(Builder& builder, int n) { Deviations(builder, n).write(); }

}  // namespace impipe::jit
