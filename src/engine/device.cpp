// Chooses the device to work on.
#include <algorithm>

#include "backends/registry.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "engine/session.hpp"

namespace impipe::engine {
namespace {

const Backend& find_backend(const std::string& name) {
  std::vector<std::string> names;
  for (const Backend& backend : backends::registry()) {
    if (name == backend.name) return backend;
    names.emplace_back(backend.name);
  }
  std::string known = "auto";
  for (const std::string& n : names) known += ", " + n;
  throw Error("--backend: there is no backend '" + name + "' in this build, which has " + known +
                  did_you_mean(name, names),
              ExitCode::backend);
}

// Whether `wanted` names this device: its id, or the id's number.
bool is_named(const DeviceInfo& info, const std::string& wanted) {
  const size_t colon = info.id.find(':');
  return info.id == wanted || (colon != std::string::npos && info.id.substr(colon + 1) == wanted);
}

}  // namespace

std::vector<DeviceInfo> all_devices() {
  std::vector<DeviceInfo> all;
  for (const Backend& backend : backends::registry()) {
    for (DeviceInfo& info : backend.devices()) all.push_back(std::move(info));
  }
  return all;
}

OpenDevice open_device(const DeviceChoice& choice, ThreadPool& pool) {
  // A device's id begins with its backend's name.
  std::string name = choice.backend;
  std::string why = "--backend " + name;
  if (name == "auto" && !choice.device.empty()) {
    name = choice.device.substr(0, choice.device.find(':'));
    why = "--device " + choice.device;
  } else if (name == "auto") {
    name = "cpu";
    why = backends::registry().size() == 1 ? "auto: the only backend of this build"
                                           : "auto: the pictures are in its memory already";
  }
  const Backend& backend = find_backend(name);
  const std::vector<DeviceInfo> devices = backend.devices();
  std::string ids;
  for (size_t i = 0; i < devices.size(); ++i) {
    const DeviceInfo& info = devices[i];
    ids += (ids.empty() ? "" : ", ") + info.id;
    if (!choice.device.empty() && !is_named(info, choice.device)) continue;
    if (info.usable) return {backend.open(static_cast<int>(i), pool), why};
    if (!choice.device.empty() || i + 1 == devices.size()) {
      throw Error("--backend " + name + ": " + info.id + " cannot be used: " + info.why_not,
                  ExitCode::backend);
    }
  }
  if (devices.empty()) {
    throw Error("--backend " + name + ": no such device was found", ExitCode::backend);
  }
  throw Error("--device: there is no device '" + choice.device + "'; " + name + " has " + ids,
              ExitCode::backend);
}

}  // namespace impipe::engine
