#include "api/pipeline_session.hpp"

#include <future>

#include "core/error.hpp"
#include "core/process_limits.hpp"
#include "engine/batch/free_memory.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/parser.hpp"

namespace impipe::api {
namespace {

int thread_count(int asked) {
  constexpr int most = 1024;
  if (asked < 0 || asked > most) {
    throw Error("threads: " + std::to_string(asked) + " is not from 0 to " + std::to_string(most));
  }
  return asked > 0 ? asked : process_limits().threads;
}

std::int64_t byte_count(std::int64_t asked) {
  if (asked < 0) throw Error("memory: " + std::to_string(asked) + " is less than 0");
  return asked > 0 ? asked : engine::default_memory();
}

// A pipeline says nothing of how many images will come, so that `auto` cannot weigh the work.
std::vector<engine::OpenDevice> open_devices(const std::string& device, ThreadPool& pool) {
  if (device != "auto") return engine::open_devices({.device = device}, pool);
  std::vector<engine::OpenDevice> devices;
  try {
    devices.push_back(engine::open_any_gpu(pool));
  } catch (const Error&) {
    devices.push_back(engine::open_device({.device = "cpu"}, pool));
  }
  return devices;
}

// In another thread: the caller's may have a context of the driver, which opening would replace.
std::vector<engine::OpenDevice> devices_of(const std::string& device, ThreadPool& pool) {
  return std::async(std::launch::async, [&] { return open_devices(device, pool); }).get();
}

pipeline::Pipeline checked(const std::string& text, const engine::Sandbox& sandbox) {
  pipeline::Pipeline out = pipeline::bind(pipeline::parse(text));
  engine::check_files(out, sandbox);
  if (const pipeline::BoundStage* stage = out.file_reduction()) {
    throw error_at(text, stage->span,
                   "stack makes one image of several files, and here are none; `project` makes one "
                   "of an image's pages");
  }
  return out;
}

}  // namespace

DeviceSession::DeviceSession(const SessionSettings& settings)
    : pool_(thread_count(settings.threads) - 1),
      is_strict_(settings.strict),
      memory_(byte_count(settings.memory)),
      sandbox_(engine::make_sandbox(settings.sandbox)),
      devices_(devices_of(settings.device, pool_)) {}

Device* DeviceSession::one_device() const {
  if (devices_.size() > 1) {
    throw Error("images in a device's memory need a session of one device, and this one has " +
                device_names());
  }
  Device* const device = devices_.front().device.get();
  return device->info().id == "cpu" ? nullptr : device;
}

std::vector<std::shared_ptr<void>> DeviceSession::as_guest() const {
  std::vector<std::shared_ptr<void>> guests;
  for (const engine::OpenDevice& open : devices_) guests.push_back(open.device->as_guest());
  return guests;
}

std::string DeviceSession::device_names() const {
  std::string names;
  for (const engine::OpenDevice& open : devices_) {
    names += (names.empty() ? "" : ", ") + open.device->info().id;
  }
  return names;
}

BoundPipeline::BoundPipeline(std::shared_ptr<DeviceSession> session, const std::string& text)
    : session_(std::move(session)),
      lanes_(checked(text, session_->sandbox()), session_->devices(),
             {.strict = session_->is_strict()}) {}

std::string BoundPipeline::plan_text(const ImageType& input,
                                     const std::map<std::string, ImageType>& operands) {
  const auto first = lanes_.program(input, operands);
  std::vector<pipeline::ExplainedPart> parts;
  for (const engine::Program* part = first.get(); part != nullptr;) {
    pipeline::ExplainedPart& explained = parts.emplace_back(
        pipeline::ExplainedPart{part->plan, part->lowered, nullptr, std::nullopt});
    if (!part->then) break;
    explained.reduction = part->then->reduction;
    explained.reduction_stage = part->then->stage;
    part = part->then->program.get();
  }
  return pipeline::explain(pipeline(), parts);
}

}  // namespace impipe::api
