// circshift and imtranslate: the image moved by rows and columns.
#include <cmath>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

IMPIPE_POINT_BODY(half_or_more, (x), (), { return x >= real(0.5) ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// The image seen through a window that begins at (left, top) and is larger by (wider, taller).
ImageValue seen_from(PlanBuilder& plan, const ImageValue& image, const Window& window, double left,
                     double wider, double top, double taller, double fill) {
  std::vector<Arg> args{left, 0.0, wider, 1.0, top, 0.0, taller, 1.0};
  if (window.border == Border::constant) args.emplace_back(fill);
  return plan.window(window, image, args);
}

const RegisterOperator circshift_operator{{
    .name = "circshift",
    .help = "move the image; what leaves one side comes in at the other",
    .parameters = {{.name = "by",
                    .help = "rows,columns: down and to the right; one number: rows",
                    .numbers = {.max_count = 2, .integer = true, .low = -1e6, .high = 1e6},
                    .required = true}},
    .details = "B(r,c) = A((r - rows) mod H, (c - columns) mod W). Alpha moves too.",
    .example = "circshift 40,-60",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::moved},
    .matlab = "circshift(A,[rows columns]) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const std::vector<double>& by = call.numbers("by");
          return seen_from(plan, plan.current(), {.border = Border::circular},
                           by.size() > 1 ? -by[1] : 0.0, 0, -by[0], 0, 0);
        },
}};

// Weights of the taps that begin `first` pixels after the place's floor, for a place `part` beyond
// it.
struct Taps {
  int first = 0;
  std::vector<double> weights;
};

double keys(double distance) {
  const double h = std::fabs(distance);
  if (h <= 1) return (1.5 * h - 2.5) * h * h + 1;
  return h < 2 ? ((-0.5 * h + 2.5) * h - 4) * h + 2 : 0;
}

Taps taps_of(std::string_view method, double part) {
  if (method == "bilinear") return {0, {1 - part, part}};
  Taps out{-1, {}};
  for (int k = -1; k <= 2; ++k) out.weights.push_back(keys(k - part));
  return out;
}

// Along one direction: output o lies at o - shift; `full`: outputs go as far as the image does.
struct Move {
  double from = 0;    // of the first output, in pixels of the input
  double larger = 0;  // the output's size minus the input's
};

Move move_of(double shift, bool full) {
  const double first = full ? std::floor(std::min(0.0, shift)) : 0;
  const double last = full ? std::max(0.0, std::ceil(shift)) : 0;
  return {first - shift, last - first};
}

ImageValue lower_imtranslate(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const std::vector<double>& by = call.numbers("translate");
  const std::string& method = call.word("method");
  const bool full = call.word("view") == "full";
  const double fill = cast_to(image.type.cls, call.number("fill"));
  const Move x = move_of(by[0], full), y = move_of(by[1], full);
  const bool nearest = method == "nearest";
  const double left = std::floor(x.from + (nearest ? 0.5 : 0)), across = x.from - left;
  const double top = std::floor(y.from + (nearest ? 0.5 : 0)), down = y.from - top;
  constexpr Window with_fill{.border = Border::constant};
  if (nearest || (across == 0 && down == 0)) {
    return seen_from(plan, image, with_fill, left, x.larger, top, y.larger, fill);
  }
  // The pixels that the taps reach, then the sums that lie wholly among them.
  const Taps columns = across == 0 ? Taps{0, {1}} : taps_of(method, across);
  const Taps rows = down == 0 ? Taps{0, {1}} : taps_of(method, down);
  const auto more = [](const Taps& t) { return static_cast<double>(t.weights.size()) - 1; };
  const ImageValue reached =
      seen_from(plan, image, with_fill, left + columns.first, x.larger + more(columns),
                top + rows.first, y.larger + more(rows), fill);
  Matrix kernel{
      static_cast<int>(rows.weights.size()), static_cast<int>(columns.weights.size()), {}};
  for (const double v : rows.weights) {
    for (const double h : columns.weights) kernel.values.push_back(v * h);
  }
  // A logical result is at least a half.
  const bool logical = image.type.cls == PixelClass::logical;
  Result result = like(image);
  if (logical) result.cls = PixelClass::single;
  const ImageValue moved = correlate_colours(
      plan, reached, kernel, {.extent = Extent::valid, .result = result, .moves = true});
  return logical ? plan.point(bodies::half_or_more, {moved}, {}, logical_result) : moved;
}

const RegisterOperator imtranslate_operator{{
    .name = "imtranslate",
    .help = "move the image by pixels or parts of them",
    .parameters = {{.name = "translate",
                    .help = "pixels to the right,down",
                    .numbers = {.max_count = 2, .min_count = 2, .low = -1e6, .high = 1e6},
                    .required = true},
                   {.name = "method",
                    .help = "between pixels: nearest, bilinear or bicubic (Keys' kernel, a = -0.5)",
                    .words = {"nearest", "bilinear", "bicubic"},
                    .fallback = "bilinear"},
                   {.name = "view",
                    .help = "same: the image's size; full: all of the moved image and of its frame",
                    .words = {"same", "full"},
                    .fallback = "same"},
                   {.name = "fill",
                    .help = "the value outside the image, in its own units",
                    .numbers = {.max_count = 1},
                    .fallback = "0"}},
    .details =
        "out(r,c) = A(r - y, c - x); whole numbers copy. bilinear and bicubic in float32, `fill`\n"
        "standing for pixels outside the image; rounded and saturated (logical: at least 0.5).\n"
        "nearest: halves go to the right and down. full: columns floor(min(0,x)) to W - 1 +\n"
        "max(0,ceil x), rows alike. Alpha moves too, 0 outside.",
    .example = "imtranslate 20,-12.5 fill=128",
    .accuracy =
        "exact for whole numbers; integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, "nearest moves values"},
    .matlab = "imtranslate(A,[x y],method,\"OutputView\",view) (whole numbers: same)",
    .lower = lower_imtranslate,
}};

}  // namespace
}  // namespace impipe::ops
