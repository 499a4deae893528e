// The inverse Radon transform as text: a group filters two projections by their Fourier transform,
// then every pixel adds its samples of all projections. In double, every sum in the CPU's order.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/backprojection.hpp"

namespace impipe::jit {
namespace {

using Filter = Backproject::Filter;

constexpr int items = 128;

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
              filled(part(kernels::backproject, "copy"), {{"samples", sample_count},
                                                          {"items", count},
                                                          {"before", before},
                                                          {"filtered", filtered_samples()},
                                                          {"height", to.height(image)},
                                                          {"pixel", to.plane(image).pixel()}}),
              [=](const LaunchContext& at) {
                return LaunchShape{{columns(at), 1, 1}, {items, 1, 1}};
              });
  } else {
    to.body(filled(part(kernels::backproject, "transform"), {{"items", count}}));
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
    const std::string response = to.table(
        ParameterType::float64, name + "_response",
        [length, n, filter = what.filter, scaling = what.angles + 1](const LaunchContext& at) {
          return filter_response(filter, length(at), at.argument(n, scaling));
        });
    to.kernel(
        name + "_filter", items,
        filled(part(kernels::backproject, "filter"),
               {{"width", to.width(image)},
                {"height", to.height(image)},
                {"data", data},
                {"roots", roots},
                {"response", response},
                {"length", number("length", length)},
                {"bits", number("bits",
                                [length](const LaunchContext& at) {
                                  return std::countr_zero(static_cast<std::uint64_t>(length(at)));
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
                 const double first = at.argument(n, count_given);
                 for (const double angle : backprojection_angles(degrees, first, columns(at))) {
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
      filled(part(kernels::backproject, "smear"), {{"side", to.width(self)},
                                                   {"width", to.width(image)},
                                                   {"filtered", filtered_samples()},
                                                   {"samples", sample_count},
                                                   {"turns", turns},
                                                   {"linear", what.linear ? "1" : "0"},
                                                   {"out", to.plane(self).pixel()},
                                                   {"scale", scale}}));
}

}  // namespace impipe::jit
