// The figures of a profile.
#include "cli/profile_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/profile_report.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::cli {
namespace {

using engine::Profile;
using Json = nlohmann::ordered_json;
using Kind = engine::Slice::Kind;

std::string of_threads(const Profile& p, double seconds) {
  return fmt::format("{} {}: {:.0f} % of their time", p.threads,
                     p.threads == 1 ? "thread" : "threads",
                     100 * ratio(seconds, p.threads * p.times.wall));
}

// "1.2 of 21.0 GB/s, a large copy"; never more than all of it.
std::string of_speed(double bytes, double seconds, double limit, const char* what) {
  if (limit <= 0 || seconds <= 0) return "";
  if (bytes / seconds > limit) {
    return fmt::format("{:.2g} GB/s, in a cache: {} {:.2g}", bytes / seconds / giga, what,
                       limit / giga);
  }
  return fmt::format("{:.2g} of {:.2g} GB/s, {}", bytes / seconds / giga, limit / giga, what);
}

Json device_value(const Profile& p, const engine::DeviceProfile& device) {
  const engine::DeviceSpeed& speed = device.speed;
  return {{"id", device.info.id},
          {"name", device.info.name},
          {"driver", device.info.driver},
          {"gpu", device.info.is_gpu},
          {"images", device.images},
          {"busy_s", device.times.busy},
          {"busy_share", ratio(device.times.busy, p.times.wall)},
          {"kernels_s", device.times.sum},
          {"upload_s", device.times.upload},
          {"download_s", device.times.download},
          {"peak_bytes", device.peak_memory},
          {"copy_bytes_per_s", speed.copy},
          {"upload_bytes_per_s", speed.link.up},
          {"download_bytes_per_s", speed.link.down},
          {"copy_measured", speed.date},
          {"copy_from_cache", !speed.measured && !speed.date.empty()}};
}

Json step_value(const engine::StepProfile& step, double copy_speed) {
  const StepFigures f = figures_of(step, copy_speed);
  return {{"stages", step.name},           {"kernel", step.kernel},
          {"apart", step.apart},           {"runs", step.runs},
          {"launches", step.launches},     {"seconds", step.seconds},
          {"us_per_image", f.us_an_image}, {"bytes", step.bytes},
          {"bytes_per_s", f.speed},        {"floor_s", step.floor},
          {"share_of_copy", f.share},      {"in_cache", f.in_cache}};
}

Json wall_value(const Profile& p) {
  Json wall = Json::object();
  for (const WallBar& bar : wall_bars(p)) {
    wall[bar.key] = {{"name", bar.name},
                     {"seconds", bar.seconds},
                     {"share", ratio(bar.seconds, p.wall)},
                     {"limit", bar.limit}};
  }
  return wall;
}

Json run_value(const Profile& p) {
  return {{"program", "impipe"},
          {"version", IMPIPE_VERSION},
          {"date", engine::utc_now()},
          {"verdict", profile_verdict(p)},
          {"pipeline", p.pipeline},
          {"fused", p.fused},
          {"inputs", p.inputs},
          {"output", p.output},
          {"files", p.files},
          {"failed", p.failed},
          {"skipped", p.skipped},
          {"image",
           {{"class", name_of(p.type.cls)},
            {"channels", p.type.channels},
            {"width", p.size.width},
            {"height", p.size.height}}},
          {"threads", p.threads},
          {"wall_s", p.wall},
          {"files_s", p.times.wall},
          {"files_per_s", ratio(static_cast<double>(p.files), p.wall)}};
}

}  // namespace

StepFigures figures_of(const engine::StepProfile& step, double copy_speed) {
  StepFigures f;
  const auto images = static_cast<double>(step.runs);
  f.us_an_image = 1e6 * ratio(step.seconds, images);
  f.launches = ratio(static_cast<double>(step.launches), images);
  f.speed = ratio(step.bytes, step.seconds);
  f.in_cache = copy_speed > 0 && f.speed > copy_speed;
  f.share = std::min(1.0, ratio(f.speed, copy_speed));
  return f;
}

std::vector<WallBar> wall_bars(const Profile& p) {
  std::vector<WallBar> bars;
  const auto add = [&](Kind kind, const char* key, const std::string& limit) {
    const double seconds = p.sums.wall_of(kind);
    if (seconds > 0) bars.push_back({key, std::string(name_of(kind)), seconds, limit});
  };
  const engine::DeviceProfile none;
  const engine::DeviceProfile& device = p.devices.empty() ? none : p.devices.front();
  double bytes = 0;
  for (const engine::StepProfile& step : p.steps) bytes += step.bytes;
  const auto transfer = [&](Kind kind, double moved, double limit) {
    return of_speed(moved, p.sums.wall_of(kind), limit, "large transfers");
  };
  add(Kind::start_up, "start_up", "one thread: lists, headers, devices");
  add(Kind::compile, "compile",
      fmt::format("{} kernels compiled, {} from the cache", p.compiled, p.cached));
  add(Kind::kernel_wait, "kernel_wait", "threads that have an image for a kernel");
  add(Kind::headers, "headers", of_threads(p, p.times.prepare));
  add(Kind::decode, "decode", of_threads(p, p.times.decode));
  add(Kind::upload, "upload", transfer(Kind::upload, p.uploaded, device.speed.link.up));
  add(Kind::kernel, "kernels",
      of_speed(bytes, p.sums.wall_of(Kind::kernel), device.speed.copy, "a large copy"));
  add(Kind::download, "download", transfer(Kind::download, p.downloaded, device.speed.link.down));
  add(Kind::host, "host", of_threads(p, p.sums.sum_of(Kind::host)));
  add(Kind::help, "help", of_threads(p, p.times.help));
  add(Kind::encode, "encode", of_threads(p, p.times.encode));
  add(Kind::finish, "finish", "one thread: the last report, threads that end");
  return bars;
}

Json profile_value(const Profile& p) {
  Json json = run_value(p);
  json["wall"] = wall_value(p);
  json["overlap_s"] = p.overlap();
  json["unaccounted_s"] = p.unaccounted();
  json["threads_busy"] = p.threads_working();
  json["thread_s"] = p.total();
  json["thread_seconds"] = {{"start_up", p.start_up},   {"headers", p.times.prepare},
                            {"decode", p.times.decode}, {"compute", p.times.compute},
                            {"help", p.times.help},     {"encode", p.times.encode},
                            {"wait", p.times.wait},     {"unaccounted", p.thread_unaccounted()}};
  json["kernels_compiled"] = p.compiled;
  json["kernels_cached"] = p.cached;
  json["kernels_s"] = p.compile;
  json["kernels_wait_s"] = p.sums.sum_of(Kind::kernel_wait);
  json["uploaded_bytes"] = p.uploaded;
  json["downloaded_bytes"] = p.downloaded;
  json["copied_up_bytes"] = p.copied_up;
  json["copied_down_bytes"] = p.copied_down;
  json["peak_picture_bytes"] = p.peak_memory;
  json["peak_process_bytes"] = p.process_peak;
  json["estimated_picture_bytes"] = p.estimated;
  json["devices"] = Json::array();
  for (const engine::DeviceProfile& device : p.devices) {
    json["devices"].push_back(device_value(p, device));
  }
  json["steps"] = Json::array();
  for (const engine::StepProfile& step : p.steps) {
    json["steps"].push_back(step_value(step, p.devices.front().speed.copy));
  }
  json["plan"] = p.plan;
  return json;
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace impipe::cli
