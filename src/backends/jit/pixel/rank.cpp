// Rank nodes as text, a pixel for itself.
#include <set>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/networks.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

namespace {

class RankText {
 public:
  RankText(Builder& builder, int n, const std::string& name)
      : builder_(builder),
        n_(n),
        name_(name),
        node_(builder.node(n)),
        rank_(std::get<Rank>(node_.primitive)) {}

  void write(bool ordered) {
    const Operand& image = node_.images[0];
    write_border(builder_, name_ + "_at", type_of(node_.cls), builder_.value(image, "x", "y"),
                 rank_.border, outside_rank(builder_, n_), builder_.width(image),
                 builder_.height(image));
    if (ordered) {
      write_ordered();
    } else {
      write_searched();
    }
  }

 private:
  bool single() const { return node_.cls == PixelClass::single; }

  // Cell k of the window, which lies at x, y, in the class of the node.
  std::string cell(const std::string& k, const std::string& x, const std::string& y) const {
    const std::string at = builder_.call(name_ + "_at", x, y);
    if (!rank_.offsets) return at;
    const std::string sum = "(float)" + at + " + " +
                            weights(builder_, n_, "offsets", 0, rank_.mask.count()) + "[" + k + "]";
    // Saturated, as for the other classes.
    return node_.cls == PixelClass::logical ? "(" + sum + " > 0.0f ? 1 : 0)"
                                            : converted(node_.cls, "float", sum);
  }

  void write_ordered() {
    const auto wire = [](int k) { return "s[" + number(k) + "]"; };
    const Mask& mask = rank_.mask;
    std::string values;
    int k = 0;
    for (int y = 0; y < mask.height; ++y) {
      for (int x = 0; x < mask.width; ++x) {
        if (!mask.at(x, y)) continue;
        const std::string value =
            cell(number(k), "x + " + number(x - mask.origin_x), "y + " + number(y - mask.origin_y));
        values += assigned(wire(k++), single() ? "signed_key_of_single(" + value + ")" : value);
      }
    }
    std::set<int> needed = {rank_.rank};
    std::string ranked = wire(rank_.rank);
    if (rank_.average) {
      needed.insert(rank_.rank + 1);
      ranked = (single() ? "mean_of_signed_keys(" : "mean_int(") + ranked + ", " +
               wire(rank_.rank + 1) + ")";
    }
    if (single()) ranked = "one_zero(single_of_signed_key(" + ranked + "))";
    builder_.function(
        name_, filled(part(kernels::pixel, "ordered"),
                      {{"type", type_of(node_.cls)},
                       {"name_ordered", name_},
                       {"values", number(mask.count())},
                       {"cell_values", values},
                       {"network", network_text(pruned(sort_network(mask.count()).steps, needed),
                                                "order_int", wire)},
                       {"ranked", ranked}}));
  }

  // A search over the codes (or ordered keys) that counts the window.
  void write_searched() {
    const std::string tap = cell("k", "x + dx", "y + dy");
    const std::string key = single() ? "key_of_single(" + tap + ")" : "(uint)" + tap;
    const int bits = single() ? 32 : node_.cls == PixelClass::uint16 ? 16 : 8;
    builder_.function(name_ + "_place",
                      filled(part(kernels::pixel, "place"),
                             {{"name_place", name_ + "_place"},
                              {"top_bit", number(bits - 1)},
                              {"cells", for_each_cell(builder_, name_, rank_.mask,
                                                      "count += " + key + " <= below ? 1 : 0;")}}));
    const auto place = [&](int k) {
      const std::string found = builder_.call(name_ + "_place", "x", "y, " + std::to_string(k));
      return single() ? "one_zero(single_of_key(" + found + "))" : found;
    };
    std::string result = place(rank_.rank);
    if (rank_.average) {
      const std::string next = place(rank_.rank + 1);
      result = single() ? "(" + result + " + " + next + ") / 2.0f"
                        : "(" + result + " + " + next + " + 1u) / 2u";
    }
    const std::string type = type_of(node_.cls);
    builder_.function(name_,
                      pixel_function(type, name_, returned("(" + type + ")(" + result + ")")));
  }

  Builder& builder_;
  int n_;
  std::string name_;
  const Node& node_;
  const Rank& rank_;
};

}  // namespace

void write_rank(Builder& builder, int n, const std::string& name, bool ordered) {
  RankText(builder, n, name).write(ordered);
}

}  // namespace impipe::jit
