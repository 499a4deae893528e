#include "bench/form_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "bench/suite_benchmark.hpp"
#include "bench/variants.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/plane_kernel.hpp"
#include "engine/device/session.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::bench {
namespace {

// A form whose estimate is so many times the cheapest one's is not timed.
constexpr double hopeless = 12;

struct DrawnRow {
  WantedRow wanted;
  pipeline::Pipeline pipeline;
  engine::BenchmarkOptions options;
  std::vector<FormCost> costs;  // the chosen form first
  std::map<std::string_view, double> seconds;
};

// The forms of the first node that several can make; empty where none is.
std::vector<FormCost> forms_of(const pipeline::Pipeline& pipeline, const ImageType& type,
                               const KernelForms& kernels) {
  std::map<std::string, ImageType> operands;
  for (const std::string& name : pipeline.operands) operands[name] = type;
  for (const pipeline::PlanPart& part : pipeline::lower_parts(pipeline, type, operands)) {
    for (const Step& step : pipeline::fuse(part.plan, kernels.nests_neighbourhoods).steps) {
      for (NodeForm& node : kernels.of(plane_kernel(step.kernel).spec)) {
        std::erase_if(node.costs, [&](const FormCost& cost) {
          return cost.microseconds > hopeless * node.costs.front().microseconds;
        });
        if (node.costs.size() > 1) return node.costs;
      }
    }
  }
  return {};
}

std::vector<DrawnRow> drawn(const SuiteFlags& flags) {
  std::vector<WantedRow> rows = rows_of(flags);
  std::shuffle(rows.begin(), rows.end(), std::mt19937(static_cast<unsigned>(flags.seed)));
  const KernelForms kernels = engine::kernel_forms(flags.device.device);
  const engine::Sandbox sandbox = engine::make_sandbox(flags.sandbox);
  std::vector<DrawnRow> found;
  for (WantedRow& row : rows) {
    if (static_cast<int>(found.size()) == flags.forms) break;
    if (row.row.copy || row.row.decodes > 0 || row.row.host_only) continue;
    DrawnRow one{
        row, cli::pipeline_of(row.row.pipeline, sandbox), options_of(row.row, flags), {}, {}};
    const ImageType type{.cls = row.row.cls, .channels = std::max(1, one.options.channels)};
    one.costs = forms_of(one.pipeline, type, kernels);
    if (!one.costs.empty()) found.push_back(std::move(one));
  }
  return found;
}

// Times the rows that have the form, or all of them in their chosen form where it is "".
void time_form(const SuiteFlags& flags, const std::string& form, std::vector<DrawnRow>& rows) {
  std::vector<DrawnRow*> having;
  for (DrawnRow& row : rows) {
    const auto first = row.costs.begin() + 1;
    if (form.empty() || std::any_of(first, row.costs.end(),
                                    [&](const FormCost& cost) { return cost.form == form; })) {
      having.push_back(&row);
    }
  }
  engine::Benchmark benchmark(flags.device, cli::parse_threads(flags.threads), {.form = form});
  std::vector<std::pair<const pipeline::Pipeline*, engine::BenchmarkOptions>> all;
  for (DrawnRow* row : having) {
    row->options.wall = false;
    all.emplace_back(&row->pipeline, row->options);
  }
  benchmark.prepare(all);
  for (DrawnRow* row : having) {
    const std::string_view name = form.empty() ? row->costs.front().form : form;
    try {
      const double seconds = benchmark.run(row->pipeline, row->options).device;
      const auto [known, is_new] = row->seconds.try_emplace(name, seconds);
      if (!is_new) known->second = std::min(known->second, seconds);
    } catch (const Error& error) {  // one row may be beyond a device
      cli::write_stderr(fmt::format("{}, {}: {}", row->wanted.row.name, name, error.what()));
    }
  }
}

}  // namespace

int time_forms(const SuiteFlags& flags) {
  if (flags.device.device.empty() || flags.device.device.starts_with("cpu")) {
    throw Error("--forms: kernels of GPUs and of OpenCL have forms; --device says which");
  }
  std::vector<DrawnRow> rows = drawn(flags);
  std::vector<std::string> forms;
  for (const DrawnRow& row : rows) {
    for (const FormCost& cost : row.costs) {
      const bool known = std::find(forms.begin(), forms.end(), cost.form) != forms.end();
      if (!known) forms.emplace_back(cost.form);
    }
  }
  time_form(flags, "", rows);
  for (const std::string& form : forms) time_form(flags, form, rows);
  time_form(flags, "", rows);  // clocks change in the meantime
  for (const DrawnRow& row : rows) {
    for (const FormCost& cost : row.costs) {
      const auto seconds = row.seconds.find(cost.form);
      if (seconds == row.seconds.end()) continue;
      cli::write_stdout(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.1f}\t{:.1f}\n", row.wanted.row.name,
                                    name_of(row.wanted.row.cls), row.options.channels,
                                    row.wanted.row.size, cost.form, &cost == row.costs.data(),
                                    cost.microseconds, 1e6 * seconds->second));
    }
  }
  return 0;
}

}  // namespace impipe::bench
