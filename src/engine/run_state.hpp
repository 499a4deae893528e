// What a run over files, or over what comes into a folder, is made of.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/shared_pool.hpp"
#include "core/threads.hpp"
#include "engine/batch/image_infos.hpp"
#include "engine/batch/picture.hpp"
#include "engine/batch/timeline.hpp"
#include "engine/device/kept_devices.hpp"
#include "engine/device/lanes.hpp"
#include "engine/progress.hpp"
#include "engine/run_end.hpp"
#include "engine/run_options.hpp"
#include "engine/run_reports.hpp"
#include "engine/work_list.hpp"

namespace impipe::engine {

// What threads may still use that hang when the run is over.
struct RunState {
  explicit RunState(pipeline::Pipeline of) : pipeline(std::move(of)) {}
  const pipeline::Pipeline pipeline;
  WorkList work;
  PictureSettings settings;
  std::optional<MadeImage> source;
  ThreadPool own_pool{0};
  ThreadPool& pool = pool_of_run(own_pool);  // the batch's threads are its helpers
  SharedPool shared_pool{pool};
  ImageInfos infos;
  std::optional<Lanes> lanes;
  std::optional<Timeline> timeline;
  std::optional<RunOptions> asked, begun;     // of a watch, see WatchRun
  std::atomic<bool> leaves_compiler = false;  // of a watch that ends while kernels are compiled
  RunEnd end;                                 // of a watch, so far
  std::vector<WorkList> hung;                 // of a watch: those with files that hang
};

// The first picture that has a program, or null.
const Picture* first_planned(const std::vector<Picture>& pictures);

// Opens the devices that are asked for or, when every file is known, the one that is best.
void open_lanes(RunState& state, const RunOptions& options, std::vector<OpenDevice> devices,
                Progress& progress, RunEnd& end);

// How one batch of a watch differs from that of a run.
struct WatchedBatch {
  std::function<bool()> no_more;
  int first_lane = 0;
  std::function<void()> tick = [] {};
};

// The batch over the pictures. memory: bytes in flight.
BatchEnd run_pictures(RunState& state, const RunOptions& options, std::int64_t memory,
                      Reports& reports, const WatchedBatch& watched = {});

// A run whose files are those that come into a folder. Throws Error (usage) for options that don't
// go with it.
RunEnd watch_folder(RunState& state, const RunOptions& options, Progress& progress);

}  // namespace impipe::engine
