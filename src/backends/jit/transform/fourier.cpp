// Sums of very many weights by Fourier transforms as text.
#include <algorithm>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/fourier_tiles.hpp"

namespace impipe::jit {
namespace {

// Numbers of a work-item.
constexpr int eight = 8;
// On a processor of NVIDIA's: with three, whose registers spill, a transform takes 1.25 times as
// long.
constexpr int groups_at_once = 2;

// The twiddle factors, radix-8 stage by stage: those of number 1 for the whole span, then 2 to 7.
std::vector<double> factors_of_stages(int side) {
  const std::span<const float> factors = fourier_factors(side);
  std::vector<double> out;
  for (int span = side == 512 ? 8 : 2; span < side; span *= 8) {
    const auto apart = static_cast<std::size_t>(side / eight / span);
    for (std::size_t i = 1; i < eight; ++i) {
      for (std::size_t at = 0; at < static_cast<std::size_t>(span); ++at) {
        const std::size_t k = i * at * apart;
        out.insert(out.end(), {factors[2 * k], factors[2 * k + 1]});
      }
    }
  }
  return out;
}

class FourierText : WholeImageText<Stencil> {
 public:
  FourierText(Builder& builder, int n)
      : WholeImageText(builder, n),
        checked_(builder.cls(image_) == PixelClass::single),
        items_(builder.features().large_groups ? 512 : 256) {}

  void write() {
    builder_.body(builder_.filled(part(kernels::fourier, "transform"),
                                  {{"both", both()},
                                   {"twos", what_.fourier_side == 512 ? "0" : "1"},
                                   {"held", held()},
                                   {"side", side()}}));
    at_ = name_ + "_at";
    write_border(builder_, at_, "float", builder_.value(image_, "x", "y"), what_.border,
                 outside_value(builder_, n_, what_.border), builder_.width(image_),
                 builder_.height(image_));
    write_tile();
    weights_ = weights(builder_, n_, "weights", 0, what_.taps.width * what_.taps.height);
    write_columns();
    write_rows(false);
    write_rows(true);
    write_results();
  }

 private:
  static FourierTiles tiles_of(const LaunchContext& at, const Operand& self) {
    return fourier_tiles(std::get<Stencil>(at.node(self.index).primitive), at.size_of(self));
  }
  std::string tiles(const std::string& label, std::int64_t (*value)(const FourierTiles&)) {
    return builder_.integer(name_ + "_" + label, [self = self_, value](const LaunchContext& at) {
      return value(tiles_of(at, self));
    });
  }
  std::string pairs() {
    return tiles("pairs", [](const FourierTiles& t) { return t.pairs(); });
  }

  std::string side() const { return number(what_.fourier_side); }
  int across() const { return eight * items_ / what_.fourier_side; }
  std::string held() const { return number((eight + 1) * items_); }
  std::string both() const { return builder_.features().large_groups ? "1" : "0"; }
  std::string valid_x() const { return number(what_.fourier_side - what_.taps.width + 1); }
  std::string valid_y() const { return number(what_.fourier_side - what_.taps.height + 1); }

  std::string data() {
    return builder_.scratch(name_ + "_data", "float2", [self = self_](const LaunchContext& at) {
      const std::int64_t side = std::get<Stencil>(at.node(self.index).primitive).fourier_side;
      return 8 * side * side * (tiles_of(at, self).pairs() + 1);
    });
  }
  std::string unfit() {
    return builder_.scratch(
        name_ + "_unfit", "uint",
        [self = self_](const LaunchContext& at) { return 4 * tiles_of(at, self).pairs(); }, true);
  }
  std::string factors() {
    const std::string table = builder_.table(
        ParameterType::float32, name_ + "_factors",
        [side = what_.fourier_side](const LaunchContext&) { return factors_of_stages(side); });
    return "(GLOBAL const float2*)" + table;
  }

  // Groups beside each other for so many lines of a tile, or as many as the result has columns, and
  // below each other.
  ShapeFunction lines(std::int64_t count, std::int64_t (*below)(const FourierTiles&),
                      bool of_result = false) const {
    return [self = self_, count, of_result, each = std::int64_t{across()}, items = items_,
            below](const LaunchContext& at) {
      const std::int64_t wanted = of_result ? std::min(count, at.size_of(self).width) : count;
      return LaunchShape{{(wanted + each - 1) / each, below(tiles_of(at, self)), 1}, {items, 1, 1}};
    };
  }

  void write_tile() {
    builder_.function(
        name_ + "_tile",
        builder_.filled(part(kernels::fourier, "tile"),
                        {{"name", name_ + "_tile"},
                         {"side", side()},
                         {"checked", checked_ ? "1" : "0"},
                         {"count", tiles("count", [](const FourierTiles& t) { return t.count; })},
                         {"tiles", tiles("across", [](const FourierTiles& t) { return t.across; })},
                         {"valid_x", valid_x()},
                         {"valid_y", valid_y()},
                         {"first_x", number(what_.shift_x - what_.taps.origin_x)},
                         {"first_y", number(what_.shift_y - what_.taps.origin_y)},
                         {"image_width", builder_.width(image_)},
                         {"image_height", builder_.height(image_)},
                         {"inside", builder_.value(image_, "x", "y")},
                         {"value", builder_.call(at_, "x", "y")}}));
  }

  void write_columns() {
    builder_.kernel(
        name_ + "_columns", items_,
        builder_.filled(part(kernels::fourier, "columns"), {{"both", both()},
                                                            {"held", held()},
                                                            {"side", side()},
                                                            {"across", number(across())},
                                                            {"checked", checked_ ? "1" : "0"},
                                                            {"pairs", pairs()},
                                                            {"columns", number(what_.taps.width)},
                                                            {"rows", number(what_.taps.height)},
                                                            {"weights", weights_},
                                                            {"name", name_ + "_tile"},
                                                            {"unfit", checked_ ? unfit() : ""},
                                                            {"factors", factors()},
                                                            {"data", data()}}),
        lines(what_.fourier_side, [](const FourierTiles& t) { return t.pairs() + 1; }),
        groups_at_once);
  }

  // Of the weights; with `filters` of all others.
  void write_rows(bool filters) {
    builder_.kernel(
        name_ + (filters ? "_rows" : "_weight_rows"), items_,
        builder_.filled(part(kernels::fourier, "rows"),
                        {{"both", both()},
                         {"held", held()},
                         {"side", side()},
                         {"across", number(across())},
                         {"filters", filters ? "1" : "0"},
                         {"pair", filters ? pairs() + " - 1 - GROUP_Y" : pairs()},
                         {"pairs", pairs()},
                         {"kept", filters ? valid_x() : side()},
                         {"factors", factors()},
                         {"data", data()}}),
        filters ? lines(what_.fourier_side, [](const FourierTiles& t) { return t.pairs(); })
                : lines(what_.fourier_side, [](const FourierTiles&) { return std::int64_t{1}; }),
        groups_at_once);
  }

  // The sum of a pixel's weights, for pixels that transforms do not take.
  std::string direct() {
    if (!checked_) return "";
    const std::string name = name_ + "_direct";
    builder_.function(
        name, filled(part(kernels::fourier, "direct"), {{"direct", name},
                                                        {"rows", number(what_.taps.height)},
                                                        {"columns", number(what_.taps.width)},
                                                        {"table", weights_},
                                                        {"value", builder_.call(at_, "x", "y")}}));
    return builder_.call(name, "x + " + number(what_.shift_x - what_.taps.origin_x),
                         "y + " + number(what_.shift_y - what_.taps.origin_y));
  }

  void write_results() {
    const std::string direct_pixel = direct();
    builder_.kernel(
        name_ + "_results", items_,
        builder_.filled(part(kernels::fourier, "results"),
                        {{"both", both()},
                         {"held", held()},
                         {"side", side()},
                         {"across", number(across())},
                         {"checked", checked_ ? "1" : "0"},
                         {"count", tiles("count", [](const FourierTiles& t) { return t.count; })},
                         {"tiles", tiles("across", [](const FourierTiles& t) { return t.across; })},
                         {"valid_x", valid_x()},
                         {"valid_y", valid_y()},
                         {"width", builder_.width(self_)},
                         {"height", builder_.height(self_)},
                         {"unfit", checked_ ? unfit() : ""},
                         {"direct_pixel", direct_pixel},
                         {"converted", converted(builder_.node(n_).cls, "float", "v")},
                         {"out", builder_.plane(self_).pixel()},
                         {"factors", factors()},
                         {"data", data()}}),
        lines(
            what_.fourier_side - what_.taps.width + 1,
            [](const FourierTiles& t) { return t.pairs(); }, true),
        groups_at_once);
  }

  std::string at_, weights_;
  bool checked_;  // whether pixels may be none that transforms take
  int items_;     // of a group; other vendors' may be limited to so many
};

}  // namespace

void write_fourier(Builder& builder, int n) { FourierText(builder, n).write(); }

}  // namespace impipe::jit
