// The devices of a run and the lanes of work on them.
#include "engine/device/lanes.hpp"

#include <algorithm>
#include <utility>

namespace impipe::engine {

Lanes::Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
             const SessionOptions& options, int threads) {
  for (OpenDevice& device : devices) {
    auto on = std::make_unique<OnDevice>();
    on->session = std::make_unique<Session>(pipeline, std::move(device), options);
    on->queues.resize(static_cast<size_t>(threads));
    devices_.push_back(std::move(on));
  }
}

std::string Lanes::names() const {
  std::string all;
  for (const auto& on : devices_) all += (all.empty() ? "" : ", ") + on->session->device().id;
  return all;
}

std::vector<DeviceInfo> Lanes::devices() const {
  std::vector<DeviceInfo> all;
  for (const auto& on : devices_) all.push_back(on->session->device());
  return all;
}

std::vector<std::string> Lanes::take_warnings() {
  std::vector<std::string> all;
  for (const auto& on : devices_) {
    for (std::string& warning : on->session->take_warnings()) all.push_back(std::move(warning));
  }
  return all;
}

std::shared_ptr<const Program> Lanes::program(const ImageType& input,
                                              const std::map<std::string, ImageType>& operands) {
  for (size_t i = 1; i < devices_.size(); ++i) devices_[i]->session->program(input, operands);
  return first().program(input, operands);
}

void Lanes::check_kernels() {
  for (const auto& on : devices_) on->session->check_kernels();
}

Lanes::Turn Lanes::take(int lane) {
  const auto load = [](const std::unique_ptr<OnDevice>& on) {
    return std::pair(on->working.load(), on->given.load());
  };
  const auto freest =
      std::min_element(devices_.begin(), devices_.end(),
                       [&](const auto& a, const auto& b) { return load(a) < load(b); });
  OnDevice& on = **freest;
  ++on.working;
  ++on.given;
  try {
    std::unique_ptr<Queue>& queue = on.queues[static_cast<size_t>(lane)];
    if (!queue) queue = on.session->make_queue();
    return {*on.session, *queue, static_cast<size_t>(freest - devices_.begin()), on.working};
  } catch (...) {
    --on.working;
    throw;
  }
}

void Lanes::add(std::optional<size_t> device) {
  std::lock_guard lock(mutex_);
  ++(device ? devices_[*device]->images : left_over_);
}

std::vector<Lanes::Share> Lanes::shares() const {
  std::lock_guard lock(mutex_);
  std::vector<Share> all;
  for (const auto& on : devices_) {
    all.push_back({on->session->device(), on->images, on->session->peak_memory()});
  }
  if (left_over_ > 0) {
    DeviceInfo cpu;
    cpu.id = "cpu";
    all.push_back({std::move(cpu), left_over_, 0});
  }
  return all;
}

}  // namespace impipe::engine
