// Programs by image type and kernels by key, each made once.
#include "engine/session.hpp"

#include <cstdlib>
#include <utility>

#include "backends/registry.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {

Session::Session(pipeline::Pipeline pipeline, OpenDevice device, SessionOptions options)
    : pipeline_(std::move(pipeline)), device_(std::move(device)), options_(options) {}

std::shared_ptr<const Program> Session::program(const ImageType& input,
                                                const std::map<std::string, ImageType>& operands) {
  std::string types = to_string(input);
  for (const auto& [name, type] : operands) types += "; " + name + ": " + to_string(type);
  std::lock_guard lock(programs_mutex_);
  std::shared_ptr<const Program>& known = programs_[types];
  if (!known) {
    Plan lowered = pipeline::lower(pipeline_, input, operands, {.strict = options_.strict});
    Plan plan = options_.fuse ? pipeline::fuse(lowered) : pipeline::without_unread(lowered);
    auto made =
        std::make_shared<Program>(make_program(pipeline_, std::move(lowered), std::move(plan)));
    for (const Step& step : made->plan.steps) made->kernels.push_back(kernel(step.kernel));
    known = std::move(made);
  }
  return known;
}

std::shared_ptr<const Kernel> Session::kernel(const KernelSpec& spec) {
  const std::string key = spec.key();
  std::lock_guard lock(kernels_mutex_);
  std::shared_ptr<const Kernel>& known = kernels_[key];
  if (!known) known = device_.device->prepare(spec);
  return known;
}

Session& Session::on_cpu(const OutOfDeviceMemory& reason) {
  const char* required = std::getenv("IMPIPE_REQUIRE_BACKEND");
  if (required != nullptr && device().id.starts_with(required)) throw reason;
  std::lock_guard lock(cpu_mutex_);
  if (!cpu_) {
    warnings_.push_back(std::string(reason.what()) + "; such images are computed on the CPU");
    OpenDevice cpu{.device = backends::find_backend("cpu")->open(0, *device_.pool),
                   .why = "the device's memory is out",
                   .warning = "",
                   .pool = device_.pool};
    cpu_ = std::make_unique<Session>(pipeline_, std::move(cpu), options_);
  }
  return *cpu_;
}

std::vector<std::string> Session::take_warnings() {
  std::vector<std::string> all = backends::disk_cache().take_warnings();
  std::lock_guard lock(cpu_mutex_);
  for (std::string& warning : std::exchange(warnings_, {})) all.push_back(std::move(warning));
  return all;
}

}  // namespace impipe::engine
