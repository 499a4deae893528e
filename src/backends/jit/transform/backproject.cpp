// The inverse Radon transform as text: a group filters two projections by their Fourier transform,
// then every pixel adds its samples of all projections. In double, every sum in the CPU's order.
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/transform/transform.hpp"
#include "core/backprojection.hpp"

namespace impipe::jit {
namespace {

using Filter = Project::Filter;

constexpr int items = 128;

class BackprojectText : WholeImageText<Project> {
 public:
  using WholeImageText::WholeImageText;

  void write() {
    before_ = builder_.integer(
        name_ + "_before", [image = image_, self = self_](const LaunchContext& at) {
          return (samples_of(at, image, self) - at.size_of(image).height) / 2;
        });
    samples_ = builder_.integer(name_ + "_samples",
                                [image = image_, self = self_](const LaunchContext& at) {
                                  return samples_of(at, image, self);
                                });
    if (what_.filter == Filter::none) {
      write_copy();
    } else {
      write_filter();
    }
    write_smear();
  }

 private:
  static std::int64_t columns_of(const LaunchContext& at, const Operand& image) {
    return at.size_of(image).width;
  }
  static std::int64_t length_of(const LaunchContext& at, const Operand& image) {
    return filter_length(at.size_of(image).height);
  }
  static std::int64_t samples_of(const LaunchContext& at, const Operand& image,
                                 const Operand& result) {
    return backprojection_length(at.size_of(image).height, at.size_of(result).width);
  }

  std::string filtered_samples() {
    return builder_.scratch(name_ + "_filtered", "double",
                            [image = image_, self = self_](const LaunchContext& at) {
                              return 8 * columns_of(at, image) * (samples_of(at, image, self) + 1);
                            });
  }

  void write_copy() {
    builder_.kernel(
        name_ + "_copy", items,
        filled(part(kernels::backproject, "copy"), {{"samples", samples_},
                                                    {"items", std::to_string(items)},
                                                    {"before", before_},
                                                    {"filtered", filtered_samples()},
                                                    {"height", builder_.height(image_)},
                                                    {"pixel", builder_.plane(image_).pixel()}}),
        [image = image_](const LaunchContext& at) {
          return LaunchShape{{columns_of(at, image), 1, 1}, {items, 1, 1}};
        });
  }

  std::string roots() {
    return builder_.table(
        ParameterType::float64, name_ + "_roots", [image = image_](const LaunchContext& at) {
          std::vector<double> out;
          for (const std::complex<double>& root : fourier_roots(length_of(at, image))) {
            out.insert(out.end(), {root.real(), root.imag()});
          }
          return out;
        });
  }
  std::string response() {
    return builder_.table(ParameterType::float64, name_ + "_response",
                          [image = image_, n = n_, filter = what_.filter,
                           scaling = what_.angles + 1](const LaunchContext& at) {
                            return filter_response(filter, length_of(at, image),
                                                   at.argument(n, scaling));
                          });
  }

  void write_filter() {
    const std::string count = std::to_string(items);
    builder_.body(filled(part(kernels::backproject, "transform"), {{"items", count}}));
    const std::string data =
        builder_.scratch(name_ + "_data", "double2", [image = image_](const LaunchContext& at) {
          return 16 * ((columns_of(at, image) + 1) / 2) * length_of(at, image);
        });
    const std::string roots = this->roots(), response = this->response();
    builder_.kernel(
        name_ + "_filter", items,
        filled(part(kernels::backproject, "filter"),
               {{"width", builder_.width(image_)},
                {"height", builder_.height(image_)},
                {"data", data},
                {"roots", roots},
                {"response", response},
                {"length", builder_.integer(name_ + "_length",
                                            [image = image_](const LaunchContext& at) {
                                              return length_of(at, image);
                                            })},
                {"bits", builder_.integer(name_ + "_bits",
                                          [image = image_](const LaunchContext& at) {
                                            return std::countr_zero(
                                                static_cast<std::uint64_t>(length_of(at, image)));
                                          })},
                {"items", count},
                {"pixel", builder_.plane(image_).pixel()},
                {"samples", samples_},
                {"before", before_},
                {"filtered", filtered_samples()}}),
        [image = image_](const LaunchContext& at) {
          return LaunchShape{{(columns_of(at, image) + 1) / 2, 1, 1}, {items, 1, 1}};
        });
  }

  // Cosine and sine of each projection's angle.
  std::string turns() {
    return builder_.table(
        ParameterType::float64, name_ + "_turns",
        [n = n_, image = image_, count = what_.angles](const LaunchContext& at) {
          std::vector<double> degrees, out;
          for (int i = 0; i < count; ++i) degrees.push_back(at.argument(n, i));
          const double first = at.argument(n, count);
          for (const double angle : backprojection_angles(degrees, first, columns_of(at, image))) {
            out.insert(out.end(), {std::cos(angle), std::sin(angle)});
          }
          return out;
        });
  }

  void write_smear() {
    const std::string turns = this->turns();
    const std::string scale = builder_.parameter(
        ParameterType::float64, name_ + "_scale", [image = image_](const LaunchContext& at, int) {
          return std::numbers::pi / (2 * static_cast<double>(columns_of(at, image)));
        });
    builder_.pixel_kernel(
        name_ + "_smear", builder_.width(self_), builder_.height(self_),
        [self = self_](const LaunchContext& at) { return at.size_of(self); },
        filled(part(kernels::backproject, "smear"), {{"side", builder_.width(self_)},
                                                     {"width", builder_.width(image_)},
                                                     {"filtered", filtered_samples()},
                                                     {"samples", samples_},
                                                     {"turns", turns},
                                                     {"linear", what_.linear ? "1" : "0"},
                                                     {"out", builder_.plane(self_).pixel()},
                                                     {"scale", scale}}));
  }

  std::string before_, samples_;  // of the filtered projections
};

}  // namespace

void write_backproject(Builder& builder, int n) { BackprojectText(builder, n).write(); }

}  // namespace impipe::jit
