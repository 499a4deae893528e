// Rank nodes as text: a search over the codes (or ordered keys) that counts the window.
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

void write_rank(Builder& to, int n, const std::string& name) {
  const Node& node = to.node(n);
  const Rank& rank = std::get<Rank>(node.primitive);
  const Operand& image = node.images[0];
  const bool single = node.cls == PixelClass::single;
  std::string outside = "0";
  if (rank.border == Border::constant && !node.arguments.empty()) {
    const int last = static_cast<int>(node.arguments.size()) - 1;
    outside = converted(node.cls, "double", to.argument(n, last, "outside", "double"));
  }
  const std::string at = name + "_at";
  write_border(to, at, type_of(node.cls), to.value(image, "x", "y"), rank.border, outside,
               to.width(image), to.height(image));
  std::string tap = to.call(at, "x + dx", "y + dy");
  if (rank.offsets) {
    const std::string offsets = weights(to, n, "offsets", 0, rank.mask.count());
    const std::string sum = "(float)" + tap + " + " + offsets + "[k]";
    // Saturated, as for the other classes.
    tap = node.cls == PixelClass::logical ? "(" + sum + " > 0.0f ? 1 : 0)"
                                          : converted(node.cls, "float", sum);
  }
  const std::string key = single ? "key_of_single(" + tap + ")" : "(uint)" + tap;
  const int bits = single ? 32 : node.cls == PixelClass::uint16 ? 16 : 8;
  to.function(name + "_place",
              filled(part(kernels::pixel, "place"),
                     {{"name_place", name + "_place"},
                      {"top_bit", number(bits - 1)},
                      {"cells", for_each_cell(to, name, rank.mask,
                                              "count += " + key + " <= below ? 1 : 0;")}}));
  const auto place = [&](int k) {
    const std::string found = to.call(name + "_place", "x", "y, " + std::to_string(k));
    return single ? "one_zero(single_of_key(" + found + "))" : found;
  };
  std::string result = place(rank.rank);
  if (rank.average) {
    const std::string next = place(rank.rank + 1);
    result = single ? "(" + result + " + " + next + ") / 2.0f"
                    : "(" + result + " + " + next + " + 1u) / 2u";
  }
  const std::string type = type_of(node.cls);
  to.function(name, pixel_function(type, name, returned("(" + type + ")(" + result + ")")));
}

}  // namespace impipe::jit
