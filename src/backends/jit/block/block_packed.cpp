// Extrema and ranks of packed codes.
#include <algorithm>
#include <map>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// Arrays of the extremes of that many elements side by side, by how many, and their text: the
// arrays, and what makes a row of them.
struct PackedRuns {
  std::map<int, std::string> arrays;
  std::string windows = {}, rows = {};
};

// The name of the array of runs of `length`, which is made of shorter ones.
std::string run_of_packed(const Block& block, PackedRuns& runs, int length, const Window& w,
                          const std::string& better, const std::string& own) {
  const auto found = runs.arrays.find(length);
  if (found != runs.arrays.end()) return found->second;
  const int third = (length + 2) / 3;
  int shorter = std::prev(runs.arrays.upper_bound(length))->first;
  if (shorter < third) {
    run_of_packed(block, runs, third, w, better, own);
    shorter = third;
  }
  std::string array = "run" + number(length) + "_" + own;
  const auto text = [&](const char* name_of_part) {
    return Substitutions({{"run", array},
                          {"window_count", number(w.rows * w.width)},
                          {"unroll", block.builder.unroll()},
                          {"run_columns", number(w.width - (length - 1))},
                          {"packed_width", number(w.width)},
                          {"shorter", runs.arrays[shorter]},
                          {"better", better},
                          {"three", 2 * shorter < length ? "1" : "0"},
                          {"apart_by", number(length - shorter)},
                          {"middle_by", number(shorter)}})
        .filled(part(kernels::block, name_of_part));
  };
  runs.windows += text("packed_run");
  runs.rows += text("packed_run_row");
  return runs.arrays[length] = array;
}

MadeRow packed_extremes_row(const Block& block, KnownWindows& windows, int n,
                            const std::string& name) {
  const Node& node = block.builder.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const std::string own = Builder::name({false, n});
  const std::string nothing = extremum.largest                  ? "0u"
                              : node.cls == PixelClass::logical ? "0x1010101u"
                                                                : "0xffffffffu";
  // A rectangle around its pixel has that of the image's pixels at its edge which lies nearest.
  auto [w, text] =
      mask.full() ? packed_window(block, windows, node.images[0], f, Border::replicate, "", own)
                  : packed_window(block, windows, node.images[0], f, Border::absent, nothing, own);
  const std::string better = extremum.largest ? "packed_max" : "packed_min";
  PackedRuns runs{.arrays = {{1, w.array}}};
  std::vector<std::string> values;
  for (const Run& run : runs_of(mask)) {
    const std::string array = run_of_packed(block, runs, run.length, w, better, own);
    values.push_back(array + "[" + w.place(run.x, run.y, f.up) + "]");
  }
  // Three at a time.
  std::string best = declared("uint", "best", values[0]);
  for (std::size_t i = 1; i < values.size(); i += 2) {
    const bool two = i + 1 < values.size();
    best += assigned("best", better + "(" + (two ? better + "(" + values[i + 1] + ", " : "") +
                                 values[i] + (two ? ")" : "") + ", best)");
  }
  text.windows += runs.windows;
  text.packed_rows.back().text += runs.rows;
  text.pairs =
      for_each_pixel(block.builder, block.size.px, best + assigned("made_" + own + "[k]", "best"));
  return {{name}, std::move(text)};
}

MadeRow packed_ranks_row(const Block& block, KnownWindows& windows, int n,
                         const std::string& name) {
  const Node& node = block.builder.node(n);
  const Rank& rank = *as<Rank>(node);
  const std::string own = Builder::name({false, n});
  const bool halves = node.cls == PixelClass::uint16;
  const std::string fill =
      "((uint)" + outside_rank(block.builder, n) + (halves ? " * 0x10001u)" : " * 0x1010101u)");
  auto [w, text] =
      packed_window(block, windows, node.images[0], rank.mask.footprint(), rank.border, fill, own);
  text.pairs = ranks_of_row(
      block, rank, w,
      {"uint", "packed_min", "packed_max", halves ? "mean_packed_halves" : "mean_packed"},
      "made_" + own + "[k]");
  return {{name}, std::move(text)};
}

}  // namespace

MadeRow packed_row(const Block& block, KnownWindows& windows, int n, const std::string& name) {
  MadeRow row = as<Extremum>(block.builder.node(n)) != nullptr
                    ? packed_extremes_row(block, windows, n, name)
                    : packed_ranks_row(block, windows, n, name);
  const std::string own = Builder::name({false, n});
  row.text.pairs =
      filled(part(kernels::block, "packed_pixels"),
             {{"own", own}, {"px", number(block.size.px)}, {"make_pixels", row.text.pairs}});
  const MadeRow made = row_of_packed(block, n, name);
  row.text += made.text;
  row.places = made.places;
  if (bytes_of(block.builder.node(n).cls) == 1) {
    row.places.packed = "(made_" + own + "[k] & 0xff00ffu)";
  }
  return row;
}

MadeRow row_of_packed(const Block& block, int n, const std::string& name) {
  const std::string own = Builder::name({false, n});
  const int px = block.size.px;
  const auto text = [&](const char* name_of_part) {
    return Substitutions({{"own", own},
                          {"half_px", number(px / 2)},
                          {"quarter", number(px / 4)},
                          {"unroll", block.builder.unroll()},
                          {"pixel", type_of(block.builder.node(n).cls)},
                          {"name", name},
                          {"px", number(px)}})
        .filled(part(kernels::block, name_of_part));
  };
  const bool halves = bytes_of(block.builder.node(n).cls) == 2;
  const int words = halves ? px / 2 : px / 4;
  return {{name, "(word_" + own + " + two * " + number(words) + ")"},
          {.pairs = text(halves ? "words_of_packed_halves" : "words_of_packed"),
           .rows = text("row_of_packed")}};
}

}  // namespace impipe::jit
