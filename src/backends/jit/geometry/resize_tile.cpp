// A resize by tiles: a group sums the columns under a tile of the result into local memory, then
// those sums along the rows. Both passes make 4x4 values a work-item, from what their taps together
// reach: four outputs side by side share their inputs, and the weights of those that an output does
// not reach are 0 (for floats, whose products with 0 may be NaN, it leaves them out).
#include <algorithm>
#include <cmath>

#include "backends/jit/geometry/resample.hpp"
#include "backends/jit/geometry/resize_axis.hpp"
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/wide_access.hpp"

namespace impipe::jit {
namespace {

constexpr int items = 128;
constexpr int rows = 16;       // of a tile
constexpr int max_quads = 64;  // of outputs side by side in a tile
// Columns of sums that local memory holds. A column is four vectors of four rows and one more, so
// that those side by side lie in different banks.
constexpr int max_columns = 328;
constexpr int groups = 8;  // of a processor at once

// Fours of outputs of one direction, and how many inputs they reach at most.
struct Quads {
  std::int64_t count = 0, span = 0;
};

Quads quads_of(const ResizeAxis& axis) {
  // Places 3 / scale apart, rounded down.
  const double apart = std::floor(3 / axis.scale + 1e-6) + 1;
  return {(axis.to + 3) / 4, axis.taps + static_cast<std::int64_t>(apart)};
}

// How a tile's columns lie in local memory: column i at i % apart * step + i / apart, so that those
// which work-items side by side read at once lie side by side.
struct TileShape {
  int across = 0;  // quads; 0: none fits
  int bits = 0;    // of apart
  int step = 0;
};

// at_once: groups that a device works at.
TileShape tile_shape(const ResizeAxes& axes, std::int64_t at_once) {
  TileShape best;
  const double per_quad = 4 / axes.x.scale;
  while (best.bits < 5 && 2 << best.bits <= per_quad * 1.1) ++best.bits;
  best.step = max_columns >> best.bits;
  if (best.bits > 0) best.step = (best.step - 1) / 8 * 8 + 1;
  const int room = best.step << best.bits;
  const Quads x = quads_of(axes.x), y = quads_of(axes.y);
  double least = 0;
  for (int across = 1; across <= std::min<std::int64_t>(max_quads, x.count); ++across) {
    const double columns = (std::ceil((4 * across - 1) / axes.x.scale) + axes.x.taps + 2) + 6;
    if (columns > room) break;
    // Sub-groups that work at each, where there are more groups than a device works at; else the
    // turns of a group: they wait for what they load.
    const std::int64_t wide = (x.count + across - 1) / across,
                       tall = (y.count * 4 + rows - 1) / rows;
    const bool few = wide * tall <= at_once;
    const auto turns = [few](double count) {
      return std::ceil(count * rows / 4 / (few ? items : 32));
    };
    const double each = turns(std::ceil(columns / 4)) * static_cast<double>(y.span) +
                        turns(across) * static_cast<double>(x.span);
    // By what the whole device takes for it.
    const double cost = few ? each * static_cast<double>(at_once) * (items / 32)
                            : each * static_cast<double>(wide * tall);
    if (best.across == 0 || cost <= least) {
      best.across = across;
      least = cost;
    }
  }
  return best;
}

// sum[16] of the results of four rows r, each of four pixels k; floats: taps are left out.
std::string added(bool across, bool floats, const std::string& taps) {
  std::string text;
  for (int j = 0; j < 4; ++j) {
    const std::string w = std::string("weight.") + "xyzw"[j];
    std::string step;
    for (int k = 0; k < 4; ++k) {
      const std::string at = std::to_string(across ? 4 * k + j : 4 * j + k);
      const std::string sum = "sum[" + at + "]";
      step += assigned(sum, "fma(" + w + ", v[" + std::to_string(k) + "], " + sum + ")");
    }
    if (floats) {
      const std::string t = j == 0 ? "u" : "u - offset" + std::to_string(j);
      step = when("(uint)(" + t + ") < (uint)" + taps, step);
    }
    text += step;
  }
  return text;
}

class ResizeTiles {
 public:
  ResizeTiles(Builder& builder, int n)
      : builder_(builder),
        n_(n),
        image_(builder.node(n).images[0]),
        at_once_(std::int64_t{groups} * builder.tuning().processors),
        x_(builder, n, "x", &ResizeAxes::x),
        y_(builder, n, "y", &ResizeAxes::y) {}

  LaunchTest write() {
    fits_ = [n = n_, device = at_once_](const LaunchContext& at) {
      return shape_of(at, n, device).across > 0;
    };
    x_.write_sums(fits_, 4);
    y_.write_sums(fits_, 4);
    write_quads();
    const std::string text = tile_text();
    builder_.kernel("store_" + Builder::name({false, n_}), items, text,
                    [n = n_, device = at_once_](const LaunchContext& at) {
                      const TileShape s = shape_of(at, n, device);
                      if (s.across == 0) return LaunchShape{{0, 0, 0}, {items, 1, 1}};
                      const Size size = at.size_of({false, n});
                      const std::int64_t wide = (size.width + 3) / 4;
                      return LaunchShape{
                          {(wide + s.across - 1) / s.across, (size.height + rows - 1) / rows, 1},
                          {items, 1, 1}};
                    });
    return fits_;
  }

 private:
  struct Direction {
    std::string quads, span, first, weights;
  };

  static TileShape shape_of(const LaunchContext& at, int n, std::int64_t at_once) {
    return tile_shape(resize_axes(at, n), at_once / at.count());
  }
  std::string number(const std::string& what, int (*value)(const TileShape&)) {
    return builder_.integer(Builder::name({false, n_}) + "_" + what,
                            [n = n_, device = at_once_, value](const LaunchContext& at) {
                              return value(shape_of(at, n, device));
                            });
  }

  std::string tile_text() {
    const Operand self{false, n_};
    const PixelClass cls = builder_.node(n_).cls;
    const PlaneText in = builder_.plane(image_), out = builder_.plane(self);
    const Direction x = direction(x_, "x"), y = direction(y_, "y");
    const bool floats = cls == PixelClass::single;
    std::string offsets;
    for (int j = 1; j < 4 && floats; ++j) {
      offsets += declared("const int", "offset" + std::to_string(j),
                          "first[" + std::to_string(j) + "] - start");
    }
    const bool unrolls = builder_.features().silent_unroll;
    return filled(part(kernels::resize, "tile"),
                  {{"max_columns", std::to_string(max_columns)},
                   {"across", number("across", [](const TileShape& s) { return s.across; })},
                   {"mask", number("mask", [](const TileShape& s) { return (1 << s.bits) - 1; })},
                   {"step", number("step", [](const TileShape& s) { return s.step; })},
                   {"bits", number("bits", [](const TileShape& s) { return s.bits; })},
                   {"row_quads", std::to_string(rows / 4)},
                   {"items", std::to_string(items)},
                   {"width", builder_.width(image_)},
                   {"height", builder_.height(image_)},
                   {"to_height", builder_.height(self)},
                   {"quads_x", x.quads},
                   {"quads_y", y.quads},
                   {"first_x", x.first},
                   {"first_y", y.first},
                   {"weights_x", x.weights},
                   {"weights_y", y.weights},
                   {"taps_x", x_.taps()},
                   {"taps_y", y_.taps()},
                   {"pixel", type_of(cls)},
                   {"plane", in.pointer},
                   {"stride", in.stride},
                   {"offsets", offsets},
                   {"each", builder_.unroll()},
                   {"once", unrolls ? unroll_pragma(1) : ""},
                   {"loop", unrolls ? unroll_pragma(4) : ""},
                   {"loop_of_loads", unrolls ? unroll_pragma(8) : ""},
                   {"load", four_loaded(cls)},
                   {"add_x", added(true, floats, x_.taps())},
                   {"add_y", added(false, floats, y_.taps())},
                   {"out_row", out.row("y")},
                   {"store", stored(cls)}});
  }

  Direction direction(const ResizeAxisText& text, const std::string& label) {
    const auto bytes = [text, fits = fits_](bool weights) {
      return [text, fits, weights](const LaunchContext& at) {
        const Quads q = quads_of(text.at(at));
        return !fits(at) ? row_alignment : q.count * 16 * (weights ? q.span : 1);
      };
    };
    const std::string own = Builder::name({false, n_}) + "_quads_";
    return {text.number("quads", [](const ResizeAxis& a) { return quads_of(a).count; }),
            text.number("span", [](const ResizeAxis& a) { return quads_of(a).span; }),
            builder_.scratch(own + "first_" + label, "int", bytes(false)),
            builder_.scratch(own + "weights_" + label, "float", bytes(true))};
  }

  // One kernel makes the weights of both directions.
  void write_quads() {
    std::string text, before = "0";
    for (const ResizeAxisText* axis : {&x_, &y_}) {
      const Direction d = direction(*axis, axis == &x_ ? "x" : "y");
      text += filled(part(kernels::resize, "quads"), {{"items", std::to_string(items)},
                                                      {"before", before},
                                                      {"quads", d.quads},
                                                      {"span", d.span},
                                                      {"taps", axis->taps()},
                                                      {"copies", axis->copies()},
                                                      {"copied", axis->copied("k")},
                                                      {"begin", axis->begin("k")},
                                                      {"weight", axis->weight("k", "t")},
                                                      {"first", d.first},
                                                      {"weights", d.weights}});
      before = d.quads + " * " + d.span;
    }
    builder_.kernel(
        Builder::name({false, n_}) + "_quads", items, text,
        [x = x_, y = y_, fits = fits_](const LaunchContext& at) {
          const Quads a = quads_of(x.at(at)), b = quads_of(y.at(at));
          const std::int64_t all = a.count * a.span + b.count * b.span;
          return LaunchShape{{fits(at) ? (all + items - 1) / items : 0, 1, 1}, {items, 1, 1}};
        });
  }

  // Four pixels of row r.
  std::string stored(PixelClass cls) const {
    const std::string value = "sum[4 * r + k]";
    const std::string pixel = converted(
        cls, "float", cls == PixelClass::logical ? value + " >= 0.5f ? 1.0f : 0.0f" : value);
    if (cls == PixelClass::uint8) {
      // An instruction rounds where the code stays in its second byte.
      return array_of("uint", "codes", 4) + builder_.loop("k", 4) +
             braced(assigned("codes[k]", "ROUNDED_CODE(fmin(POSITIVE(" + value + "), 255.0f))")) +
             assigned("*(GLOBAL uint*)(row + 4 * quad)", "SECOND_BYTES(codes)");
    }
    return array_of(type_of(cls), "four", 4) + builder_.loop("k", 4) + assigned("four[k]", pixel) +
           wide_store(cls, "(row + 4 * quad)", "four", 4, builder_.tuning().load_bytes);
  }

  Builder& builder_;
  int n_;
  Operand image_;
  std::int64_t at_once_;
  LaunchTest fits_;
  ResizeAxisText x_, y_;
};

}  // namespace

std::string four_loaded(PixelClass cls) {
  const int bytes = bytes_of(cls);
  const std::string vector = bytes == 4 ? "float4" : bytes == 2 ? "uint2" : "uint";
  std::string text = declared("const " + vector, "four", "*(GLOBAL const " + vector + "*)line");
  for (int k = 0; k < 4; ++k) {
    const std::string half = k % 2 == 0 ? " & 0xffffu)" : " >> 16)";
    text += assigned("v[" + std::to_string(k) + "]",
                     bytes == 4   ? std::string("four.") + "xyzw"[k]
                     : bytes == 2 ? std::string("(float)(four.") + (k < 2 ? "x" : "y") + half
                                  : "(float)BYTE_OF(four, " + std::to_string(k) + ")");
  }
  return text;
}

namespace {

Offer offer_resize_tiles(const FormQuestion& question) {
  const auto* resample = as<Resample>(question.node());
  if (resample == nullptr || resample->kind != Resample::Kind::resize ||
      resample->method == Resample::Method::nearest) {
    return vetoed("no resize by weights");
  }
  return {
      .work = {.bytes = bytes_moved(question.context, question.n), .operations = 40, .launches = 2},
      .form = FamilyForm{&resize_tiles_form},
      .reason = "a tile's columns are made once"};
}

}  // namespace

const FormRow resize_tiles_form = {"tiles where local memory holds their columns, else pixels",
                                   offer_resize_tiles,
                                   [](Builder& builder, const KernelPlan&, int n) -> LaunchTest {
                                     return ResizeTiles(builder, n).write();
                                   }};

}  // namespace impipe::jit
