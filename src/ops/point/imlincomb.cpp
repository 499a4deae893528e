// imlincomb: a weighted sum of images, rounded once.
#include <array>

#include "core/expression.hpp"
#include "core/text.hpp"
#include "ops/images.hpp"

// (k1 a + k2 b) + ... + add, in this order.
IMPIPE_POINT_BODY(imlincomb_1, (a), (k1, add), { return k1 * a + add; })
IMPIPE_POINT_BODY(imlincomb_2, (a, b), (k1, k2, add), { return k1 * a + k2 * b + add; })
IMPIPE_POINT_BODY(imlincomb_3, (a, b, c), (k1, k2, k3, add),
                  { return k1 * a + k2 * b + k3 * c + add; })
IMPIPE_POINT_BODY(imlincomb_4, (a, b, c, d), (k1, k2, k3, k4, add),
                  { return k1 * a + k2 * b + k3 * c + k4 * d + add; })
IMPIPE_POINT_BODY(imlincomb_5, (a, b, c, d, e), (k1, k2, k3, k4, k5, add),
                  { return k1 * a + k2 * b + k3 * c + k4 * d + k5 * e + add; })
IMPIPE_POINT_BODY(imlincomb_6, (a, b, c, d, e, f), (k1, k2, k3, k4, k5, k6, add),
                  { return k1 * a + k2 * b + k3 * c + k4 * d + k5 * e + k6 * f + add; })
IMPIPE_POINT_BODY(imlincomb_7, (a, b, c, d, e, f, g), (k1, k2, k3, k4, k5, k6, k7, add),
                  { return k1 * a + k2 * b + k3 * c + k4 * d + k5 * e + k6 * f + k7 * g + add; })
IMPIPE_POINT_BODY(imlincomb_8, (a, b, c, d, e, f, g, h), (k1, k2, k3, k4, k5, k6, k7, k8, add), {
  return k1 * a + k2 * b + k3 * c + k4 * d + k5 * e + k6 * f + k7 * g + k8 * h + add;
})

namespace impipe::ops {
namespace {

// By the number of images. More than these go through an expression, where the weights are part of
// the kernel's key.
constexpr std::array<const PointBody*, 8> sums{
    &bodies::imlincomb_1, &bodies::imlincomb_2, &bodies::imlincomb_3, &bodies::imlincomb_4,
    &bodies::imlincomb_5, &bodies::imlincomb_6, &bodies::imlincomb_7, &bodies::imlincomb_8};

std::shared_ptr<const Expression> long_sum(const std::vector<double>& weights, double add) {
  std::string text = "0";
  std::vector<std::string> names;
  for (const double weight : weights) {
    names.push_back("image" + std::to_string(names.size() + 1));
    text += " + (" + number_text(weight) + ") * " + names.back();
  }
  text += " + (" + number_text(add) + ")";
  return std::make_shared<const Expression>(
      parse_expression(text, {.known = names}).with_variables(names));
}

ImageValue lower_imlincomb(const Call& call, PlanBuilder& plan) {
  const std::vector<double>& weights = call.numbers("k");
  std::vector<ImageValue> images{plan.current()};
  for (const std::string& name : call.value("images").operands) {
    images.push_back(point_operand(call, plan, name));
  }
  if (weights.size() != images.size()) {
    call.fail("k", "there are " + std::to_string(weights.size()) + " weights for " +
                       std::to_string(images.size()) +
                       " images (the current one and those named); each needs one");
  }
  Result result = like(plan.current());
  result.channels = max_channels(images);
  if (call.has("class")) result.cls = class_named(call.word("class"));
  if (weights.size() > sums.size()) {
    return plan.point(Point{.expression = long_sum(weights, call.number("add")), .in_double = true},
                      images, {}, result);
  }
  std::vector<Arg> args(weights.begin(), weights.end());
  args.push_back(call.number("add"));
  return plan.point(Point{.body = sums[weights.size() - 1], .in_double = true}, images, args,
                    result);
}

const RegisterOperator imlincomb_operator{{
    .name = "imlincomb",
    .help = "weighted sum of the current image and others, rounded once",
    .parameters = {{.name = "k",
                    .letter = 'k',
                    .help = "weights: the current image's first, then one for each image named",
                    .numbers = {.max_count = 64},
                    .required = true},
                   {.name = "images",
                    .help = "other images of equal size and white, gray or with as many channels",
                    .takes = Takes::operands},
                   {.name = "add",
                    .help = "a number that is added, in the image's own units",
                    .numbers = {.max_count = 1},
                    .fallback = "0"},
                   {.name = "class",
                    .help = "class of the result; the current image's when not given",
                    .words = {"uint8", "uint16", "single"}}},
    .classes = no_logical,
    .details = "((0 + k1 A1) + k2 A2) + ... + add, in double also for single, then rounded half\n"
               "away from zero and saturated once. Classes may differ where the white is equal.",
    .example = "as a | imdilate disk,5 | imlincomb 1 -1 :a",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::propagated},
    .matlab = "imlincomb(k1,A1,k2,A2,...,K,class) (same up to ties: MATLAB may sum in single)",
    .lower = lower_imlincomb,
}};

}  // namespace
}  // namespace impipe::ops
