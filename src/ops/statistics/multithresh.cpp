// multithresh: several thresholds, Otsu's criterion for more than two classes.
#include "ops/images.hpp"
#include "ops/statistics/across.hpp"
#include "ops/statistics/finite.hpp"

// A whole number: a float would round what lies just below a half up to it.
IMPIPE_POINT_BODY(level_of_range, (x), (low, high),
                  { return floor((x - low) * real(255) / (high - low) + real(0.5)); })

// Cuts c1 < ... < cn split 256 bins into classes; the sum over classes of (sum i h)^2 / (sum h) is
// largest, of equal sums the first in the order of the cuts. From the last class on: the most that
// bins k.. can give in so many classes, and the first cut after k that gives it.
//
// The tables between the steps: the sums of h and of i h below bin k, 257 each; what bins k.. give,
// 257; and for each cut, the last one first, where it is best when its class begins at k, 256.

// in: 256 counts. out: the tables, of one class behind k.
IMPIPE_GROUP_BODY(multithresh_sums, {
  double mass = 0;
  double moment = 0;
  int at = 0;
  for (int k = item; k <= 256; k += items) {
    for (; at < k; ++at) {
      mass += in[at];
      moment += at * in[at];
    }
    out[k] = mass;
    out[257 + k] = moment;
  }
  for (; at < 256; ++at) {
    mass += in[at];
    moment += at * in[at];
  }
  for (int k = item; k <= 256; k += items) {
    const double m = moment - out[257 + k];
    const double w = mass - out[k];
    out[514 + k] = w > 0 ? m * m / w : 0.0;
  }
})

// in: the tables; args: cuts that follow this one, and bins at which its class may begin. out: the
// tables with this cut.
IMPIPE_GROUP_BODY(multithresh_cut, {
  const int left = (int)args[0];
  const int begins = (int)args[1];
  const int all = (int)count[0];
  for (int i = item; i < 514; i += items) out[i] = in[i];
  for (int i = 771 + item; i < all; i += items) out[i] = in[i];
  for (int k = item; k <= 256; k += items) {
    double most = k < begins ? -1.0 : 0.0;
    int place = 0;
    const int end = k < begins ? 255 - left : 0;
    for (int cut = k + 1; cut <= end; ++cut) {
      const double m = in[257 + cut] - in[257 + k];
      const double w = in[cut] - in[k];
      const double value = (w > 0 ? m * m / w : 0.0) + in[514 + cut];
      if (value > most) {
        most = value;
        place = cut;
      }
    }
    out[514 + k] = most;
    if (k < 256) out[all + k] = place;
  }
})

// in: 256 counts, the smallest and the largest value, the tables; args: n, whether values are whole
// numbers.
IMPIPE_SCALAR_BODY(multithresh, {
  const int n = (int)args[0];
  const double low = in[256];
  const double high = in[257];
  int from = 0;
  for (int c = 0; c < n; ++c) {
    from = (int)in[258 + 771 + 256 * (n - 1 - c) + from];
    int empty = 0;
    while (from + empty < 256 && in[from + empty] == 0) empty += 1;
    const double value = low + (from - 1 + empty / 2.0) / 255 * (high - low);
    const double whole = floor(value + 0.5);
    out[c] = high > low ? (args[1] > 0 ? whole : value) : low;
  }
})

namespace impipe::ops {
namespace {

ImageValue lower_multithresh(const Call& call, PlanBuilder& plan) {
  const ImageValue image = measured_image(call, plan);
  const bool whole = is_integer(image.type.cls);
  const auto [low, high] = finite_range(plan, image);
  // Bins of single are centred ones, which leave NaN out.
  const Result levels{.cls = whole ? PixelClass::uint8 : PixelClass::single, .white = 255};
  const ImageValue binned =
      plan.point(Point{.body = &bodies::level_of_range, .in_double = true}, {image},
                 {Arg::measured(low, 0), Arg::measured(high, 0)}, levels);
  const MeasureValue counts =
      plan.histogram({.rule = whole ? BinRule::codes : BinRule::centred, .bins = 256}, binned);
  const int n = static_cast<int>(call.number("n"));
  MeasureValue tables = plan.scalar(bodies::multithresh_sums, {counts}, {}, 771, 1);
  for (int left = 0; left < n; ++left) {
    // The first class begins at the first bin.
    const double begins = left == n - 1 ? 1 : 256;
    tables = plan.scalar(bodies::multithresh_cut, {tables}, {static_cast<double>(left), begins},
                         771 + 256 * (left + 1), 1);
  }
  plan.report("multithresh",
              plan.scalar(bodies::multithresh, {counts, low, high, tables},
                          {static_cast<double>(n), whole ? 1.0 : 0.0}, n, 1),
              n);
  return plan.current();
}

const RegisterOperator multithresh_operator{{
    .name = "multithresh",
    .help = "thresholds between n + 1 classes of values, by Otsu's criterion",
    .parameters = {{.name = "n",
                    .letter = 'n',
                    .help = "how many thresholds",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 20},
                    .fallback = "1"},
                   measured_image_parameter(),
                   across_parameter()},
    .one_channel = true,
    .details =
        "256 bins between the smallest and the largest finite value; the cuts that make\n"
        "the variance between the classes largest, of several equally good ones the first. Each\n"
        "moves to the middle of the empty bins above it. In the image's own units, rounded for\n"
        "integer classes; a constant image: its value n times.",
    .example = "multithresh 2",
    .accuracy = "exact; single 1e-6 of the range",
    .not_finite = {NotFinite::Rule::left_out,
                   "the range is of the finite values, Inf in the bin at its end"},
    .matlab = "multithresh(A,n) (for n > 2 MATLAB searches by the simplex method)",
    .lower = lower_multithresh,
}};

}  // namespace
}  // namespace impipe::ops
