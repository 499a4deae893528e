// Writes what went on when, for Perfetto and chrome://tracing.
#include <algorithm>
#include <set>
#include <vector>

#include "cli/profile_report.hpp"
#include "cli/profile_values.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::cli {
namespace {

using engine::Profile;
using engine::Slice;
using Json = nlohmann::ordered_json;
using Kind = Slice::Kind;

// Processes of the trace.
constexpr int threads_process = 1, compiler_process = 2, first_device = 3;

// Where a slice is drawn. Kernels are compiled by threads that come and go: each takes the first
// lane that is free.
class Places {
 public:
  std::pair<int, int> of(const Slice& slice) {
    if (slice.device >= 0) return {first_device + slice.device, slice.lane + 1};
    if (slice.kind == Kind::start_up || slice.kind == Kind::finish) return {threads_process, 0};
    if (slice.kind != Kind::compile) return {threads_process, slice.lane + 1};
    auto lane =
        std::find_if(ends_.begin(), ends_.end(), [&](double end) { return end <= slice.begin; });
    if (lane == ends_.end()) lane = ends_.insert(ends_.end(), 0);
    *lane = slice.end;
    return {compiler_process, static_cast<int>(lane - ends_.begin()) + 1};
  }

 private:
  std::vector<double> ends_;
};

Json name_event(const char* what, int process, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

Json slice_event(const Profile& p, const Slice& slice, std::pair<int, int> place) {
  std::string name(name_of(slice.kind));
  if (slice.step >= 0) name = p.steps[static_cast<size_t>(slice.step)].name;
  Json args = Json::object();
  if (slice.file >= 0) args["file"] = p.names[static_cast<size_t>(slice.file)];
  constexpr double micro = 1e6;
  return {{"ph", "X"},
          {"name", name},
          {"cat", name_of(slice.kind)},
          {"ts", micro * slice.begin},
          {"dur", micro * (slice.end - slice.begin)},
          {"pid", place.first},
          {"tid", place.second},
          {"args", std::move(args)}};
}

}  // namespace

std::string profile_trace(const Profile& p) {
  std::vector<Slice> slices = p.slices;
  std::sort(slices.begin(), slices.end(),
            [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
  Json events = Json::array();
  Places places;
  std::set<std::pair<int, int>> used;
  for (const Slice& slice : slices) {
    const auto place = places.of(slice);
    used.insert(place);
    events.push_back(slice_event(p, slice, place));
  }
  for (const auto& [process, thread] : used) {
    const bool is_device = process >= first_device;
    const size_t device = static_cast<size_t>(process - first_device);
    const std::string name = process == threads_process    ? "threads"
                             : process == compiler_process ? "compiler"
                             : device < p.devices.size()
                                 ? p.devices[device].info.id + " " + p.devices[device].info.name
                                 : "cpu";
    events.push_back(name_event("process_name", process, thread, name));
    const std::string number = std::to_string(thread - 1);
    events.push_back(
        name_event("thread_name", process, thread,
                   thread == 0 ? "main" : (is_device ? "queue of thread " : "thread ") + number));
  }
  Json trace{{"traceEvents", std::move(events)},
             {"displayTimeUnit", "ms"},
             {"otherData",
              {{"program", "impipe " IMPIPE_VERSION},
               {"date", engine::utc_now()},
               {"pipeline", p.pipeline},
               {"complete", !p.slices_cut}}}};
  return json_line(trace);
}

}  // namespace impipe::cli
