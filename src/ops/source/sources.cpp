// Sources: phantom, checkerboard, gradient, noise and constant make the image a pipeline starts
// with.
#include <cmath>
#include <numbers>

#include "core/functions.hpp"
#include "ops/images.hpp"
#include "ops/source/source_image.hpp"

namespace impipe::ops {
namespace {

// The modified Shepp-Logan phantom (Toft 1996, as in MATLAB's phantom): intensity, half axes,
// centre, degrees; x to the right, y up, both from -1 to 1.
struct Ellipse {
  double intensity, a, b, x, y, degrees;
};
constexpr Ellipse shepp_logan[] = {
    {1, 0.69, 0.92, 0, 0, 0},          {-0.8, 0.6624, 0.874, 0, -0.0184, 0},
    {-0.2, 0.11, 0.31, 0.22, 0, -18},  {-0.2, 0.16, 0.41, -0.22, 0, 18},
    {0.1, 0.21, 0.25, 0, 0.35, 0},     {0.1, 0.046, 0.046, 0, 0.1, 0},
    {0.1, 0.046, 0.046, 0, -0.1, 0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0},
    {0.1, 0.023, 0.023, 0, -0.606, 0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0},
};

double phantom_value(double x, double y) {
  double sum = 0;
  for (const Ellipse& e : shepp_logan) {
    const double t = e.degrees * std::numbers::pi / 180;
    const double dx = x - e.x, dy = y - e.y;
    const double u = dx * std::cos(t) + dy * std::sin(t);
    const double v = dy * std::cos(t) - dx * std::sin(t);
    if (u * u / (e.a * e.a) + v * v / (e.b * e.b) <= 1) sum += e.intensity;
  }
  return sum;
}

MadeImage describe_gray(const Call& call) { return described_image(call, 1); }

HostImage make_phantom(const Call& call) {
  const double n = static_cast<double>(size_argument(call).width);
  const double half = n > 1 ? (n - 1) / 2 : 1;
  return make_image(describe_gray(call), [&](std::int64_t x, std::int64_t y, int) {
    return phantom_value((static_cast<double>(x) - (n - 1) / 2) / half,
                         ((n - 1) / 2 - static_cast<double>(y)) / half);
  });
}

HostImage make_checkerboard(const Call& call) {
  const auto side = static_cast<std::int64_t>(call.number("side"));
  return make_image(describe_gray(call), [&](std::int64_t x, std::int64_t y, int) {
    return (x / side + y / side) % 2 == 0 ? 0.0 : 1.0;
  });
}

// 0 at the start, 1 at the end of the direction.
HostImage make_gradient(const Call& call) {
  const Size size = size_argument(call);
  const std::string& direction = call.word("direction");
  const auto part = [](std::int64_t place, std::int64_t length) {
    return length > 1 ? static_cast<double>(place) / static_cast<double>(length - 1) : 0.0;
  };
  return make_image(describe_gray(call), [&](std::int64_t x, std::int64_t y, int) {
    if (direction == "horizontal") return part(x, size.width);
    if (direction == "vertical") return part(y, size.height);
    return (part(x, size.width) + part(y, size.height)) / 2;
  });
}

MadeImage describe_constant(const Call& call) {
  const std::size_t channels = call.numbers("value").size();
  if (channels == 2) call.fail("value", "value takes 1 number, or 3 for a colour");
  return described_image(call, static_cast<int>(channels));
}

HostImage make_constant(const Call& call) {
  const std::vector<double>& value = call.numbers("value");
  return make_image(describe_constant(call),
                    [&](std::int64_t, std::int64_t, int c) { return value[c]; });
}

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): a well-mixed function of the counter.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Uniform in [0, 1), from the seed and a counter alone.
double uniform(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(mixed(mixed(seed) ^ counter) >> 11) * 0x1p-53;
}

MadeImage describe_noise(const Call& call) {
  return described_image(call, static_cast<int>(call.number("channels")));
}

HostImage make_noise(const Call& call) {
  const MadeImage made = describe_noise(call);
  const Size size = made.size;
  const int channels = made.type.channels;
  const auto seed = static_cast<std::uint64_t>(call.number("seed"));
  const bool gaussian = call.word("kind") == "gaussian";
  return make_image(made, [&](std::int64_t x, std::int64_t y, int c) {
    const auto counter = static_cast<std::uint64_t>((y * size.width + x) * channels + c);
    if (!gaussian) return uniform(seed, counter);
    // Box and Muller; mean 0.5, deviation 0.15.
    const double radius = std::sqrt(-2 * functions::log_double(1 - uniform(seed, 2 * counter)));
    const double angle = 2 * std::numbers::pi * uniform(seed, 2 * counter + 1);
    return 0.5 + 0.15 * radius * functions::cos_double(angle);
  });
}

const RegisterOperator phantom_operator{{
    .name = "phantom",
    .help = "the modified Shepp-Logan head phantom",
    .parameters = {{.name = "size",
                    .letter = 'n',
                    .help = "rows and columns, in pixels",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536},
                    .fallback = "256"},
                   class_parameter("single")},
    .details = "Ten ellipses (Toft 1996); the value of a pixel is that at its centre, 0 to 1.",
    .example = "phantom 256",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "phantom(n) (same)",
    .describe = describe_gray,
    .make = make_phantom,
}};

const RegisterOperator checkerboard_operator{{
    .name = "checkerboard",
    .help = "black and white squares",
    .parameters = {size_parameter(false),
                   {.name = "side",
                    .letter = 'k',
                    .help = "side of a square, in pixels",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 65536},
                    .fallback = "16"},
                   class_parameter("uint8")},
    .details = "0 where floor(x/side) + floor(y/side) is even, else white.",
    .example = "checkerboard 512 side=32",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "checkerboard(side) has gray squares in its right half",
    .describe = describe_gray,
    .make = make_checkerboard,
}};

const RegisterOperator gradient_operator{{
    .name = "gradient",
    .help = "a ramp from black to white",
    .parameters = {size_parameter(false),
                   {.name = "direction",
                    .help = "where it becomes brighter: to the right, downwards, or both",
                    .words = {"horizontal", "vertical", "diagonal"},
                    .fallback = "horizontal"},
                   class_parameter("uint8")},
    .details = "x / (W-1), y / (H-1), or the mean of the two; 0 where that side is one pixel long.",
    .example = "gradient 256,1024 class=uint16",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "repmat(linspace(0,1,W),H,1)",
    .describe = describe_gray,
    .make = make_gradient,
}};

const RegisterOperator constant_operator{{
    .name = "constant",
    .help = "an image of one value",
    .parameters = {{.name = "value",
                    .help = "on the unit scale; three numbers r,g,b make a colour image",
                    .numbers = {.max_count = 3},
                    .required = true},
                   size_parameter(false),
                   class_parameter("uint8")},
    .details = "value * white, rounded half away from zero and saturated in integer classes.",
    .example = "constant 0.2,0.4,0.8 size=64",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "repmat(v,H,W)",
    .describe = describe_constant,
    .make = make_constant,
}};

const RegisterOperator noise_operator{{
    .name = "noise",
    .help = "random values, the same for the same seed",
    .parameters =
        {size_parameter(false),
         {.name = "seed",
          .letter = 's',
          .help = "which noise",
          .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 9007199254740991},
          .fallback = "1"},
         {.name = "kind",
          .help = "uniform: [0,1); gaussian: mean 0.5, deviation 0.15",
          .words = {"uniform", "gaussian"},
          .fallback = "uniform"},
         channels_parameter(),
         class_parameter("uint8")},
    .details =
        "Each value is a function of the seed and its place alone (splitmix64 of a counter), so\n"
        "it is the same on every machine; gaussian goes through log and cos.",
    .example = "noise 480,640 seed=7",
    .accuracy = "uniform: exact; gaussian: 1e-7",
    .not_finite = {NotFinite::Rule::none},
    .matlab = "rand(H,W), randn(H,W) with another generator",
    .describe = describe_noise,
    .make = make_noise,
}};

}  // namespace
}  // namespace impipe::ops
