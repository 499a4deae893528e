// A run that watches a folder, in rounds.
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "backends/registry.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/output_names.hpp"
#include "engine/run_settings.hpp"
#include "engine/run_state.hpp"
#include "engine/stack_run.hpp"
#include "engine/watching.hpp"
#include "io/files/watch.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {
namespace {

// A run over what comes into a folder: rounds, each over the files that have come meanwhile.
class WatchRun {
 public:
  // With the options that were asked for, and those that what is begun has: it comes to its end.
  WatchRun(RunState& state, Progress& progress)
      : state_(state), stop_(state.asked->stop), options_(*state.begun), progress_(progress) {}

  void run() {
    const pipeline::Pipeline& pipeline = state_.pipeline;
    const std::optional<io::OutputTarget> target = target_of(options_);
    target_ = target ? &*target : nullptr;
    check_watch_options(options_, pipeline, target_);
    check_in_place(options_, pipeline);
    check_stack_options(options_, pipeline);
    memory_ = options_.memory > 0 ? options_.memory : default_memory();
    fill_settings(state_.settings, options_, pipeline, memory_);
    backends::configure({.gpu_memory = options_.gpu_memory, .dump_folder = options_.dump_kernels});
    if (!is_automatic(options_.device)) {
      open_lanes(state_, options_, open_devices(options_.device, state_.pool), progress_,
                 state_.end);
    }
    check_likely_target();
    io::InputOptions input_options{.recursive = options_.recursive, .output_folder = {}};
    if (target_ != nullptr && target_->kind == io::OutputTarget::Kind::folder) {
      if (!options_.dry_run) io::prepare_folder(target_->folder);
      input_options.output_folder = target_->folder;
    }
    io::Watch watch(options_.watch, input_options);
    check_feeding(watch, options_, pipeline, target_);
    progress_.begin(0);
    try {
      follow(watch);
    } catch (const Error& error) {  // what was done before counts
      state_.end.error = error;
    }
  }

 private:
  // Says early what the first picture of any usual type would show. Others may be what comes.
  void check_likely_target() const {
    const ImageType type{.channels = 3};
    std::map<std::string, ImageType> operands;
    for (const auto& operand : state_.settings.operands) operands[operand->name()] = type;
    std::optional<Plan> plan;
    try {
      plan = pipeline::lower(state_.pipeline, type, operands, {.strict = false});
    } catch (const Error&) {
      return;
    }
    check_target(target_, *plan, state_.pipeline, options_);
  }

  void follow(io::Watch& watch) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds interval{100};
    WatchedNames names(watch);
    auto quiet_since = Clock::now();
    while (!stop_() && !state_.end.stopped) {
      std::vector<io::Arrival> arrivals = watch.take();
      for (const std::string& note : watch.take_notes()) progress_.note(note);
      const bool came = !arrivals.empty();
      if (came) run_round(std::move(arrivals), watch, names);
      if (came || watch.is_pending()) quiet_since = Clock::now();
      if (came) continue;
      const std::string why = watch.why_over();
      if (!why.empty()) throw Error(why, ExitCode::file_failed);
      const std::chrono::duration<double> quiet = Clock::now() - quiet_since;
      if (options_.idle > 0 && quiet.count() >= options_.idle) return;
      watch.wait(interval);
      if (reports_) reports_->tick();
      if (!reports_) progress_.tick();
    }
    state_.end.stopped = true;
  }

  // The files from their headers to their results.
  void run_round(std::vector<io::Arrival> arrivals, io::Watch& watch, WatchedNames& names) {
    WorkList& work = state_.work;
    work = work_of(std::move(arrivals));
    keep_part(work, options_);
    if (work.pictures.empty()) return;
    progress_.more(static_cast<std::int64_t>(work.pictures.size()));
    if (!probe_all(work, *state_.asked, {}, state_.settings, state_.pool, state_.infos)) return;
    note_missing_pages(work, options_, progress_);
    note_axes(work, options_, progress_);
    if (!state_.lanes) open_lanes(state_, options_, {}, progress_, state_.end);
    if (!reports_) reports_.emplace(work, *state_.lanes, state_.settings, progress_);
    plan_all(work, *state_.lanes, options_, progress_);
    settle_names(names);
    progress_.kinds(kinds_of(work.pictures, state_.settings));
    const BatchEnd batch =
        run_pictures(state_, options_, memory_, *reports_,
                     {.no_more = stop_, .first_lane = first_lane_, .tick = [&] { watch.look(); }});
    reports_->finish(batch, options_.threads, state_.end);
    if (batch.hung == 0) return;
    state_.hung.push_back(std::move(work));
    work = {};
    hung_ += batch.hung;
    first_lane_ += options_.threads + batch.hung;
    if (hung_ > max_hung) io::fail("more than ", max_hung, " files hang");
  }

  void settle_names(WatchedNames& names) {
    WorkList& work = state_.work;
    if (const Picture* planned = first_planned(work.pictures)) {
      check_target(target_, last_plan(*planned->program), state_.pipeline, options_);
    }
    const std::string renamed =
        names.settle(work, {target_, state_.pipeline, state_.settings.operands, options_});
    if (!renamed.empty()) progress_.note(renamed);
    if (!options_.dry_run) sweep_folders(work.pictures, false, names.swept());
  }

  RunState& state_;
  const std::function<bool()> stop_;
  const RunOptions& options_;
  Progress& progress_;
  const io::OutputTarget* target_ = nullptr;
  std::int64_t memory_ = 0;
  std::optional<Reports> reports_;
  int first_lane_ = 0, hung_ = 0;
};

}  // namespace

RunEnd watch_folder(RunState& state, const RunOptions& options, Progress& progress) {
  // Threads that hang may still use it.
  state.asked = state.begun = options;
  // What is begun comes to its end, but for a compiler nobody waits.
  state.begun->stop = [&state, stop = options.stop] {
    if (stop() && state.lanes && state.lanes->is_compiling()) state.leaves_compiler = true;
    return state.leaves_compiler.load();
  };
  WatchRun(state, progress).run();
  return std::move(state.end);
}

}  // namespace impipe::engine
