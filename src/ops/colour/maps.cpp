// label2rgb and ind2rgb: numbers as colours of a map.
#include <algorithm>

#include "ops/colour/channels.hpp"
#include "ops/colour/spaces.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"
#include "ops/table.hpp"

// jet of n colours: ramps of q = ceil(n / 4) steps up, a level and ramps down; green begins at
// `start`.
IMPIPE_SCALAR_BODY(jet_steps, {
  const double labels = in[0], q = ceil(labels / 4.0);
  out[0] = q;
  out[1] = ceil(q / 2.0) - (labels - 4.0 * floor(labels / 4.0) == 1.0 ? 1.0 : 0.0);
})
// The colour of label k: red begins q later (shift -1) and blue q earlier (shift 1). background: of
// label 0.
IMPIPE_POINT_BODY(jet_colour, (k), (q, start, shift, background), {
  const real i = k - start + shift * q;
  const real step = max(min(min(i, real(3) * q - i), q), real(0));
  // GPUs take a long way to a quotient of 0.
  const real ramp = (step > real(0) ? step : q) / q;
  return real(255) * (k == real(0) ? background : step > real(0) ? ramp : real(0));
})
IMPIPE_POINT_BODY(gray_colour, (k), (labels, background), {
  const real v = labels > real(1) ? (k - real(1)) / (labels - real(1)) : real(0);
  return real(255) * (k == real(0) ? background : v);
})
IMPIPE_SCALAR_BODY(is_beyond, { out[0] = in[0] > args[0] ? 1.0 : 0.0; })
IMPIPE_POINT_BODY(one_less, (x), (), { return round_away(x) - real(1); })

namespace impipe::ops {
namespace {

constexpr int max_rows = 4096;
constexpr Result colour_codes{.cls = PixelClass::uint8, .white = 255};

Matrix map_of(const Call& call) {
  Matrix map = kernel_argument(call, "map");
  if (map.columns != 3 || map.rows > max_rows) {
    call.fail("map", "a map has 3 columns, red, green and blue, and at most " +
                         std::to_string(max_rows) + " rows; this one is " +
                         std::to_string(map.rows) + "x" + std::to_string(map.columns));
  }
  return map;
}

// A column of the map, scaled and cast; a colour before the first row where `first` is not null.
std::vector<double> column_of(const Matrix& map, std::size_t channel, const double* first,
                              double scale, PixelClass cls) {
  std::vector<double> out;
  if (first != nullptr) out.push_back(cast_to(cls, scale * first[channel]));
  for (std::size_t row = 0; row < static_cast<std::size_t>(map.rows); ++row) {
    out.push_back(cast_to(cls, scale * map.values[3 * row + channel]));
  }
  return out;
}

ImageValue lower_label2rgb(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  const std::vector<double>& background = call.numbers("background");
  const std::string& name = call.word("map");
  std::vector<ImageValue> channels;
  const MeasureValue most = finite_range(plan, image).high;
  if (name != "jet" && name != "gray") {
    const Matrix map = map_of(call);
    plan.refuse_where(
        plan.scalar(bodies::is_beyond, {most}, {static_cast<double>(map.rows)}, 1, 1),
        "label2rgb: there are labels beyond the map's " + std::to_string(map.rows) + " rows");
    for (std::size_t c = 0; c < 3; ++c) {
      const std::vector<double> column =
          column_of(map, c, background.data(), 255, PixelClass::uint8);
      channels.push_back(looked_up(plan, image, table_of(plan, column), colour_codes));
    }
    return joined_channels(plan, channels);
  }
  constexpr double shifts[] = {-1, 0, 1};
  const bool jet = name == "jet";
  const MeasureValue steps = jet ? plan.scalar(bodies::jet_steps, {most}, {}, 2, 1) : most;
  for (std::size_t c = 0; c < 3; ++c) {
    const Point point{.body = jet ? &bodies::jet_colour : &bodies::gray_colour, .in_double = true};
    std::vector<Arg> args{Arg::measured(steps, 0)};
    if (jet) args.insert(args.end(), {Arg::measured(steps, 1), shifts[c]});
    args.emplace_back(background[c]);
    channels.push_back(plan.point(point, {image}, args, colour_codes));
  }
  return joined_channels(plan, channels);
}

const RegisterOperator label2rgb_operator{{
    .name = "label2rgb",
    .help = "a colour for each label",
    .parameters = {{.name = "map",
                    .help = "jet, gray, or rows of red green blue from 0 to 1: a matrix or @file",
                    .words = {"jet", "gray"},
                    .takes = Takes::kernel,
                    .fallback = "jet"},
                   {.name = "background",
                    .help = "red,green,blue of label 0, from 0 to 1",
                    .numbers = {.max_count = 3, .min_count = 3, .low = 0, .high = 1},
                    .fallback = "1,1,1"}},
    .one_channel = true,
    .details =
        "Label 0 has the background's colour, label k row k of the map: of jet and gray with as\n"
        "many rows as the largest label; a matrix with fewer is an error. uint8, 255 times the "
        "map,\n"
        "rounded. There is no shuffling.",
    .example = "imbinarize | bwlabel | label2rgb",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "labels are numbers: colours of NaN and Inf mean nothing, those of others are "
                   "as without them"},
    .matlab = "label2rgb(L,map,background) (same, without its order 'shuffle')",
    .lower = lower_label2rgb,
}};

ImageValue lower_ind2rgb(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  if (image.type.channels != 1) {
    call.fail("an image of indices has one channel, this one has " +
              std::to_string(image.type.channels));
  }
  const Matrix map = map_of(call);
  // Integers count from 0, single from 1.
  const ImageValue places =
      is_integer(image.type.cls) ? image : plan.point(bodies::one_less, {image}, {}, single_result);
  std::vector<ImageValue> channels;
  for (std::size_t c = 0; c < 3; ++c) {
    const MeasureValue table = table_of(plan, column_of(map, c, nullptr, 1, PixelClass::single));
    channels.push_back(looked_up(plan, places, table, unit_single));
  }
  return joined_channels(plan, channels);
}

const RegisterOperator ind2rgb_operator{{
    .name = "ind2rgb",
    .help = "the colours of a map that an image's values are the rows of",
    .parameters = {{.name = "map",
                    .help = "rows of red green blue from 0 to 1: a matrix or @file",
                    .takes = Takes::kernel,
                    .required = true}},
    .classes = no_logical,
    .details =
        "Value k of uint8 and uint16 is row k counted from 0, of single row k (rounded) counted\n"
        "from 1; rows beyond the map are its first or last. The result is single with white 1.",
    .example = "rgb2gray | imquantize 80,160 | ind2rgb [0 0 0.5; 0.9 0.3 0; 1 1 0.7]",
    .accuracy = "6e-8",
    .not_finite = {NotFinite::Rule::other,
                   "an index that is NaN has the first colour, Inf the nearest row"},
    .matlab = "ind2rgb(X,map) (same)",
    .lower = lower_ind2rgb,
}};

}  // namespace
}  // namespace impipe::ops
