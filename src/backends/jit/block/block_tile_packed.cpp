// The text of masks of many runs over bytes: a group's pixels in local memory, those of two rows in
// the 16-bit halves of words.
#include <algorithm>

#include "backends/jit/block/block_writer.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr const char* word_function =
    R"(FUNCTION uint $name(PARAMS, const int x, const int y) {
  const uint inside = y < 0 || y >= $height ? 0u : bytes_inside(x, $width);
  const int from = smaller(larger(x, 0), ($width - 1) / 4 * 4);
  return (*(GLOBAL const uint*)($row + from) & inside) | ($fill & ~inside);
}
)";

constexpr const char* fill_packed = R"(  LOCAL uint4 tile_$own[$count];
  {
    const int left = GROUP_X * $group_x - $halo, top = GROUP_Y * $group_y - $up;
    const int within = left >= 0 && left + $wide <= $width && top >= 0 &&
                       top + $rows + $apart <= $height;
$unroll    for (int i = 0; i < $times; ++i) {
      const int k = i * $items + ITEM, row = k / $across, vector = k % $across;
      if (k < $count) {
        uint a, b;
        if (within) {
          a = *(GLOBAL const uint*)($inside + left + 4 * vector);
          b = *(GLOBAL const uint*)($inside_apart + left + 4 * vector);
        } else {
          a = $edge;
          b = $edge_apart;
        }
        uint4 v;
        v.x = PACKED_BYTES(a, b, 0);
        v.y = PACKED_BYTES(a, b, 1);
        v.z = PACKED_BYTES(a, b, 2);
        v.w = PACKED_BYTES(a, b, 3);
        tile_$own[k] = v;
      }
    }
  }
  BARRIER;
)";

constexpr const char* walk_packed = R"(  uint sums_$own[$sums];
$unroll  for (int k = 0; k < $sums; ++k) sums_$own[k] = $nothing;
$unroll  for (int row = 0; row < $tall; ++row) {
    uint line[$line];
$unroll    for (int i = 0; i < $line / 4; ++i) {
      const uint4 v = tile_$own[(ITEM / 32 * $half + row) * $across + ITEM % 32 + i];
      line[4 * i] = v.x;
      line[4 * i + 1] = v.y;
      line[4 * i + 2] = v.z;
      line[4 * i + 3] = v.w;
    }
$step  }
)";

}  // namespace

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
    to_.function(
        word, filled(word_function, {{"name", word},
                                     {"width", width},
                                     {"height", height},
                                     {"row", to_.plane(image).row("replicate(y, " + height + ")")},
                                     {"fill", fill}}));
  }
  const int items = to_.tuning().group, down = items / 32, half = py_ / 2, apart = rows_apart();
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4, line = px_ + 2 * halo;
  const int across = 32 + halo / 2, rows = apart + f.up + f.down;
  const auto edge = [&](int below) {
    return to_.call(word, "left + 4 * vector", "top + row + " + number(below));
  };
  const std::string unroll = to_.unroll();
  tables_ +=
      filled(fill_packed, {{"own", own},
                           {"count", number(rows * across)},
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
                           {"across", number(across)},
                           {"inside", plane.row("(top + row)")},
                           {"inside_apart", plane.row("(top + row + " + number(apart) + ")")},
                           {"edge", edge(0)},
                           {"edge_apart", edge(apart)}});

  text_ += filled(walk_packed,
                  {{"own", own},
                   {"sums", number(half * px_)},
                   {"nothing", extremum.largest ? "0u" : "0xffffffffu"},
                   {"unroll", unroll},
                   {"tall", number(half + f.up + f.down)},
                   {"line", number(line)},
                   {"half", number(half)},
                   {"across", number(across)},
                   {"step", extremes_step(mask, "uint", better, 3, "sums_" + own, halo, half)}});
  pair_text_ += "      uint made_" + own + "[" + number(px_) + "];\n" + to_.loop("k", px_) +
                "made_" + own + "[k] = sums_" + own + "[r * " + number(px_) + " + k];\n";
  rows_of_made(n, name);
}

}  // namespace impipe::jit
