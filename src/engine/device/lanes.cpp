// The devices of a run and the lanes of work on them.
#include "engine/device/lanes.hpp"

#include <algorithm>
#include <utility>

namespace impipe::engine {

Lanes::Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
             const SessionOptions& options) {
  for (OpenDevice& device : devices) {
    auto on = std::make_unique<OnDevice>();
    on->session = std::make_unique<Session>(pipeline, std::move(device), options);
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

Lanes::Turn Lanes::take() {
  const auto load = [](const std::unique_ptr<OnDevice>& on) {
    return std::pair(on->working, on->given);
  };
  std::unique_lock lock(mutex_);
  const auto freest =
      std::min_element(devices_.begin(), devices_.end(),
                       [&](const auto& a, const auto& b) { return load(a) < load(b); });
  OnDevice& on = **freest;
  const auto device = static_cast<size_t>(freest - devices_.begin());
  Queue* queue = nullptr;
  if (!on.free.empty()) {
    queue = on.free.back();
    on.free.pop_back();
  }
  ++on.working;
  ++on.given;
  lock.unlock();
  if (queue != nullptr) return {*this, *on.session, *queue, device};
  try {
    std::unique_ptr<Queue> made = on.session->make_queue();
    lock.lock();
    on.free.reserve(on.queues.size() + 1);  // to give it back takes no memory
    queue = on.queues.emplace_back(std::move(made)).get();
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    --on.working;
    throw;
  }
  return {*this, *on.session, *queue, device};
}

void Lanes::give_back(size_t device, Queue& queue) noexcept {
  std::lock_guard lock(mutex_);
  OnDevice& on = *devices_[device];
  on.free.push_back(&queue);
  --on.working;
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
