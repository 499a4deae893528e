// Lays the launches of a pipeline for one size out as tables of C.
#include "backends/jit/export/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/jit/gather.hpp"
#include "backends/jit/generator.hpp"

namespace impipe::jit {
namespace {

// launcher_opencl, launcher_cuda and functions_*: the text of this folder's files for C.
#include "backends/jit/export/launchers.inc"

constexpr const char* include_opencl =
    "#ifndef CL_TARGET_OPENCL_VERSION\n#define CL_TARGET_OPENCL_VERSION 120\n#endif\n"
    "#include <CL/cl.h>";

ValueShape shape_of(const ExportedValue& value) {
  if (value.is_measure) {
    return {.size = {},
            .stride = 0,
            .step = value.values * static_cast<std::int64_t>(sizeof(double)),
            .channels = value.channels,
            .count = 1};
  }
  const std::int64_t stride = row_bytes(value.cls, value.size);
  return {.size = value.size,
          .stride = stride,
          .step = stride * value.size.height,
          .channels = value.channels,
          .count = 1};
}
std::int64_t bytes_of(const ExportedValue& value) { return shape_of(value).step * value.channels; }

std::string bytes_text(const std::vector<std::byte>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{}",
                        i == 0        ? ""
                        : i % 24 == 0 ? ",\n    "
                                      : ",",
                        std::to_integer<int>(bytes[i]));
  }
  return text;
}

class Exporter {
 public:
  explicit Exporter(const ExportRequest& request)
      : request_(request),
        dialect_(request.is_cuda ? Dialect::cuda : Dialect::opencl),
        tuning_(tuning_for(request.vendor, dialect_)),
        places_(request.values.size()) {}

  std::vector<ExportedFile> run() {
    place_ports();
    for (const ExportedStep& step : request_.steps) add_step(step);
    add_one_nan();
    files_.push_back({"pipeline.h", header()});
    files_.push_back({"pipeline_tables.h", tables()});
    files_.push_back({"pipeline.c", request_.is_cuda ? launcher_cuda : launcher_opencl});
    return std::move(files_);
  }

 private:
  // Where a value or scratch lies, as the tables say it: a port of the caller's, or own memory.
  struct Place {
    const char* kind = nullptr;  // null: nowhere yet
    int index = 0;
    std::string text() const { return fmt::format("{{{}, {}}}", kind, index); }
  };
  struct Memory {
    std::int64_t bytes = 0;
    std::string contents;  // the name of an array; empty: unspecified
    bool zeroed = false;
  };

  void place_ports() {
    for (std::size_t i = 0; i < request_.values.size(); ++i) {
      const auto port = request_.values[i].port;
      if (port == ExportedValue::Port::none) continue;
      const bool in = port == ExportedValue::Port::input;
      std::string& rows = in ? inputs_ : outputs_;
      int& count = in ? input_count_ : output_count_;
      places_[i] = {in ? "of_input" : "of_output", count++};
      rows += port_text(request_.values[i]);
    }
  }

  static std::string port_text(const ExportedValue& value) {
    const ValueShape shape = shape_of(value);
    if (value.is_measure) {
      return fmt::format("    {{\"{}\", \"double\", {}, 1, {}, {}, {}}},\n", value.name,
                         value.values, value.channels, shape.step, shape.step);
    }
    return fmt::format("    {{\"{}\", \"{}\", {}, {}, {}, {}, {}}},\n", value.name,
                       name_of(value.cls), value.size.width, value.size.height, value.channels,
                       shape.stride, shape.step);
  }

  int new_memory(std::int64_t bytes) {
    memories_.push_back({std::max<std::int64_t>(bytes, row_alignment), "", false});
    return static_cast<int>(memories_.size()) - 1;
  }
  // Memory that nothing uses any more, or new one.
  Place take(std::int64_t bytes) {
    const auto fits = std::ranges::find_if(
        free_, [&](int m) { return memories_[static_cast<std::size_t>(m)].bytes >= bytes; });
    if (fits == free_.end()) return {"of_own", new_memory(bytes)};
    const int memory = *fits;
    free_.erase(fits);
    return {"of_own", memory};
  }
  void let_go(const Place& place) {
    if (place.kind == std::string_view("of_own")) free_.push_back(place.index);
  }

  void add_step(const ExportedStep& step) {
    for (const int value : step.outputs) {
      Place& place = places_[static_cast<std::size_t>(value)];
      if (place.kind == nullptr) {
        place = take(bytes_of(request_.values[static_cast<std::size_t>(value)]));
      }
    }
    add_program(generate(step.spec, dialect_, tuned(step.spec)), &step.spec, step.inputs,
                step.outputs);
    for (const int value : step.unread_after) let_go(places_[static_cast<std::size_t>(value)]);
  }
  Tuning tuned(const KernelSpec& spec) const {
    Tuning tuning = tuning_;
    tuning.stacked = spec.planes > 1;
    return tuning;
  }

  // Images of floats leave with one NaN, as they leave the program.
  void add_one_nan() {
    for (std::size_t i = 0; i < request_.values.size(); ++i) {
      const ExportedValue& value = request_.values[i];
      if (value.port != ExportedValue::Port::output || value.is_measure ||
          value.cls != PixelClass::single) {
        continue;
      }
      add_program(one_nan(dialect_), nullptr, {}, {static_cast<int>(i)});
    }
  }

  void add_program(const Program& program, const KernelSpec* spec, const std::vector<int>& inputs,
                   const std::vector<int>& outputs) {
    const auto shapes = [&](const std::vector<int>& values) {
      std::vector<ValueShape> out;
      for (const int v : values) {
        out.push_back(shape_of(request_.values[static_cast<std::size_t>(v)]));
      }
      return out;
    };
    const std::vector<ValueShape> in = shapes(inputs), out = shapes(outputs);
    const LaunchPlan plan = program.launch({.spec = spec,
                                            .inputs = in,
                                            .outputs = out,
                                            .count = spec == nullptr ? 1 : spec->planes,
                                            .jpegs = {}});
    const int file = file_of(program.source);
    std::vector<Place> scratch;
    for (const Scratch& wanted : plan.scratch) scratch.push_back(place_of(wanted));
    for (const Pass& pass : plan.passes)
      add_launch(program, plan, pass, file, scratch, inputs, outputs);
    for (std::size_t i = 0; i < scratch.size(); ++i) {
      if (!plan.scratch[i].kept && plan.scratch[i].contents.empty()) let_go(scratch[i]);
    }
  }

  int file_of(const std::string& source) {
    const auto [found, added] = sources_.emplace(source, static_cast<int>(sources_.size()));
    if (added) {
      const std::string name =
          fmt::format("step{}.{}", found->second + 1, request_.is_cuda ? "cu" : "cl");
      files_.push_back({name, source});
      source_rows_ += fmt::format("    \"{}\",\n", name);
    }
    return found->second;
  }

  Place place_of(const Scratch& wanted) {
    if (wanted.kept) {
      if (tickets_ < 0) {
        tickets_ = new_memory(ticket_bytes);
        memories_.back().zeroed = true;
      }
      return {"of_own", tickets_};
    }
    if (!wanted.contents.empty()) {
      const int memory = new_memory(static_cast<std::int64_t>(wanted.contents.size()));
      memories_.back().contents = array(wanted.contents);
      return {"of_own", memory};
    }
    const Place place = take(wanted.bytes);
    if (wanted.cleared && wanted.bytes > 0) {
      actions_ += fmt::format("    {{.clear = 1, .bytes = {}, .buffers = {{{}}}}},\n", wanted.bytes,
                              place.text());
    }
    return place;
  }

  std::string array(const std::vector<std::byte>& bytes) {
    const auto [found, added] = arrays_.emplace(bytes, fmt::format("data{}", arrays_.size()));
    if (added) {
      array_text_ += fmt::format("static const unsigned char {}[{}] = {{\n    {}}};\n",
                                 found->second, bytes.size(), bytes_text(bytes));
    }
    return found->second;
  }

  void add_launch(const Program& program, const LaunchPlan& plan, const Pass& pass, int file,
                  const std::vector<Place>& scratch, const std::vector<int>& inputs,
                  const std::vector<int>& outputs) {
    std::string buffers;
    for (const Buffer& buffer : pass.buffers) {
      const auto index = static_cast<std::size_t>(buffer.index);
      const auto value = [&](int v) { return places_[static_cast<std::size_t>(v)].text(); };
      buffers += buffer.kind == Buffer::Kind::input    ? value(inputs[index])
                 : buffer.kind == Buffer::Kind::output ? value(outputs[index])
                                                       : scratch[index].text();
      buffers += ", ";
    }
    const auto entry = static_cast<std::size_t>(pass.entry);
    const std::vector<std::byte>& parameters = plan.parameters_of(pass);
    const auto& [gx, gy, gz] = pass.shape.groups;
    const auto& [ix, iy, iz] = pass.shape.group;
    actions_ += fmt::format(
        "    {{.source = {}, .kernel = \"{}\", .groups = {{{}, {}, {}}}, .group = {{{}, {}, {}}},\n"
        "     .bytes = {}, .parameters = {}, .parameter_bytes = {}, .count = {},\n"
        "     .buffers = {{{}}}}},\n",
        file, program.entries[entry], gx, gy, gz, ix, iy, iz,
        program.local_bytes.empty() ? 0 : program.local_bytes[entry], array(parameters),
        parameters.size(), pass.buffers.size(),
        buffers.substr(0, buffers.empty() ? 0 : buffers.size() - 2));
  }

  std::string header() const {
    return fmt::format(
        "// {}\n"
        "// How to use it: pipeline.c.\n"
        "#ifndef PIPELINE_H\n#define PIPELINE_H\n\n"
        "{}\n#include <stddef.h>\n\n"
        "// An image, whose rows begin at multiples of row_bytes and whose channels (planes) at\n"
        "// multiples of plane_bytes; or a measurement: width doubles a channel. type: logical "
        "and\n"
        "// uint8 have 1 byte a pixel, uint16 2, single 4 (a float).\n"
        "struct pipeline_port {{\n"
        "  const char *name, *type;\n"
        "  int width, height, channels;\n"
        "  size_t row_bytes, plane_bytes;\n"
        "}};\n\n"
        "static const struct pipeline_port pipeline_inputs[] = {{\n{}}};\n"
        "static const struct pipeline_port pipeline_outputs[] = {{\n{}}};\n\n"
        "{}\n#endif\n",
        request_.title, request_.is_cuda ? "#include <cuda.h>" : include_opencl,
        inputs_.empty() ? "    {\"none\", \"\", 0, 0, 0, 0, 0},\n" : inputs_, outputs_,
        request_.is_cuda ? functions_cuda : functions_opencl);
  }

  std::string tables() const {
    std::string rows;
    for (const Memory& memory : memories_) {
      rows += fmt::format(
          "    {{{}, {}, {}}},\n", memory.bytes,
          memory.contents.empty() ? "0, 0" : memory.contents + ", sizeof " + memory.contents,
          memory.zeroed ? 1 : 0);
    }
    if (rows.empty()) rows = "    {0, 0, 0, 0},\n";
    std::string options;
    for (const std::string& option : compiler_options(dialect_)) {
      options += request_.is_cuda ? fmt::format("    \"{}\",\n", option) : " " + option;
    }
    return fmt::format(
        "// {}\n// The tables that pipeline.c goes through.\n\n{}\n"
        "static const char *const sources[] = {{\n{}}};\n"
        "enum {{ source_count = {}, memory_count = {}, input_count = {}, output_count = {} }};\n"
        "static const char *const options{} = {}{}{};\n"
        "static const struct memory memories[] = {{\n{}}};\n"
        "static const struct action actions[] = {{\n{}}};\n",
        request_.title, array_text_, source_rows_, sources_.size(), memories_.size(), input_count_,
        output_count_, request_.is_cuda ? "[]" : "", request_.is_cuda ? "{\n" : "\"", options,
        request_.is_cuda ? "}" : "\"", rows, actions_);
  }

  const ExportRequest& request_;
  Dialect dialect_;
  Tuning tuning_;
  std::vector<Place> places_;  // one a value
  std::vector<Memory> memories_;
  std::vector<int> free_;  // of memories_
  int tickets_ = -1;       // of memories_
  int input_count_ = 0, output_count_ = 0;
  std::map<std::string, int> sources_;
  std::map<std::vector<std::byte>, std::string> arrays_;
  std::string inputs_, outputs_, source_rows_, array_text_, actions_;  // rows of the tables
  std::vector<ExportedFile> files_;
};

}  // namespace

std::vector<ExportedFile> export_code(const ExportRequest& request) {
  return Exporter(request).run();
}

}  // namespace impipe::jit
