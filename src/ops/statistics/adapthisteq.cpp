// adapthisteq: histogram equalisation by tiles, each histogram cut off (Zuiderveld, Contrast
// limited adaptive histogram equalization, Graphics Gems IV, 1994).
#include "core/expression.hpp"
#include "core/group_words.hpp"
#include "ops/images.hpp"
#include "ops/places.hpp"

// The bin of a value, rounded; NaN is 0.
#define IMPIPE_BIN                                                \
  const real known = x == x ? clamp(x, real(0), white) : real(0); \
  const real bin = floor(known * (bins - real(1)) / white + real(0.5));
// The tile that column `col` lies in and how far, of tiles whose even side follows from the
// image's: half of what is too much stands before it.
#define IMPIPE_TILES(side, all, tiles, place, which)                                         \
  const real side##_least = ceil(all / tiles);                                               \
  const real side = side##_least + (side##_least - real(2) * floor(side##_least / real(2))); \
  const real which = place + floor((side * tiles - all) / real(2));
#define IMPIPE_TILED_BODY(...) IMPIPE_POINT_BODY(__VA_ARGS__)

// Of the padded image: the tile and the bin.
IMPIPE_TILED_BODY(tile_and_bin, (x, col, row), (white, bins, across, down, width, height), {
  IMPIPE_BIN return (floor(row / (height / down)) * across + floor(col / (width / across))) * bins +
      bin;
})

// The place in the tables of the tile to the left (0) or right (1), above (0) or below (1).
IMPIPE_TILED_BODY(place_in_tables, (x, col, row),
                  (white, bins, across, down, width, height, right, below), {
                    IMPIPE_BIN IMPIPE_TILES(wide, width, across, col, px)
                        IMPIPE_TILES(tall, height, down, row, py) const real tx =
                            clamp(floor((px + wide / real(2)) / wide) - real(1) + right, real(0),
                                  across - real(1));
                    const real ty = clamp(floor((py + tall / real(2)) / tall) - real(1) + below,
                                          real(0), down - real(1));
                    return (ty * across + tx) * bins + bin;
                  })

// Between the four tables' values.
IMPIPE_TILED_BODY(between_tables, (ul, ur, ll, lr, col, row), (across, down, width, height), {
  IMPIPE_TILES(wide, width, across, col, px)
  IMPIPE_TILES(tall, height, down, row, py)
  const real half_x = wide / real(2);
  const real half_y = tall / real(2);
  const real kx = floor((px + half_x) / wide);
  const real ky = floor((py + half_y) / tall);
  const bool end_x = kx == real(0) || kx == across;
  const bool end_y = ky == real(0) || ky == down;
  const real nx = end_x ? half_x : wide;
  const real ny = end_y ? half_y : tall;
  const real wx = kx == real(0) ? px : px + half_x - kx * wide;
  const real wy = ky == real(0) ? py : py + half_y - ky * tall;
  const real upper = (nx - wx) * ul + wx * ur;
  const real lower = (nx - wx) * ll + wx * lr;
  return ((ny - wy) * upper + wy * lower) / (ny * nx);
})

// in: counts [tiles][bins]; args: bins, tiles across and down, the padded image's sides, clip,
// white, whether values are whole numbers. out: the value of each bin in each tile. A work-item
// takes a tile.
IMPIPE_GROUP_BODY(tile_tables, {
  const int bins = (int)args[0];
  const int tiles = (int)(args[1] * args[2]);
  const double pixels = (args[3] / args[1]) * (args[4] / args[2]);
  const double least = ceil(pixels / args[0]);
  const double most = least + floor(args[5] * (pixels - least) + 0.5);
  for (int tile = item; tile < tiles; tile += items) {
    const int at = tile * bins;
    double rest = 0;
    for (int k = 0; k < bins; ++k) {
      if (in[at + k] > most) rest += in[at + k] - most;
    }
    const double each = floor(rest / args[0]);
    const double upper = most - each;
    for (int k = 0; k < bins; ++k) {
      const double own = in[at + k];
      double now = own + each;
      if (own > most) {
        now = most;
      } else if (own > upper) {
        rest -= most - own;
        now = most;
      } else {
        rest -= each;
      }
      out[at + k] = now;
    }
    int first = 0;
    while (rest > 0) {
      int step = (int)floor(args[0] / rest);
      if (step < 1) step = 1;
      for (int k = first; k < bins && rest > 0; k += step) {
        if (out[at + k] < most) {
          out[at + k] += 1;
          rest -= 1;
        }
      }
      first = (first + 1) % bins;
    }
    double sum = 0;
    for (int k = 0; k < bins; ++k) {
      sum += out[at + k];
      const double value = sum * (args[6] / pixels);
      const double cut = value < args[6] ? value : args[6];
      out[at + k] = args[7] > 0 ? floor(cut + 0.5) : cut;
    }
  }
})

namespace impipe::ops {
namespace {

constexpr Argument width{.source = Argument::Source::width};
constexpr Argument height{.source = Argument::Source::height};
constexpr Result numbers{.cls = PixelClass::single, .white = 0};

struct Tiles {
  int across = 8, down = 8, bins = 256;
  double clip = 0;
};

// [channels][tiles][bins]
MeasureValue tables_of(PlanBuilder& plan, const ImageValue& image, const Tiles& tiles) {
  const double white = image.type.white;
  const ImageValue framed = plan.window(
      {.border = Border::symmetric, .tiles_across = tiles.across, .tiles_down = tiles.down}, image,
      {});
  const ImageValue sides =
      plan.point(Point{.body = &bodies::tile_and_bin, .in_double = true},
                 {framed, place_image(plan, framed, "col"), place_image(plan, framed, "row")},
                 {white, static_cast<double>(tiles.bins), static_cast<double>(tiles.across),
                  static_cast<double>(tiles.down), width, height},
                 numbers);
  const int values = tiles.across * tiles.down * tiles.bins;
  const std::vector<std::string> x{"x"};
  const auto same =
      std::make_shared<const Expression>(parse_expression("x", {.known = x}).with_variables(x));
  const MeasureValue counts =
      plan.histogram({.rule = BinRule::user, .bins = values, .expression = same}, sides);
  return plan.scalar(bodies::tile_tables, {counts},
                     {static_cast<double>(tiles.bins), static_cast<double>(tiles.across),
                      static_cast<double>(tiles.down), width, height, tiles.clip, white,
                      is_integer(image.type.cls) ? 1.0 : 0.0},
                     values, image.type.channels);
}

ImageValue lower_adapthisteq(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const Tiles tiles{.across = static_cast<int>(call.numbers("tiles").back()),
                    .down = static_cast<int>(call.numbers("tiles").front()),
                    .bins = static_cast<int>(call.number("bins")),
                    .clip = call.number("clip")};
  constexpr std::int64_t most = 1 << 20;
  const std::int64_t counts = std::int64_t{tiles.across} * tiles.down * tiles.bins;
  if (counts > most) {
    call.fail("tiles times bins are at most " + std::to_string(most) + ", not " +
              std::to_string(counts));
  }
  const MeasureValue tables = tables_of(plan, image, tiles);
  const double across = tiles.across, down = tiles.down;
  const ImageValue col = place_image(plan, image, "col"), row = place_image(plan, image, "row");
  std::vector<ImageValue> values;
  for (const double below : {0.0, 1.0}) {
    for (const double right : {0.0, 1.0}) {
      values.push_back(
          plan.point(Point{.body = &bodies::place_in_tables, .in_double = true, .in_table = true},
                     {image, col, row},
                     {image.type.white, static_cast<double>(tiles.bins), across, down, width,
                      height, right, below, Arg::per_channel(tables, 0)},
                     numbers));
    }
  }
  values.push_back(col);
  values.push_back(row);
  return plan.point(Point{.body = &bodies::between_tables, .in_double = true}, values,
                    {across, down, width, height}, like(image));
}

const RegisterOperator adapthisteq_operator{{
    .name = "adapthisteq",
    .help = "contrast-limited adaptive histogram equalisation",
    .category = "point",
    .parameters = {{.name = "tiles",
                    .help = "rows,columns of tiles",
                    .max_numbers = 2,
                    .min_numbers = 2,
                    .integer = true,
                    .low = 2,
                    .high = 1024,
                    .fallback = "8,8"},
                   {.name = "clip",
                    .letter = 'c',
                    .help =
                        "how far counts may stand above their mean: 0, not at all, to 1, without "
                        "limit",
                    .max_numbers = 1,
                    .low = 0,
                    .high = 1,
                    .fallback = "0.01"},
                   {.name = "bins",
                    .letter = 'n',
                    .help = "bins of a histogram",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 2,
                    .high = 65536,
                    .fallback = "256"}},
    .details =
        "The image, framed by its mirror image, is divided into tiles of equal even sides. Counts\n"
        "of a tile's bins above ceil(N/bins) + round(clip (N - ceil(N/bins))) are cut off and "
        "given\n"
        "to the others; their running sums are the tile's new values. A pixel has the value\n"
        "between those of the four tiles round it, by its distances from their centres. Each\n"
        "channel by itself.",
    .example = "adapthisteq clip=0.02",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .matlab = "adapthisteq(A,'NumTiles',[8 8],'ClipLimit',0.01) with the uniform distribution",
    .lower = lower_adapthisteq,
}};

}  // namespace
}  // namespace impipe::ops
