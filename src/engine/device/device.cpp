// Chooses the device to work on.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "backends/registry.hpp"
#include "core/error.hpp"
#include "core/process_limits.hpp"
#include "core/text.hpp"
#include "engine/device/device_speed.hpp"
#include "engine/device/kept_devices.hpp"
#include "engine/device/parity.hpp"
#include "engine/device/session.hpp"

namespace impipe::engine {
namespace {

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const Backend& backend : backends::registry()) names.emplace_back(backend.name);
  return names;
}

// The end of a message about a device's name that is none.
std::string device_hint(const std::string& name, const std::vector<std::string>& names) {
  if (name == "gpu" || name == "GPU") return "; GPUs are cuda and opencl";
  return did_you_mean(name, names);
}

const Backend& find_backend(const std::string& name, const std::string& flag = "--backend") {
  if (const Backend* backend = backends::find_backend(name)) return *backend;
  const std::vector<std::string> names = backend_names();
  std::string known = flag == "--backend" ? "auto" : "";
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  throw Error(flag + ": there is no backend '" + name + "' in this build, which has " + known +
                  device_hint(name, names),
              ExitCode::backend);
}

// Whether `wanted` names this device: its id, or the id's number.
bool is_named(const DeviceInfo& info, const std::string& wanted) {
  const size_t colon = info.id.find(':');
  return info.id == wanted || (colon != std::string::npos && info.id.substr(colon + 1) == wanted);
}

// The first GPU that can be used and works as the CPU does; else why each can't.
struct FoundGpu {
  std::shared_ptr<Device> device;
  std::string why_none;
};
FoundGpu find_gpu(ThreadPool& pool) {
  FoundGpu found;
  const auto leave_out = [&](const DeviceInfo& info, const std::string& why) {
    found.why_none += (found.why_none.empty() ? "" : "; ") + info.id + ": " + why;
  };
  for (const Backend& backend : backends::registry()) {
    if (!backend.may_have_gpu()) continue;
    const std::vector<DeviceInfo> devices = backend.devices();
    for (size_t i = 0; i < devices.size(); ++i) {
      if (!devices[i].usable) {
        leave_out(devices[i], devices[i].why_not);
        continue;
      }
      if (!devices[i].is_gpu) continue;
      try {
        auto device = opened(backend, static_cast<int>(i), pool);
        const std::string wrong = verdict_on(*device, pool);
        if (wrong.empty()) {
          found.device = std::move(device);
          return found;
        }
        leave_out(devices[i], "it gets " + wrong + " wrong");
      } catch (const Error& error) {
        leave_out(devices[i], error.what());
      }
    }
  }
  if (found.why_none.empty()) found.why_none = "this machine has none";
  return found;
}

std::string seconds_text(double seconds) {
  return seconds < 0.1 ? fmt::format("{:.2g} ms", 1e3 * seconds) : fmt::format("{:.2g} s", seconds);
}

// A GPU that is kept open has its kernels, too, after a loop's first run.
CostModel model_now() {
  CostModel model;
  if (has_kept_gpu()) model.gpu_start = model.gpu_kernel = 0;
  return model;
}

// A GPU must be faster by a margin, for the end of its process and for errors of the model.
bool gpu_pays(const WorkCost& work, int threads) {
  constexpr double by = 1.25;
  const CostModel model = model_now();
  return work.cpu_seconds(model, threads) > by * work.gpu_seconds(model, threads);
}

std::unique_ptr<Device> open_cpu(ThreadPool& pool) {
  return backends::find_backend("cpu")->open(0, pool);
}

// For a device that was asked for by name: it is used all the same.
OpenDevice probed(std::shared_ptr<Device> device, std::string why, ThreadPool& pool) {
  OpenDevice open{std::move(device), std::move(why), "", &pool};
  const DeviceInfo& info = open.device->info();
  if (info.id == "cpu") return open;
  std::string wrong;
  try {
    wrong = verdict_on(*open.device, pool);
  } catch (const OutOfDeviceMemory&) {
    // Nothing is known of it then; the images for which there is no memory go to the CPU.
  }
  if (!wrong.empty()) {
    open.warning = info.id + " (" + info.name + ", " + info.driver + ") gets " + wrong +
                   " wrong: its results differ from the CPU's";
  }
  return open;
}

// The devices that `--device all` means.
std::vector<std::string> all_ids(const std::string& backend_name) {
  if (backend_name != "auto") find_backend(backend_name);  // complains about unknown names
  std::string why_none;
  for (const Backend& backend : backends::registry()) {
    const bool named = backend_name == backend.name;
    if (!named && (backend_name != "auto" || !backend.may_have_gpu())) continue;
    std::vector<std::string> gpus, usable;
    for (const DeviceInfo& info : backend.devices()) {
      if (!info.usable) {
        why_none += (why_none.empty() ? "" : "; ") + info.id + ": " + info.why_not;
        continue;
      }
      usable.push_back(info.id);
      if (info.is_gpu) gpus.push_back(info.id);
    }
    if (!gpus.empty()) return gpus;
    if (named && !usable.empty()) return usable;
  }
  throw Error("--device all: no GPU can be used: " +
                  (why_none.empty() ? "this machine has none" : why_none),
              ExitCode::backend);
}

}  // namespace

bool is_automatic(const DeviceChoice& choice) {
  return choice.backend == "auto" && choice.device.empty();
}

OpenDevice choose_device(const WorkCost& work, int threads, ThreadPool& pool) {
  const CostModel model = model_now();
  const double cpu = work.cpu_seconds(model, threads), gpu = work.gpu_seconds(model, threads);
  if (!gpu_pays(work, threads)) {
    return {open_cpu(pool),
            fmt::format("about {} of work, and a GPU would take {}, its start included",
                        seconds_text(cpu), seconds_text(gpu)),
            "", &pool};
  }
  FoundGpu found = find_gpu(pool);
  if (found.device) {
    return {std::move(found.device),
            fmt::format("about {} of work, for which the CPU would take {}", seconds_text(gpu),
                        seconds_text(cpu)),
            "", &pool};
  }
  return {open_cpu(pool), "no GPU can be used: " + found.why_none, "", &pool};
}

bool gpu_may_join(const WorkCost& work, int threads) {
  constexpr double short_enough = 0.05;  // seconds
  const CostModel model = model_now();
  const double an_image = (work.units * model.cpu_unit + work.file_seconds) /
                          (model.crowd * std::max(1.0, work.images));
  const auto& backends = backends::registry();
  return !has_kept_gpu() && gpu_pays(work, threads) && an_image < short_enough &&
         std::any_of(std::begin(backends), std::end(backends),
                     [](const Backend& backend) { return backend.may_have_gpu(); });
}

double seconds_to_wait_for_gpu(const WorkCost& work, int threads) {
  constexpr double late = 1.5;  // kernels are made from nothing, or the driver takes long: no wait
  const CostModel model = model_now();
  const double start = work.gpu_start_seconds(model);
  const double done_by_cpu = std::min(1.0, start / work.cpu_seconds(model, threads));
  const double saved = done_by_cpu * (work.gpu_seconds(model, threads) - start);
  return saved < model.gpu_held_up ? late * start : 0;
}

OpenDevice cpu_until_then(const WorkCost& work, int threads, ThreadPool& pool) {
  const CostModel model = model_now();
  return {open_cpu(pool),
          fmt::format("about {} of work, of which a GPU that is being opened would make {}",
                      seconds_text(work.cpu_seconds(model, threads)),
                      seconds_text(work.gpu_seconds(model, threads))),
          "", &pool};
}

OpenDevice open_any_gpu(ThreadPool& pool) {
  FoundGpu found = find_gpu(pool);
  if (!found.device) throw Error("no GPU can be used: " + found.why_none, ExitCode::backend);
  return {std::move(found.device), "auto", "", &pool};
}

KernelForms kernel_forms(const std::string& devices) {
  const std::string device = devices.substr(0, devices.find(','));
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() <= 3 &&
           text.find_first_not_of("0123456789") == std::string::npos;
  };
  if (device == "all" || is_number(device)) {
    for (const Backend& backend : backends::registry()) {
      if (!backend.may_have_gpu()) continue;
      const std::vector<DeviceInfo> infos = backend.devices();
      for (size_t i = 0; i < infos.size(); ++i) {
        const bool named = device == "all" || is_named(infos[i], device);
        if (named && infos[i].usable && infos[i].is_gpu) return backend.forms(static_cast<int>(i));
      }
    }
    throw Error("--device " + device + ": no such GPU can be used", ExitCode::backend);
  }
  const size_t colon = std::min(device.find(':'), device.size());
  const std::string number = colon == device.size() ? "0" : device.substr(colon + 1);
  const Backend& backend = find_backend(device.substr(0, colon), "--device");
  if (!is_number(number)) throw Error("--device: '" + device + "' is no device: cuda:0 is one");
  return backend.forms(std::stoi(number));
}

std::vector<DeviceInfo> all_devices() {
  std::vector<DeviceInfo> all;
  for (const Backend& backend : backends::registry()) {
    for (DeviceInfo& info : backend.devices()) all.push_back(std::move(info));
  }
  return all;
}

std::vector<DeviceReport> report_devices() {
  const int threads = process_limits().threads;
  ThreadPool pool(threads - 1);
  std::vector<DeviceReport> reports;
  for (const Backend& backend : backends::registry()) {
    const std::vector<DeviceInfo> devices = backend.devices();
    for (size_t i = 0; i < devices.size(); ++i) {
      DeviceReport report{.info = devices[i]};
      if (report.info.usable) {
        try {
          const auto device = backend.open(static_cast<int>(i), pool);
          report.copy_speed = speed_of(*device, threads).copy;
          const bool is_cpu = report.info.id == "cpu";
          const std::string wrong = is_cpu ? "" : parity_failure(*device, pool);
          report.info.usable = wrong.empty();
          if (!wrong.empty()) report.info.why_not = "it gets " + wrong + " wrong";
        } catch (const Error& error) {
          report.info.usable = false;
          report.info.why_not = error.what();
        }
      }
      reports.push_back(std::move(report));
    }
  }
  return reports;
}

std::vector<OpenDevice> open_devices(const DeviceChoice& choice, ThreadPool& pool) {
  std::vector<std::string> ids;
  if (choice.device == "all") {
    ids = all_ids(choice.backend);
  } else {
    std::istringstream list(choice.device);
    for (std::string id; std::getline(list, id, ',');) {
      if (id.empty()) throw Error("--device: '" + choice.device + "' has an empty name");
      ids.push_back(id);
    }
  }
  std::vector<OpenDevice> open;
  if (ids.size() <= 1 && choice.device != "all") {
    const std::string id = ids.empty() ? "" : ids.front();
    open.push_back(open_device({.backend = choice.backend, .device = id}, pool));
    return open;
  }
  for (const std::string& id : ids) {
    if (id == "all") throw Error("--device: 'all' stands alone, not in '" + choice.device + "'");
    OpenDevice device = open_device({.backend = choice.backend, .device = id}, pool);
    const std::string& opened = device.device->info().id;
    for (const OpenDevice& other : open) {
      if (other.device->info().id == opened) {
        throw Error("--device: " + opened + " is named twice in '" + choice.device + "'");
      }
    }
    device.why = "--device " + choice.device;
    open.push_back(std::move(device));
  }
  return open;
}

OpenDevice open_device(const DeviceChoice& choice, ThreadPool& pool) {
  if (choice.device == "all" || choice.device.find(',') != std::string::npos) {
    throw Error("--device: one device is wanted here, not '" + choice.device + "'");
  }
  // A device's id begins with its backend's name.
  std::string name = choice.backend;
  std::string why = "--backend " + name;
  std::string flag = "--backend " + name;
  if (name == "auto" && !choice.device.empty()) {
    name = choice.device.substr(0, choice.device.find(':'));
    flag = why = "--device " + choice.device;
    const std::vector<std::string> names = backend_names();
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw Error("--device: there is no device '" + choice.device + "'; see impipe devices" +
                      device_hint(name, names),
                  ExitCode::backend);
    }
  } else if (name == "auto") {
    name = "cpu";
    why = "auto";
  }
  const Backend& backend = find_backend(name);
  const std::vector<DeviceInfo> devices = backend.devices();
  // The processor may be among OpenCL's devices, before the cards.
  const bool has_gpu = std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& info) {
    return info.usable && info.is_gpu;
  });
  // "cuda" alone is the backend's first card, as --backend has it.
  const bool any = choice.device.empty() || choice.device == name;
  std::string ids;
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i];
    ids += (ids.empty() ? "" : ", ") + info.id;
    if (!any && !is_named(info, choice.device)) continue;
    if (any && has_gpu && !info.is_gpu) continue;
    if (info.usable) return probed(opened(backend, static_cast<int>(i), pool), why, pool);
    if (!any || i + 1 == devices.size()) {
      throw Error(flag + ": " + info.id + " cannot be used: " + info.why_not, ExitCode::backend);
    }
  }
  if (devices.empty()) {
    throw Error(flag + ": no such device was found", ExitCode::backend);
  }
  std::string there = name + " has " + ids;
  if (const DeviceInfo& only = devices.front(); !only.usable && devices.size() == 1) {
    there = only.id + " cannot be used: " + only.why_not;
  }
  throw Error("--device: there is no device '" + choice.device + "'; " + there, ExitCode::backend);
}

}  // namespace impipe::engine
