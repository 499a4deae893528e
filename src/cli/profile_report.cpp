// Writes a profile as a table and as JSON.
#include "cli/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "cli/profile_values.hpp"
#include "core/printable.hpp"

namespace impipe::cli {
namespace {

using engine::Profile;
using Kind = engine::Slice::Kind;

constexpr double mega = 1 << 20;

// What most of the threads' own time went into.
std::string busiest_part(const Profile& p) {
  double computing = p.sums.sum_of(Kind::host);
  if (!p.on_gpu()) computing = p.times.compute + p.times.help;
  const std::pair<double, std::string> parts[] = {
      {p.times.decode, "decoding"},
      {p.times.encode, "encoding"},
      {computing, p.on_gpu() ? "launches and memory" : "computing on the CPU"},
      {p.times.prepare, "looking at files"}};
  return std::max_element(std::begin(parts), std::end(parts))->second;
}

// The device that is busy most, and what is done with it; shares of the files' time.
struct Busiest {
  std::string id;
  double kernels = 0, transfers = 0;
};
Busiest busiest_device(const Profile& p) {
  Busiest most;
  for (const engine::DeviceProfile& device : p.devices) {
    const double kernels = ratio(device.times.busy, p.times.wall);
    if (!most.id.empty() && kernels <= most.kernels) continue;
    most = {device.info.id, kernels,
            ratio(std::max(device.times.upload, device.times.download), p.times.wall)};
  }
  return most;
}

std::string bound_by(const Profile& p, const Busiest& device) {
  if (p.files == 0) return "nothing was done";
  if (p.sums.wall_of(Kind::compile) > p.wall / 2) return "bound by compiling kernels";
  if (p.start_up > p.wall / 2) return "bound by start-up";
  const double threads = p.threads_working();
  const double most = p.on_gpu() ? std::max({threads, device.kernels, device.transfers}) : threads;
  if (most < 0.5) return "bound by waiting: nothing is busy half of the time";
  if (most == threads) return "bound by " + busiest_part(p);
  return most == device.kernels ? "bound by kernels" : "bound by transfers";
}

// "  read and decode    0.0721  46.2 %  #########             2 threads: 23 % of their time"
std::string bar_line(const WallBar& bar, double wall) {
  constexpr int width = 24;
  const double share = std::clamp(ratio(bar.seconds, wall), 0.0, 1.0);
  const std::string drawn(static_cast<size_t>(std::lround(share * width)), '#');
  std::string line = fmt::format("  {:<18} {:>9.4f} s {:>5.1f} %  {:<{}}  {}", bar.name,
                                 bar.seconds, 100 * share, drawn, width, bar.limit);
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// "copied on the host for the link: 3.1 of 1074 MB up, 0.0 of 1074 MB down"
std::string copies_line(const Profile& p) {
  constexpr double mega_bytes = 1e6;
  if (p.uploaded + p.downloaded == 0) return "";
  return fmt::format(
      "copied on the host for the link: {:.1f} of {:.0f} MB up, {:.1f} of {:.0f} MB down\n",
      p.copied_up / mega_bytes, p.uploaded / mega_bytes, p.copied_down / mega_bytes,
      p.downloaded / mega_bytes);
}

std::string step_lines(const engine::StepProfile& step, double copy_speed) {
  const StepFigures f = figures_of(step, copy_speed);
  const std::string share = step.seconds <= 0 || copy_speed <= 0 ? "-"
                            : f.in_cache                         ? "in cache"
                                         : fmt::format("{:.1f} %", 100 * f.share);
  std::string out =
      fmt::format("  {:>12.1f} {:>9.3g} {:>9.1f} {:>9}  {}  [{}]\n", f.us_an_image, f.launches,
                  f.speed / giga, share, printable(step.name), step.kernel);
  if (!step.apart.empty()) out += fmt::format("{:46}apart, because {}\n", "", step.apart);
  return out;
}

std::string device_lines(const Profile& p) {
  std::string out;
  const auto to = std::back_inserter(out);
  for (const engine::DeviceProfile& device : p.devices) {
    fmt::format_to(to, "  {}: {} images, busy {:.4f} s, {:.1f} % of the files' time",
                   device.info.id, device.images, device.times.busy,
                   100 * ratio(device.times.busy, p.times.wall));
    // Kernels of several queues at once, or of several threads.
    if (device.times.sum > 1.005 * device.times.busy) {
      fmt::format_to(to, " (kernels added up: {:.4f} s)", device.times.sum);
    }
    out += "\n";
    if (device.speed.copy <= 0) continue;
    fmt::format_to(to, "    {}{}; a large copy {:.1f} GB/s", device.info.name,
                   device.info.driver.empty() ? "" : ", " + device.info.driver,
                   device.speed.copy / giga);
    if (device.speed.link.up > 0) {
      fmt::format_to(to, ", transfers {:.1f} up, {:.1f} down", device.speed.link.up / giga,
                     device.speed.link.down / giga);
    }
    out += device.speed.measured
               ? ": measured after the run, in none of its times, and kept in the cache\n"
               : ": as measured " + device.speed.date + ", from the cache\n";
  }
  return out;
}

std::string memory_line(const Profile& p) {
  std::string out = fmt::format("memory at most: {:.1f} MiB, of it pictures {:.1f} MiB",
                                static_cast<double>(p.process_peak) / mega,
                                static_cast<double>(p.peak_memory) / mega);
  for (const engine::DeviceProfile& device : p.devices) {
    if (device.peak_memory == 0) continue;
    out += fmt::format("; {} {:.1f} MiB", device.info.id,
                       static_cast<double>(device.peak_memory) / mega);
  }
  return out + "\n";
}

}  // namespace

std::string profile_verdict(const Profile& p) {
  const Busiest device = busiest_device(p);
  std::string out = bound_by(p, device);
  out += fmt::format(": {} {} busy {:.0f} %", p.threads, p.threads == 1 ? "thread" : "threads",
                     100 * std::min(1.0, p.threads_working()));
  if (p.on_gpu()) {
    out += fmt::format(", {} busy {:.0f} %", device.id, 100 * std::min(1.0, device.kernels));
  }
  return out;
}

std::string profile_line(const Profile& p) {
  return fmt::format("profile: {} {} in {:.3f} s, {:.1f} files/s: {}\n", p.files,
                     p.files == 1 ? "file" : "files", p.wall,
                     ratio(static_cast<double>(p.files), p.wall), profile_verdict(p));
}

std::string profile_text(const Profile& p) {
  std::string out = profile_line(p);
  out += "wall time, and its limits:\n";
  for (const WallBar& bar : wall_bars(p)) out += bar_line(bar, p.wall);
  out += fmt::format("  {:<18} {:>9.4f} s          at the same time as something above\n",
                     "overlap", -p.overlap());
  out += bar_line({"", "unaccounted", p.unaccounted(), ""}, p.wall);
  out += copies_line(p);
  if (!p.steps.empty()) {
    out += "steps: us an image, launches, GB/s, share of a large copy's speed:\n";
    for (const engine::StepProfile& step : p.steps) {
      out += step_lines(step, p.devices.front().speed.copy);
    }
  }
  out += "devices:\n" + device_lines(p);
  return out + memory_line(p);
}

std::string profile_json(const Profile& p) { return json_line(profile_value(p)); }

}  // namespace impipe::cli
