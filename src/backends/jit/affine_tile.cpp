// An affine map by tiles: a wave makes 8x4 pixels at once, so that the places they are taken from
// lie in few rows of the image however it is turned. A work-item makes four pixels of a row, side
// by side with seven others'; where all four lie inside with their neighbours it takes them without
// tests, else it makes them one by one.
#include "backends/jit/dialect.hpp"
#include "backends/jit/nodes.hpp"
#include "backends/jit/resample.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int across = 32, down = 16;  // of a tile

constexpr const char* affine_kernel = R"(  const int wave = ITEM / 32, lane = ITEM % 32;
  const int x0 = GROUP_X * $across + lane % 8, y = GROUP_Y * $down + wave * 4 + lane / 8;
  if (x0 >= $width || y >= $height) return;
  GLOBAL $pixel* const row = $out_row;
  const double row_x = fma($b, (double)y, $c), row_y = fma($e, (double)y, $f);
  const double from_column = (double)x0;
  // The map is monotonous along a row: the outer two of the four say where the others lie.
  const double first_x = fma($a, from_column, row_x)$half;
  const double first_y = fma($d, from_column, row_y)$half;
  const double last_x = fma($a, from_column + 24.0, row_x)$half;
  const double last_y = fma($d, from_column + 24.0, row_y)$half;
  const double most_x = (double)($in_width - $reach), most_y = (double)($in_height - $reach);
  if (first_x >= 0.0 && first_x < most_x && last_x >= 0.0 && last_x < most_x && first_y >= 0.0 &&
      first_y < most_y && last_y >= 0.0 && last_y < most_y && x0 + 24 < $width) {
$each    for (int k = 0; k < 4; ++k) {
      const int x = x0 + 8 * k;
      const double column = from_column + 8.0 * k;
      const double at_x = fma($a, column, row_x)$half, at_y = fma($d, column, row_y)$half;
      double left, top;
      const int px = floor_inside(at_x, &left), py = floor_inside(at_y, &top);
      GLOBAL const $pixel* const from = $in_row + px * $channels;
$pixels    }
  } else {
$once    for (int k = 0; k < 4; ++k) {
      const int x = x0 + 8 * k;
      if (x >= $width) break;
      for (int c = 0; c < $channels; ++c) row[x * $channels + c] = $slow;
    }
  }
)";

constexpr const char* nearest_pixels =
    R"(      for (int c = 0; c < $channels; ++c) row[x * $channels + c] = from[c];
)";

constexpr const char* bilinear_pixels =
    R"(      const float across = (float)(at_x - left), down = (float)(at_y - top);
$each_channel      for (int c = 0; c < $channels; ++c) {
        const float a = (float)from[c], b = (float)from[$channels + c];
        const float d = (float)from[$stride + c], e = (float)from[$stride + $channels + c];
        const float upper = fma(across, b, fma(-across, a, a));
        const float lower = fma(across, e, fma(-across, d, d));
        const float sum = fma(down, lower, fma(-down, upper, upper));
        row[x * $channels + c] = $value;
      }
)";

}  // namespace

bool is_affine(const Builder& to, int n) {
  const auto* resample = std::get_if<Resample>(&to.node(n).primitive);
  return resample != nullptr && resample->kind == Resample::Kind::affine;
}

void write_affine_tiles(Builder& to, int n) {
  const Node& node = to.node(n);
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self) + "_value";
  write_resample(to, n, name);
  const bool nearest = std::get<Resample>(node.primitive).method == Resample::Method::nearest;
  const PlaneText in = to.plane(image), out = to.plane(self);
  const std::string each = to.unroll();
  const std::string channels = std::to_string(node.channels);
  const bool logical = node.cls == PixelClass::logical;
  const std::string value =
      converted(node.cls, "float", logical ? "sum >= 0.5f ? 1.0f : 0.0f" : "sum");
  const std::string pixels = filled(
      nearest ? nearest_pixels : bilinear_pixels,
      {{"channels", channels}, {"each_channel", each}, {"stride", in.stride}, {"value", value}});
  const std::string own = "given->" + Builder::name(self) + "_";
  to.kernel("store_" + Builder::name(self), items,
            filled(affine_kernel, {{"across", std::to_string(across)},
                                   {"down", std::to_string(down)},
                                   {"channels", channels},
                                   {"width", to.width(self)},
                                   {"height", to.height(self)},
                                   {"in_width", to.width(image)},
                                   {"in_height", to.height(image)},
                                   {"pixel", type_of(node.cls)},
                                   {"out_row", out.row("y")},
                                   {"in_row", in.row("py")},
                                   {"a", own + "a"},
                                   {"b", own + "b"},
                                   {"c", own + "c"},
                                   {"d", own + "d"},
                                   {"e", own + "e"},
                                   {"f", own + "f"},
                                   {"half", nearest ? " + 0.5" : ""},
                                   {"reach", nearest ? "0" : "1"},
                                   {"each", each},
                                   {"once", to.tuning().unroll ? "#pragma unroll 1\n" : ""},
                                   {"pixels", pixels},
                                   {"slow", to.call(name, "x", "y", "c")}}),
            [self](const LaunchContext& at) {
              const Size s = at.size_of(self);
              return LaunchShape{{(s.width + across - 1) / across, (s.height + down - 1) / down, 1},
                                 {items, 1, 1}};
            });
}

}  // namespace impipe::jit
