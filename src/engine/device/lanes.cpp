// The devices of a run and the lanes of work on them.
#include "engine/device/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace impipe::engine {

Lanes::Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
             const SessionOptions& options) {
  for (OpenDevice& device : devices) {
    auto on = std::make_unique<OnDevice>();
    on->session = std::make_unique<Session>(pipeline, std::move(device), options);
    devices_.push_back(std::move(on));
  }
}

bool Lanes::has_gpu() const noexcept {
  bool has = false;
  visit_all([&](const OnDevice& on) { has = has || on.session->device().is_gpu; });
  return has;
}

void Lanes::open_later(std::function<OpenDevice()> open, const SessionOptions& options,
                       CodecsOf codecs_of, double wait) {
  const auto begin = std::chrono::steady_clock::now();
  wait_until_ = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(wait));
  const auto work = [this, open = std::move(open), options, codecs_of = std::move(codecs_of),
                     begin] {
    std::string what;
    try {
      what = join(open, options, codecs_of);
    } catch (const Error& error) {
      what = std::string("auto: ") + error.what();
    } catch (const std::bad_alloc&) {
      return;
    }
    if (what.empty()) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::lock_guard lock(mutex_);
    details_.push_back(fmt::format("{} ({:.2f} s after the start)", what, seconds.count()));
  };
  try {
    opening_ = std::async(std::launch::async, work);
  } catch (const std::system_error&) {  // no thread for it
  }
}

// Returns what is to be told.
std::string Lanes::join(const std::function<OpenDevice()>& open, const SessionOptions& options,
                        const CodecsOf& codecs_of) {
  OpenDevice device = open();
  if (is_over_) return "";
  auto on = std::make_unique<OnDevice>();
  on->session = std::make_unique<Session>(pipeline(), std::move(device), options);
  Session& session = *on->session;
  std::unique_lock lock(mutex_);
  const auto types = types_;
  lock.unlock();
  std::vector<std::shared_ptr<const Program>> programs;
  for (const Known& known : types) {
    programs.push_back(session.program(known.input, known.operands, known.display));
  }
  const std::vector<CodecKernel*> codecs =
      codecs_of ? codecs_of(session, programs) : std::vector<CodecKernel*>{};
  for (CodecKernel* codec : codecs) codec->begin();
  session.wait_for_kernels();
  for (CodecKernel* codec : codecs) codec->kernel();
  on->queues.push_back(session.make_queue());
  on->free.push_back(on->queues.front().get());
  later_ = std::move(on);
  is_there_ = later_.get();
  return "auto: " + session.device().id + " computes from now on";
}

std::string Lanes::names() const {
  std::string names;
  visit_all(
      [&](const OnDevice& on) { names += (names.empty() ? "" : ", ") + on.session->device().id; });
  return names;
}

std::vector<DeviceInfo> Lanes::devices() const {
  std::vector<DeviceInfo> infos;
  visit_all([&](const OnDevice& on) { infos.push_back(on.session->device()); });
  return infos;
}

std::vector<std::string> Lanes::take_warnings() {
  std::vector<std::string> warnings;
  visit_all([&](const OnDevice& on) {
    for (std::string& warning : on.session->take_warnings()) {
      warnings.push_back(std::move(warning));
    }
  });
  return warnings;
}

std::vector<std::string> Lanes::take_details() {
  std::lock_guard lock(mutex_);
  return std::exchange(details_, {});
}

std::shared_ptr<const Program> Lanes::program(const ImageType& input,
                                              const std::map<std::string, ImageType>& operands,
                                              const std::optional<DisplayWindow>& display) {
  {
    std::lock_guard lock(mutex_);
    const auto is_alike = [&](const Known& known) {
      return known.input == input && known.operands == operands;
    };
    if (std::none_of(types_.begin(), types_.end(), is_alike)) {
      types_.push_back({input, operands, display});
    }
  }
  for (size_t i = 1; i < devices_.size(); ++i) {
    devices_[i]->session->program(input, operands, display);
  }
  return devices_.front()->session->program(input, operands, display);
}

void Lanes::check_kernels() {
  visit_all([](const OnDevice& on) { on.session->check_kernels(); });
}

bool Lanes::is_compiling() const {
  bool is = is_opening();
  visit_all([&](const OnDevice& on) { is = is || on.session->is_compiling(); });
  return is;
}

Lanes::Turn Lanes::take() {
  const auto load = [](const OnDevice& on) { return std::pair(on.working, on.given); };
  std::unique_lock lock(mutex_);
  // The later one alone, once it is there.
  size_t device = is_there_.load() != nullptr ? devices_.size() : 0;
  for (size_t other = 1; device < devices_.size() && other < devices_.size(); ++other) {
    if (load(*devices_[other]) < load(*devices_[device])) device = other;
  }
  OnDevice& on = this->on(device);
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
  OnDevice& on = this->on(device);
  on.free.push_back(&queue);
  --on.working;
}

void Lanes::add(std::optional<size_t> device) {
  std::lock_guard lock(mutex_);
  ++(device ? on(*device).images : left_over_);
}

std::vector<Lanes::Share> Lanes::shares() const {
  std::lock_guard lock(mutex_);
  std::vector<Share> shares;
  visit_all([&](const OnDevice& on) {
    shares.push_back({on.session->device(), on.images, on.session->peak_memory()});
  });
  if (left_over_ > 0) {
    DeviceInfo cpu;
    cpu.id = "cpu";
    shares.push_back({std::move(cpu), left_over_, 0});
  }
  return shares;
}

}  // namespace impipe::engine
