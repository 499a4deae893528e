// histeq: values are replaced by the part of the pixels that are not above them.
#include "ops/images.hpp"

// v on the unit scale of the image's own values; a constant image is clamped instead. The bin is
// the last whose lower edge is not above v: edges are half a bin below the levels, which are
// counted from both ends of the scale. last: the number of bins - 1.
IMPIPE_POINT_BODY(histeq_bin, (x), (low, high, last), {
  const real v = high > low ? real(1) / (high - low) * (x - low) : clamp(x, real(0), real(1));
  const real step = real(1) / last;
  const real guess = clamp(floor(v * last + real(0.5)), real(0), last);
  const real below = real(2) * guess <= last ? guess * step : real(1) - (last - guess) * step;
  const real next = guess + real(1);
  const real above = real(2) * next <= last ? next * step : real(1) - (last - next) * step;
  return below - step / real(2) > v                    ? max(guess - real(1), real(0))
         : next <= last && above - step / real(2) <= v ? next
                                                       : guess;
})

// The level of v, a place in the table of cumulated parts.
IMPIPE_POINT_BODY(histeq_level, (x), (low, high, last), {
  const real v = high > low ? real(1) / (high - low) * (x - low) : clamp(x, real(0), real(1));
  return round_away(v * last);
})

// in: counts; out: the part of the pixels in a bin or one before it.
IMPIPE_GROUP_BODY(histeq_parts, {
  const int bins = (int)count[0];
  const int part = (bins + items - 1) / items;
  const int first = item * part;
  const int end = first + part < bins ? first + part : bins;
  double own = 0;
  for (int i = first; i < end; ++i) own += in[i];
  double total;
  double seen = sum_before(own, &total);
  for (int i = first; i < end; ++i) {
    seen += in[i];
    out[i] = seen / total;
  }
})

namespace impipe::ops {
namespace {

ImageValue lower_histeq(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const int bins = static_cast<int>(call.number("bins"));
  const MeasureValue low = plan.reduce({.kind = ReduceKind::min}, image, {});
  const MeasureValue high = plan.reduce({.kind = ReduceKind::max}, image, {});
  std::vector<Arg> scale{Arg::per_channel(low, 0), Arg::per_channel(high, 0), bins - 1.0};
  const PixelClass codes = bins <= 256 ? PixelClass::uint8 : PixelClass::uint16;
  const ImageValue levels = plan.point(Point{.body = &bodies::histeq_bin, .in_double = true},
                                       {image}, scale, {.cls = codes, .white = class_max(codes)});
  const MeasureValue counts = plan.histogram({.rule = BinRule::codes, .bins = bins}, levels);
  const MeasureValue parts =
      plan.scalar(bodies::histeq_parts, {counts}, {}, bins, image.type.channels);
  scale.push_back(Arg::per_channel(parts, 0));
  return plan.point(Point{.body = &bodies::histeq_level, .in_double = true, .in_table = true},
                    {image}, scale, {.cls = PixelClass::single, .white = 1});
}

const RegisterOperator histeq_operator{{
    .name = "histeq",
    .help = "spread the values evenly over [0,1]; the result is single, white 1",
    .category = "statistics",
    .parameters = {{.name = "bins",
                    .letter = 'n',
                    .help = "number of levels",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 2,
                    .high = 65536,
                    .fallback = "64"}},
    .details =
        "For each channel v = (x - min) / (max - min) over the image's own values (a constant "
        "image:\n"
        "x clamped to [0,1]), q = round(v (n-1)), and the result is the part of the pixels whose "
        "bin\n"
        "is at most q, bins as those of imhist. In double; NaN counts as the smallest value.\n"
        "The table of parts is measured and looked up on the device.",
    .example = "histeq",
    .accuracy = "1e-7, but for pixels halfway between two bins: one bin's part",
    .matlab =
        "histeq(A,n) of Octave (MATLAB keeps the class, matches a flat histogram of n bins and "
        "differs by some gray levels)",
    .lower = lower_histeq,
}};

}  // namespace
}  // namespace impipe::ops
