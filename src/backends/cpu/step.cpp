// Runs a kernel on the CPU: its arguments and tables first, then its tiles, then its measurements.
#include "backends/cpu/step.hpp"

#include <algorithm>
#include <utility>

#include "backends/cpu/point_programs.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/whole_image.hpp"
#include "core/body_tree.hpp"
#include "core/error.hpp"
#include "core/plane_kernel.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::cpu {
namespace {

template <class T>
bool is(const Node& node) {
  return std::holds_alternative<T>(node.primitive);
}

class StepRun {
 public:
  StepRun(const KernelSpec& spec, const std::vector<StepValue>& inputs,
          const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
          CpuLevel level)
      : spec_(spec),
        inputs_(inputs),
        runs_{spec, pool, scratches, level, plane_graph(spec), {}, {}},
        sizes_(spec.nodes.size()),
        measures_(spec.nodes.size()) {
    for (const PlaneInput& of : runs_.graph.inputs) {
      runs_.inputs.push_back(&(*inputs[of.input].planes)[of.channel]);
    }
    runs_.nodes.resize(runs_.graph.nodes.size());
    for (std::size_t i = 0; i < spec.outputs.size(); ++i) {
      if (outputs[i].planes == nullptr) continue;
      for (int p = 0; p < spec.planes; ++p) {
        const auto place = static_cast<std::size_t>(plane_of(
            output_channel(i), p, static_cast<int>(outputs[i].planes->size()), spec.planes));
        runs_.nodes[first_of(spec.outputs[i]) + p].output = &(*outputs[i].planes)[place];
      }
    }
  }

  void run(const std::vector<StepValue>& outputs) {
    find_sizes();
    for (std::size_t p = 0; p < runs_.nodes.size(); ++p) prepare(p);
    for (std::size_t p = 0; p < runs_.nodes.size(); ++p) hand_on_output(p);
    if (spec_.nodes.size() == 1 && stands_alone(spec_.nodes[0].primitive) &&
        !spec_.nodes[0].is_measure) {
      return run_whole_images(runs_);
    }
    // Results of one size share a pass over the tiles.
    std::vector<Size> sizes;
    for (std::size_t p = 0; p < runs_.nodes.size(); ++p) {
      if (!runs_.is_root(p)) continue;
      const Size size = runs_.root_size(p);
      if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) sizes.push_back(size);
    }
    for (const Size size : sizes) run_tiles(runs_, size);
    for (std::size_t n = 0; n < spec_.nodes.size(); ++n) finish_measure(n);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].measure == nullptr) continue;
      const std::vector<double>& made = measures_[spec_.outputs[i]];
      const std::int64_t values = spec_.nodes[spec_.outputs[i]].values;
      for (int p = 0; p < spec_.planes; ++p) {
        std::copy_n(made.begin() + p * values, values,
                    values_of(*outputs[i].measure, output_channel(i), p, values));
      }
    }
  }

 private:
  std::size_t first_of(std::size_t n) const {
    return static_cast<std::size_t>(runs_.graph.first_of_node[n]);
  }
  int output_channel(std::size_t output) const {
    return spec_.output_channels.empty() ? own_channel : spec_.output_channels[output];
  }
  // Where the values begin that a measurement has for a plane; `each` for a channel.
  double* values_of(std::vector<double>& measure, int channel, int plane, std::int64_t each) const {
    const auto all = static_cast<std::int64_t>(measure.size());
    const auto channels = static_cast<int>(each > 0 ? all / each : 1);
    return measure.data() + plane_of(channel, plane, channels, spec_.planes) * each;
  }
  Size size_of(const Operand& image) const {
    return image.external ? inputs_[image.index].planes->front().size() : sizes_[image.index];
  }

  void find_sizes() {
    Size first;
    for (const StepValue& input : inputs_) {
      if (input.planes != nullptr && first.pixels() == 0) first = input.planes->front().size();
    }
    for (std::size_t n = 0; n < sizes_.size(); ++n) {
      const Node& node = spec_.nodes[n];
      sizes_[n] = node.images.empty() ? first : result_size(node, size_of(node.images[0]));
    }
  }

  // The values that a node's measurement has for a plane.
  std::span<const double> measured(const Operand& operand, int plane) const {
    if (!operand.external) {
      const std::int64_t values = spec_.nodes[operand.index].values;
      return {measures_[operand.index].data() + plane * values, static_cast<std::size_t>(values)};
    }
    const KernelInput& input = spec_.inputs[operand.index];
    return {values_of(*inputs_[operand.index].measure, input.channel, plane, input.values),
            static_cast<std::size_t>(input.values * input.channels)};
  }

  Arguments arguments_of(std::size_t n, int plane) const {
    const Node& node = spec_.nodes[n];
    std::vector<std::span<const double>> views;
    for (const Operand& operand : node.measures) views.push_back(measured(operand, plane));
    const Size size = node.images.empty() ? sizes_[n] : size_of(node.images[0]);
    return evaluate_arguments(node, views, size);
  }

  // --- before there are tiles

  // Where a stored point only copies, its producer writes to the output buffer.
  void hand_on_output(std::size_t p) {
    PlaneRun& run = runs_.nodes[p];
    const auto* point = std::get_if<Point>(&run.node->primitive);
    if (run.output == nullptr || point == nullptr || point->body == nullptr || point->in_table) {
      return;
    }
    const int copied = traits_of(*point->body).copied;
    if (copied < 0) return;
    const Operand& image = runs_.images_of(p)[static_cast<std::size_t>(copied)];
    if (image.external) return;
    PlaneRun& from = runs_.nodes[image.index];
    if (from.output != nullptr || from.node->cls != run.node->cls) return;
    std::swap(from.output, run.output);
  }

  void prepare(std::size_t p) {
    const PlaneNode& plane = runs_.graph.nodes[p];
    PlaneRun& run = runs_.nodes[p];
    run.node = &spec_.nodes[plane.node];
    run.size = sizes_[plane.node];
    run.arguments = arguments_of(plane.node, plane.channel);
    if (is<Point>(*run.node)) prepare_point(runs_, p);
    const bool sinks = is<Reduce>(*run.node) || is<Histogram>(*run.node);
    if (!sinks || stands_alone(run.node->primitive)) return;
    const bool of_two = counts_pairs(spec_, *run.node) || squares_differences(run, plane.images[0]);
    run.sink_images = of_two ? runs_.images_of(plane.images[0].index) : plane.images;
  }

  // Whether it is the sum of the squares of how far apart the bytes of two planes are.
  bool squares_differences(const PlaneRun& run, const Operand& image) const {
    const auto* reduce = std::get_if<Reduce>(&run.node->primitive);
    if (reduce == nullptr || reduce->kind != ReduceKind::squared_deviation || image.external) {
      return false;
    }
    const PlaneRun& from = runs_.nodes[image.index];
    return from.point != nullptr && from.point->is_byte_difference() &&
           run.arguments.in_double.at(0) == 0;
  }

  // --- measurements

  void finish_measure(std::size_t n) {
    if (!spec_.nodes[n].is_measure) return;
    if (is<Scalar>(spec_.nodes[n])) return run_scalar(n);
    std::vector<std::vector<double>> values(static_cast<std::size_t>(spec_.planes));
    runs_.pool.for_each(static_cast<std::int64_t>(values.size()), [&](std::int64_t c) {
      const std::size_t p = first_of(n) + static_cast<std::size_t>(c);
      const PlaneRun& run = runs_.nodes[p];
      values[c] = run.is_sink() ? run.sink->finish() : measured_whole(runs_, p);
    });
    for (const std::vector<double>& of_channel : values) {
      measures_[n].insert(measures_[n].end(), of_channel.begin(), of_channel.end());
    }
  }

  void run_scalar(std::size_t n) {
    const Node& node = spec_.nodes[n];
    measures_[n].resize(static_cast<std::size_t>(spec_.planes * node.values));
    for (int p = 0; p < spec_.planes; ++p) {
      std::vector<double> in;
      std::vector<std::int64_t> counts;
      for (const Operand& operand : node.measures) {
        const std::span<const double> values = measured(operand, p);
        in.insert(in.end(), values.begin(), values.end());
        counts.push_back(static_cast<std::int64_t>(values.size()));
      }
      std::get<Scalar>(node.primitive)
          .body->run(in.data(), counts.data(), arguments_of(n, p).in_double.data(),
                     measures_[n].data() + p * node.values);
    }
  }

  const KernelSpec& spec_;
  const std::vector<StepValue>& inputs_;
  PlaneRuns runs_;
  std::vector<Size> sizes_;                    // one a node
  std::vector<std::vector<double>> measures_;  // one a node
};

}  // namespace

void check_runnable(const KernelSpec& spec) {
  const auto fail = [&](const std::string& why) {
    throw Error("cpu: a kernel can't be run: " + why + "\n" + spec.key(), ExitCode::backend);
  };
  for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
    const Node& node = spec.nodes[n];
    for (const std::vector<Operand>* operands : {&node.images, &node.measures}) {
      for (const Operand& operand : *operands) {
        const int limit =
            operand.external ? static_cast<int>(spec.inputs.size()) : static_cast<int>(n);
        if (operand.index < 0 || operand.index >= limit) fail("an operand is not there yet");
      }
    }
    for (const Operand& operand : node.measures) {
      if (!operand.external && !is<Scalar>(node)) fail("an image waits for a measurement");
    }
    const auto* point = std::get_if<Point>(&node.primitive);
    if (point != nullptr && point->lookup && !node.images.at(1).external) {
      fail("a table is made inside it");
    }
    if (node.is_measure && stands_alone(node.primitive) && !node.images.at(0).external) {
      fail(std::string(name_of(node.primitive)) + " reads an intermediate");
    }
  }
}

void run_step(const KernelSpec& spec, const std::vector<StepValue>& inputs,
              const std::vector<StepValue>& outputs, ThreadPool& pool, ScratchPool& scratches,
              CpuLevel level) {
  StepRun(spec, inputs, outputs, pool, scratches, level).run(outputs);
}

}  // namespace impipe::cpu
