// The text of masks of many runs over bytes: a group's pixels in local memory, those of two rows in
// the 16-bit halves of words.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
void BlockWriter::extremes_tile_of_packed(int n, const std::string& name) {
  const Node& node = to_.node(n);
  const Extremum& extremum = *as<Extremum>(node);
  const Operand image = node.images[0];
  const Mask& mask = extremum.mask;
  const Footprint f = mask.footprint();
  const std::string own = Builder::name({false, n});
  const std::string better = extremum.largest ? "packed_max" : "packed_min";
  const std::string fill = extremum.largest                  ? "0u"
                           : node.cls == PixelClass::logical ? "0x1010101u"
                                                             : "0xffffffffu";
  const std::string word = own + "_word";
  const PlaneText plane = to_.plane(image);
  const std::string width = to_.width(image), height = to_.height(image);
  if (!to_.has_function(word)) {
    to_.function(word, "FUNCTION uint " + word + "(PARAMS, const int x, const int y) {\n" +
                           filled(part(kernels::block, "word"),
                                  {{"width", width},
                                   {"height", height},
                                   {"row", plane.row("replicate(y, " + height + ")")},
                                   {"fill", fill}}) +
                           "}\n");
  }
  const int items = to_.tuning().group, down = items / 32, half = py_ / 2, apart = rows_apart();
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4, line = px_ + 2 * halo;
  const int across = 32 + halo / 2, rows = apart + f.up + f.down;
  const auto edge = [&](int below) {
    return to_.call(word, "left + 4 * vector", "top + row + " + number(below));
  };
  const std::string unroll = to_.unroll();
  tables_ += filled(part(kernels::block, "packed_tile"),
                    {{"own", own},
                     {"tile_count", number(rows * across)},
                     {"group_x", number(32 * px_)},
                     {"group_y", number(down * py_)},
                     {"halo", number(halo)},
                     {"up", number(f.up)},
                     {"wide", number(4 * across)},
                     {"width", width},
                     {"height", height},
                     {"rows", number(rows)},
                     {"apart", number(apart)},
                     {"unroll", unroll},
                     {"times", number((rows * across + items - 1) / items)},
                     {"items", number(items)},
                     {"tile_across", number(across)},
                     {"inside", plane.row("(top + row)")},
                     {"inside_apart", plane.row("(top + row + " + number(apart) + ")")},
                     {"edge", edge(0)},
                     {"edge_apart", edge(apart)}});

  text_ += filled(part(kernels::block, "walk_packed"),
                  {{"own", own},
                   {"sums", number(half * px_)},
                   {"nothing", extremum.largest ? "0u" : "0xffffffffu"},
                   {"unroll", unroll},
                   {"tall", number(half + f.up + f.down)},
                   {"line", number(line)},
                   {"half", number(half)},
                   {"tile_across", number(across)},
                   {"step", extremes_step(mask, "uint", better, 3, "sums_" + own, halo, half)}});
  pair_text_ += "      uint made_" + own + "[" + number(px_) + "];\n" + to_.loop("k", px_) +
                "made_" + own + "[k] = sums_" + own + "[r * " + number(px_) + " + k];\n";
  rows_of_made(n, name);
}

}  // namespace impipe::jit
