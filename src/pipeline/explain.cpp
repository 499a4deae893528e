// Says in words what a plan does: stages, types, steps, barriers and bytes moved.
#include "pipeline/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/host_work.hpp"
#include "core/object_shape.hpp"
#include "core/primitive_facts.hpp"
#include "core/text.hpp"
#include "core/volume.hpp"
#include "core/volume_ring.hpp"
#include "pipeline/measured_arguments.hpp"

namespace impipe::pipeline {
namespace {

std::string size_text(const Mask& mask) { return fmt::format("{}x{}", mask.width, mask.height); }

struct Words {
  const Node& node;

  std::string operator()(const Point& p) const {
    return p.lookup ? "lookup" : p.body != nullptr ? p.body->name : "expression";
  }
  std::string operator()(const Permute& p) const {
    std::string out = p.transpose ? "transpose" : "";
    if (p.flip_x) out += out.empty() ? "flip x" : ", flip x";
    if (p.flip_y) out += out.empty() ? "flip y" : ", flip y";
    return out;
  }
  std::string operator()(const Stencil& s) const {
    const std::string what =
        s.body != nullptr ? s.body->name
        : s.expression    ? "expression"
        : s.combine == Combine::sum
            ? size_text(s.taps)
            : fmt::format("{} {} with heights", s.combine == Combine::largest ? "max" : "min",
                          size_text(s.taps));
    if (s.fourier_side == 0) return what + border(s.border);
    const auto terms =
        std::count_if(node.arguments.begin(), node.arguments.begin() + s.taps.count(),
                      [](const impipe::Argument& weight) { return weight.value != 0; });
    return fmt::format("{}{}, {} products a pixel by transforms of tiles of {}x{}", what,
                       border(s.border), terms, s.fourier_side, s.fourier_side);
  }
  std::string operator()(const Separable& s) const {
    return fmt::format("{}x{}{}", s.row.width, s.column.height, border(s.border));
  }
  std::string operator()(const Extremum& e) const {
    return fmt::format("{} {}{}", e.largest ? "max" : "min", size_text(e.mask),
                       e.mask.full() ? "" : " mask");
  }
  std::string operator()(const Rank& r) const {
    return fmt::format("{} of {}{}{}", r.entropy ? "entropy" : std::to_string(r.rank + 1),
                       size_text(r.mask), r.offsets ? " with offsets" : "", border(r.border));
  }
  std::string operator()(const Reduce& r) const {
    return fmt::format("{}{}", r.finite ? "finite " : "", name_of(r.kind));
  }
  std::string operator()(const Histogram& h) const {
    return fmt::format("{} bins", h.bins) +
           (h.tiles() > 1 ? fmt::format(" in tiles {}x{}", h.across, h.down) : "");
  }
  std::string operator()(const Select& s) const { return fmt::format("{} places", s.places); }
  std::string operator()(const Scalar& s) const { return s.body->name; }
  std::string operator()(const Distance& d) const {
    static constexpr const char* names[] = {"euclidean", "cityblock", "chessboard",
                                            "quasi-euclidean"};
    return names[static_cast<int>(d.metric)];
  }
  std::string operator()(const Project& p) const { return fmt::format("{} angles", p.angles); }
  std::string operator()(const Diffuse&) const { return "floyd-steinberg"; }
  std::string operator()(const Label& l) const {
    static constexpr const char* names[] = {"components",  "large", "holes", "maxima", "minima",
                                            "reconstruct", "reach", "areas", "flood"};
    return fmt::format("{} {}-connected", names[static_cast<int>(l.kind)], l.connectivity);
  }
  std::string operator()(const Resample& r) const {
    static constexpr const char* methods[] = {"nearest",  "bilinear", "bicubic",
                                              "lanczos2", "lanczos3", "box"};
    return methods[static_cast<int>(r.method)];
  }
  std::string operator()(const Morph& m) const {
    return m.in_fields ? "in fields" : fmt::format("{} of 3x3", m.tables.size());
  }
  std::string operator()(const OnHost& h) const { return h.work->name; }
  std::string operator()(const BetweenTables& b) const {
    return "of tiles " + std::to_string(b.across) + "x" + std::to_string(b.down);
  }
  std::string operator()(const Objects&) const { return "sums, outlines and hulls"; }
  std::string operator()(const Moments& m) const {
    const std::string what =
        fmt::format("{} {}x{}{}", m.body != nullptr ? m.body->name : name_of(m.of), m.mask.height,
                    m.mask.width, border(m.border));
    if (m.body != nullptr) return what;
    return what +
           (m.by_passes() ? ", columns, then rows" : fmt::format(", of {} cells", m.mask.count()));
  }
  std::string operator()(const Window& w) const {
    return w.border == Border::absent ? "inside" : std::string(name_of(w.border));
  }

  static std::string border(Border b) { return " " + std::string(name_of(b)); }
};

std::string value_name(const Plan& plan, ValueId value) {
  if (value == 0) return "the input";
  if (value == plan.input_alpha) return "the input's alpha";
  for (const PlanOperand& operand : plan.operands) {
    if (operand.value == value) return ":" + operand.name;
    if (operand.alpha == value) return ":" + operand.name + "'s alpha";
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const ValueId output : plan.steps[s].outputs) {
      if (output == value) return fmt::format("step {}", s + 1);
    }
  }
  return "?";
}

double total_bytes(const Plan& plan) {
  double total = 0;
  for (const Step& step : plan.steps) total += bytes_per_pixel(step);
  return total;
}

}  // namespace

std::string describe(const Node& node) {
  return std::string(name_of(node.primitive)) + " " + std::visit(Words{node}, node.primitive);
}

double bytes_per_pixel(const Step& step) {
  double bytes = 0;
  for (const KernelInput& input : step.kernel.inputs) {
    if (!input.is_measure) bytes += input.channels * bytes_of(input.cls);
  }
  for (const int output : step.kernel.outputs) {
    const Node& node = step.kernel.nodes[output];
    if (!node.is_measure) bytes += node.channels * bytes_of(node.cls);
  }
  return bytes;
}

std::string describe(const Step& step) {
  std::string images, measures;
  for (size_t i = 0; i < step.kernel.nodes.size(); ++i) {
    const Node& node = step.kernel.nodes[i];
    std::string& out = node.is_measure ? measures : images;
    if (!out.empty()) out += " + ";
    out += describe(node);
  }
  if (images.empty() || measures.empty()) return images + measures;
  bool stored = false;
  for (const int output : step.kernel.outputs) stored |= !step.kernel.nodes[output].is_measure;
  return images + (stored ? " -> the image + " : " -> ") + measures;
}

std::vector<StepWords> words_of(const Plan& plan) {
  std::vector<StepWords> all;
  for (const Step& step : plan.steps) {
    StepWords words{describe(step), {}, {}, bytes_per_pixel(step), step.apart};
    for (const ValueId input : step.inputs) words.reads.push_back(value_name(plan, input));
    for (const int stage : step.stages) words.stages.push_back(stage + 1);
    all.push_back(std::move(words));
  }
  return all;
}

namespace {

std::string stages_text(const Pipeline& pipeline, std::span<const ExplainedPart> parts) {
  std::string out = "\nstages:\n";
  size_t widest = 0;
  for (const BoundStage& stage : pipeline.stages) widest = std::max(widest, stage.text.size());
  widest = std::min<size_t>(widest, 48);
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const ExplainedPart& one) {
      return s < one.plan.stage_types.size();
    });
    out += fmt::format("  {:2}  {:<{}}  {}\n", s + 1, pipeline.stages[s].text, widest,
                       to_string(part->plan.stage_types[s]));
  }
  for (size_t s = 0; s < pipeline.stages.size(); ++s) {
    std::vector<std::string> names;
    for (const AwaitedName& one : awaited(pipeline.stages[s])) names.push_back(one.name);
    if (names.empty()) continue;
    out += fmt::format(
        "  stage {} waits on the host until {} {} measured of each image; the stages before it are "
        "computed for that first\n",
        s + 1, fmt::join(names, ", "), names.size() == 1 ? "is" : "are");
  }
  return out;
}

// The steps of a part, numbered from 1.
std::string steps_text(const ExplainedPart& part) {
  std::string out;
  if (part.plan.steps.empty()) out += "  none: the image goes through as it is\n";
  const std::vector<StepWords> steps = words_of(part.plan);
  for (size_t s = 0; s < steps.size(); ++s) {
    const StepWords& step = steps[s];
    out += fmt::format("  {:2}  {}\n", s + 1, step.what);
    out += fmt::format(
        "      for stage {}; reads {}; {} bytes a pixel\n", fmt::join(step.stages, ", "),
        step.reads.empty() ? "nothing" : fmt::format("{}", fmt::join(step.reads, ", ")),
        number_text(step.bytes_per_pixel));
    if (!step.apart.empty()) out += fmt::format("      apart, because {}\n", step.apart);
    if (part.kernels == nullptr) continue;
    for (const std::string& line : part.kernels->steps[s]) out += fmt::format("      {}\n", line);
  }
  return out;
}

std::string_view steps_head(const std::optional<ImageReduction>& reduction) {
  if (!reduction) return "steps";
  return reduction->across == ImageReduction::Across::files ? "steps for each file"
                                                            : "steps for each page";
}

}  // namespace

// Whether the host makes a table, or columns of it, of the pixels.
bool is_on_host(const PlanMeasurement& measurement) {
  const auto& table = measurement.objects;
  return table && (table->rows || needs_labels(table->columns));
}

std::string describe(const ImageReduction& reduction) {
  switch (reduction.across) {
    case ImageReduction::Across::window:
      return fmt::format("each page is made of {} pages, which are held, on the host",
                         reduction.window);
    case ImageReduction::Across::volume:
      if (!reduction.volume->columns().empty()) {
        return "the pages are the planes of a volume, of which a table is made, on the host";
      }
      return fmt::format("the pages are the planes of a volume, of which {} are held{}",
                         reduction.volume->held(),
                         reduction.volume->rings({}, {1, 1}, 1).empty() ? ", on the host" : "");
    case ImageReduction::Across::pages:
      return fmt::format(
          "the pages of a file{} become one image, on the host{}",
          reduction.axis == 0 ? "" : fmt::format(" along its axis {}", reduction.axis),
          reduction.is_by_order() ? "; all of them wait, in memory or in the --scratch folder"
                                  : ", as they come");
    case ImageReduction::Across::files: break;
  }
  return reduction.is_by_order() ? "all files become one image, on the host; NPYs, FITS and "
                                   "uncompressed TIFFs are read "
                                   "some rows of all files at a time where no step comes before, "
                                   "others wait, in memory "
                                   "or in the --scratch folder"
                                 : "all files become one image, on the host, as they come";
}

std::string explain(const Pipeline& pipeline, std::span<const ExplainedPart> parts) {
  const ExplainedPart& first = parts.front();
  std::string out = fmt::format("input: {}\n", to_string(first.plan.values[0].type));
  if (first.kernels != nullptr) out += fmt::format("device: {}\n", first.kernels->device);
  out += stages_text(pipeline, parts);
  size_t steps = 0, unfused_steps = 0;
  double bytes = 0, unfused_bytes = 0;
  for (const ExplainedPart& part : parts) {
    out += fmt::format("\n{}:\n", steps_head(part.reduction)) + steps_text(part);
    steps += part.plan.steps.size();
    unfused_steps += part.unfused.steps.size();
    bytes += total_bytes(part.plan);
    unfused_bytes += total_bytes(part.unfused);
    if (!part.reduction) continue;
    out +=
        fmt::format("\nthen stage {}: {}\n", part.reduction_stage + 1, describe(*part.reduction));
  }
  out += fmt::format("\n{} steps instead of {}; {} bytes a pixel instead of {}\n", steps,
                     unfused_steps, number_text(bytes), number_text(unfused_bytes));
  if (!parts.back().plan.writes_image) {
    out += "the pipeline ends in a measurement: no image is written\n";
  }
  for (const ExplainedPart& part : parts) {
    for (const PlanMeasurement& one : part.plan.measurements) {
      if (is_on_host(one)) out += "the rows of " + one.name + " are made on the host\n";
    }
    for (const std::string& note : part.plan.notes) out += "note: " + note + "\n";
  }
  return out;
}

std::string explain(const Pipeline& pipeline, const Plan& plan, const Plan& unfused,
                    const DeviceKernels* kernels) {
  const ExplainedPart whole{plan, unfused, kernels, {}};
  return explain(pipeline, std::span(&whole, 1));
}

}  // namespace impipe::pipeline
