// Sums of bytes by the weights of a launch as text.
#include <algorithm>
#include <cmath>

#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/program/byte_sums.hpp"
#include "backends/jit/text/emit.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/body_tree.hpp"

namespace impipe::jit {
namespace {

// A weighted sum of bytes in fixed point with `bits` fractional bits.
struct WholeSum {
  std::vector<double> weights;
  double start = 0;  // the constant term, plus 1/2 to round, plus near_of
  int bits = 0;      // 0: 32 bits are too few for it
};

constexpr int max_bits = 22, min_bits = 12, bits_of_sum = 30;
constexpr double largest_byte = 255;

// A bound of the error that rounded weights cause, in units of the last fractional bit.
double near_of(std::size_t images) {
  return std::ceil(0.5 * largest_byte * static_cast<double>(images)) + 16;
}

WholeSum whole_sum(const Node& node, const LaunchContext& at, int n) {
  const PointBody& body = *std::get<Point>(node.primitive).body;
  std::vector<double> given;
  for (int i = 0; i < body.parameters; ++i) given.push_back(at.argument(n, i));
  const auto images = static_cast<std::size_t>(body.inputs);
  WholeSum sum{.weights = std::vector<double>(images)};
  const auto exact = linear_weights(body, given);
  if (!exact) return sum;
  double most = 2 + std::fabs(exact->back());
  for (std::size_t i = 0; i < images; ++i) most += largest_byte * std::fabs((*exact)[i]);
  if (!(most < std::ldexp(1.0, bits_of_sum - min_bits))) return sum;
  sum.bits = std::min(max_bits, bits_of_sum - 1 - std::ilogb(most));
  for (std::size_t i = 0; i < images; ++i) {
    sum.weights[i] = std::rint(std::ldexp((*exact)[i], sum.bits));
  }
  sum.start = std::rint(std::ldexp(exact->back() + 0.5, sum.bits)) + near_of(images);
  return sum;
}

}  // namespace

std::optional<SumText> sum_of_bytes(Builder& to, int n) {
  if (!is_sum_of_bytes(to.context(), n)) return std::nullopt;
  const Node& node = to.node(n);
  const std::string own = Builder::name({false, n});
  const auto given = [&](const std::string& label, double (*value)(const WholeSum&)) {
    return to.parameter(
        ParameterType::int32, own + "_" + label,
        [node, n, value](const LaunchContext& at, int) { return value(whole_sum(node, at, n)); });
  };
  std::vector<std::string> weights;
  for (std::size_t i = 0; i < node.images.size(); ++i) {
    weights.push_back(to.parameter(
        ParameterType::int32, own + "_weight_" + number(static_cast<std::int64_t>(i)),
        [node, n, i](const LaunchContext& at, int) { return whole_sum(node, at, n).weights[i]; }));
  }
  const std::string start = given("start", [](const WholeSum& s) { return s.start; });
  const std::string bits =
      given("bits", [](const WholeSum& s) { return static_cast<double>(s.bits); });
  const auto twice_near = static_cast<std::int64_t>(2 * near_of(node.images.size()));
  const SeldomBody body = write_seldom_body(to, n);
  return SumText{
      [=, &to, images = node.images](const std::string& name, int count, const PixelText& pixel) {
        std::string weighted, pixels;
        for (std::size_t i = 0; i < images.size(); ++i) {
          pixels += (i == 0 ? "" : ", ") + pixel(images[i]);
          weighted += (i == 0 ? "" : " + ") + weights[i] + " * (int)" + pixel(images[i]);
        }
        return filled(part(kernels::weighted, "row_of_sums"), {{"name", name},
                                                               {"count", number(count)},
                                                               {"quads", number(count / 4)},
                                                               {"weighted", weighted},
                                                               {"start", start},
                                                               {"bits", bits},
                                                               {"twice_near", number(twice_near)},
                                                               {"by_body", body.name},
                                                               {"pixels", pixels + body.arguments},
                                                               {"unroll", to.unroll()}});
      }};
}

}  // namespace impipe::jit
