// edge: logical images of edges, by gradient (sobel, prewitt, roberts), by zero crossings (log,
// zerocross) or by its ridges (canny).
#include <cmath>

#include "core/text.hpp"
#include "ops/edge/canny.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/filter/fspecial.hpp"
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

// The squared gradient S: h is the upper minus the lower side, v the left minus the right one.
// scale: 1 for uint8, where S is an exact integer; 1 / (sum|K|)^2 for values on the unit scale.
IMPIPE_STENCIL_BODY(edge_sobel_both, (1, 1, 1, 1), (scale), {
  const real h =
      (at(-1, -1) + real(2) * at(0, -1) + at(1, -1)) - (at(-1, 1) + real(2) * at(0, 1) + at(1, 1));
  const real v =
      (at(-1, -1) + real(2) * at(-1, 0) + at(-1, 1)) - (at(1, -1) + real(2) * at(1, 0) + at(1, 1));
  return (h * h + v * v) * scale;
})
IMPIPE_STENCIL_BODY(edge_sobel_horizontal, (1, 1, 1, 1), (scale), {
  const real h =
      (at(-1, -1) + real(2) * at(0, -1) + at(1, -1)) - (at(-1, 1) + real(2) * at(0, 1) + at(1, 1));
  return h * h * scale;
})
IMPIPE_STENCIL_BODY(edge_sobel_vertical, (1, 1, 1, 1), (scale), {
  const real v =
      (at(-1, -1) + real(2) * at(-1, 0) + at(-1, 1)) - (at(1, -1) + real(2) * at(1, 0) + at(1, 1));
  return v * v * scale;
})
IMPIPE_STENCIL_BODY(edge_prewitt_both, (1, 1, 1, 1), (scale), {
  const real h = (at(-1, -1) + at(0, -1) + at(1, -1)) - (at(-1, 1) + at(0, 1) + at(1, 1));
  const real v = (at(-1, -1) + at(-1, 0) + at(-1, 1)) - (at(1, -1) + at(1, 0) + at(1, 1));
  return (h * h + v * v) * scale;
})
IMPIPE_STENCIL_BODY(edge_prewitt_horizontal, (1, 1, 1, 1), (scale), {
  const real h = (at(-1, -1) + at(0, -1) + at(1, -1)) - (at(-1, 1) + at(0, 1) + at(1, 1));
  return h * h * scale;
})
IMPIPE_STENCIL_BODY(edge_prewitt_vertical, (1, 1, 1, 1), (scale), {
  const real v = (at(-1, -1) + at(-1, 0) + at(-1, 1)) - (at(1, -1) + at(1, 0) + at(1, 1));
  return v * v * scale;
})
IMPIPE_STENCIL_BODY(edge_roberts, (0, 1, 0, 1), (scale), {
  const real g1 = at(0, 0) - at(1, 1);
  const real g2 = at(1, 0) - at(0, 1);
  return (g1 * g1 + g2 * g2) * scale;
})

// Stronger than the threshold, and than both neighbours across or along; 0 outside the image.
// Neighbours that are not above the threshold are weaker anyway.
IMPIPE_STENCIL_BODY(edge_thinned, (1, 1, 1, 1), (threshold), {
  const real s = at(0, 0);
  const bool across = s > at(-1, 0) && s > at(1, 0);
  const bool along = s > at(0, -1) && s > at(0, 1);
  return s > threshold && (across || along) ? real(1) : real(0);
})
IMPIPE_POINT_BODY(edge_not_thinned, (s), (threshold), { return s > threshold ? real(1) : real(0); })

// A response that is large enough, not negative, and next to a negative one; 0 outside the image.
IMPIPE_STENCIL_BODY(edge_zero_crossing, (1, 1, 1, 1), (threshold), {
  const real f = at(0, 0);
  const bool crossing =
      at(-1, 0) < real(0) || at(1, 0) < real(0) || at(0, -1) < real(0) || at(0, 1) < real(0);
  return f > threshold && f >= real(0) && crossing ? real(1) : real(0);
})

// in: a sum over the image, and where args[1] is 0 of how many pixels; args: a factor, the pixels,
// and 1 when S is an integer: S > t is then S > floor(t), which float32 holds exactly.
IMPIPE_SCALAR_BODY(edge_threshold, {
  const double threshold = args[0] * in[0] / (args[1] > 0 ? args[1] : in[1]);
  out[0] = args[2] > 0 ? floor(threshold) : threshold;
})

namespace impipe::ops {
namespace {

struct EdgeMethod {
  std::string_view name;
  double weights;  // sum|K|
  double factor;   // of the mean, for the default threshold
  const StencilBody& both;
  const StencilBody* horizontal;
  const StencilBody* vertical;
};
constexpr EdgeMethod edge_methods[] = {
    {"sobel", 8, 4, bodies::edge_sobel_both, &bodies::edge_sobel_horizontal,
     &bodies::edge_sobel_vertical},
    {"prewitt", 6, 4, bodies::edge_prewitt_both, &bodies::edge_prewitt_horizontal,
     &bodies::edge_prewitt_vertical},
    {"roberts", 2, 6, bodies::edge_roberts, nullptr, nullptr},
};

constexpr std::string_view method_names[] = {"sobel", "prewitt",   "roberts",
                                             "log",   "zerocross", "canny"};

// A word that is no method is taken for the name of a filter.
void check_filter(const Call& call) {
  if (!call.given("filter")) return;
  const std::string& word = call.value("filter").word;
  if (!word.empty() && !call.given("method")) {
    const std::vector<std::string> known(std::begin(method_names), std::end(method_names));
    call.fail("filter", "there is no method '" + word + "'" + did_you_mean(word, known));
  }
  call.fail("filter", "filter does not go with " + call.word("method"));
}

void check_thresholds(const Call& call) {
  const std::vector<double>& thresholds = call.numbers("thresh");
  const std::string& name = call.word("method");
  if (name != "canny" && thresholds.size() > 1) {
    call.fail("thresh", std::string("two thresholds go with canny only") +
                            (name == "log"         ? "; its sigma is sigma=2"
                             : name == "zerocross" ? "; a kernel is filter=[1 -2 1]"
                                                   : ""));
  }
  if (name != "canny" || thresholds.empty()) return;
  if (thresholds.back() > 1) {
    call.fail("thresh",
              "canny's thresholds are parts of the largest strength, up to 1; its sigma "
              "is sigma=2");
  }
  if (thresholds.front() > thresholds.back()) {
    call.fail("thresh", "canny's lower threshold comes first");
  }
}

// From the mean of the strengths, or of their sizes: of those that are finite, for one NaN would
// leave no edges anywhere. exact: strengths are integers.
Arg auto_threshold(PlanBuilder& plan, const ImageValue& strength, ReduceKind kind, double factor,
                   bool exact = false) {
  if (is_integer(plan.current().type.cls)) {
    const MeasureValue sum = plan.reduce({.kind = kind}, strength, {});
    return Arg::measured(plan.scalar(bodies::edge_threshold, {sum},
                                     {factor, pixels_argument, exact ? 1.0 : 0.0}, 1, 1),
                         0);
  }
  const auto [total, count] = finite_sum(plan, strength, kind);
  return Arg::measured(
      plan.scalar(bodies::edge_threshold, {total, count}, {factor, 0.0, 0.0}, 1, 1), 0);
}

ImageValue gradient_edges(const Call& call, PlanBuilder& plan, const EdgeMethod& method) {
  const ImageValue input = plan.current();
  const bool exact = input.type.cls == PixelClass::uint8;
  const std::string& direction = call.word("direction");
  const StencilBody* body = &method.both;
  if (direction != "both") {
    body = direction == "horizontal" ? method.horizontal : method.vertical;
    if (body == nullptr) call.fail("direction", "direction goes with sobel and prewitt only");
  }
  // The gradient is taken of the pixels as they are, and scaled once squared. `unit`: what S of the
  // definition is multiplied with here.
  const double squared = std::pow(input.type.white * method.weights, 2);
  const double unit = exact ? squared : 1;
  const ImageValue strength = plan.stencil({.body = body, .border = Border::replicate}, input,
                                           {unit / squared}, single_result);
  Arg threshold = 0.0;
  if (call.numbers("thresh").empty()) {
    threshold = auto_threshold(plan, strength, ReduceKind::sum, method.factor, exact);
  } else {
    const double t = std::pow(call.numbers("thresh").front(), 2) * unit;
    threshold = exact ? std::floor(t) : t;
  }
  const ParameterValue& thinning = call.value("thinning");
  const bool thin =
      thinning.numbers.empty() ? thinning.word == "thinning" : thinning.numbers.front() != 0;
  if (!thin) return plan.point(bodies::edge_not_thinned, {strength}, {threshold}, logical_result);
  return plan.stencil({.body = &bodies::edge_thinned}, strength, {threshold, 0.0}, logical_result);
}

ImageValue zero_crossings(const Call& call, PlanBuilder& plan, const Matrix& kernel,
                          double factor) {
  const ImageValue response = correlate(plan, to_unit_single(plan, plan.current()),
                                        rotated_half(kernel), {.result = single_result});
  Arg threshold = 0.0;
  if (call.numbers("thresh").empty()) {
    threshold = auto_threshold(plan, response, ReduceKind::absolute_sum, factor);
  } else {
    threshold = call.numbers("thresh").front();
  }
  return plan.stencil({.body = &bodies::edge_zero_crossing}, response, {threshold, 0.0},
                      logical_result);
}

ImageValue lower_edge(const Call& call, PlanBuilder& plan) {
  need_white(call, plan.current());
  plan.drop_alpha();
  const std::string& name = call.word("method");
  check_thresholds(call);
  for (const EdgeMethod& method : edge_methods) {
    if (method.name != name) continue;
    if (call.given("sigma")) call.fail("sigma", "sigma does not go with " + name);
    check_filter(call);
    return gradient_edges(call, plan, method);
  }
  for (const std::string_view other : {"direction", "thinning"}) {
    if (call.given(other)) call.fail(other, std::string(other) + " does not go with " + name);
  }
  if (name == "zerocross") {
    if (call.given("sigma")) call.fail("sigma", "sigma does not go with zerocross");
    if (!call.has("filter")) call.fail("zerocross needs a kernel: filter=fspecial:log,9,1.5");
    return zero_crossings(call, plan, kernel_argument(call, "filter"), 1);
  }
  check_filter(call);
  if (name == "canny") {
    const double sigma = call.has("sigma") ? call.number("sigma") : std::sqrt(2.0);
    return canny_edges(plan, to_unit_single(plan, plan.current()), call.numbers("thresh"), sigma);
  }
  const double sigma = call.has("sigma") ? call.number("sigma") : 2;
  const int side = 2 * static_cast<int>(std::ceil(3 * sigma)) + 1;
  return zero_crossings(call, plan, log_kernel(side, side, sigma), 0.75);
}

const RegisterOperator edge_operator{{
    .name = "edge",
    .help = "logical image of the edges: sobel, prewitt, roberts, log, zerocross or canny",
    .parameters =
        {{.name = "method",
          .help = "the gradient, zero crossings or ridges looked for",
          .words = {std::begin(method_names), std::end(method_names)},
          .fallback = "sobel"},
         {.name = "thresh",
          .letter = 't',
          .help = "strength of an edge on the unit scale; auto: from the mean strength; canny: "
                  "the upper, or the lower and the upper one, as parts of the largest",
          .numbers = {.max_count = 2, .low = 0, .high = 1e6},
          .takes_row = true,
          .words = {"auto", "[]"},
          .numbers_beside = {"canny", "sobel", "prewitt", "roberts", "zerocross"},
          .fallback = "auto"},
         {.name = "direction",
          .help = "edges that sobel and prewitt look for",
          .words = {"both", "horizontal", "vertical"},
          .fallback = "both"},
         {.name = "thinning",
          .help = "thinning (1): only the ridge of an edge; nothinning (0): all of it",
          .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1},
          .words = {"thinning", "nothinning"},
          .number_beside = {"sobel", "prewitt", "roberts"},
          .fallback = "thinning"},
         {.name = "sigma",
          .letter = 's',
          .help = "of the gaussian, in pixels; log: 2, canny: sqrt(2) when not given",
          .numbers = {.max_count = 1, .low = 0.1, .high = 20}},
         {.name = "filter", .help = "zerocross's kernel", .takes = Takes::kernel}},
    .classes = no_logical,
    .one_channel = true,
    .details =
        "On x / white, edge pixels repeated outside. With K = fspecial(method) / sum|K|:\n"
        "S = corr(K)^2 + corr(K')^2 (horizontal and vertical: one of the two); an edge is where\n"
        "S > t^2, and with thinning S is also strictly above both neighbours in its row or both "
        "in\n"
        "its column. auto: t^2 = 4 mean(S). roberts: S from the two diagonal differences, halved;\n"
        "t^2 = 6 mean(S). uint8 is computed in exact integers.\n"
        "log, zerocross: f = conv2(x, K, same), zeros outside; an edge is where f > t, f >= 0 and "
        "one\n"
        "of the 4 neighbours is negative. auto: t = 0.75 mean|f| for log, mean|f| for zerocross. "
        "log's\n"
        "kernel has side 2 ceil(3 sigma) + 1.\n"
        "canny: the image smoothed by a gaussian of 8 ceil(sigma) taps, rows then columns; half "
        "the\n"
        "differences of neighbours give the strength E and, to the nearest 45 degrees, its "
        "direction.\n"
        "Ridges are strictly above both neighbours in that direction, not at the border. Those "
        "above\n"
        "the upper threshold are edges; from an edge, its two neighbours across that direction "
        "are\n"
        "edges if they are ridges above the lower one. auto: mean(E), and 0.4 of the upper.",
    .example = "imadjust | conv2 k7 | edge prewitt",
    .accuracy = "uint8 sobel, prewitt, roberts: exact; others: pixels at float32 ties",
    .not_finite = {NotFinite::Rule::other,
                   "pixels whose windows read NaN are no edges; measured thresholds are of the "
                   "finite strengths"},
    .matlab = "edge(A,method,thresh,direction) (MATLAB thins by the gradient's direction and makes "
              "log's kernel zero-sum, and has other canny thresholds: other pixels at some edges)",
    .lower = lower_edge,
}};

}  // namespace
}  // namespace impipe::ops
