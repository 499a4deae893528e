// Evaluates a user's expression on the CPU, row by row: one vectorised loop a node and chunk.
#include "core/row_evaluator.hpp"

#include <algorithm>

#include "core/expression_table.hpp"

IMPIPE_POINT_BODY(expression_copy, (x), (), { return x; })
IMPIPE_POINT_BODY(expression_negate, (x), (), { return -x; })
IMPIPE_POINT_BODY(expression_not, (x), (), { return x == real(0) ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_add, (x, y), (), { return x + y; })
IMPIPE_POINT_BODY(expression_subtract, (x, y), (), { return x - y; })
IMPIPE_POINT_BODY(expression_multiply, (x, y), (), { return x * y; })
IMPIPE_POINT_BODY(expression_divide, (x, y), (), { return x / y; })
IMPIPE_POINT_BODY(expression_power, (x, y), (), { return pow(x, y); })
IMPIPE_POINT_BODY(expression_less, (x, y), (), { return x < y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_less_equal, (x, y), (), { return x <= y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_greater, (x, y), (), { return x > y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_greater_equal, (x, y), (), { return x >= y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_equal, (x, y), (), { return x == y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_not_equal, (x, y), (), { return x != y ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_and, (x, y), (),
                  { return ((x != real(0)) & (y != real(0))) ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_or, (x, y), (),
                  { return ((x != real(0)) | (y != real(0))) ? real(1) : real(0); })
IMPIPE_POINT_BODY(expression_select, (c, x, y), (), { return c != real(0) ? x : y; })
IMPIPE_POINT_BODY(expression_min, (x, y), (), { return min(x, y); })
IMPIPE_POINT_BODY(expression_max, (x, y), (), { return max(x, y); })
IMPIPE_POINT_BODY(expression_abs, (x), (), { return abs(x); })
IMPIPE_POINT_BODY(expression_sqrt, (x), (), { return sqrt(x); })
IMPIPE_POINT_BODY(expression_floor, (x), (), { return floor(x); })
IMPIPE_POINT_BODY(expression_ceil, (x), (), { return ceil(x); })
IMPIPE_POINT_BODY(expression_round, (x), (), { return round_away(x); })
IMPIPE_POINT_BODY(expression_exp, (x), (), { return exp(x); })
IMPIPE_POINT_BODY(expression_log, (x), (), { return log(x); })
IMPIPE_POINT_BODY(expression_sin, (x), (), { return sin(x); })
IMPIPE_POINT_BODY(expression_cos, (x), (), { return cos(x); })
IMPIPE_POINT_BODY(expression_tan, (x), (), { return tan(x); })
IMPIPE_POINT_BODY(expression_atan2, (y, x), (), { return atan2(y, x); })
IMPIPE_POINT_BODY(expression_clamp, (x, low, high), (), { return clamp(x, low, high); })

namespace impipe {
namespace {

constexpr std::int64_t chunk = 256;  // values of a slot: a few slots stay in L1

const PointBody& body_of(ExpressionOp op) {
  switch (op) {
    case ExpressionOp::negate: return bodies::expression_negate;
    case ExpressionOp::logical_not: return bodies::expression_not;
    case ExpressionOp::add: return bodies::expression_add;
    case ExpressionOp::subtract: return bodies::expression_subtract;
    case ExpressionOp::multiply: return bodies::expression_multiply;
    case ExpressionOp::divide: return bodies::expression_divide;
    case ExpressionOp::power: return bodies::expression_power;
    case ExpressionOp::less: return bodies::expression_less;
    case ExpressionOp::less_equal: return bodies::expression_less_equal;
    case ExpressionOp::greater: return bodies::expression_greater;
    case ExpressionOp::greater_equal: return bodies::expression_greater_equal;
    case ExpressionOp::equal: return bodies::expression_equal;
    case ExpressionOp::not_equal: return bodies::expression_not_equal;
    case ExpressionOp::logical_and: return bodies::expression_and;
    case ExpressionOp::logical_or: return bodies::expression_or;
    case ExpressionOp::select: return bodies::expression_select;
    case ExpressionOp::min: return bodies::expression_min;
    case ExpressionOp::max: return bodies::expression_max;
    case ExpressionOp::abs: return bodies::expression_abs;
    case ExpressionOp::sqrt: return bodies::expression_sqrt;
    case ExpressionOp::floor: return bodies::expression_floor;
    case ExpressionOp::ceil: return bodies::expression_ceil;
    case ExpressionOp::round: return bodies::expression_round;
    case ExpressionOp::exp: return bodies::expression_exp;
    case ExpressionOp::log: return bodies::expression_log;
    case ExpressionOp::sin: return bodies::expression_sin;
    case ExpressionOp::cos: return bodies::expression_cos;
    case ExpressionOp::tan: return bodies::expression_tan;
    case ExpressionOp::atan2: return bodies::expression_atan2;
    case ExpressionOp::clamp: return bodies::expression_clamp;
    case ExpressionOp::number:
    case ExpressionOp::variable:
    case ExpressionOp::tap: break;
  }
  return bodies::expression_copy;  // a leaf that is the whole expression
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
      step.row(to, in, count, nullptr);
    }
  }
}

template class RowEvaluator<float>;
template class RowEvaluator<double>;

}  // namespace impipe
