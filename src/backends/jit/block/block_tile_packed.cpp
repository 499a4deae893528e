// The text of masks of many runs over bytes: a group's pixels in local memory, those of two rows in
// the 16-bit halves of words.
#include <algorithm>

#include "backends/jit/block/block_rows.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

// The function that reads a word of an image of bytes, `fill` outside; returns its name.
std::string word_function(Builder& builder, const Operand& image, const std::string& own,
                          const std::string& fill) {
  std::string name = own + "_word";
  if (builder.has_function(name)) return name;
  const std::string width = builder.width(image), height = builder.height(image);
  builder.function(
      name,
      pixel_function("uint", name,
                     filled(part(kernels::block, "word"),
                            {{"width", width},
                             {"height", height},
                             {"row", builder.plane(image).row("replicate(y, " + height + ")")},
                             {"fill", fill}})));
  return name;
}

// Fills the tile of words; `fill`: a word outside the image.
std::string fill_packed_tile(const Block& block, const Operand& image, const std::string& own,
                             const Footprint& f, const std::string& fill) {
  Builder& builder = block.builder;
  const PlaneText plane = builder.plane(image);
  const std::string word = word_function(builder, image, own, fill);
  const int items = builder.tuning().group, apart = block.rows_apart(),
            rows = apart + f.up + f.down;
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4, across = 32 + halo / 2;
  const auto edge = [&](int below) {
    return builder.call(word, "left + 4 * vector", "top + row + " + number(below));
  };
  return builder.filled(part(kernels::block, "packed_tile"),
                        {{"own", own},
                         {"tile_count", number(rows * across)},
                         {"group_x", number(32 * block.size.px)},
                         {"group_y", number(items / 32 * block.size.py)},
                         {"halo", number(halo)},
                         {"up", number(f.up)},
                         {"wide", number(4 * across)},
                         {"width", builder.width(image)},
                         {"height", builder.height(image)},
                         {"rows", number(rows)},
                         {"apart", number(apart)},
                         {"times", number((rows * across + items - 1) / items)},
                         {"items", number(items)},
                         {"tile_across", number(across)},
                         {"inside", plane.row("(top + row)")},
                         {"inside_apart", plane.row("(top + row + " + number(apart) + ")")},
                         {"edge", edge(0)},
                         {"edge_apart", edge(apart)}});
}

}  // namespace

MadeRow packed_extremes_tile_row(const Block& block, int n, const std::string& name) {
  const Builder& builder = block.builder;
  const Node& node = builder.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const std::string own = Builder::name({false, n});
  const std::string better = extremum.largest ? "packed_max" : "packed_min";
  const std::string fill = extremum.largest                  ? "0u"
                           : node.cls == PixelClass::logical ? "0x1010101u"
                                                             : "0xffffffffu";
  const int px = block.size.px, half = block.size.py / 2;
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4;
  const int line = px + 2 * halo, across = 32 + halo / 2;
  const std::string step = extremes_step(block, mask, "uint", better, 3, "sums_" + own, halo, half);
  MadeRow row = row_of_packed(block, n, name);
  row.text.tables = fill_packed_tile(block, node.images[0], own, f, fill);
  row.text.windows = builder.filled(part(kernels::block, "walk_packed"),
                                    {{"own", own},
                                     {"sums", number(half * px)},
                                     {"nothing", extremum.largest ? "0u" : "0xffffffffu"},
                                     {"tall", number(half + f.up + f.down)},
                                     {"line", number(line)},
                                     {"half", number(half)},
                                     {"tile_across", number(across)},
                                     {"step", step}});
  row.text.pairs =
      builder.filled(part(kernels::block, "packed_of_sums"), {{"own", own}, {"px", number(px)}}) +
      row.text.pairs;
  return row;
}

}  // namespace impipe::jit
