// Whether a picture can be computed some rows at a time, and which rows of the input that takes.
#include "engine/program/bands.hpp"

#include <algorithm>

#include "core/expression.hpp"
#include "core/primitive_facts.hpp"
#include "engine/program/row_statistics.hpp"

namespace impipe::engine {
namespace {

bool reads_row(const Expression& expression) {
  return expression.uses("row") || expression.uses("height");
}

// Whether row y of the result is made of rows round y of the input alone, the same way wherever y
// is.
struct IsLocal {
  bool operator()(const Point& p) const { return !p.expression || !reads_row(*p.expression); }
  bool operator()(const Permute& p) const { return !p.transpose && !p.flip_y; }
  bool operator()(const Stencil& s) const {
    return s.fourier_side == 0 && (!s.expression || !reads_row(*s.expression)) &&
           stays(s.border, s.grow_y, s.shift_y);
  }
  bool operator()(const Separable& s) const { return stays(s.border, s.grow_y, s.shift_y); }
  bool operator()(const Extremum&) const { return true; }
  bool operator()(const Rank& r) const { return stays(r.border, 0, 0); }
  bool operator()(const Moments& m) const { return m.body == nullptr; }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

 private:
  // Rows of the other end are none that are near.
  static bool stays(Border border, int grow_y, int shift_y) {
    return border != Border::circular && grow_y == 0 && shift_y == 0;
  }
};

// Step of a plan that is not fused.
bool is_local(const Step& step, const Plan& plan) {
  const Node& node = step.kernel.nodes.front();
  const auto* point = std::get_if<Point>(&node.primitive);
  const bool in_table = point != nullptr && point->in_table;
  const auto is_known = [&](const Argument& argument) {
    if (argument.source != Argument::Source::measured) {
      return argument.source == Argument::Source::constant;
    }
    const Operand& measure = node.measures[static_cast<size_t>(argument.measure)];
    const ValueId value = step.inputs[static_cast<size_t>(measure.index)];
    const bool is_constant =
        std::ranges::find(plan.constants, value, &PlanConstant::value) != plan.constants.end();
    // A number that is measured becomes a constant, which is the same for all channels.
    return is_constant || (!in_table && !(argument.per_channel && node.channels > 1));
  };
  return std::visit(IsLocal{}, node.primitive) && std::ranges::all_of(node.arguments, is_known);
}

// Whether it measures what bands of the image add up to, or computes with such numbers.
bool is_measured_in_bands(const Plan& plan, const Step& step) {
  const Node& node = step.kernel.nodes.front();
  if (node.images.empty()) return std::holds_alternative<Scalar>(node.primitive);
  const ValueId image = step.inputs[node.images.front().index];
  return RowStatistics::measures(node, plan.values[image].type);
}

std::string why_not_as_a_whole(const Plan& plan) {
  const bool has_table = std::ranges::any_of(
      plan.measurements, [](const PlanMeasurement& one) { return one.objects.has_value(); });
  if (has_table || !plan.checks.empty() || (plan.writes_image && !plan.measurements.empty())) {
    return "measurements are taken of the whole image";
  }
  if (!plan.operands.empty()) return "images of --with are read whole";
  if (!plan.saves.empty()) return "images of save are written whole";
  return "";
}

// Of moments, whose kernel has its image as a whole, too.
Footprint footprint_of(const Node& node) {
  const auto* moments = std::get_if<Moments>(&node.primitive);
  return moments != nullptr ? moments->mask.footprint() : facts_of(node).footprint;
}

}  // namespace

Banding banding_of(const Program& program) {
  const Plan& plan = program.lowered;
  Banding out;
  out.why_not = why_not_as_a_whole(plan);
  std::vector<Halo> halos(plan.values.size());
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend() && out.why_not.empty(); ++step) {
    const Node& node = step->kernel.nodes.front();
    if (node.is_measure ? !is_measured_in_bands(plan, *step) : !is_local(*step, plan)) {
      out.why_not =
          program.operators[static_cast<size_t>(step->stages.front())] + " needs the whole image";
      break;
    }
    if (node.is_measure) {
      for (const ValueId input : step->inputs)
        out.measured_bytes += bytes_per_pixel(plan.values[input]);
      continue;
    }
    const Footprint footprint = footprint_of(node);
    const Halo& made = halos[static_cast<size_t>(step->outputs.front())];
    for (const ValueId input : step->inputs) {
      Halo& halo = halos[static_cast<size_t>(input)];
      halo.up = std::max(halo.up, made.up + footprint.up);
      halo.down = std::max(halo.down, made.down + footprint.down);
    }
  }
  if (!plan.constants.empty() && out.measures() && out.why_not.empty()) {
    out.why_not = "measurements are taken of the whole image";
  }
  out.halo = halos.front();
  if (plan.input_alpha) {
    const Halo& alpha = halos[static_cast<size_t>(*plan.input_alpha)];
    out.halo = {std::max(out.halo.up, alpha.up), std::max(out.halo.down, alpha.down)};
  }
  return out;
}

Band band_at(std::int64_t y, std::int64_t height, const Halo& halo, std::int64_t rows,
             std::int64_t step) {
  Band band{.y = y, .y_end = height, .input_y = std::max<std::int64_t>(0, y - halo.up)};
  const std::int64_t wanted = y + rows + halo.down;
  band.input_end = std::min(height, (wanted + step - 1) / step * step);
  if (band.input_end < height) band.y_end = band.input_end - halo.down;
  return band;
}

}  // namespace impipe::engine
