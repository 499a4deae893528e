// impipe devices: what can be computed on.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/standard_output.hpp"
#include "engine/device/session.hpp"

namespace impipe::cli {
namespace {

int list_devices(bool as_json) {
  const std::vector<engine::DeviceReport> reports = engine::report_devices();
  if (as_json) {
    auto json = nlohmann::ordered_json::array();
    for (const auto& [device, copy_speed] : reports) {
      json.push_back({{"id", device.id},
                      {"name", device.name},
                      {"driver", device.driver},
                      {"memory", device.memory},
                      {"copy_bytes_per_s", copy_speed},
                      {"gpu", device.is_gpu},
                      {"doubles", device.doubles},
                      {"usable", device.usable},
                      {"why_not", device.why_not}});
    }
    write_stdout(json.dump(2) + "\n");
    return 0;
  }
  std::string out;
  for (const auto& [device, copy_speed] : reports) {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "{:<10} {}", device.id, device.name);
    if (device.memory > 0) {
      fmt::format_to(to, ", {:.1f} GiB", static_cast<double>(device.memory) / (1 << 30));
    }
    if (!device.driver.empty()) out += ", " + device.driver;
    if (copy_speed > 0) fmt::format_to(to, ", copies at {:.0f} GB/s", copy_speed / 1e9);
    if (!device.doubles) out += ", no double precision: computed by integers";
    if (!device.usable) out += "\n           not usable: " + device.why_not;
    out += "\n";
  }
  write_stdout(out);
  return 0;
}

}  // namespace

void add_devices(CommandSet& commands) {
  Command& command = commands.add("devices");
  command.usage = "impipe devices";
  command.summary = "List the devices that can be computed on";
  auto as_json = std::make_shared<bool>(false);
  flag(command.app, "--json", *as_json, "As JSON");
  command.run = [as_json] { return list_devices(*as_json); };
}

}  // namespace impipe::cli
