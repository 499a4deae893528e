// Evaluates a user's expression on the CPU, row by row: one vectorised loop a node and chunk.
#include "core/row_evaluator.hpp"

#include <algorithm>
#include <cmath>

#include "core/expression_table.hpp"

IMPIPE_POINT_BODY(expression_copy, (x), (), { return x; })

// Each operation: its values, and what it makes of them.
#define IMPIPE_OPERATIONS(OPERATION)                                                    \
  OPERATION(negate, (x), -x)                                                            \
  OPERATION(logical_not, (x), x == real(0) ? real(1) : real(0))                         \
  OPERATION(add, (x, y), x + y)                                                         \
  OPERATION(subtract, (x, y), x - y)                                                    \
  OPERATION(multiply, (x, y), (x * y))                                                  \
  OPERATION(divide, (x, y), x / y)                                                      \
  OPERATION(power, (x, y), pow(x, y))                                                   \
  OPERATION(less, (x, y), x < y ? real(1) : real(0))                                    \
  OPERATION(less_equal, (x, y), x <= y ? real(1) : real(0))                             \
  OPERATION(greater, (x, y), x > y ? real(1) : real(0))                                 \
  OPERATION(greater_equal, (x, y), x >= y ? real(1) : real(0))                          \
  OPERATION(equal, (x, y), x == y ? real(1) : real(0))                                  \
  OPERATION(not_equal, (x, y), x != y ? real(1) : real(0))                              \
  OPERATION(logical_and, (x, y), ((x != real(0)) & (y != real(0))) ? real(1) : real(0)) \
  OPERATION(logical_or, (x, y), ((x != real(0)) | (y != real(0))) ? real(1) : real(0))  \
  OPERATION(select, (c, x, y), c != real(0) ? x : y)                                    \
  OPERATION(min, (x, y), min(x, y))                                                     \
  OPERATION(max, (x, y), max(x, y))                                                     \
  OPERATION(abs, (x), abs(x))                                                           \
  OPERATION(sqrt, (x), sqrt(x))                                                         \
  OPERATION(floor, (x), floor(x))                                                       \
  OPERATION(ceil, (x), ceil(x))                                                         \
  OPERATION(round, (x), round_away(x))                                                  \
  OPERATION(exp, (x), exp(x))                                                           \
  OPERATION(log, (x), log(x))                                                           \
  OPERATION(sin, (x), sin(x))                                                           \
  OPERATION(cos, (x), cos(x))                                                           \
  OPERATION(tan, (x), tan(x))                                                           \
  OPERATION(atan2, (y, x), atan2(y, x))                                                 \
  OPERATION(clamp, (x, low, high), clamp(x, low, high))
#define IMPIPE_BODY_OF(op, values, made) \
  IMPIPE_POINT_BODY(expression_##op, values, (), { return made; })
IMPIPE_OPERATIONS(IMPIPE_BODY_OF)
#undef IMPIPE_BODY_OF
IMPIPE_POINT_BODY(expression_small_sin, (x), (), { return small_sin(x); })
IMPIPE_POINT_BODY(expression_small_cos, (x), (), { return small_cos(x); })
IMPIPE_POINT_BODY(expression_small_tan, (x), (), { return small_tan(x); })

namespace impipe {
namespace {

constexpr std::int64_t chunk = 256;  // values of a slot: a few slots stay in L1

const PointBody& body_of(ExpressionOp op) {
#define IMPIPE_CASE_OF(op, values, made) \
  case ExpressionOp::op: return bodies::expression_##op;
  switch (op) {
    IMPIPE_OPERATIONS(IMPIPE_CASE_OF)
    default: return bodies::expression_copy;  // a leaf that is the whole expression
  }
#undef IMPIPE_CASE_OF
}

// The body that compilers vectorise, for small angles; nullptr of other functions.
const PointBody* small_angle_body(ExpressionOp op) {
  if (op == ExpressionOp::sin) return &bodies::expression_small_sin;
  if (op == ExpressionOp::cos) return &bodies::expression_small_cos;
  if (op == ExpressionOp::tan) return &bodies::expression_small_tan;
  return nullptr;
}

template <class real>
bool are_small(const real* angles, std::int64_t n) {
  bool small = true;
  for (std::int64_t i = 0; i < n; ++i) {
    small &= std::abs(angles[i]) < functions::small_angles<real>;
  }
  return small;
}

template <class real>
PointRow<real> row_of(const PointBody& body, CpuLevel level) {
  if constexpr (sizeof(real) == sizeof(float)) {
    return body.rows_float[static_cast<int>(level)];
  } else {
    return body.rows_double[static_cast<int>(level)];
  }
}

}  // namespace

template <class real>
RowEvaluator<real>::RowEvaluator(const Expression& expression, CpuLevel level) {
  const auto& nodes = expression.nodes();
  const int variables = static_cast<int>(expression.variables().size());
  std::vector<Source> sources(nodes.size());
  std::vector<std::pair<int, real>> constants;  // slot, value
  std::vector<int> free;
  int slots = 0;
  // A result's slot is taken before those of its operands come free: a loop never writes what it
  // reads.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ExpressionNode& node = nodes[i];
    const bool last = i + 1 == nodes.size();
    if (node.op == ExpressionOp::number) {
      sources[i].slot = slots++;
      constants.emplace_back(sources[i].slot, static_cast<real>(node.number));
    } else if (node.op == ExpressionOp::variable) {
      sources[i].input = node.index;
    } else if (node.op == ExpressionOp::tap) {
      sources[i].input = variables + node.index;
    } else {
      Step step{row_of<real>(body_of(node.op), level), {}, -1};
      if (const PointBody* body = small_angle_body(node.op)) {
        step.small_row = row_of<real>(*body, level);
      }
      if (!last && free.empty()) {
        step.slot = slots++;
      } else if (!last) {
        step.slot = free.back();
        free.pop_back();
      }
      for (int k = 0; k < 3 && node.operands[k] >= 0; ++k) {
        const ExpressionNode& operand = nodes[node.operands[k]];
        step.operands[k] = sources[node.operands[k]];
        const bool constant = operand.op == ExpressionOp::number;
        if (step.operands[k].slot >= 0 && !constant) free.push_back(step.operands[k].slot);
      }
      sources[i].slot = step.slot;
      steps_.push_back(step);
      continue;
    }
    if (last) steps_.push_back({row_of<real>(body_of(node.op), level), {sources[i], {}, {}}, -1});
  }
  scratch_.resize(static_cast<std::size_t>(slots * chunk));
  for (const auto& [slot, value] : constants) {
    std::fill_n(scratch_.begin() + slot * chunk, chunk, value);
  }
}

template <class real>
void RowEvaluator<real>::run(real* out, std::span<const real* const> inputs, std::int64_t n) {
  for (std::int64_t at = 0; at < n; at += chunk) {
    const std::int64_t count = std::min(chunk, n - at);
    for (const Step& step : steps_) {
      const real* in[3] = {};
      for (int k = 0; k < 3; ++k) {
        const Source& source = step.operands[k];
        if (source.slot >= 0) in[k] = scratch_.data() + source.slot * chunk;
        if (source.input >= 0) in[k] = inputs[source.input] + at;
      }
      real* to = step.slot < 0 ? out + at : scratch_.data() + step.slot * chunk;
      const bool small = step.small_row != nullptr && are_small(in[0], count);
      (small ? step.small_row : step.row)(to, in, count, nullptr);
    }
  }
}

template class RowEvaluator<float>;
template class RowEvaluator<double>;

}  // namespace impipe
