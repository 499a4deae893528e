// Runs a kernel on the CPU: its arguments and tables first, then its tiles, then its measurements.
#include "backends/cpu/step.hpp"

#include <algorithm>
#include <utility>

#include "backends/cpu/geometry/resample.hpp"
#include "backends/cpu/measure/select.hpp"
#include "backends/cpu/measure/tile_tables.hpp"
#include "backends/cpu/point/known_tables.hpp"
#include "backends/cpu/tile_pass.hpp"
#include "backends/cpu/whole_image.hpp"
#include "core/body_tree.hpp"
#include "core/error.hpp"
#include "core/object_table.hpp"
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
      return run_whole_images();
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
    if (is<Point>(*run.node)) prepare_point(p);
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

  void prepare_point(std::size_t p) {
    PlaneRun& run = runs_.nodes[p];
    const PlaneRun& first = runs_.nodes[p - runs_.graph.nodes[p].channel];  // of channel 0
    // Where the channels' arguments are equal, their programs and tables are.
    const bool same = &first != &run && run.arguments.same_as(first.arguments);
    if (same) {
      run.point = first.point;
      run.own_table = first.own_table;
    } else if (std::get<Point>(run.node->primitive).lookup) {
      run.own_table = given_table(p);
    } else {
      make_program(p);
    }
    if (run.own_table == nullptr) return;
    run.table = run.own_table;
    run.table_source = runs_.images_of(p)[0];
    if (run.table_source.external) return;
    const PlaneRun& before = runs_.nodes[run.table_source.index];
    if (before.table == nullptr) return;
    run.table_source = before.table_source;
    const Operand& of_first = runs_.images_of(first_of(runs_.graph.nodes[p].node))[0];
    if (same && runs_.nodes[of_first.index].table == before.table) {
      run.table = first.table;
    } else {
      run.table = shared(composed(*before.table, *run.own_table));
    }
  }

  static std::shared_ptr<const CodeTable> shared(CodeTable table) {
    look_for_step(table);
    return std::make_shared<const CodeTable>(std::move(table));
  }

  void make_program(std::size_t p) {
    PlaneRun& run = runs_.nodes[p];
    const Node& node = *run.node;
    PointInputs inputs;
    for (const Operand& plane : runs_.images_of(p)) {
      inputs.classes.push_back(runs_.class_of(plane));
    }
    inputs.white = runs_.white_of(runs_.images_of(p)[0]);
    const auto program =
        std::make_shared<PointProgram>(node, run.arguments, inputs, run.size, runs_.level);
    run.point = program;
    // A table of 65,536 codes is dearer than a small image.
    constexpr std::int64_t cheap = 256;
    const bool for_all =
        std::none_of(node.arguments.begin(), node.arguments.end(),
                     [](const Argument& a) { return a.source == Argument::Source::measured; });
    const std::int64_t pixels = run.size.pixels() * (for_all ? spec_.planes : 1);
    if (!is_integer(inputs.classes[0]) || codes_of(inputs.classes[0]) > std::max(cheap, pixels)) {
      return;
    }
    const bool small = codes_of(inputs.classes[0]) <= cheap;
    const KnownTable made = table_of(*program, run, inputs.classes[0], small);
    if (made.table == nullptr) return;
    const bool computed = made.table->line || made.table->last_before_step;
    if (small || computed || is_in_chain(p) || !made.replaceable) {
      run.own_table = made.table;
    } else {
      program->replace_table();
    }
  }

  // A point's table, if it has one; large ones of bodies are remembered.
  KnownTable table_of(const PointProgram& program, const PlaneRun& run, PixelClass from,
                      bool small) {
    const PointBody* body = std::get<Point>(run.node->primitive).body;
    const TableOf what{body, run.arguments.in_double, from, run.node->cls, runs_.level};
    const bool keep = !small && body != nullptr && run.arguments.table.empty();
    if (keep) {
      if (const auto known = known_table(what)) return *known;
    }
    std::unique_ptr<Scratch> scratch = runs_.scratches.take();
    PointProgram::State state;
    KnownTable made;
    if (auto table = program.table(state, *scratch)) {
      made.replaceable = !small && program.can_replace(*table, state, *scratch);
      made.table = shared(std::move(*table));
    }
    runs_.scratches.give(std::move(scratch));
    if (keep) remember_table(what, made);
    return made;
  }

  // Whether a table is before it or may come behind it, with which its own is one.
  bool is_in_chain(std::size_t p) const {
    const Operand& in = runs_.images_of(p)[0];
    if (!in.external && runs_.nodes[in.index].table != nullptr) return true;
    for (std::size_t next = p + 1; next < runs_.graph.nodes.size(); ++next) {
      const PlaneNode& node = runs_.graph.nodes[next];
      if (!is<Point>(spec_.nodes[node.node]) || node.images.size() != 1) continue;
      if (!node.images[0].external && node.images[0].index == static_cast<int>(p)) return true;
    }
    return false;
  }

  std::shared_ptr<const CodeTable> given_table(std::size_t p) const {
    const PixelClass from = runs_.class_of(runs_.images_of(p)[0]);
    const Plane& plane = *runs_.inputs[runs_.images_of(p)[1].index];
    CodeTable table{from, plane.cls(), {}, {}};
    for (std::int64_t y = 0; y < plane.size().height; ++y) {
      table.values.insert(table.values.end(), plane.row(y), plane.row(y) + plane.row_bytes());
    }
    const std::int64_t have = plane.size().pixels();
    if (have != codes_of(from)) {
      throw Error("a table for " + std::string(name_of(from)) + " must have " +
                      std::to_string(codes_of(from)) + " values; this one has " +
                      std::to_string(have),
                  ExitCode::file_failed);
    }
    return shared(std::move(table));
  }

  void run_whole_images() {
    if (is<Resample>(spec_.nodes[0])) {
      const auto alike = [&](const PlaneRun& run) {
        return run.arguments.same_as(runs_.nodes[0].arguments);
      };
      if (std::ranges::all_of(runs_.nodes, alike)) return resample_channels();
    }
    runs_.pool.for_each(static_cast<std::int64_t>(runs_.nodes.size()), [&](std::int64_t p) {
      const PlaneRun& run = runs_.nodes[p];
      std::vector<const Plane*> images;
      for (const Operand& plane : runs_.images_of(p)) images.push_back(runs_.inputs[plane.index]);
      run_whole_image(*run.node, run.arguments, images, *run.output, runs_.pool, runs_.level);
    });
  }

  // All channels together: they share the places of their pixels.
  void resample_channels() {
    std::vector<const Plane*> from;
    std::vector<Plane*> to;
    for (std::size_t p = 0; p < runs_.nodes.size(); ++p) {
      from.push_back(runs_.inputs[runs_.images_of(p)[0].index]);
      to.push_back(runs_.nodes[p].output);
    }
    run_resample(spec_.nodes[0], from, runs_.nodes[0].arguments.last(), to, runs_.pool,
                 runs_.level);
  }

  // --- measurements

  void finish_measure(std::size_t n) {
    if (!spec_.nodes[n].is_measure) return;
    if (is<Scalar>(spec_.nodes[n])) return run_scalar(n);
    std::vector<std::vector<double>> values(static_cast<std::size_t>(spec_.planes));
    runs_.pool.for_each(static_cast<std::int64_t>(values.size()), [&](std::int64_t c) {
      const std::size_t p = first_of(n) + static_cast<std::size_t>(c);
      const PlaneRun& run = runs_.nodes[p];
      if (run.is_sink()) {
        values[c] = run.sink->finish();
        return;
      }
      std::vector<const Plane*> images;
      for (const Operand& plane : runs_.images_of(p)) images.push_back(runs_.inputs[plane.index]);
      values[c] = measured_whole(*run.node, run.arguments, runs_.images_of(p)[0], images);
    });
    for (const std::vector<double>& of_channel : values) {
      measures_[n].insert(measures_[n].end(), of_channel.begin(), of_channel.end());
    }
  }

  // By primitives that do not go over tiles.
  std::vector<double> measured_whole(const Node& node, const Arguments& arguments,
                                     const Operand& image,
                                     const std::vector<const Plane*>& images) const {
    if (is<Objects>(node)) return records_of(node, images);
    if (const auto* of = std::get_if<Histogram>(&node.primitive)) {
      return tile_counts(*of, runs_.white_of(image), *images.front(), runs_.pool, runs_.level);
    }
    return select_values(*images.front(), arguments, runs_.pool);
  }

  static std::vector<double> records_of(const Node& node, const std::vector<const Plane*>& images) {
    const Plane* const codes = images.size() > 1 ? images[1] : nullptr;
    const std::int64_t records = node.values / object_record::length(codes != nullptr);
    return object_records(*images[0], codes, records - 1);
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
