// imresize, imwarp: the image at another size, or moved by an affine map.
#include <cmath>
#include <numbers>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

Resample::Method method_named(std::string_view name) {
  if (name == "nearest") return Resample::Method::nearest;
  return name == "bilinear" ? Resample::Method::bilinear : Resample::Method::bicubic;
}

ImageValue lower_imresize(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const int ways = call.given("scale") + call.given("size") + call.given("fit");
  if (ways != 1) call.fail("it needs either a scale, size=rows,columns or fit=width,height");
  std::vector<Arg> arguments(4, 0.0);  // width, height, scale in x and y
  if (call.given("fit")) {
    arguments[0] = -call.number("fit", 0);
    arguments[1] = -call.number("fit", 1);
  } else if (call.given("size")) {
    const std::vector<double>& size = call.numbers("size");
    if (size[0] == 0 && size[1] == 0) call.fail("size", "one of the two must be above 0");
    arguments[0] = size[1];
    arguments[1] = size[0];
  } else {
    arguments[2] = call.numbers("scale").back();
    arguments[3] = call.numbers("scale").front();
  }
  Resample how{.method = method_named(call.word("method"))};
  if (how.method == Resample::Method::nearest && call.given("antialiasing") &&
      call.word("antialiasing") == "on") {
    plan.note(
        "imresize: nearest takes single pixels, antialiasing=on changes nothing; bilinear "
        "and bicubic are antialiased");
  }
  how.antialias = call.word("antialiasing") != "off" && how.method != Resample::Method::nearest;
  return plan.whole(how, {image}, arguments, like(image));
}

const RegisterOperator imresize_operator{{
    .name = "imresize",
    .help = "the image at another size",
    .category = "geometry",
    .parameters = {{.name = "scale",
                    .help = "factor of both sizes, or of rows,columns",
                    .max_numbers = 2,
                    .low = 0.0001,
                    .high = 10000},
                   {.name = "size",
                    .help = "rows,columns of the result instead of a scale; 0: keeps the shape",
                    .max_numbers = 2,
                    .min_numbers = 2,
                    .integer = true,
                    .low = 0,
                    .high = 1e6},
                   {.name = "fit",
                    .help = "width,height of a box that the result fills as far as its shape lets "
                            "it",
                    .max_numbers = 2,
                    .min_numbers = 2,
                    .integer = true,
                    .low = 1,
                    .high = 1e6},
                   {.name = "method",
                    .help = "between pixels: nearest, bilinear or bicubic (Keys' kernel, a = -0.5)",
                    .words = {"nearest", "bilinear", "bicubic"},
                    .fallback = "bicubic"},
                   {.name = "antialiasing",
                    .help = "on: kernels are stretched where the image shrinks (not for nearest)",
                    .words = {"on", "off"},
                    .fallback = "on"}},
    .details =
        "The size is ceil(scale * size); fit: the largest of the image's shape inside a box.\n"
        "Output k (from 0) lies at z = 0.5 + 0.5/scale + k/scale "
        "of\n"
        "the input (counted from 1); nearest takes pixel round(z), the others a weighted sum of "
        "the\n"
        "pixels around z, mirrored at the ends. Weights are not normalised. Columns first, then\n"
        "rows, in float32, taps in order, each an fma; rounded and saturated once at the end\n"
        "(logical: at least 0.5). A scale of 1 copies. Alpha is resized too.",
    .example = "imresize 0.5",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .matlab = "imresize(A,scale,method) of Octave (MATLAB normalises the weights and takes the "
              "smaller scale first; size=rows,0 is [rows NaN])",
    .lower = lower_imresize,
}};

// The place in the input of each place in the output.
struct Affine {
  double a = 1, b = 0, c = 0, d = 0, e = 1, f = 0;
};

Affine inverse(const Call& call, std::string_view parameter, const Affine& m) {
  const double det = m.a * m.e - m.b * m.d;
  if (!(std::abs(det) > 1e-12)) call.fail(parameter, "the matrix has no inverse");
  Affine out{m.e / det, -m.b / det, 0, -m.d / det, m.a / det, 0};
  out.c = -(out.a * m.c + out.b * m.f);
  out.f = -(out.d * m.c + out.e * m.f);
  return out;
}

Affine matrix_argument(const Call& call) {
  const Matrix m = kernel_argument(call, "matrix");
  const bool square = m.rows == 3;
  if (m.columns != 3 || (m.rows != 2 && m.rows != 3)) {
    call.fail("matrix", "a matrix of 2 or 3 rows and 3 columns is needed");
  }
  if (square && (m.values[6] != 0 || m.values[7] != 0 || m.values[8] != 1)) {
    call.fail("matrix", "the last row must be 0 0 1: only affine maps are known");
  }
  return {m.values[0], m.values[1], m.values[2], m.values[3], m.values[4], m.values[5]};
}

// Sines and cosines of whole quarter turns without rounding errors.
double exact_sine(double degrees) {
  const double turned = degrees - 360 * std::floor(degrees / 360);
  if (std::fmod(turned, 180) == 0) return 0;
  if (turned == 90 || turned == 270) return turned == 90 ? 1 : -1;
  return std::sin(turned * std::numbers::pi / 180);
}

ImageValue lower_imwarp(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const bool parts = call.given("rotate") || call.given("scale") || call.given("translate");
  if (call.given("matrix") == parts) {
    call.fail("it needs either a matrix, or some of rotate, scale and translate");
  }
  Affine back;
  if (parts) {
    const std::vector<double>& scale = call.numbers("scale");
    const double degrees = call.number("rotate");
    const double cosine = exact_sine(degrees + 90), sine = exact_sine(degrees);
    const double sx = scale.front(), sy = scale.back();
    // Counter-clockwise as one looks at it: y goes down.
    back = inverse(call, "scale",
                   {cosine * sx, sine * sy, call.numbers("translate").front(), -sine * sx,
                    cosine * sy, call.numbers("translate").back()});
  } else {
    back = inverse(call, "matrix", matrix_argument(call));
  }
  std::vector<Arg> arguments(2, 0.0);
  if (call.given("size")) {
    arguments[0] = call.numbers("size").back();
    arguments[1] = call.numbers("size").front();
  }
  for (const double v : {back.a, back.b, back.c, back.d, back.e, back.f, parts ? 1.0 : 0.0}) {
    arguments.emplace_back(v);
  }
  arguments.emplace_back(cast_to(image.type.cls, call.number("fill")));
  return plan.whole(Resample{Resample::Kind::affine, method_named(call.word("method")), false},
                    {image}, arguments, like(image));
}

const RegisterOperator imwarp_operator{{
    .name = "imwarp",
    .help = "move the image by an affine map",
    .category = "geometry",
    .parameters =
        {{.name = "matrix",
          .help = "[a b c; d e f]: pixel (x,y) goes to (a x + b y + c, d x + e y + f); or 3 x 3",
          .takes = Takes::kernel},
         {.name = "rotate",
          .help = "instead of a matrix: degrees, counter-clockwise about the centre",
          .max_numbers = 1,
          .low = -1e6,
          .high = 1e6,
          .fallback = "0"},
         {.name = "scale",
          .help = "instead of a matrix: factor about the centre, or those of x,y",
          .max_numbers = 2,
          .low = -1e4,
          .high = 1e4,
          .fallback = "1"},
         {.name = "translate",
          .help = "instead of a matrix: pixels to the right,down",
          .max_numbers = 2,
          .min_numbers = 2,
          .low = -1e6,
          .high = 1e6,
          .fallback = "0,0"},
         {.name = "method",
          .help = "between pixels: nearest or bilinear",
          .words = {"nearest", "bilinear"},
          .fallback = "bilinear"},
         {.name = "fill",
          .help = "the value outside the image, in its own units",
          .max_numbers = 1,
          .fallback = "0"},
         {.name = "size",
          .help = "rows,columns of the result; the image's when not given",
          .max_numbers = 2,
          .integer = true,
          .low = 1,
          .high = 1e6}},
    .details =
        "Every output pixel takes the value at the place that the map leads from; places in "
        "double,\n"
        "x to the right and y down from the centre of the first pixel. bilinear: in float32 from "
        "the\n"
        "four pixels around it, `fill` standing for those outside the image; rounded and "
        "saturated\n"
        "(logical: at least 0.5). nearest: halves go to the right and down. rotate, scale and\n"
        "translate keep the centre of the image over the centre of the result but for the shift;\n"
        "the scale comes first. Alpha is moved too, 0 outside.",
    .example = "imwarp rotate=30 fill=255",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .matlab =
        "imwarp(A,affinetform2d(T),\"OutputView\",...) with places from 0 (OpenCV's warpAffine)",
    .lower = lower_imwarp,
}};

}  // namespace
}  // namespace impipe::ops
