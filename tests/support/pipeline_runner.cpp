// Runs a pipeline's text on an image on the CPU, or on the backend that IMPIPE_TEST_BACKEND names.
#include "support/pipeline_runner.hpp"

#include <cstdlib>

#include "backends/cpu/device.hpp"
#include "backends/cpu/simd/level.hpp"
#include "core/thread_pool.hpp"
#include "engine/device/session.hpp"
#include "engine/program/executor.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::test {
namespace {

// Two threads, so that work is split whatever machine the tests run on.
ThreadPool& pool() {
  static ThreadPool threads(1);
  return threads;
}

using Devices = std::map<std::string, engine::OpenDevice>;

// Opened once: what a device compiled is used again.
Devices& open_devices() {
  static Devices open;
  return open;
}

engine::OpenDevice device_for(const RunOptions& options) {
  if (options.level) return {.device = cpu::open_at(*options.level, pool()), .pool = &pool()};
  const char* named = std::getenv("IMPIPE_TEST_BACKEND");
  const std::string backend = !options.backend.empty() ? options.backend
                              : named != nullptr       ? named
                                                       : "cpu";
  Devices& open = open_devices();
  const auto known = open.find(backend);
  if (known != open.end()) return known->second;
  return open[backend] = engine::open_device({.backend = backend}, pool());
}

Ran ran(engine::Outcome outcome, const engine::Program& program) {
  Ran out{.image = std::move(outcome.image),
          .names = {},
          .columns = std::move(outcome.columns),
          .measurement = {},
          .steps = static_cast<int>(program.plan.steps.size())};
  for (const PlanColumn& column : program.plan.columns) out.names.push_back(column.name);
  if (outcome.measurements.empty()) return out;
  engine::Measurement& last = outcome.measurements.back();
  out.measurement = std::move(last.numbers);
  if (program.plan.measurements.back().objects) {
    out.measurement.insert(out.measurement.begin(),
                           static_cast<double>(last.values / last.columns));
  }
  return out;
}

// A random pipeline may ask for an image of a million rows and columns, which the program refuses
// by the memory that there is: on a machine with much of it tests would still be killed.
void check_sizes(const engine::Program& program, const engine::Material& material) {
  std::map<std::string, Size> operands;
  for (const auto& [name, image] : material.operands) operands[name] = image.size();
  constexpr std::int64_t most = 1 << 28;
  for (const Size& size : engine::sizes_of(program, material.image.size(), operands)) {
    if (size.height > 0 && size.width > most / size.height) throw Error("too large for a test");
  }
}

// Alone when there is one image, else as a stack; nothing when the program takes no stacks.
std::vector<Ran> run(const pipeline::Pipeline& pipeline, const std::vector<HostImage>& images,
                     const std::map<std::string, HostImage>& operands, const RunOptions& options) {
  engine::Session session(
      pipeline, device_for(options),
      {.fuse = options.fuse, .strict = options.strict, .compile_aside = options.compile_aside});
  std::map<std::string, ImageType> types;
  for (const std::string& name : pipeline.operands) types[name] = operands.at(name).type;
  const auto program = session.program(images[0].type, types);
  std::vector<engine::Material> materials;
  for (const HostImage& image : images) {
    materials.push_back({.image = image, .operands = {}});
    for (const std::string& name : pipeline.operands) {
      materials.back().operands[name] = operands.at(name);
    }
  }
  check_sizes(*program, materials.front());
  const auto queue = session.make_queue();
  std::vector<Ran> out;
  if (images.size() == 1) {
    out.push_back(ran(engine::execute(*program, std::move(materials[0]), *queue), *program));
  } else if (session.max_stacked(*program, 1) >= static_cast<int>(images.size())) {
    for (engine::Outcome& outcome :
         engine::execute_stack(*session.stacked(program), std::move(materials), *queue)) {
      out.push_back(ran(std::move(outcome), *program));
    }
  }
  return out;
}

}  // namespace

bool has_level(CpuLevel level) { return cpu::has_level(level); }

bool is_required(const std::string& backend) {
  const char* required = std::getenv("IMPIPE_REQUIRE_BACKEND");
  return required != nullptr && std::string(required).find(backend) != std::string::npos;
}

bool has_device(const std::string& backend) {
  try {
    device_for({.backend = backend});
    return true;
  } catch (const Error&) {
    if (is_required(backend)) throw;
    return false;
  }
}

void close_devices() { open_devices().clear(); }

Ran run(std::string_view text, const HostImage& image,
        const std::map<std::string, HostImage>& operands, const RunOptions& options) {
  return run(pipeline::bind(pipeline::parse(text)), {image}, operands, options).front();
}

std::vector<Ran> run_stack(std::string_view text, const std::vector<HostImage>& images,
                           const std::map<std::string, HostImage>& operands,
                           const RunOptions& options) {
  return run(pipeline::bind(pipeline::parse(text)), images, operands, options);
}

Ran run(std::string_view text, const RunOptions& options) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text));
  return run(pipeline, {pipeline.make_source()}, {}, options).front();
}

std::string error_of(std::string_view text, const HostImage& image,
                     const std::map<std::string, HostImage>& operands, const RunOptions& options) {
  try {
    run(text, image, operands, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace impipe::test
