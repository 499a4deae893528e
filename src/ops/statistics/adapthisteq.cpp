// adapthisteq: histogram equalisation by tiles, each histogram cut off (Zuiderveld, Contrast
// limited adaptive histogram equalization, Graphics Gems IV, 1994).
#include <algorithm>

#include "core/group_words.hpp"
#include "ops/images.hpp"

// in: counts [tiles][bins]; args: bins, tiles across and down, the image's sides, clip, white,
// whether values are whole numbers. out: the value of each bin in each tile. A group takes a tile,
// and each of its work-items some bins side by side, of which no other one reads anything.
//
// What is cut off is given to the bins one by one, from the first, second, ... on: as long as each
// is asked in its turn, many such rounds are one, whose number is approached from below, then
// looked for. A work-item that has one bin keeps its count at hand.
IMPIPE_GROUP_BODY(tile_tables, {
  const int bins = (int)args[0];
  const int tiles = (int)(args[1] * args[2]);
  const double across = ceil(args[3] / args[1]);
  const double down = ceil(args[4] / args[2]);
  const double wide = across + (across - 2.0 * floor(across / 2.0));
  const double tall = down + (down - 2.0 * floor(down / 2.0));
  const double pixels = wide * tall;
  const double least = ceil(pixels / args[0]);
  const double most = least + floor(args[5] * (pixels - least) + 0.5);
  const int part = (bins + items - 1) / items;
  const int begin = item * part < bins ? item * part : bins;
  const int end = begin + part < bins ? begin + part : bins;
  for (int tile = group; tile < tiles; tile += groups) {
    const int at = tile * bins;
    double own_rest = 0;
    for (int k = begin; k < end; ++k) {
      if (in[at + k] > most) own_rest += in[at + k] - most;
    }
    double rest;
    sum_before(own_rest, &rest);
    const double each = floor(rest / args[0]);
    const double upper = most - each;
    double own_given = 0;
    double kept = most;
    for (int k = begin; k < end; ++k) {
      const double own = in[at + k];
      const double given = own > most ? 0.0 : own > upper ? most - own : each;
      own_given += given;
      kept = own > most ? most : own + given;
      if (part > 1) out[at + k] = kept;
    }
    double given;
    sum_before(own_given, &given);
    rest -= given;
    // Rounds in which every bin is asked, with more than half as many left then as there are bins.
    double rounds = 0;
    double step = 1;
    bool grows = true;
    // Bins that still have room take one more in each round, at most: so many rounds are sure. The
    // sum has how many such bins there are above what all have been given.
    while (rest > args[0] / 2.0 && step >= 1) {
      const double full = floor(rounds / args[0]);
      const double partly = rounds - full * args[0];
      double own_sum = 0;
      for (int k = begin; k < end; ++k) {
        const double room = most - (part > 1 ? out[at + k] : kept);
        const double asked = full * (k + 1) + (partly < k + 1 ? partly : k + 1.0);
        own_sum += room > asked ? asked + 4294967296.0 : room;
      }
      double sum;
      sum_before(own_sum, &sum);
      const double open = floor(sum / 4294967296.0);
      const double left = rest - (sum - open * 4294967296.0) - args[0] / 2.0;
      step = open > 0 ? floor((left - 0.5) / open) : 0.0;
      rounds += step;
    }
    step = 1;
    while (rest > args[0] / 2.0 && step >= 1) {
      const double tried = rounds + step;
      const double full = floor(tried / args[0]);
      const double partly = tried - full * args[0];
      double own_sum = 0;
      for (int k = begin; k < end; ++k) {
        const double room = most - (part > 1 ? out[at + k] : kept);
        const double asked = full * (k + 1) + (partly < k + 1 ? partly : k + 1.0);
        own_sum += room < asked ? room : asked;
      }
      double sum;
      sum_before(own_sum, &sum);
      const bool all = rest - sum > args[0] / 2.0;
      rounds = all ? tried : rounds;
      grows = grows && all;
      step = grows ? 2.0 * step : floor(step / 2.0);
    }
    const double full = floor(rounds / args[0]);
    const double partly = rounds - full * args[0];
    own_given = 0;
    for (int k = begin; k < end; ++k) {
      const double had = part > 1 ? out[at + k] : kept;
      const double room = most - had;
      const double asked = full * (k + 1) + (partly < k + 1 ? partly : k + 1.0);
      const double now = room < asked ? room : asked;
      own_given += now;
      kept = had + now;
      if (part > 1) out[at + k] = kept;
    }
    sum_before(own_given, &given);
    rest -= given;
    int first = (int)partly;
    while (rest > 0) {
      int apart = (int)floor(args[0] / rest);
      if (apart < 1) apart = 1;
      double own_room = 0;
      for (int k = begin; k < end; ++k) {
        const double had = part > 1 ? out[at + k] : kept;
        if (k >= first && (k - first) % apart == 0 && had < most) own_room += 1;
      }
      double room;
      double turn = sum_before(own_room, &room);
      for (int k = begin; k < end; ++k) {
        const double had = part > 1 ? out[at + k] : kept;
        if (k >= first && (k - first) % apart == 0 && had < most) {
          kept = turn < rest ? had + 1 : had;
          if (part > 1) out[at + k] = kept;
          turn += 1;
        }
      }
      rest -= room < rest ? room : rest;
      first = (first + 1) % bins;
    }
    double own_sum = 0;
    for (int k = begin; k < end; ++k) own_sum += part > 1 ? out[at + k] : kept;
    double total;
    double sum = sum_before(own_sum, &total);
    for (int k = begin; k < end; ++k) {
      sum += part > 1 ? out[at + k] : kept;
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
constexpr int max_groups = 1024;  // that make tables

struct Tiles {
  int across = 8, down = 8, bins = 256;
  double clip = 0;
};

// [channels][tiles][bins]
MeasureValue tables_of(PlanBuilder& plan, const ImageValue& image, const Tiles& tiles) {
  const int count = tiles.across * tiles.down;
  const MeasureValue counts =
      plan.histogram({.bins = tiles.bins, .across = tiles.across, .down = tiles.down}, image);
  return plan.scalar(bodies::tile_tables, {counts},
                     {static_cast<double>(tiles.bins), static_cast<double>(tiles.across),
                      static_cast<double>(tiles.down), width, height, tiles.clip, image.type.white,
                      is_integer(image.type.cls) ? 1.0 : 0.0},
                     count * tiles.bins, image.type.channels, std::min(count, max_groups));
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
  return plan.whole(BetweenTables{tiles.across, tiles.down, tiles.bins}, {image},
                    {Arg::per_channel(tables, 0)}, like(image));
}

const RegisterOperator adapthisteq_operator{{
    .name = "adapthisteq",
    .help = "contrast-limited adaptive histogram equalisation",
    .category = "point",
    .parameters =
        {{.name = "tiles",
          .help = "rows,columns of tiles",
          .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = 2, .high = 1024},
          .fallback = "8,8"},
         {.name = "clip",
          .letter = 'c',
          .help = "how far counts may stand above their mean: 0, not at all, to 1, without "
                  "limit",
          .numbers = {.max_count = 1, .low = 0, .high = 1},
          .fallback = "0.01"},
         {.name = "bins",
          .letter = 'n',
          .help = "bins of a histogram",
          .numbers = {.max_count = 1, .integer = true, .low = 2, .high = 65536},
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
    .not_finite = {NotFinite::Rule::zero, "Inf is clamped to the image's range"},
    .matlab = "adapthisteq(A,'NumTiles',[8 8],'ClipLimit',0.01) with the uniform distribution",
    .lower = lower_adapthisteq,
}};

}  // namespace
}  // namespace impipe::ops
