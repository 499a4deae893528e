// Transpositions through tiles in local memory: rows of both images are read and written as rows.
#include "backends/jit/geometry/permute.hpp"

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
namespace {

constexpr int vector_items = 256;

// The vector of four pixels of a class, how many make a row of a tile, and the text that puts the
// four columns of vectors a, b, c and d into the tile.
struct Turned {
  std::string vector;
  int across;
  std::string text;
};

Turned turned(PixelClass cls) {
  const auto put = [](int column, const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      text += "    turned" + (parts.size() == 1 ? "" : std::string(".") + "xyzw"[i]) + " = " +
              parts[i] + ";\n";
    }
    return text + "    tile[place + " + std::to_string(column) + " * $across] = turned;\n";
  };
  switch (bytes_of(cls)) {
    case 1:
      return {
          "uint", 32,
          "    const uint even_ab = LOW_BYTES(a, b), even_cd = LOW_BYTES(c, d);\n"
          "    const uint odd_ab = HIGH_BYTES(a, b), odd_cd = HIGH_BYTES(c, d);\n" +
              put(0, {"LOW_HALVES(even_ab, even_cd)"}) + put(1, {"LOW_HALVES(odd_ab, odd_cd)"}) +
              put(2, {"HIGH_HALVES(even_ab, even_cd)"}) + put(3, {"HIGH_HALVES(odd_ab, odd_cd)"})};
    case 2:
      return {"uint2", 16,
              put(0, {"LOW_HALVES(a.x, b.x)", "LOW_HALVES(c.x, d.x)"}) +
                  put(1, {"HIGH_HALVES(a.x, b.x)", "HIGH_HALVES(c.x, d.x)"}) +
                  put(2, {"LOW_HALVES(a.y, b.y)", "LOW_HALVES(c.y, d.y)"}) +
                  put(3, {"HIGH_HALVES(a.y, b.y)", "HIGH_HALVES(c.y, d.y)"})};
    default:
      return {"float4", 16,
              put(0, {"a.x", "b.x", "c.x", "d.x"}) + put(1, {"a.y", "b.y", "c.y", "d.y"}) +
                  put(2, {"a.z", "b.z", "c.z", "d.z"}) + put(3, {"a.w", "b.w", "c.w", "d.w"})};
  }
}

ShapeFunction tiles_of(const Operand& image, int side, int group) {
  return [image, side, group](const LaunchContext& at) {
    const Size s = at.size_of(image);
    return LaunchShape{{(s.width + side - 1) / side, (s.height + side - 1) / side, 1},
                       {group, 1, 1}};
  };
}

}  // namespace

void write_transpose_kernel(Builder& to, int n) {
  const Node& node = to.node(n);
  const Operand self{false, n}, image = node.images[0];
  const PlaneText in = to.plane(image), out = to.plane(self);
  const Turned four = turned(node.cls);
  const int side = 4 * four.across;
  const Permute& permute = std::get<Permute>(node.primitive);
  const bool flips = permute.flip_y;
  const auto row = [&](int k) {
    const std::string place = "from_y + " + std::to_string(k);
    return in.row(permute.flip_x ? "larger(last - (" + place + "), 0)"
                                 : "smaller(" + place + ", last)");
  };
  const std::string across = std::to_string(four.across);
  to.kernel("store_" + Builder::name(self), vector_items,
            filled(part(kernels::permute, "vector_tiles"),
                   {{"vector", four.vector},
                    {"side", std::to_string(side)},
                    {"turn", filled(four.text, {{"across", across}})},
                    {"across", across},
                    {"rows", std::to_string(vector_items / four.across)},
                    {"unroll", to.unroll()},
                    {"in_width", to.width(image)},
                    {"in_height", to.height(image)},
                    {"row_a", row(0)},
                    {"row_b", row(1)},
                    {"row_c", row(2)},
                    {"row_d", row(3)},
                    {"width", to.width(self)},
                    {"height", to.height(self)},
                    {"to_y", flips ? to.height(self) + " - 1 - y" : "y"},
                    {"out_row", out.row("to_y")}}),
            tiles_of(image, side, vector_items), 8);
}

}  // namespace impipe::jit
