// fspecial as a source: a kernel as an image.
#include <algorithm>

#include "ops/filter/fspecial.hpp"

namespace impipe::ops {
namespace {

// The parameters that go with each type.
struct Type {
  std::string_view name;
  std::vector<std::string_view> parameters;
};
const Type& type_named(std::string_view name) {
  static const std::vector<Type> list{{"average", {"size"}},
                                      {"disk", {"radius"}},
                                      {"gaussian", {"size", "sigma"}},
                                      {"laplacian", {"alpha"}},
                                      {"log", {"size", "sigma"}},
                                      {"motion", {"len", "theta"}},
                                      {"prewitt", {}},
                                      {"sobel", {}},
                                      {"unsharp", {"alpha"}}};
  return *std::find_if(list.begin(), list.end(), [&](const Type& t) { return t.name == name; });
}

Matrix kernel_of(const Call& call) {
  const std::string& name = call.word("type");
  const Type& type = type_named(name);
  for (const Parameter& p : call.op().parameters) {
    if (p.name == "type" || !call.given(p.name)) continue;
    if (std::find(type.parameters.begin(), type.parameters.end(), p.name) ==
        type.parameters.end()) {
      call.fail(p.name, std::string(p.name) + " does not go with " + name);
    }
  }
  const auto number = [&](std::string_view parameter, double fallback) {
    return call.given(parameter) ? call.number(parameter) : fallback;
  };
  const double side = name == "log" ? 5 : 3;
  const std::vector<double> size = call.given("size") ? call.numbers("size") : std::vector{side};
  const int rows = static_cast<int>(size.front()), columns = static_cast<int>(size.back());
  // `fspecial gaussian 5 1` as MATLAB reads it: a side, then sigma.
  const Span written = call.value("size").span;
  const bool apart =
      size.size() == 2 && call.given("size") && !call.given("sigma") &&
      call.text().substr(written.begin, written.end - written.begin).find_first_of(",[") ==
          std::string::npos;
  if (apart && name == "gaussian") return gaussian_kernel(rows, rows, size.back());
  if (apart && name == "log") return log_kernel(rows, rows, size.back());
  if (name == "average") return average_kernel(rows, columns);
  if (name == "gaussian") return gaussian_kernel(rows, columns, number("sigma", 0.5));
  if (name == "log") return log_kernel(rows, columns, number("sigma", 0.5));
  if (name == "disk") return disk_kernel(static_cast<int>(number("radius", 5)));
  if (name == "laplacian") return laplacian_kernel(number("alpha", 0.2));
  if (name == "unsharp") return unsharp_kernel(number("alpha", 0.2));
  if (name == "motion") {
    return motion_kernel(static_cast<int>(number("len", 9)), number("theta", 0));
  }
  return name == "sobel" ? sobel_kernel() : prewitt_kernel();
}

MadeImage described(const Matrix& kernel) {
  return {{.cls = PixelClass::single, .channels = 1, .white = 0}, {kernel.columns, kernel.rows}};
}

// The size of a motion kernel follows from its angle: kernels are small, so it is made and
// measured.
MadeImage describe_fspecial(const Call& call) {
  const Matrix kernel = kernel_of(call);
  if (!has_weights(kernel)) {
    call.fail(call.given("sigma") ? "sigma" : "size",
              "this sigma is too small for a kernel of this side: every weight is 0");
  }
  return described(kernel);
}

HostImage make_fspecial(const Call& call) {
  const Matrix kernel = kernel_of(call);
  const MadeImage made = described(kernel);
  HostImage image(made.type, made.size);
  for (int r = 0; r < kernel.rows; ++r) {
    for (int c = 0; c < kernel.columns; ++c) {
      image.planes.front().row_as<float>(r)[c] =
          static_cast<float>(kernel.values[r * kernel.columns + c]);
    }
  }
  return image;
}

const RegisterOperator fspecial_operator{{
    .name = "fspecial",
    .help = "a filter kernel as an image",
    .parameters = {{.name = "type",
                    .help = "the kernel",
                    .words = {"average", "disk", "gaussian", "laplacian", "log", "motion",
                              "prewitt", "sobel", "unsharp"},
                    .required = true},
                   {.name = "size",
                    .help = "average, gaussian, log: rows,columns; 3,3 (log 5,5) when not given",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 255}},
                   {.name = "sigma",
                    .letter = 's',
                    .help = "gaussian, log: standard deviation in pixels; 0.5 when not given",
                    .numbers = {.max_count = 1, .low = 0.01, .high = 1000}},
                   {.name = "radius",
                    .letter = 'r',
                    .help = "disk: radius in pixels; 5 when not given",
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 127}},
                   {.name = "len",
                    .help = "motion: length in pixels; 9 when not given",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 127}},
                   {.name = "theta",
                    .help = "motion: degrees, counter-clockwise; 0 when not given",
                    .numbers = {.max_count = 1}},
                   {.name = "alpha",
                    .letter = 'a',
                    .help = "laplacian, unsharp: shape, 0 to 1; 0.2 when not given",
                    .numbers = {.max_count = 1, .low = 0, .high = 1}}},
    .details =
        "average 1/(h w); gaussian exp(-(x^2+y^2)/(2 s^2)) over its sum; laplacian and unsharp 3x3 "
        "of\n"
        "alpha; log (x^2+y^2-2s^2) g / (2 pi s^6 sum g), not zero-sum; disk: area of each pixel "
        "inside\n"
        "the disk over pi r^2; motion: a line rotated bilinearly; sobel, prewitt: horizontal "
        "edges.\n"
        "The values have no white: show them with mat2gray. In conv2 and imfilter the same "
        "kernels\n"
        "are written fspecial:gaussian,5,1.2, with their numbers in the order of the parameters.",
    .example = "fspecial gaussian size=31 sigma=6 | mat2gray",
    .accuracy = "6e-8 of the largest value (made in double, stored as single)",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "fspecial(type,...) (log and motion follow Octave; MATLAB's log is zero-sum)",
    .describe = describe_fspecial,
    .make = make_fspecial,
}};

}  // namespace
}  // namespace impipe::ops
