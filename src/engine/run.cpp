// The main job: lists the inputs, settles every output before any work, runs the batch.
#include "engine/run.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <set>
#include <system_error>
#include <utility>

#include "backends/registry.hpp"
#include "core/kept_bytes.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/device/kept_devices.hpp"
#include "engine/output_names.hpp"
#include "engine/run_profile.hpp"
#include "engine/run_settings.hpp"
#include "engine/run_state.hpp"
#include "engine/stack_run.hpp"
#include "io/files/atomic_file.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace impipe::engine {
namespace {

// A run over the files that are there when it begins, stage by stage.
class FilesRun {
 public:
  FilesRun(RunState& state, const RunOptions& options, Progress& progress)
      : state_(state),
        work_(state.work),
        settings_(state.settings),
        options_(options),
        progress_(progress) {}

  RunEnd run() {
    settle_options();
    // A card's driver and context take longer than a thousand files' headers.
    std::future<std::vector<OpenDevice>> opening = begin_opening();
    bool has_work = false;
    try {
      has_work = find_work();
    } catch (...) {
      opening.get();  // what is wrong with a device is told first
      throw;
    }
    std::vector<OpenDevice> devices = opening.get();
    if (!has_work) return std::move(end_);
    open_lanes(state_, options_, std::move(devices), progress_, end_);
    // Groups of pictures give their files' buffers back together.
    if (state_.lanes->first().device().is_gpu) {
      keep_at_most(static_cast<std::size_t>(memory_ / 16));
    }
    plan_all(work_, *state_.lanes, options_, progress_);
    if (options_.hash && std::ranges::none_of(work_.pictures, has_pixels)) {
      progress_.note(
          "--hash is of pixels, and the pipeline ends in a measurement: none is printed");
    }
    if (state_.pipeline.file_reduction() != nullptr) {
      if (options_.profile) begin_timeline();
      end_profile(run_stack(state_, options_, target(), memory_, progress_, end_));
      end_.devices = state_.lanes->devices();
      return std::move(end_);
    }
    settle_outputs();
    begin();
    const BatchEnd batch = run_batch_of_files();
    end_profile(batch);
    return std::move(end_);
  }

 private:
  // Whether the result of a picture is an image; so it may be where it is not known.
  static bool has_pixels(const Picture& picture) {
    return !picture.program || last_plan(*picture.program).writes_image;
  }

  // What the command line alone decides.
  void settle_options() {
    target_ = target_of(options_);
    check_in_place(options_, state_.pipeline);
    check_stack_options(options_, state_.pipeline);
    memory_ = options_.memory > 0 ? options_.memory : default_memory();
    fill_settings(settings_, options_, state_.pipeline, memory_);
    settings_.pool = &state_.pool;
    if (state_.pipeline.has_source()) {
      state_.source = pipeline::checked_source(state_.pipeline, options_.max_pixels);
    }
  }

  // Opens those that are asked for, while files are looked at; none where the choice is ours.
  std::future<std::vector<OpenDevice>> begin_opening() {
    // How many files a process does that does several runs, nobody knows.
    backends::configure({.gpu_memory = options_.gpu_memory,
                         .dump_folder = options_.dump_kernels,
                         .max_files = keeps_devices() ? 0 : max_files(options_)});
    use_kept_devices(options_.gpu_memory == 0 && options_.dump_kernels.empty());
    const auto open = [this]() -> std::vector<OpenDevice> {
      if (is_automatic(options_.device)) return {};
      return open_devices(options_.device, state_.pool);
    };
    if (!is_automatic(options_.device)) {
      try {
        return std::async(std::launch::async, open);
      } catch (const std::system_error&) {  // no thread for it
      }
    }
    return std::async(std::launch::deferred, open);
  }

  // What there is to do, as far as headers tell; false when there is nothing.
  bool find_work() {
    list_files();
    if (work_.pictures.empty()) {
      end_.nothing_found = work_.skipped == 0;
      return false;
    }
    choose_files();
    end_.stopped = !probe_all(work_, options_, state_.source, settings_, state_.pool, state_.infos);
    if (!state_.source) {
      note_missing_pages(work_, options_, progress_);
      note_axes(work_, options_, progress_);
      note_single_pages(work_, state_.pipeline, progress_);
    }
    return !end_.stopped;
  }

  void list_files() {
    work_ = list_work(options_, state_.pipeline, target(), progress_);
    end_.skipped = work_.skipped;
    for (const io::InputProblem& problem : work_.unmatched) progress_.note(problem.reason);
  }

  // The frames and the part that are asked for.
  void choose_files() {
    number_frames(work_, options_, progress_);
    if (names_are_apart(work_, target(), state_.pipeline)) keep_part(work_, options_);
  }

  // Every name a result will have, and the folders they go to.
  void settle_outputs() {
    order_slices(work_, target(), progress_);
    if (const Picture* planned = first_planned(work_.pictures)) {
      check_target(target(), last_plan(*planned->program), state_.pipeline, options_);
    }
    const std::string renamed = name_outputs(
        work_.inputs, work_.pictures, {target(), state_.pipeline, settings_.operands, options_});
    if (!renamed.empty()) progress_.note(renamed);
    const bool in_folder = target_ && target_->kind == io::OutputTarget::Kind::folder;
    if (in_folder && !options_.dry_run) io::prepare_folder(target_->folder);
    keep_part(work_, options_);
    std::set<std::string> swept;
    if (!options_.dry_run) sweep_folders(work_.pictures, options_.in_place, swept);
    work_.inputs = std::vector<io::Input>();
    // The tables that found names used twice were many times larger than what stays of them.
    return_free_memory();
  }

  // The start-up is over.
  void begin() {
    progress_.detail(std::to_string(options_.threads) + " threads, at most " +
                     memory_text(memory_) + " in flight");
    // Without --memory a picture that takes more than there is fails before its work.
    if (options_.memory > 0) tell_too_large(work_.pictures, settings_, progress_);
    if (options_.profile) begin_timeline();
    progress_.kinds(kinds_of(work_.pictures, settings_));
    progress_.begin(static_cast<std::int64_t>(work_.pictures.size()));
  }

  void begin_timeline() {
    const double start = std::chrono::duration<double>(options_.start.time_since_epoch()).count();
    settings_.timeline = &state_.timeline.emplace(start, options_.profile_slices);
    state_.timeline->add({.kind = Slice::Kind::start_up, .begin = start, .end = steady_seconds()});
  }

  BatchEnd run_batch_of_files() {
    Reports reports(work_, *state_.lanes, settings_, progress_);
    BatchEnd batch = run_pictures(state_, options_, memory_, reports);
    state_.lanes->stop_opening();
    end_.devices = state_.lanes->devices();
    reports.finish(batch, options_.threads, end_);
    return batch;
  }

  // Everything but the measuring of limits is over.
  void end_profile(const BatchEnd& batch) {
    if (!state_.timeline) return;
    Timeline& timeline = *state_.timeline;
    const double now = steady_seconds();
    timeline.add({.kind = Slice::Kind::finish, .begin = timeline.last_end(), .end = now});
    Profile profile = make_profile(batch, settings_, options_, work_.pictures);
    profile.wall = now - timeline.start();
    if (!threads_hang() && !state_.lanes->is_compiling()) add_limits(profile, *settings_.lanes);
    end_.measuring = steady_seconds() - now;
    end_.profile = std::move(profile);
  }

  const io::OutputTarget* target() const { return target_ ? &*target_ : nullptr; }

  RunState& state_;
  WorkList& work_;
  PictureSettings& settings_;
  const RunOptions& options_;
  Progress& progress_;
  std::optional<io::OutputTarget> target_;
  std::int64_t memory_ = 0;
  RunEnd end_;
};

// There was no memory for what all files need: each of which nothing was told yet fails by name.
// Where there is none, the exception that is being handled goes on.
RunEnd fail_untold(RunState& state, const RunOptions& options, Progress& progress) {
  WorkList& work = state.work;
  RunEnd end = std::move(state.end);
  end.failed += work.told_failed;
  const std::int64_t failed_before = end.failed;
  const auto fail_by_name = [&](const std::string& name, std::string_view stage) {
    progress.out_of_memory(name, stage);
    ++end.failed;
  };
  if (work.pictures.empty()) {
    for (const std::string& input : options.inputs) fail_by_name(input, "list");
    if (!options.files_from.empty()) fail_by_name(options.files_from, "list");
  }
  for (; work.told < static_cast<std::int64_t>(work.pictures.size()); ++work.told) {
    fail_by_name(work.pictures[static_cast<size_t>(work.told)].path, "plan");
  }
  if (end.failed == failed_before) throw;
  return end;
}

std::atomic<bool> something_stays = false;

// Or will be.
bool is_on_gpu(const RunState& state) noexcept {
  return state.lanes && (state.lanes->is_opening() || state.lanes->has_gpu());
}

// Whether a run that is to stop would have to wait for a compiler.
bool is_left_compiling(const RunState& state, const RunOptions& options) {
  return options.stop() && state.lanes && state.lanes->is_compiling();
}

// Threads that hang may still use it: then it stays. So does what a GPU holds when the process
// ends: the system takes it back in less time than its driver does piece by piece. Nor is a
// compiler waited for after a signal.
struct RunStateDeleter {
  const RunOptions& options;
  void operator()(RunState* state) const {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr bool may_stay = false;
#else
    const bool may_stay = !keeps_devices();
#endif
    const bool stays = options.process_ends &&
                       ((may_stay && is_on_gpu(*state)) || is_left_compiling(*state, options));
    if (!threads_hang() && !stays) {
      delete state;
      return;
    }
    something_stays = true;
#ifdef __SANITIZE_ADDRESS__
    __lsan_ignore_object(state);
#endif
  }
};

}  // namespace

void remove_temporaries() noexcept { io::remove_temporaries(); }

bool must_end_at_once() noexcept { return something_stays || threads_hang(); }

RunEnd run(pipeline::Pipeline pipeline, const RunOptions& options, Progress& progress) {
  map_large_buffers();
  const std::unique_ptr<RunState, RunStateDeleter> state(new RunState(std::move(pipeline)),
                                                         {options});
  try {
    if (!options.watch.empty()) return watch_folder(*state, options, progress);
    return FilesRun(*state, options, progress).run();
  } catch (const std::bad_alloc&) {
    return fail_untold(*state, options, progress);
  }
}

}  // namespace impipe::engine
