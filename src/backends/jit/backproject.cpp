// The inverse Radon transform as text: a group filters two projections by their Fourier transform,
// then every pixel adds its samples of all projections. In double, every sum in the CPU's order.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "backends/jit/nodes.hpp"
#include "backends/jit/text.hpp"
#include "core/backprojection.hpp"

namespace impipe::jit {
namespace {

using Filter = Backproject::Filter;

constexpr int items = 128;

constexpr const char* transform_function = R"(
FUNCTION int bits_reversed(const int value, const int bits) {
  int out = 0;
  for (int b = 0; b < bits; ++b) out |= (value >> b & 1) << (bits - 1 - b);
  return out;
}
// Butterflies of growing span; the data is in the order of reversed bits. sign: 1, or -1 for the
// inverse. All work-items of a group together.
FUNCTION void fourier_transform(GLOBAL double2* data, GLOBAL const double* roots, const int length,
                                const double sign) {
  for (int span = 1; span < length; span *= 2) {
    const int step = length / (2 * span);
    for (int i = ITEM; i < length / 2; i += $items) {
      const int k = i % span, at = i / span * 2 * span + k;
      const double re = roots[2 * k * step], im = sign * roots[2 * k * step + 1];
      const double2 low = data[at], high = data[at + span];
      const double turned_re = high.x * re - high.y * im, turned_im = high.x * im + high.y * re;
      double2 sum, difference;
      sum.x = low.x + turned_re;
      sum.y = low.y + turned_im;
      difference.x = low.x - turned_re;
      difference.y = low.y - turned_im;
      data[at] = sum;
      data[at + span] = difference;
    }
    GLOBAL_BARRIER;
  }
}
)";

// Two projections at a time, as real and imaginary parts: the response is real and even.
constexpr const char* filter_kernel =
    R"(  const int first = 2 * GROUP_X, second = smaller(first + 1, $width - 1);
  GLOBAL double2* const data = $data + (long)GROUP_X * $length;
  for (int i = ITEM; i < $length; i += $items) {
    const int y = bits_reversed(i, $bits);
    double2 v;
    v.x = 0.0;
    v.y = 0.0;
    if (y < $height) {
      int x = first;
      v.x = (double)$pixel;
      x = second;
      v.y = (double)$pixel;
    }
    data[i] = v;
  }
  GLOBAL_BARRIER;
  fourier_transform(data, $roots, $length, 1.0);
  // Each pair of places once, so that the inverse finds its order of reversed bits.
  for (int i = ITEM; i < $length; i += $items) {
    const int other = bits_reversed(i, $bits);
    if (other < i) continue;
    double2 a = data[i], b = data[other];
    a.x *= $response[i];
    a.y *= $response[i];
    b.x *= $response[other];
    b.y *= $response[other];
    data[i] = b;
    data[other] = a;
  }
  GLOBAL_BARRIER;
  fourier_transform(data, $roots, $length, -1.0);
  const double scale = 1.0 / (double)$length;
  for (int i = ITEM; i <= $samples; i += $items) {
    const int y = i - $before;
    const bool inside = y >= 0 && y < $height;
    $filtered[(long)first * ($samples + 1) + i] = inside ? data[y].x * scale : 0.0;
    if (second != first) {
      $filtered[(long)second * ($samples + 1) + i] = inside ? data[y].y * scale : 0.0;
    }
  }
)";

constexpr const char* copy_kernel = R"(  const int x = GROUP_X;
  for (int i = ITEM; i <= $samples; i += $items) {
    const int y = i - $before;
    $filtered[(long)x * ($samples + 1) + i] = y >= 0 && y < $height ? (double)$pixel : 0.0;
  }
)";

constexpr const char* smear_text = R"(  const int middle = ($side + 1) / 2, centre = $samples / 2;
  const double up = (double)($side - 1 - y - middle), right = (double)(x - middle + 1);
  double sum = 0.0;
  for (int a = 0; a < $width; ++a) {
    GLOBAL const double* const samples = $filtered + (long)a * ($samples + 1);
    const double start = up * $turns[2 * a + 1], step = right * $turns[2 * a];
    $take
  }
  $out = (float)(sum * $scale);
)";

constexpr const char* take_linear =
    "const double place = start + (double)centre + step;\n"
    "    const int at = (int)place;\n"
    "    sum += samples[at] + (samples[at + 1] - samples[at]) * (place - (double)at);";
// Ties are decided before the middle is added, whose rounding would make more of them.
constexpr const char* take_nearest = "sum += samples[(int)floor(start + step + 0.5) + centre];";

}  // namespace

void write_backproject(Builder& to, int n) {
  const Node& node = to.node(n);
  const Backproject& what = std::get<Backproject>(node.primitive);
  const Operand self{false, n}, image = node.images[0];
  const std::string name = Builder::name(self);
  const auto columns = [image](const LaunchContext& at) { return at.size_of(image).width; };
  const auto length = [image](const LaunchContext& at) {
    return filter_length(at.size_of(image).height);
  };
  const auto samples = [image, self](const LaunchContext& at) {
    return backprojection_length(at.size_of(image).height, at.size_of(self).width);
  };
  const auto number = [&](const std::string& label, auto value) {
    return to.parameter(
        ParameterType::int32, name + "_" + label,
        [value](const LaunchContext& at, int) { return static_cast<double>(value(at)); });
  };
  const auto filtered_samples = [&] {
    return to.scratch(name + "_filtered", "double",
                      [=](const LaunchContext& at) { return 8 * columns(at) * (samples(at) + 1); });
  };
  const std::string before = number("before", [=](const LaunchContext& at) {
    return (samples(at) - at.size_of(image).height) / 2;
  });
  const std::string sample_count = number("samples", samples), count = std::to_string(items);
  if (what.filter == Filter::none) {
    to.kernel(name + "_copy", items,
              filled(copy_kernel, {{"samples", sample_count},
                                   {"items", count},
                                   {"before", before},
                                   {"filtered", filtered_samples()},
                                   {"height", to.height(image)},
                                   {"pixel", to.plane(image).pixel()}}),
              [=](const LaunchContext& at) {
                return LaunchShape{{columns(at), 1, 1}, {items, 1, 1}};
              });
  } else {
    to.body(filled(transform_function, {{"items", count}}));
    const std::string data = to.scratch(name + "_data", "double2", [=](const LaunchContext& at) {
      return 16 * ((columns(at) + 1) / 2) * length(at);
    });
    const std::string roots =
        to.table(ParameterType::float64, name + "_roots", [length](const LaunchContext& at) {
          std::vector<double> out;
          for (const std::complex<double>& root : fourier_roots(length(at))) {
            out.insert(out.end(), {root.real(), root.imag()});
          }
          return out;
        });
    const std::string response =
        to.table(ParameterType::float64, name + "_response",
                 [length, n, filter = what.filter, scaling = what.angles](const LaunchContext& at) {
                   return filter_response(filter, length(at), at.argument(n, scaling));
                 });
    to.kernel(name + "_filter", items,
              filled(filter_kernel, {{"width", to.width(image)},
                                     {"height", to.height(image)},
                                     {"data", data},
                                     {"roots", roots},
                                     {"response", response},
                                     {"length", number("length", length)},
                                     {"bits", number("bits",
                                                     [length](const LaunchContext& at) {
                                                       return std::countr_zero(
                                                           static_cast<std::uint64_t>(length(at)));
                                                     })},
                                     {"items", count},
                                     {"pixel", to.plane(image).pixel()},
                                     {"samples", sample_count},
                                     {"before", before},
                                     {"filtered", filtered_samples()}}),
              [=](const LaunchContext& at) {
                return LaunchShape{{(columns(at) + 1) / 2, 1, 1}, {items, 1, 1}};
              });
  }
  const std::string turns =
      to.table(ParameterType::float64, name + "_turns",
               [n, columns, count_given = what.angles](const LaunchContext& at) {
                 std::vector<double> degrees, out;
                 for (int i = 0; i < count_given; ++i) degrees.push_back(at.argument(n, i));
                 for (const double angle : backprojection_angles(degrees, columns(at))) {
                   out.insert(out.end(), {std::cos(angle), std::sin(angle)});
                 }
                 return out;
               });
  const std::string scale = to.parameter(
      ParameterType::float64, name + "_scale", [columns](const LaunchContext& at, int) {
        return std::numbers::pi / (2 * static_cast<double>(columns(at)));
      });
  to.pixel_kernel(
      name + "_smear", to.width(self), to.height(self),
      [self](const LaunchContext& at) { return at.size_of(self); },
      filled(smear_text, {{"side", to.width(self)},
                          {"width", to.width(image)},
                          {"filtered", filtered_samples()},
                          {"samples", sample_count},
                          {"turns", turns},
                          {"take", what.linear ? take_linear : take_nearest},
                          {"out", to.plane(self).pixel()},
                          {"scale", scale}}));
}

}  // namespace impipe::jit
