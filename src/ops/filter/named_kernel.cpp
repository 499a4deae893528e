// Named kernels as they are written in a pipeline: the type, then its arguments.
#include <cmath>

#include "core/text.hpp"
#include "ops/filter/fspecial.hpp"

namespace impipe::ops {
namespace {

constexpr double longest_side = 255;

class Arguments {
 public:
  Arguments(const Call& call, std::string_view parameter, std::string_view type,
            std::span<const double> numbers)
      : call_(call), parameter_(parameter), type_(type), numbers_(numbers) {}

  int left() const { return static_cast<int>(numbers_.size()) - next_; }

  // The next argument, or its default.
  double number(std::string_view name, double fallback, double low, double high) {
    if (left() == 0) return fallback;
    const double value = numbers_[next_++];
    if (value >= low && value <= high) return value;
    fail(name, low, high, value, "a number");
  }
  int whole(std::string_view name, int fallback, double low, double high) {
    if (left() == 0) return fallback;
    const double value = numbers_[next_++];
    if (value >= low && value <= high && value == std::floor(value)) {
      return static_cast<int>(value);
    }
    fail(name, low, high, value, "a whole number");
  }
  // One side or two, so that `after` arguments stay for what follows when all are given.
  std::pair<int, int> size(int fallback, int after) {
    const int rows = whole("size", fallback, 1, longest_side);
    return {rows, left() > after ? whole("size", fallback, 1, longest_side) : rows};
  }
  void end() const {
    if (left() > 0) {
      call_.fail(parameter_, std::string(type_) + " takes no argument after the first " +
                                 std::to_string(next_));
    }
  }

 private:
  [[noreturn]] void fail(std::string_view name, double low, double high, double value,
                         std::string_view kind) const {
    call_.fail(parameter_, "the " + std::string(name) + " of " + std::string(type_) + " is " +
                               std::string(kind) + " from " + number_text(low) + " to " +
                               number_text(high) + ", not " + number_text(value));
  }

  const Call& call_;
  std::string_view parameter_;
  std::string_view type_;
  std::span<const double> numbers_;
  int next_ = 0;
};

}  // namespace

Matrix named_kernel(const Call& call, std::string_view parameter, std::string_view type,
                    std::span<const double> arguments) {
  constexpr double min_sigma = 0.01, max_sigma = 1000;
  Arguments a(call, parameter, type, arguments);
  Matrix kernel;
  if (type == "average") {
    const auto [rows, columns] = a.size(3, 0);
    kernel = average_kernel(rows, columns);
  } else if (type == "gaussian") {
    const auto [rows, columns] = a.size(3, 1);
    kernel = gaussian_kernel(rows, columns, a.number("sigma", 0.5, min_sigma, max_sigma));
  } else if (type == "log") {
    const auto [rows, columns] = a.size(5, 1);
    kernel = log_kernel(rows, columns, a.number("sigma", 0.5, min_sigma, max_sigma));
  } else if (type == "laplacian") {
    kernel = laplacian_kernel(a.number("alpha", 0.2, 0, 1));
  } else if (type == "unsharp") {
    kernel = unsharp_kernel(a.number("alpha", 0.2, 0, 1));
  } else if (type == "disk") {
    kernel = disk_kernel(a.whole("radius", 5, 0, (longest_side - 1) / 2));
  } else if (type == "motion") {
    const int length = a.whole("len", 9, 1, longest_side / 2);
    kernel = motion_kernel(length, a.number("theta", 0, -1e6, 1e6));
  } else if (type == "sobel") {
    kernel = sobel_kernel();
  } else if (type == "prewitt") {
    kernel = prewitt_kernel();
  } else {
    const std::vector<std::string> known(kernel_types().begin(), kernel_types().end());
    std::string message = "there is no kernel '" + std::string(type) + "'";
    const std::string near = did_you_mean(type, known);
    if (!near.empty()) {
      message += near;
    } else {
      message += "; known ones are ";
      for (size_t i = 0; i < known.size(); ++i) message += (i > 0 ? ", " : "") + known[i];
    }
    call.fail(parameter, message);
  }
  a.end();
  if (!has_weights(kernel)) {
    call.fail(parameter, "this sigma is too small for a kernel of this side: every weight is 0");
  }
  return kernel;
}

}  // namespace impipe::ops
