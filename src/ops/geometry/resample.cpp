// imresize, imwarp: the image at another size, or moved by an affine map.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "core/placement.hpp"
#include "ops/alpha.hpp"
#include "ops/filter/correlate.hpp"
#include "ops/geometry/resample.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

bool is_nan(double number) { return std::isnan(number); }

// Whether two factors are meant as rows and columns: nobody makes a picture 1080 times as high, and
// NaN is no factor.
bool are_sides(const Call& call, std::span<const double> numbers) {
  const auto nans = std::count_if(numbers.begin(), numbers.end(), is_nan);
  const double smallest = nans > 0 ? 1 : 17;  // pixels
  const bool sides =
      numbers.size() == 2 && nans < 2 &&
      std::all_of(numbers.begin(), numbers.end(), [&](double number) {
        return std::isnan(number) || (number >= smallest && number == std::floor(number));
      });
  if (nans > 0 && !sides) {
    call.fail("scale", "NaN stands for one of two sides, beside pixels of the other: 256 NaN");
  }
  return sides;
}

ImageValue lower_imresize(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const int ways = call.given("scale") + call.given("size") + call.given("fit");
  if (ways != 1) call.fail("it needs either a scale, size=rows,columns or fit=width,height");
  std::vector<Arg> arguments(4, 0.0);  // width, height, scale in x and y
  const auto side = [&](double given) { return std::isnan(given) ? 0.0 : given; };
  const bool sides = call.given("scale") && are_sides(call, call.numbers("scale"));
  if (call.given("only") && !call.given("fit")) {
    call.fail("only", "only goes with a box, as in fit=1920,1080 only=shrink");
  }
  if (call.given("fit")) {
    arguments[0] = -call.number("fit", 0);
    arguments[1] = -call.number("fit", 1);
    if (call.given("only")) arguments[call.word("only") == "shrink" ? 2 : 3] = 1;
  } else if (call.given("size")) {
    const double rows = side(call.number("size", 0)), columns = side(call.number("size", 1));
    if (rows == 0 && columns == 0) call.fail("size", "one of the two must be above 0");
    arguments[0] = columns;
    arguments[1] = rows;
  } else if (sides) {
    arguments[0] = side(call.numbers("scale").back());
    arguments[1] = side(call.numbers("scale").front());
  } else {
    arguments[2] = call.numbers("scale").back();
    arguments[3] = call.numbers("scale").front();
  }
  Resample how{.method = method_named(call.word("method"))};
  how.antialias = call.word("antialiasing") != "off";
  if (how.method == Resample::Method::nearest) {
    // Single pixels, unless it is asked for: then the mean of what each output covers.
    how.antialias = how.antialias && call.given("antialiasing");
    if (how.antialias) how.method = Resample::Method::box;
  }
  if (call.given("scale") && !sides &&
      call.numbers("scale").back() == call.numbers("scale").front()) {
    how = with_whole_ratio(how, call.numbers("scale").back());
  }
  return resampled(plan, how, image, arguments);
}

const RegisterOperator imresize_operator{{
    .name = "imresize",
    .help = "the image at another size",
    .parameters =
        {{.name = "scale",
          .help = "factor of both sizes, or of rows,columns; two whole numbers above 16 "
                  "are rows,columns of the result, NaN for one of them keeps the shape",
          .numbers = {.max_count = 2, .or_nan = true, .low = 0.0001, .high = 10000}},
         {.name = "size",
          .help = "rows,columns of the result instead of a scale, also as [rows columns];"
                  " NaN or 0 for one of them: keeps the shape",
          .numbers = {.max_count = 2,
                      .min_count = 2,
                      .integer = true,
                      .or_nan = true,
                      .low = 0,
                      .high = 1e6},
          .takes_row = true},
         {.name = "fit",
          .help = "width,height of a box that the result fills as far as its shape lets "
                  "it",
          .numbers = {.max_count = 2, .min_count = 2, .integer = true, .low = 1, .high = 1e6}},
         {.name = "only",
          .help = "with fit: shrink never enlarges, an image that lies within the box "
                  "stays as it is; enlarge never shrinks",
          .words = {"shrink", "enlarge"}},
         {.name = "method",
          .help = "between pixels: nearest, box (a pixel wide), bilinear, bicubic (Keys' "
                  "kernel, a = -0.5), lanczos2 or lanczos3",
          .words = {"nearest", "bilinear", "bicubic", "lanczos2", "lanczos3", "box"},
          .fallback = "bicubic"},
         {.name = "antialiasing",
          .help = "on: kernels are stretched where the image shrinks (nearest: only where "
                  "it is written; it then is box)",
          .words = {"on", "off"},
          .fallback = "on"}},
    .details =
        "The size is ceil(scale * size); fit: the largest of the image's shape inside a box.\n"
        "fit=1920,1080 only=shrink is vipsthumbnail's '1920x1080>' and GraphicsMagick's.\n"
        "Output k (from 0) lies at z = 0.5 + 0.5/scale + k/scale "
        "of\n"
        "the input (counted from 1); nearest takes pixel round(z), the others a weighted sum of "
        "the\n"
        "pixels around z, mirrored at the ends. Weights of bilinear and bicubic are not\n"
        "normalised; those of box, lanczos2 and lanczos3 are divided by their sum in double, and\n"
        "their scale is the result's size over the image's. Columns first, then\n"
        "rows, in float32, taps in order, each an fma; rounded and saturated once at the end\n"
        "(logical: at least 0.5). A scale of 1 copies. Alpha is resized too;\n"
        "what it hides has no part in colours.",
    .example = "imresize 0.5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, "nearest moves values"},
    .matlab = "imresize(A,scale,method) of Octave (MATLAB normalises the weights and takes the "
              "smaller scale first); lanczos2, lanczos3 and box as in MATLAB, but rounded once",
    .lower = lower_imresize,
}};

// A map of the plane, 3 x 3, row major.
using Map = std::array<double, 9>;

bool is_affine(const Map& m) { return m[6] == 0 && m[7] == 0; }

Map inverse_affine(const Call& call, std::string_view parameter, Map m) {
  const double last = m[8];
  for (double& v : m) v /= last;
  const double det = m[0] * m[4] - m[1] * m[3];
  if (!(std::abs(det) > 1e-12)) call.fail(parameter, "the matrix has no inverse");
  Map out{m[4] / det, -m[1] / det, 0, -m[3] / det, m[0] / det, 0, 0, 0, 1};
  out[2] = -(out[0] * m[2] + out[1] * m[5]);
  out[5] = -(out[3] * m[2] + out[4] * m[5]);
  return out;
}

Map inverse(const Call& call, std::string_view parameter, const Map& m) {
  if (is_affine(m)) return inverse_affine(call, parameter, m);
  const auto minor = [&](int a, int b, int c, int d) { return m[a] * m[b] - m[c] * m[d]; };
  const Map adjugate{minor(4, 8, 5, 7), minor(2, 7, 1, 8), minor(1, 5, 2, 4),
                     minor(5, 6, 3, 8), minor(0, 8, 2, 6), minor(2, 3, 0, 5),
                     minor(3, 7, 4, 6), minor(1, 6, 0, 7), minor(0, 4, 1, 3)};
  const double det = m[0] * adjugate[0] + m[1] * adjugate[3] + m[2] * adjugate[6];
  if (!(std::abs(det) > 1e-12)) call.fail(parameter, "the matrix has no inverse");
  Map out;
  for (std::size_t k = 0; k < 9; ++k) out[k] = adjugate[k] / det;
  return out;
}

Map matrix_argument(const Call& call) {
  const Matrix m = kernel_argument(call, "matrix");
  if (m.columns != 3 || (m.rows != 2 && m.rows != 3)) {
    call.fail("matrix", "a matrix of 2 or 3 rows and 3 columns is needed");
  }
  Map out{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::copy(m.values.begin(), m.values.end(), out.begin());
  return out;
}

// Sines and cosines of whole quarter turns without rounding errors.
double exact_sine(double degrees) {
  const double turned = degrees - 360 * std::floor(degrees / 360);
  if (std::fmod(turned, 180) == 0) return 0;
  if (turned == 90 || turned == 270) return turned == 90 ? 1 : -1;
  return std::sin(turned * std::numbers::pi / 180);
}

// Where pixels go, from the numbers that are given instead of a matrix.
Map moved_by_parts(const Call& call) {
  const std::vector<double>& scale = call.numbers("scale");
  const double degrees = call.number("rotate");
  const double cosine = exact_sine(degrees + 90), sine = exact_sine(degrees);
  const double sx = scale.front(), sy = scale.back();
  // Counter-clockwise as one looks at it: y goes down.
  return {cosine * sx, sine * sy,   call.numbers("translate").front(),
          -sine * sx,  cosine * sy, call.numbers("translate").back(),
          0,           0,           1};
}

ImageValue lower_imwarp(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const bool parts = call.given("rotate") || call.given("scale") || call.given("translate");
  if (call.given("matrix") == parts) {
    call.fail("it needs either a matrix, or some of rotate, scale and translate");
  }
  const bool all = call.word("view") == "full";
  if (all && call.given("size")) call.fail("size", "the size of view=full follows from the map");
  const Map to = parts ? moved_by_parts(call) : matrix_argument(call);
  const Map back = inverse(call, parts ? "scale" : "matrix", to);
  Resample how{.kind = Resample::Kind::affine,
               .method = method_named(call.word("method")),
               .antialias = false,
               .view = all ? Resample::View::all : Resample::View::given};
  if (!is_affine(back)) how.kind = Resample::Kind::projective;
  std::vector<Arg> arguments(2, 0.0);
  if (call.given("size")) {
    arguments[0] = call.numbers("size").back();
    arguments[1] = call.numbers("size").front();
  }
  for (int k = 0; k < 6; ++k) arguments.emplace_back(back[k]);
  arguments.emplace_back(parts ? 1.0 : 0.0);
  if (!is_affine(back)) {
    for (int k = 6; k < 9; ++k) arguments.emplace_back(back[k]);
  }
  arguments.emplace_back(cast_to(image.type.cls, call.number("fill")));
  return resampled(plan, how, image, arguments);
}

const RegisterOperator imwarp_operator{{
    .name = "imwarp",
    .help = "move the image by an affine or projective map",
    .parameters =
        {{.name = "matrix",
          .help =
              "[a b c; d e f]: pixel (x,y) goes to (a x + b y + c, d x + e y + f); with a third "
              "row g h i both are divided by g x + h y + i",
          .takes = Takes::kernel},
         {.name = "rotate",
          .help = "instead of a matrix: degrees, counter-clockwise about the centre",
          .numbers = {.max_count = 1, .low = -1e6, .high = 1e6},
          .fallback = "0"},
         {.name = "scale",
          .help = "instead of a matrix: factor about the centre, or those of x,y",
          .numbers = {.max_count = 2, .low = -1e4, .high = 1e4},
          .fallback = "1"},
         {.name = "translate",
          .help = "instead of a matrix: pixels to the right,down",
          .numbers = {.max_count = 2, .min_count = 2, .low = -1e6, .high = 1e6},
          .fallback = "0,0"},
         {.name = "method",
          .help = "between pixels: nearest, bilinear or bicubic (Keys' kernel, a = -0.5)",
          .words = {"nearest", "bilinear", "bicubic"},
          .fallback = "bilinear"},
         {.name = "fill",
          .help = "the value outside the image, in its own units",
          .numbers = {.max_count = 1},
          .fallback = "0"},
         {.name = "size",
          .help = "rows,columns of the result; the image's when not given",
          .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 1e6}},
         {.name = "view",
          .help = "same: the image's size, or size=; full: all of the moved image",
          .words = {"same", "full"},
          .fallback = "same"}},
    .details =
        "Every output pixel takes the value at the place that the map leads from; places in "
        "double,\n"
        "x to the right and y down from the centre of the first pixel. bilinear: in float32 from "
        "the\n"
        "four pixels around it, `fill` standing for those outside the image; rounded and "
        "saturated\n"
        "(logical: at least 0.5). bicubic: likewise from sixteen. nearest: halves go to the right\n"
        "and down. full: as many whole pixels as the outlines of the moved pixels need, what is\n"
        "too much of them on both sides alike. rotate, scale and\n"
        "translate keep the centre of the image over the centre of the result but for the shift;\n"
        "the scale comes first. Alpha is moved too, 0 outside; what it hides has no part in "
        "colours.",
    .example = "imwarp rotate=30 fill=255",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, "nearest moves values"},
    .matlab =
        "imwarp(A,affinetform2d(T),\"OutputView\",...) with places from 0 (OpenCV's warpAffine, "
        "warpPerspective); its default view is view=full",
    .lower = lower_imwarp,
}};

}  // namespace

ImageValue resampled(PlanBuilder& plan, const Resample& how, const ImageValue& image,
                     const std::vector<Arg>& arguments) {
  if (how.method == Resample::Method::nearest) {
    return plan.whole(how, {image}, arguments, like(image));
  }
  const bool fills = how.kind != Resample::Kind::resize;
  const auto sums = [&](const ImageValue& x, double beside, Result result) {
    std::vector<Arg> with_fill = arguments;
    if (fills) with_fill.back() = beside;
    return plan.whole(how, {x}, with_fill, result);
  };
  const double fill = fills ? arguments.back().argument.value : 0;
  // The weights of a reduction by these do not add up to 1.
  const bool uneven = !fills && how.antialias && !normalises(how.method);
  return averaged(plan, image, {.sums = sums, .weight = uneven ? 0.0 : 1.0, .beside = fill},
                  like(image));
}

}  // namespace impipe::ops
