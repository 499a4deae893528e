// Transpositions through tiles in local memory: rows of both images are read and written as rows.
#include "backends/jit/permute.hpp"

#include "backends/jit/dialect.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

// A tile of 32x32 pixels; one more a row, so that a column lies in different banks.
constexpr const char* pixel_tiles = R"(  LOCAL $type tile[32 * 33 * $channels];
  const int column = ITEM % 32, first = ITEM / 32;
  const int from_x = GROUP_X * 32 + column;
  for (int i = first; i < 32; i += $rows) {
    const int from_y = GROUP_Y * 32 + i;
    if (from_x < $in_width && from_y < $in_height) {
      for (int c = 0; c < $channels; ++c) {
        tile[(i * 33 + column) * $channels + c] = ($in_row)[from_x * $channels + c];
      }
    }
  }
  BARRIER;
  const int x = GROUP_Y * 32 + column;
  for (int i = first; i < 32; i += $rows) {
    const int y = GROUP_X * 32 + i;
    if (x < $width && y < $height) {
      const int to_x = $to_x, to_y = $to_y;
      for (int c = 0; c < $channels; ++c) {
        ($out_row)[to_x * $channels + c] = tile[(column * 33 + i) * $channels + c];
      }
    }
  }
)";

// A tile of 64x64 bytes: a work-item loads and stores four at once. Rows are 68 bytes apart, so
// that four bytes above one another lie in different banks.
constexpr const char* byte_tiles = R"(  LOCAL uint words[64 * 17];
  IN_LOCAL const uchar* const tile = (IN_LOCAL const uchar*)words;
  const int column = ITEM % 16, first = ITEM / 16;
  const int from_x = GROUP_X * 64 + column * 4;
$unroll  for (int i = first; i < 64; i += $rows) {
    const int from_y = GROUP_Y * 64 + i;
    if (from_x < $in_width && from_y < $in_height) {
      words[i * 17 + column] = *(GLOBAL const uint*)($in_row + from_x);
    }
  }
  BARRIER;
  const int x = GROUP_Y * 64 + column * 4;
$unroll  for (int i = first; i < 64; i += $rows) {
    const int y = GROUP_X * 64 + i;
    if (x < $width && y < $height) {
      const uint a = tile[(column * 4) * 68 + i], b = tile[(column * 4 + 1) * 68 + i];
      const uint c = tile[(column * 4 + 2) * 68 + i], d = tile[(column * 4 + 3) * 68 + i];
      *(GLOBAL uint*)($out_row + x) = a | b << 8 | c << 16 | d << 24;
    }
  }
)";

}  // namespace

bool fits_tiles(const Builder& to, const std::function<bool(int)>& stored, int n) {
  const auto* permute = std::get_if<Permute>(&to.node(n).primitive);
  const Operand& image = to.node(n).images[0];
  return permute != nullptr && permute->transpose && (image.external || stored(image.index));
}

void write_transpose_kernel(Builder& to, int n) {
  const Node& node = to.node(n);
  const Permute& permute = std::get<Permute>(node.primitive);
  const Operand self{false, n}, image = node.images[0];
  const PlaneText in = to.plane(image), out = to.plane(self);
  const bool bytes =
      bytes_of(node.cls) == 1 && node.channels == 1 && !permute.flip_x && !permute.flip_y;
  const int side = bytes ? 64 : 32, group = to.tuning().group;
  const std::string text = filled(bytes ? byte_tiles : pixel_tiles,
                                  {{"type", type_of(node.cls)},
                                   {"channels", std::to_string(node.channels)},
                                   {"rows", std::to_string(group / (bytes ? 16 : 32))},
                                   {"unroll", to.tuning().unroll ? "#pragma unroll\n" : ""},
                                   {"in_width", to.width(image)},
                                   {"in_height", to.height(image)},
                                   {"in_row", in.row("from_y")},
                                   {"width", to.width(self)},
                                   {"height", to.height(self)},
                                   {"to_x", permute.flip_x ? to.width(self) + " - 1 - x" : "x"},
                                   {"to_y", permute.flip_y ? to.height(self) + " - 1 - y" : "y"},
                                   {"out_row", bytes ? out.row("y") : out.row("to_y")}});
  to.kernel("store_" + Builder::name(self), group, text,
            [image, side, group](const LaunchContext& at) {
              const Size s = at.size_of(image);
              return LaunchShape{{(s.width + side - 1) / side, (s.height + side - 1) / side, 1},
                                 {group, 1, 1}};
            });
}

}  // namespace impipe::jit
