// multithresh: several thresholds, Otsu's criterion for more than two classes.
#include "ops/images.hpp"

// A whole number: a float would round what lies just below a half up to it.
IMPIPE_POINT_BODY(level_of_range, (x), (low, high),
                  { return floor((x - low) * real(255) / (high - low) + real(0.5)); })

// in: 256 counts, the smallest and the largest value; args: n, whether values are whole numbers.
// Cuts c1 < ... < cn split the bins into classes; the sum over classes of (sum i h)^2 / (sum h) is
// largest, of equal sums the first in the order of the cuts: best[k] is the most that bins k.. can
// give in so many classes, and cut[.][k] the first cut that gives it.
IMPIPE_SCALAR_BODY(multithresh, {
  const int n = (int)args[0];
  const double low = in[256];
  const double high = in[257];
  double mass[257];
  double moment[257];
  double best[257];
  double next[257];
  unsigned char cuts[20 * 256];
  mass[0] = 0;
  moment[0] = 0;
  for (int i = 0; i < 256; ++i) {
    mass[i + 1] = mass[i] + in[i];
    moment[i + 1] = moment[i] + i * in[i];
  }
  for (int k = 0; k <= 256; ++k) {
    const double m = moment[256] - moment[k];
    const double w = mass[256] - mass[k];
    best[k] = w > 0 ? m * m / w : 0.0;
  }
  for (int c = n - 1; c >= 0; --c) {
    for (int k = 0; k < 256; ++k) {
      // One class from k to the cut, c + 1 from 1, and the rest, which has n - 1 - c cuts left.
      double most = -1;
      int place = 0;
      for (int cut = k + 1; cut <= 256 - (n - c); ++cut) {
        const double m = moment[cut] - moment[k];
        const double w = mass[cut] - mass[k];
        const double value = (w > 0 ? m * m / w : 0.0) + best[cut];
        if (value > most) {
          most = value;
          place = cut;
        }
      }
      next[k] = most;
      cuts[c * 256 + k] = (unsigned char)place;
    }
    for (int k = 0; k < 256; ++k) best[k] = next[k];
  }
  int from = 0;
  for (int c = 0; c < n; ++c) {
    from = cuts[c * 256 + from];
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
  const MeasureValue low = plan.reduce({.kind = ReduceKind::min}, image, {});
  const MeasureValue high = plan.reduce({.kind = ReduceKind::max}, image, {});
  // Bins of single are centred ones, which leave NaN out.
  const Result levels{.cls = whole ? PixelClass::uint8 : PixelClass::single, .white = 255};
  const ImageValue binned =
      plan.point(Point{.body = &bodies::level_of_range, .in_double = true}, {image},
                 {Arg::measured(low, 0), Arg::measured(high, 0)}, levels);
  const MeasureValue counts =
      plan.histogram({.rule = whole ? BinRule::codes : BinRule::centred, .bins = 256}, binned);
  const int n = static_cast<int>(call.number("n"));
  plan.report("multithresh",
              plan.scalar(bodies::multithresh, {counts, low, high},
                          {static_cast<double>(n), whole ? 1.0 : 0.0}, n, 1),
              n);
  return plan.current();
}

const RegisterOperator multithresh_operator{{
    .name = "multithresh",
    .help = "thresholds between n + 1 classes of values, by Otsu's criterion",
    .category = "statistics",
    .parameters = {{.name = "n",
                    .letter = 'n',
                    .help = "how many thresholds",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 1,
                    .high = 20,
                    .fallback = "1"},
                   measured_image_parameter()},
    .one_channel = true,
    .details =
        "256 bins between the smallest and the largest value (NaN left out); the cuts that make\n"
        "the variance between the classes largest, of several equally good ones the first. Each\n"
        "moves to the middle of the empty bins above it. In the image's own units, rounded for\n"
        "integer classes; a constant image: its value n times.",
    .example = "multithresh 2",
    .accuracy = "exact; single 1e-6 of the range",
    .matlab = "multithresh(A,n) (for n > 2 MATLAB searches by the simplex method)",
    .lower = lower_multithresh,
}};

}  // namespace
}  // namespace impipe::ops
