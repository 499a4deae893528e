// Writes a profile as a table and as JSON.
#include "cli/profile_report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace impipe::cli {
namespace {

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }
constexpr double giga = 1e9;

}  // namespace

std::string profile_text(const engine::Profile& p) {
  std::string out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "profile: {} files, {} threads, {:.3f} s; thread seconds:\n", p.files,
                 p.threads, p.start_up + p.times.wall);
  const auto line = [&](const char* name, double seconds) {
    fmt::format_to(to, "  {:<12} {:>9.4f} s  {:>5.1f} %\n", name, seconds,
                   percent(seconds, p.total()));
  };
  line("start-up", p.start_up);
  line("headers", p.times.prepare);
  line("decode", p.times.decode);
  line("compute", p.times.compute);
  line("help", p.times.help);
  line("encode", p.times.encode);
  line("wait", p.times.wait);
  line("unaccounted", p.unaccounted());
  fmt::format_to(
      to,
      "compute, by step (floor: moving its bytes at {:.1f} GB/s, the device's copying speed):\n",
      p.copy_speed / giga);
  for (const engine::StepProfile& step : p.steps) {
    fmt::format_to(to, "  {:>9.4f} s  {:>6.1f} GB/s  {:>5.1f} % of the floor's speed  {}  [{}]\n",
                   step.seconds, step.seconds > 0 ? step.bytes / step.seconds / giga : 0,
                   percent(step.floor, step.seconds), step.name, step.kernel);
  }
  fmt::format_to(to, "  {:>9.4f} s  transfer to and from the device\n", p.transfer);
  if (p.compiled + p.cached > 0) {
    fmt::format_to(to, "  {:>9.4f} s  waiting for kernels to be compiled\n", p.kernel_wait);
  }
  fmt::format_to(to, "  {:>9.4f} s  the host's part: memory and launches\n", p.host());
  fmt::format_to(to, "lanes: a thread is busy for {:.4f} s, the files take {:.2f} x that\n",
                 p.thread_busy(), p.thread_busy() > 0 ? p.times.wall / p.thread_busy() : 0);
  for (const engine::Lanes::Share& share : p.devices) {
    fmt::format_to(to, "  {}: {} images, {:.4f} s in kernels, all its queues together\n",
                   share.device, share.work.images, share.work.kernels);
  }
  if (p.compiled + p.cached > 0) {
    fmt::format_to(to, "kernels: compiled {}, cached {}, {:.1f} ms\n", p.compiled, p.cached,
                   1e3 * p.compile);
  }
  fmt::format_to(to, "memory of pictures at most: {:.1f} MiB\n",
                 static_cast<double>(p.peak_memory) / (1 << 20));
  return out;
}

std::string profile_json(const engine::Profile& p) {
  nlohmann::ordered_json json{{"files", p.files},
                              {"threads", p.threads},
                              {"wall_s", p.start_up + p.times.wall},
                              {"thread_s", p.total()},
                              {"start_up_s", p.start_up},
                              {"headers_s", p.times.prepare},
                              {"decode_s", p.times.decode},
                              {"compute_s", p.times.compute},
                              {"help_s", p.times.help},
                              {"encode_s", p.times.encode},
                              {"wait_s", p.times.wait},
                              {"unaccounted_s", p.unaccounted()},
                              {"kernels_compiled", p.compiled},
                              {"kernels_cached", p.cached},
                              {"kernels_s", p.compile},
                              {"kernels_wait_s", p.kernel_wait},
                              {"transfer_s", p.transfer},
                              {"host_s", p.host()},
                              {"copy_bytes_per_s", p.copy_speed},
                              {"peak_picture_bytes", p.peak_memory},
                              {"estimated_picture_bytes", p.estimated},
                              {"steps", nlohmann::ordered_json::array()}};
  json["thread_busy_s"] = p.thread_busy();
  json["files_s"] = p.times.wall;
  for (const engine::Lanes::Share& share : p.devices) {
    json["devices"].push_back(
        {{"id", share.device}, {"images", share.work.images}, {"kernels_s", share.work.kernels}});
  }
  for (const engine::StepProfile& step : p.steps) {
    json["steps"].push_back({{"stages", step.name},
                             {"kernel", step.kernel},
                             {"runs", step.runs},
                             {"seconds", step.seconds},
                             {"bytes", step.bytes},
                             {"floor_s", step.floor}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace impipe::cli
