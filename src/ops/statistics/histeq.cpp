// histeq: values are replaced by the part of the pixels that are not above them.
#include "ops/images.hpp"
#include "ops/statistics/finite.hpp"

// in: the smallest and the largest value; out: the smallest, and by what the others are brought to
// the unit scale, -1 for a constant image: once, and not for every pixel.
IMPIPE_SCALAR_BODY(histeq_scale, {
  out[0] = in[0];
  out[1] = in[1] > in[0] ? 1.0 / (in[1] - in[0]) : -1.0;
})

// v on the unit scale of the image's own values; a constant image is clamped instead. The bin is
// the last whose lower edge is not above v: edges are half a bin below the levels, which are
// counted from both ends of the scale, so that only a place close to an edge needs more than its
// whole part. last: the number of bins - 1.
IMPIPE_POINT_BODY(histeq_bin, (x), (low, scale, last), {
  const real v = scale >= real(0) ? scale * (x - low) : clamp(x, real(0), real(1));
  const real place = v * last + real(0.5);
  const real whole = floor(place);
  const real guess = clamp(whole, real(0), last);
  const real rest = place - whole;
  const real step = real(1) / last;
  const real below = real(2) * guess <= last ? guess * step : real(1) - (last - guess) * step;
  const real next = guess + real(1);
  const real above = real(2) * next <= last ? next * step : real(1) - (last - next) * step;
  return rest > real(1e-9) && rest < real(0.999999999) ? min(whole, last)
         : below - step / real(2) > v                  ? max(guess - real(1), real(0))
         : next <= last && above - step / real(2) <= v ? next
                                                       : guess;
})

// The level of v once it is rounded, a place in the table of cumulated parts.
IMPIPE_POINT_BODY(histeq_level, (x), (low, scale, last), {
  const real v = scale >= real(0) ? scale * (x - low) : clamp(x, real(0), real(1));
  return v * last;
})

// The same of codes, from their counts: in: one of each code; args: the number of bins - 1; out:
// the level of each code. Bins grow with the codes, so that those of the codes before some place
// are at most that of the code itself.
IMPIPE_GROUP_BODY(histeq_of_codes, {
  const int codes = (int)count[0];
  const int part = (codes + items - 1) / items;
  const int first = item * part;
  const int end = first + part < codes ? first + part : codes;
  double own = 0;
  int low_from_end = -1;
  int high_code = -1;
  for (int i = first; i < end; ++i) {
    own += in[i];
    if (low_from_end < 0 && in[i] > 0) low_from_end = codes - i;
    if (in[i] > 0) high_code = i;
  }
  double total;
  sum_before(own, &total);
  const double low = codes - largest_of_group(low_from_end);
  const double high = largest_of_group(high_code);
  const double scale = high > low ? 1.0 / (high - low) : -1.0;
  const double last = args[0];
  const double step = 1.0 / last;
  for (int i = first; i < end; ++i) {
    const double own_v = scale >= 0 ? scale * (i - low) : clamp((double)i, 0.0, 1.0);
    const double level = round_away(own_v * last);
    // The first code whose bin is above the level.
    int from = 0;
    int to = codes;
    while (from < to) {
      const int code = (from + to) / 2;
      const double v = scale >= 0 ? scale * (code - low) : clamp((double)code, 0.0, 1.0);
      const double guess = clamp(floor(v * last + 0.5), 0.0, last);
      const double next = guess + 1.0;
      const double below = 2.0 * guess <= last ? guess * step : 1.0 - (last - guess) * step;
      const double above = 2.0 * next <= last ? next * step : 1.0 - (last - next) * step;
      const double bin = below - step / 2.0 > v                    ? max(guess - 1.0, 0.0)
                         : next <= last && above - step / 2.0 <= v ? next
                                                                   : guess;
      if (bin <= level) {
        from = code + 1;
      } else {
        to = code;
      }
    }
    double seen = 0;
    for (int code = 0; code < from; ++code) seen += in[code];
    out[i] = seen / total;
  }
})

IMPIPE_POINT_BODY(histeq_of_code, (x), (), { return x; })

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

constexpr Result on_unit_scale{.cls = PixelClass::single, .white = 1};

// Bytes have few codes: one count of them gives the levels of all.
ImageValue levels_of_bytes(PlanBuilder& plan, const ImageValue& image, int bins) {
  const int codes = static_cast<int>(class_max(image.type.cls)) + 1;
  const MeasureValue counts = plan.histogram({.rule = BinRule::codes, .bins = codes}, image);
  const MeasureValue levels =
      plan.scalar(bodies::histeq_of_codes, {counts}, {bins - 1.0}, codes, image.type.channels);
  return plan.point(Point{.body = &bodies::histeq_of_code, .in_double = true, .in_table = true},
                    {image}, {Arg::per_channel(levels, 0)}, on_unit_scale);
}

ImageValue lower_histeq(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const int bins = static_cast<int>(call.number("bins"));
  if (bytes_of(image.type.cls) == 1) return levels_of_bytes(plan, image, bins);
  const auto [low, high] = finite_range(plan, image);
  const MeasureValue limits =
      plan.scalar(bodies::histeq_scale, {low, high}, {}, 2, image.type.channels);
  std::vector<Arg> scale{Arg::per_channel(limits, 0), Arg::per_channel(limits, 1), bins - 1.0};
  const PixelClass codes = bins <= 256 ? PixelClass::uint8 : PixelClass::uint16;
  const ImageValue levels = plan.point(Point{.body = &bodies::histeq_bin, .in_double = true},
                                       {image}, scale, {.cls = codes, .white = class_max(codes)});
  const MeasureValue counts = plan.histogram({.rule = BinRule::codes, .bins = bins}, levels);
  const MeasureValue parts =
      plan.scalar(bodies::histeq_parts, {counts}, {}, bins, image.type.channels);
  scale.push_back(Arg::per_channel(parts, 0));
  return plan.point(Point{.body = &bodies::histeq_level, .in_double = true, .in_table = true},
                    {image}, scale, on_unit_scale);
}

const RegisterOperator histeq_operator{{
    .name = "histeq",
    .help = "spread the values evenly over [0,1]; the result is single, white 1",
    .parameters = {{.name = "bins",
                    .letter = 'n',
                    .help = "number of levels",
                    .numbers = {.max_count = 1, .integer = true, .low = 2, .high = 65536},
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
    .not_finite = {NotFinite::Rule::other,
                   "the range is of the finite values; NaN and -Inf count as the smallest value, "
                   "Inf as the largest"},
    .matlab =
        "histeq(A,n) of Octave (MATLAB keeps the class, matches a flat histogram of n bins and "
        "differs by some gray levels)",
    .lower = lower_histeq,
}};

}  // namespace
}  // namespace impipe::ops
