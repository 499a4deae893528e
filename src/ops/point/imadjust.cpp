// imadjust and gamma: maps an input range of values to an output range through a power.
#include "ops/colour/channels.hpp"
#include "ops/images.hpp"
#include "ops/statistics/histogram_limits.hpp"

IMPIPE_POINT_BODY(imadjust, (x), (low_in, high_in, low_out, high_out, gamma, white), {
  const real v = clamp(over(x, white), low_in, high_in);
  return (low_out + (high_out - low_out) * pow((v - low_in) / (high_in - low_in), gamma)) * white;
})

// gamma = 1
IMPIPE_POINT_BODY(imadjust_linear, (x), (low_in, high_in, low_out, high_out, white), {
  const real v = clamp(over(x, white), low_in, high_in);
  return (low_out + (high_out - low_out) * over(v - low_in, high_in - low_in)) * white;
})

// low_in = high_in
IMPIPE_POINT_BODY(imadjust_step, (x), (limit, low_out, high_out, white),
                  { return (over(x, white) > limit ? high_out : low_out) * white; })

namespace impipe::ops {
namespace {

struct Limits {
  Arg low, high;
};

ImageValue adjust(PlanBuilder& plan, const ImageValue& image, const Limits& in, double low_out,
                  double high_out, double gamma) {
  const double white = image.type.white;
  if (gamma == 1) {
    return plan.point(bodies::imadjust_linear, {image}, {in.low, in.high, low_out, high_out, white},
                      like(image));
  }
  return plan.point(bodies::imadjust, {image}, {in.low, in.high, low_out, high_out, gamma, white},
                    like(image));
}

// Low and high of a channel: two numbers for all, six for each its own as MATLAB's matrix has them
// (the lows, then the highs), or [] for 0,1.
std::pair<double, double> limits(const Call& call, std::string_view parameter,
                                 std::size_t channel) {
  const std::vector<double>& numbers = call.numbers(parameter);
  if (call.word(parameter) == "[]") return {0, 1};
  if (numbers.size() == 6) return {numbers[channel], numbers[3 + channel]};
  return {numbers[0], numbers[1]};
}

// Whether each channel has limits of its own.
bool limits_differ(const Call& call, const ImageValue& image) {
  bool differ = false;
  for (const std::string_view parameter : {"in", "out"}) {
    const std::size_t count = call.numbers(parameter).size();
    if (count == 0 || count == 2) continue;
    if (count != 6) {
      call.fail(parameter, std::string(parameter) +
                               " takes low,high, or the three lows and then "
                               "the three highs of a colour image");
    }
    if (image.type.channels != 3) {
      call.fail(parameter, "six limits are for a colour image, and this one is gray");
    }
    differ = true;
  }
  return differ;
}

ImageValue adjust_channel(const Call& call, PlanBuilder& plan, const ImageValue& image,
                          std::size_t channel) {
  const auto [low_out, high_out] = limits(call, "out", channel);
  const auto [low_in, high_in] = limits(call, "in", channel);
  if (low_in > high_in) {
    call.fail("in", "the first limit of in must not be above the second; swap out to invert");
  }
  if (low_in == high_in) {
    return plan.point(bodies::imadjust_step, {image}, {low_in, low_out, high_out, image.type.white},
                      like(image));
  }
  return adjust(plan, image, {low_in, high_in}, low_out, high_out, call.number("gamma"));
}

ImageValue lower_imadjust(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  need_white(call, image);
  const bool differ = limits_differ(call, image);
  if (call.word("in") == "stretchlim") {
    if (differ) call.fail("out", "six limits of out need limits of in");
    const auto [low_part, high_part] = tolerance_parts(call);
    const auto [low_out, high_out] = limits(call, "out", 0);
    const MeasureValue m = stretch_limits(plan, image, low_part, high_part);
    return adjust(plan, image, {Arg::per_channel(m, 0), Arg::per_channel(m, 1)}, low_out, high_out,
                  call.number("gamma"));
  }
  if (call.given("tol")) call.fail("tol", "tol goes with in=stretchlim only");
  if (!differ) return adjust_channel(call, plan, image, 0);
  std::vector<ImageValue> channels;
  for (int c = 0; c < 3; ++c) {
    channels.push_back(
        adjust_channel(call, plan, picked_channel(plan, image, c), static_cast<std::size_t>(c)));
  }
  return joined_channels(plan, channels);
}

const RegisterOperator imadjust_operator{{
    .name = "imadjust",
    .help = "stretch the contrast: map an input range to an output range",
    .parameters = {{.name = "in",
                    .help = "input range low,high on the unit scale; stretchlim: measured for each "
                            "channel; []: 0,1; six: the lows of r, g, b, then the highs",
                    .numbers = {.max_count = 6, .min_count = 2, .low = 0, .high = 1},
                    .words = {"stretchlim", "[]"},
                    .fallback = "stretchlim"},
                   {.name = "out",
                    .help = "output range low,high on the unit scale; high,low inverts; []: 0,1; "
                            "six as for in",
                    .numbers = {.max_count = 6, .min_count = 2, .low = 0, .high = 1},
                    .words = {"[]"},
                    .fallback = "0,1"},
                   {.name = "gamma",
                    .letter = 'g',
                    .help = "exponent; below 1 brightens",
                    .numbers = {.max_count = 1, .low = 0, .high = 100},
                    .fallback = "1"},
                   {.name = "tol",
                    .help =
                        "for stretchlim: parts of the pixels cut at the ends, low,high; t means "
                        "t,1-t",
                    .numbers = {.max_count = 2, .low = 0, .high = 1},
                    .fallback = "0.01,0.99"}},
    .classes = no_logical,
    .details = "v = clamp(x / white, li, hi)\n"
               "y = (lo + (ho - lo) * ((v - li) / (hi - li))^gamma) * white\n"
               "Integer classes: in double, rounded half away from zero. single: in float32.\n"
               "li = hi is a step: lo up to the limit, ho above it.",
    .example = "imadjust 0.1,0.9 gamma=0.8",
    .accuracy = "exact for integer classes; single 2e-6 of white, 1e-7 gamma for gamma above 20",
    .not_finite = {NotFinite::Rule::propagated,
                   "measured limits are of the values that are not NaN; Inf is clamped"},
    .matlab = "imadjust(A,[li hi],[lo ho],gamma) (same; li > hi is an error in both)",
    .lower = lower_imadjust,
}};

const RegisterOperator gamma_operator{{
    .name = "gamma",
    .help = "raise the unit-scale value to a power; below 1 brightens",
    .parameters = {{.name = "gamma",
                    .letter = 'g',
                    .help = "exponent",
                    .numbers = {.max_count = 1, .low = 0, .high = 100},
                    .required = true}},
    .classes = no_logical,
    .details = "clamp(x / white, 0, 1)^gamma * white: imadjust in=0,1 gamma=G.",
    .example = "gamma 0.45",
    .accuracy = "exact for integer classes; single 2e-6 of white, 1e-7 gamma for gamma above 20",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imadjust(A,[],[],gamma) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          need_white(call, plan.current());
          return adjust(plan, plan.current(), {0.0, 1.0}, 0, 1, call.number("gamma"));
        },
}};

}  // namespace
}  // namespace impipe::ops
