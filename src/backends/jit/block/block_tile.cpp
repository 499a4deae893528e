// The text of weighted sums whose group keeps its pixels in local memory.
#include <algorithm>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {

namespace {

// The pixels around a block in the group's tile, vectors of four.
struct Tile {
  Footprint f;
  int halo = 0;    // pixels at the left and at the right
  int across = 0;  // vectors of a row

  explicit Tile(const Footprint& of)
      : f(of), halo((std::max(of.left, of.right) + 3) / 4 * 4), across(32 + halo / 2) {}
};

// Four pixels of a tile that lies inside the image, as a vector.
std::string four_inside(Builder& builder, const Operand& image, const std::string& vector) {
  const PixelClass cls = builder.cls(image);
  const std::string load =
      wide_load(cls, "(" + builder.plane(image).row("(top + row)") + " + left + 4 * vector)",
                "from", 0, 4, builder.tuning().load_bytes);
  return filled(part(kernels::block, "four_inside"),
                {{"pixel", type_of(cls)}, {"load_four", load}, {"vector", vector}});
}

// Fills `tile_OWN` of node n's image.
std::string fill_tile(const Block& block, int n, const Tile& tile, Border border,
                      const std::string& outside, const std::string& type) {
  Builder& builder = block.builder;
  const Operand image = builder.node(n).images[0];
  const std::string own = Builder::name({false, n});
  if (block.plan.in_groups(image)) {
    return points_in_tile(block, PointTile(4, block.group_size(), tile.f), image, "tile_" + own,
                          type, border, outside);
  }
  const std::string edge = own + "_edge";
  write_border(builder, edge, type, builder.value(image, "x", "y"), border, outside,
               builder.width(image), builder.height(image));
  const int items = builder.tuning().group, down = items / 32, py = block.size.py;
  const int rows = down * py + tile.f.up + tile.f.down;
  const std::string vector = type + "4";
  const int left_over = tile.across - 32, beside = rows * left_over;
  const auto fill = [&](const std::string& four) {
    return builder.filled(part(kernels::block, "fill"),
                          {{"any_beside", beside > 0 ? "1" : "0"},
                           {"vector", vector},
                           {"beside_turns", number((beside + items - 1) / items)},
                           {"items", number(items)},
                           {"left_over", number(left_over)},
                           {"across", number(tile.across)},
                           {"halo_pixels", number(beside)},
                           {"four", four},
                           {"own", own},
                           {"times", number((rows + down - 1) / down)},
                           {"down", number(down)},
                           {"rows", number(rows)}});
  };
  const auto at_edge = [&](int i) {
    return builder.call(edge, "left + 4 * vector + " + number(i), "top + row");
  };
  const std::string edge_text = filled(part(kernels::block, "four_edge"), {{"vector", vector},
                                                                           {"edge_x", at_edge(0)},
                                                                           {"edge_y", at_edge(1)},
                                                                           {"edge_z", at_edge(2)},
                                                                           {"edge_w", at_edge(3)}});
  return filled(part(kernels::block, "tile"),
                {{"vector", vector},
                 {"own", own},
                 {"tile_vectors", number(rows * tile.across)},
                 {"asked", block.size.asked_bytes > 0 ? "1" : "0"},
                 {"left", "GROUP_X * " + number(32 * block.size.px) + " - " + number(tile.halo)},
                 {"top", "GROUP_Y * " + number(down * py) + " - " + number(tile.f.up)},
                 {"wide", number(4 * tile.across)},
                 {"width", builder.width(image)},
                 {"rows", number(rows)},
                 {"height", builder.height(image)},
                 {"fill_inside", fill(four_inside(builder, image, vector))},
                 {"fill_edge", fill(edge_text)}});
}

// Row after row of the tile as `line`, `step` for each, on `sums_OWN` of the block's pixels, which
// begin as `start`.
std::string walk_tile(const Block& block, const std::string& own, const Tile& tile,
                      const std::string& type, const std::string& start, const std::string& step,
                      bool rolled = false) {
  const int px = block.size.px, py = block.size.py, width = px + 2 * tile.halo;
  return block.builder.filled(part(kernels::block, "walk"),
                              {{"type", type},
                               {"vector", type + "4"},
                               {"own", own},
                               {"sums", number(py * px)},
                               {"row_unroll", rolled ? "#pragma unroll 1" : block.builder.unroll()},
                               {"nothing", start},
                               {"tall", number(py + tile.f.up + tile.f.down)},
                               {"line", number(width)},
                               {"line_vectors", number(width / 4)},
                               {"py", number(py)},
                               {"across", number(tile.across)},
                               {"step_of_sums", step}});
}

// A step over a row of the tile: `texts` are those of the mask's rows. weighs: they are sums, else
// folds of extrema.
std::string step_of_rows(const Block& block, int rows, const std::vector<std::string>& texts,
                         bool weighs, const std::string& type, const std::string& sums) {
  const int px = block.size.px;
  std::string folds;
  for (std::size_t y = 0; y < texts.size(); ++y) {
    if (texts[y].empty()) continue;
    folds += Substitutions({{"mask_row", number(static_cast<int>(y))},
                            {"unroll", block.builder.unroll()},
                            {"px", number(px)},
                            {"type", type},
                            {"sum_of_pixel", sums + "[r * " + number(px) + " + i]"},
                            {weighs ? "taps_of_row" : "folds_of_row", texts[y]}})
                 .filled(part(kernels::block, weighs ? "weigh_row" : "fold_row"));
  }
  return block.builder.filled(part(kernels::block, "step_of_mask"),
                              {{"sum_rows", number(rows)}, {"mask_rows", folds}});
}

// The weights of node n's mask in local memory, 0 where it has none.
std::string local_weights(const Block& block, int n, const Mask& mask) {
  Builder& builder = block.builder;
  const int wide = 4 * weight_vectors(mask);
  std::vector<int> places(static_cast<std::size_t>(wide * mask.height), -1);  // of the arguments
  int k = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const int place = y * wide + x;
      if (mask.at(x, y)) places[static_cast<std::size_t>(place)] = k++;
    }
  }
  const std::string own = Builder::name({false, n});
  const auto count = static_cast<int>(places.size());
  const auto value = [n, places](const LaunchContext& at, int i) {
    const int place = places[static_cast<std::size_t>(i)];
    return place < 0 ? 0.0 : at.argument(n, place);
  };
  return filled(part(kernels::block, "local_weights"),
                {{"own", own},
                 {"weight_vectors", number(count / 4)},
                 {"items", number(builder.tuning().group)},
                 {"weights_of_image",
                  builder.array(ParameterType::float32, own + "_mask_weights", count, value)}});
}

// A step over a row of the tile for a mask of many weights.
std::string step_of_many(const Block& block, int n, const Mask& mask, const Tile& tile) {
  Builder& builder = block.builder;
  const std::string own = Builder::name({false, n});
  const int px = block.size.px, words = (mask.width + 31) / 32;
  // Floats may be infinite, or no numbers, where the mask has no weight.
  const bool skips = !mask.full() && builder.cls(builder.node(n).images[0]) == PixelClass::single;
  std::string sets, fours;
  for (int word = 0; word < words && skips; ++word) {
    const auto bits = [mask, words](const LaunchContext&, int i) {
      std::uint32_t set = 0;
      for (int b = 0; b < 32; ++b) {
        const int x = 32 * (i % words) + b;
        if (x < mask.width && mask.at(x, i / words)) set |= std::uint32_t{1} << b;
      }
      return static_cast<double>(static_cast<std::int32_t>(set));
    };
    sets += declared(
        "const uint", "set" + number(word),
        "(uint)" + builder.array(ParameterType::int32, own + "_sets", words * mask.height, bits) +
            "[of_mask * " + number(words) + " + " + number(word) + "]");
  }
  for (int q = 0; q < weight_vectors(mask); ++q) {
    std::string taps;
    for (int x = 4 * q; x < std::min(4 * q + 4, mask.width); ++x) {
      const std::string sum = "fma(w." + std::string(1, "xyzw"[x % 4]) + ", line[i + " +
                              number(tile.halo + x - mask.origin_x) + "], sum)";
      taps += assigned("sum", skips ? "(set" + number(x / 32) + " >> " + number(x % 32) +
                                          " & 1u) != 0u ? " + sum + " : sum"
                                    : sum);
    }
    fours += builder.filled(part(kernels::block, "weigh_four"),
                            {{"own", own},
                             {"px", number(px)},
                             {"fours_a_row", number(weight_vectors(mask))},
                             {"four_of_row", number(q)},
                             {"sum_of_pixel", "sums[r * " + number(px) + " + i]"},
                             {"taps_of_row", taps}});
  }
  return builder.filled(part(kernels::block, "roll_rows"), {{"sum_rows", number(block.size.py)},
                                                            {"mask_tall", number(mask.height)},
                                                            {"sets", sets},
                                                            {"fours", fours}});
}

// The same for one whose weights are unrolled.
std::string step_of_few(const Block& block, int n, const Mask& mask, const Tile& tile) {
  const std::string weight = weights(block.builder, n, "weights", 0, mask.count());
  std::vector<std::string> rows(static_cast<std::size_t>(mask.height));
  int k = 0;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      if (!mask.at(x, y)) continue;
      rows[static_cast<std::size_t>(y)] +=
          assigned("sum", "fma(" + weight + "[" + number(k++) + "], line[i + " +
                              number(tile.halo + x - mask.origin_x) + "], sum)");
    }
  }
  return step_of_rows(block, block.size.py, rows, true, "float", "sums");
}

}  // namespace

MadeRow weighted_tile_row(const Block& block, int n, const std::string& name) {
  Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Stencil& stencil = *as<Stencil>(node);
  const Mask& mask = stencil.taps;
  const Tile tile(mask.footprint());
  const std::string own = Builder::name({false, n});
  const bool many = rolls_rows(stencil);
  BlockText text{.tables = (many ? local_weights(block, n, mask) : "") +
                           fill_tile(block, n, tile, stencil.border,
                                     outside_value(builder, n, stencil.border), "float")};

  // Every sum takes its taps in row-major order: rows of the tile come from the top down.
  const int px = block.size.px;
  const std::string step =
      many ? step_of_many(block, n, mask, tile) : step_of_few(block, n, mask, tile);
  text.windows = walk_tile(block, own, tile, "float", "0.0f", step, many);
  const MadeRow row = made_row(name, row_of_floats(builder, name, node.cls, px,
                                                   "sums_" + own + "[r * " + number(px) + " + k]"));
  text += row.text;
  return {row.places, std::move(text)};
}

std::string extremes_step(const Block& block, const Mask& mask, const std::string& type,
                          const std::string& better, int most, const std::string& sums, int halo,
                          int rows) {
  const int width = block.size.px + 2 * halo;
  std::map<int, std::string> known = {{1, "line"}};
  std::string runs;
  std::vector<std::string> texts(static_cast<std::size_t>(mask.height));
  for (const Run& run : runs_of(mask)) {
    while (!known.contains(run.length)) {
      const int shorter = std::prev(known.upper_bound(run.length))->first;
      const int next = std::min(run.length, most * shorter);
      runs += block.builder.filled(part(kernels::block, "run_of_line"),
                                   {{"type", type},
                                    {"run", "run" + number(next)},
                                    {"line", number(width)},
                                    {"run_count", number(width - next + 1)},
                                    {"shorter", known[shorter]},
                                    {"better", better},
                                    {"three", next > 2 * shorter ? "1" : "0"},
                                    {"apart_by", number(next - shorter)},
                                    {"middle_by", number(shorter)}});
      known[next] = "run" + number(next);
    }
    const int row = run.y + mask.origin_y;
    texts[static_cast<std::size_t>(row)] += assigned(
        "best", better + "(best, " + known[run.length] + "[i + " + number(halo + run.x) + "])");
  }
  return runs + step_of_rows(block, rows, texts, false, type, sums);
}

MadeRow extremes_tile_row(const Block& block, int n, const std::string& name) {
  const Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const Tile tile(extremum.mask.footprint());
  const std::string nothing = extremum.largest ? "-INFINITY" : "INFINITY";
  const std::string better = extremum.largest ? "larger_float" : "smaller_float";
  const std::string own = Builder::name({false, n});
  const int px = block.size.px;
  const std::string step =
      extremes_step(block, extremum.mask, "float", better, 2, "sums", tile.halo, block.size.py);
  BlockText text{.tables = fill_tile(block, n, tile, Border::absent, nothing, "float"),
                 .windows = walk_tile(block, own, tile, "float", nothing, step)};
  const MadeRow row =
      made_row(name, row_of_floats(builder, name, node.cls, px,
                                   "one_zero(sums_" + own + "[r * " + number(px) + " + k])"));
  text += row.text;
  return {row.places, std::move(text)};
}

}  // namespace impipe::jit
