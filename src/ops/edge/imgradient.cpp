// imgradient and imgradientxy: the size, the direction or one component of the gradient.
#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"

// gx and gy are conv2(I, K', same) and conv2(I, K, same): right minus left, below minus above.
IMPIPE_STENCIL_BODY(gradient_size_sobel, (1, 1, 1, 1), (), {
  const real gx =
      (at(1, -1) + real(2) * at(1, 0) + at(1, 1)) - (at(-1, -1) + real(2) * at(-1, 0) + at(-1, 1));
  const real gy =
      (at(-1, 1) + real(2) * at(0, 1) + at(1, 1)) - (at(-1, -1) + real(2) * at(0, -1) + at(1, -1));
  return sqrt(gx * gx + gy * gy);
})
IMPIPE_STENCIL_BODY(gradient_size_prewitt, (1, 1, 1, 1), (), {
  const real gx = (at(1, -1) + at(1, 0) + at(1, 1)) - (at(-1, -1) + at(-1, 0) + at(-1, 1));
  const real gy = (at(-1, 1) + at(0, 1) + at(1, 1)) - (at(-1, -1) + at(0, -1) + at(1, -1));
  return sqrt(gx * gx + gy * gy);
})
IMPIPE_STENCIL_BODY(gradient_size_central, (1, 1, 1, 1), (), {
  const real gx = real(0.5) * at(1, 0) - real(0.5) * at(-1, 0);
  const real gy = real(0.5) * at(0, 1) - real(0.5) * at(0, -1);
  return sqrt(gx * gx + gy * gy);
})
IMPIPE_STENCIL_BODY(gradient_size_intermediate, (0, 1, 0, 1), (), {
  const real gx = at(1, 0) - at(0, 0);
  const real gy = at(0, 1) - at(0, 0);
  return sqrt(gx * gx + gy * gy);
})
IMPIPE_STENCIL_BODY(gradient_size_roberts, (0, 1, 0, 1), (), {
  const real gx = at(1, 1) - at(0, 0);
  const real gy = at(0, 1) - at(1, 0);
  return sqrt(gx * gx + gy * gy);
})

// Degrees, counter-clockwise from the x axis.
IMPIPE_STENCIL_BODY(gradient_direction_sobel, (1, 1, 1, 1), (), {
  const real gx =
      (at(1, -1) + real(2) * at(1, 0) + at(1, 1)) - (at(-1, -1) + real(2) * at(-1, 0) + at(-1, 1));
  const real gy =
      (at(-1, 1) + real(2) * at(0, 1) + at(1, 1)) - (at(-1, -1) + real(2) * at(0, -1) + at(1, -1));
  return atan2(-gy, gx) * real(57.29577951308232);
})
IMPIPE_STENCIL_BODY(gradient_direction_prewitt, (1, 1, 1, 1), (), {
  const real gx = (at(1, -1) + at(1, 0) + at(1, 1)) - (at(-1, -1) + at(-1, 0) + at(-1, 1));
  const real gy = (at(-1, 1) + at(0, 1) + at(1, 1)) - (at(-1, -1) + at(0, -1) + at(1, -1));
  return atan2(-gy, gx) * real(57.29577951308232);
})
IMPIPE_STENCIL_BODY(gradient_direction_central, (1, 1, 1, 1), (), {
  const real gx = real(0.5) * at(1, 0) - real(0.5) * at(-1, 0);
  const real gy = real(0.5) * at(0, 1) - real(0.5) * at(0, -1);
  return atan2(-gy, gx) * real(57.29577951308232);
})
IMPIPE_STENCIL_BODY(gradient_direction_intermediate, (0, 1, 0, 1), (), {
  const real gx = at(1, 0) - at(0, 0);
  const real gy = at(0, 1) - at(0, 0);
  return atan2(-gy, gx) * real(57.29577951308232);
})
IMPIPE_STENCIL_BODY(gradient_direction_roberts, (0, 1, 0, 1), (), {
  const real gx = at(1, 1) - at(0, 0);
  const real gy = at(0, 1) - at(1, 0);
  return atan2(-gy, gx) * real(57.29577951308232);
})

namespace impipe::ops {
namespace {

struct GradientMethod {
  std::string_view name;
  const StencilBody& size;
  const StencilBody& direction;
};
constexpr GradientMethod gradient_methods[] = {
    {"sobel", bodies::gradient_size_sobel, bodies::gradient_direction_sobel},
    {"prewitt", bodies::gradient_size_prewitt, bodies::gradient_direction_prewitt},
    {"central", bodies::gradient_size_central, bodies::gradient_direction_central},
    {"intermediate", bodies::gradient_size_intermediate, bodies::gradient_direction_intermediate},
    {"roberts", bodies::gradient_size_roberts, bodies::gradient_direction_roberts},
};

ImageValue lower_imgradient(const Call& call, PlanBuilder& plan) {
  const ImageValue image = plan.current();
  const bool direction = call.word("out") == "direction";
  const GradientMethod* method = gradient_methods;
  while (method->name != call.word("method")) ++method;
  // Zeros outside; degrees have no white.
  return plan.stencil({.body = direction ? &method->direction : &method->size}, image, {0.0},
                      {.cls = PixelClass::single, .white = direction ? 0 : image.type.white});
}

const RegisterOperator imgradient_operator{{
    .name = "imgradient",
    .help = "size or direction of the gradient",
    .parameters = {{.name = "method",
                    .help = "the differences: sobel, prewitt, central, intermediate or roberts",
                    .words = {"sobel", "prewitt", "central", "intermediate", "roberts"},
                    .fallback = "sobel"},
                   {.name = "out",
                    .help = "magnitude: sqrt(Gx^2 + Gy^2); direction: degrees, counter-clockwise "
                            "from the x axis",
                    .words = {"magnitude", "direction"},
                    .fallback = "magnitude"}},
    .details =
        "Gx = conv2(I, K', same), Gy = conv2(I, K, same), zeros outside, on the image's own\n"
        "scale. K = fspecial sobel or prewitt (not normalised), central [.5; 0; -.5],\n"
        "intermediate [1; -1]; roberts [1 0; 0 -1] and [0 1; -1 0]. The result is single;\n"
        "the magnitude keeps the white, the direction has none.",
    .example = "im2single | imgradient prewitt",
    .accuracy = "1e-6 of white; direction 1e-4 degrees",
    .not_finite = {NotFinite::Rule::spread},
    .matlab = "imgradient(A,method) (MATLAB repeats the edge pixels: the outermost frame differs)",
    .lower = lower_imgradient,
}};

// What the image is convolved with for Gx; for Gy the transpose, or roberts' second one.
Matrix horizontal_difference(std::string_view method) {
  if (method == "prewitt") return {3, 3, {1, 0, -1, 1, 0, -1, 1, 0, -1}};
  if (method == "central") return {1, 3, {0.5, 0, -0.5}};
  if (method == "intermediate") return {1, 2, {1, -1}};
  if (method == "roberts") return {2, 2, {1, 0, 0, -1}};
  return {3, 3, {1, 0, -1, 2, 0, -2, 1, 0, -1}};
}

Matrix vertical_difference(std::string_view method) {
  if (method == "roberts") return {2, 2, {0, 1, -1, 0}};
  const Matrix m = horizontal_difference(method);
  Matrix out{m.columns, m.rows, std::vector<double>(m.values.size())};
  for (int r = 0; r < m.rows; ++r) {
    for (int c = 0; c < m.columns; ++c) {
      const std::int64_t to = std::int64_t{c} * m.rows + r, from = std::int64_t{r} * m.columns + c;
      out.values[static_cast<std::size_t>(to)] = m.values[static_cast<std::size_t>(from)];
    }
  }
  return out;
}

const RegisterOperator imgradientxy_operator{{
    .name = "imgradientxy",
    .help = "one component of the gradient",
    .parameters = {{.name = "method",
                    .help = "the differences: sobel, prewitt, central, intermediate or roberts",
                    .words = {"sobel", "prewitt", "central", "intermediate", "roberts"},
                    .fallback = "sobel"},
                   {.name = "out",
                    .help = "x: positive where the image rises to the right; y: downwards",
                    .words = {"x", "y"},
                    .fallback = "x"}},
    .details =
        "conv2(I, K', same) for x and conv2(I, K, same) for y: the Gx and Gy of imgradient, zeros\n"
        "outside, on the image's own scale. The result is single and has no white.",
    .example = "imgradientxy prewitt y | mat2gray",
    .accuracy = "1e-6 of the largest value",
    .not_finite = {NotFinite::Rule::spread},
    .matlab = "[Gx,Gy] = imgradientxy(A,method) (MATLAB repeats the edge pixels: the outermost "
              "frame differs)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const std::string& method = call.word("method");
          const Matrix kernel =
              call.word("out") == "x" ? horizontal_difference(method) : vertical_difference(method);
          return correlate(plan, plan.current(), rotated_half(kernel), {.result = single_result});
        },
}};

}  // namespace
}  // namespace impipe::ops
