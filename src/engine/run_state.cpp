// The devices and the batch of a run.
#include "engine/run_state.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/watching.hpp"

namespace impipe::engine {

const Picture* first_planned(const std::vector<Picture>& pictures) {
  const auto found = std::find_if(pictures.begin(), pictures.end(),
                                  [](const Picture& p) { return p.program != nullptr; });
  return found == pictures.end() ? nullptr : &*found;
}

void open_lanes(RunState& state, const RunOptions& options, std::vector<OpenDevice> devices,
                Progress& progress, RunEnd& end) {
  const bool is_watch = !options.watch.empty();
  if (devices.empty()) {
    WorkCost cost = cost_of(state.work.pictures, state.pipeline, options.session);
    if (is_watch) cost = cost_of_watch(cost);
    devices.push_back(choose_device(cost, options.threads, state.pool));
  }
  for (const OpenDevice& device : devices) {
    if (!device.warning.empty()) progress.note(device.warning);
  }
  const std::string why = devices.front().why;
  // In a watch those of the threads beside one that hangs are left, too.
  const int spare = options.timeout <= 0 ? 0
                    : is_watch           ? most_hung * (options.threads + 2)
                                         : most_hung;
  Lanes& lanes = state.lanes.emplace(state.pipeline, std::move(devices), options.session,
                                     options.threads + spare);
  progress.detail(lanes.names() + ": " + why);
  state.settings.lanes = &lanes;
  end.devices = lanes.devices();
}

BatchEnd run_pictures(RunState& state, const RunOptions& options, std::int64_t memory,
                      Reports& reports, const WatchedBatch& watched) {
  std::vector<Picture>& pictures = state.work.pictures;
  PictureSettings& settings = state.settings;
  const BatchOptions batch_options{.threads = options.threads,
                                   .in_flight = options.threads + std::max(1, options.threads / 4),
                                   .memory = memory,
                                   .fail_fast = options.fail_fast,
                                   .retries = options.retries,
                                   .timeout = options.timeout,
                                   .stop = options.stop,
                                   .no_more = watched.no_more,
                                   .first_lane = watched.first_lane,
                                   .timeline = settings.timeline};
  return run_batch(
      static_cast<std::int64_t>(pictures.size()),
      [&](std::int64_t i) {
        return std::make_unique<PictureWork>(pictures[static_cast<size_t>(i)], settings);
      },
      batch_options, state.pool,
      [&](std::int64_t index, const FileWork* file, const FileEnd& end) {
        return reports.file(index, file, end);
      },
      [&] {
        watched.tick();
        reports.tick();
      });
}

}  // namespace impipe::engine
