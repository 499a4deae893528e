// The main job: lists the inputs, settles every output before any work, runs the batch.
#include "engine/run.hpp"

#include "engine/object_text.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "backends/registry.hpp"
#include "engine/free_memory.hpp"
#include "engine/output_names.hpp"
#include "engine/run_profile.hpp"
#include "engine/watching.hpp"
#include "engine/work_list.hpp"
#include "io/atomic_file.hpp"
#include "io/unread_formats.hpp"
#include "io/watch.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {
namespace {

std::optional<io::OutputTarget> target_of(const RunOptions& options) {
  std::optional<io::Format> format;
  if (!options.format.empty()) {
    format = io::written_format(options.format);
    if (!format) {
      throw Error("--format: '" + options.format + "' is no known format; there are " +
                  io::written_extensions());
    }
  }
  if (options.output.empty() && !options.in_place) return std::nullopt;
  return io::parse_target(options.output, options.in_place, format);
}

const Picture* first_planned(const std::vector<Picture>& pictures) {
  const auto found = std::find_if(pictures.begin(), pictures.end(),
                                  [](const Picture& p) { return p.program != nullptr; });
  return found == pictures.end() ? nullptr : &*found;
}

// The operator that ends the pipeline, for messages.
std::string last_operator(const pipeline::Pipeline& pipeline) {
  for (auto stage = pipeline.stages.rbegin(); stage != pipeline.stages.rend(); ++stage) {
    if (stage->call) return std::string(stage->call->op().name);
  }
  return "";
}

void check_target(const io::OutputTarget* target, const Plan& plan,
                  const pipeline::Pipeline& pipeline, const RunOptions& options) {
  if (plan.writes_image) {
    if (target == nullptr && !options.dry_run && !options.hash) {
      throw Error(
          "the result is an image, and nothing says where it goes: give -o FOLDER, "
          "-o FILE.png, -o - for stdout, or --in-place");
    }
  } else if (target != nullptr && plan.objects && table_format(*target)) {
  } else if (target != nullptr && target->format != io::Format::npy) {
    throw Error("the pipeline ends in " + last_operator(pipeline) +
                ", a measurement: there is no image to write; leave -o out, or write the numbers "
                "with -o '{stem}.npy'" +
                (plan.objects ? ", '{stem}.csv', '{stem}.tsv' or '{stem}.json'" : ""));
  }
}

// The stage at which a file failed, as reports name it.
std::string_view stage_of(const Picture& picture, const FileEnd& end) {
  return picture.failure ? std::string_view(picture.failure->stage) : name_of(end.part);
}

// What rows the pictures will have: one for each of their programs.
std::vector<FileReport::Row> kinds_of(const std::vector<Picture>& pictures,
                                      const PictureSettings& settings) {
  std::set<std::pair<const Program*, bool>> seen;
  std::vector<FileReport::Row> kinds;
  for (const Picture& picture : pictures) {
    const bool has_pages = picture.pages && picture.pages->numbers.size() > 1;
    if (!picture.program || !seen.insert({picture.program.get(), has_pages}).second) continue;
    FileReport::Row& row = kinds.emplace_back();
    row.page = has_pages ? 1 : 0;
    add_columns(row, picture.program->plan, picture, settings);
    if (settings.hash && picture.program->plan.writes_image) row.hash = "hash";
  }
  return kinds;
}

FileReport report_of(std::int64_t index, const Picture& picture, const PictureResult& result,
                     const FileEnd& end) {
  FileReport report;
  report.index = index;
  report.input = picture.path;
  report.output = picture.output;
  report.tries = end.tries;
  switch (end.state) {
    case FileEnd::State::done: break;
    case FileEnd::State::skipped: report.state = FileReport::State::skipped; return report;
    case FileEnd::State::failed:
      report.state = FileReport::State::failed;
      report.stage = stage_of(picture, end);
      report.message = end.message;
      if (picture.failure) report.tries = picture.failure->tries;
      return report;
  }
  report.rows = result.rows;
  report.bytes = result.bytes;
  report.clipped = result.clipped;
  report.lost = result.lost;
  return report;
}

void check_in_place(const RunOptions& options, const pipeline::Pipeline& pipeline) {
  if (!options.in_place) return;
  if (pipeline.has_source()) {
    throw Error("--in-place replaces the inputs, and a pipeline that makes its image has none");
  }
  // The result is always there, and as new as its input: it is the input.
  if (options.update) throw Error("--in-place and -u exclude each other");
  if (options.no_clobber) throw Error("--in-place and --no-clobber exclude each other");
}

// A hash of the program's version, the pipeline and the options that decide what results are.
std::string maker_of(const RunOptions& options, const pipeline::Pipeline& pipeline) {
  std::string text = IMPIPE_VERSION;
  const auto add = [&](std::string_view word) { (text += '\0') += word; };
  for (const pipeline::BoundStage& stage : pipeline.stages) add(stage.text);
  for (const auto* words : {&options.with, &options.channels}) {
    for (const std::string& word : *words) add(word);
    add("");
  }
  add(options.cls ? name_of(*options.cls) : "");
  const auto& subsampling = options.subsampling.value_or(std::array<int, 2>{});
  for (const int number :
       {options.half ? 1 : 0, options.quality.value_or(-1), options.lossless ? 1 : 0,
        subsampling[0], subsampling[1], options.strip ? 1 : 0}) {
    add(std::to_string(number));
  }
  return text_hash(text);
}

// The files that parameters are read from.
std::vector<std::filesystem::path> files_of(const pipeline::Pipeline& pipeline) {
  std::vector<std::filesystem::path> files;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    if (!stage.call) continue;
    for (const Parameter& parameter : stage.call->op().parameters) {
      const std::string& path = stage.call->value(parameter.name).path;
      if (!path.empty()) files.emplace_back(path);
    }
  }
  return files;
}

// What all files have in common but the devices.
void fill_settings(PictureSettings& settings, const RunOptions& options,
                   const pipeline::Pipeline& pipeline, std::int64_t memory) {
  settings.operands = parse_operands(options.with, pipeline.operands);
  settings.decode = {.max_pixels = options.max_pixels,
                     .metadata = !options.strip,
                     .page = {},
                     .channels = options.channels};
  settings.encode.quality = options.quality.value_or(settings.encode.quality);
  settings.encode.lossless = options.lossless;
  settings.encode.lossy = options.quality && !options.lossless;
  settings.encode.as_asked = options.cls.has_value();
  const bool full = options.cls == PixelClass::single || options.cls == PixelClass::uint16;
  settings.encode.exr_floats = options.half ? io::ExrFloats::half
                               : full       ? io::ExrFloats::full
                                            : io::ExrFloats::as_input;
  settings.encode.subsampling = options.subsampling;
  settings.pipes = memory;
  settings.in_place = options.in_place;
  settings.cls = options.cls;
  settings.dry_run = options.dry_run;
  settings.update = options.update;
  settings.maker = maker_of(options, pipeline);
  settings.pipeline_files = files_of(pipeline);
  settings.no_clobber = options.no_clobber;
  settings.strict = options.session.strict;
  settings.hash = options.hash;
  settings.stop = options.stop;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    settings.stage_texts.push_back(stage.text);
  }
  settings.max_memory = 2 * static_cast<double>(default_memory());
}

// Every name a result will have, and the folders they go to.
void settle_outputs(WorkList& work, const io::OutputTarget* target, const Lanes& lanes,
                    const PictureSettings& settings, const RunOptions& options,
                    Progress& progress) {
  if (const Picture* planned = first_planned(work.pictures)) {
    check_target(target, planned->program->plan, lanes.pipeline(), options);
  }
  const std::string renamed = name_outputs(work.inputs, work.pictures,
                                           {target, lanes.pipeline(), settings.operands, options});
  if (!renamed.empty()) progress.note(renamed);
  if (target != nullptr && target->kind == io::OutputTarget::Kind::folder && !options.dry_run) {
    io::prepare_folder(target->folder);
  }
  keep_part(work, options);
  std::set<std::string> swept;
  if (!options.dry_run) sweep_folders(work.pictures, options.in_place, swept);
  work.inputs = std::vector<io::Input>();
  // The tables that found names used twice were many times larger than what stays of them.
  return_free_memory();
}

// Tells the user the end of each file, and counts.
class Reports {
 public:
  Reports(WorkList& work, Lanes& lanes, Progress& progress)
      : work_(work), lanes_(lanes), progress_(progress) {}

  // After file `index`; false ends the batch. `file` is null where its work could not begin.
  bool file(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
    lanes_.check_kernels();  // one that can't be made ends the run instead of every file
    free_memory_.look();
    bool goes_on = true, failed = file_end.state == FileEnd::State::failed;
    try {
      goes_on = tell(index, file, file_end);
    } catch (const std::bad_alloc&) {
      const Picture& picture = work_.pictures[static_cast<size_t>(index)];
      untold_ += failed ? 0 : 1;
      failed = true;
      progress_.out_of_memory(picture.path, stage_of(picture, file_end));
    }
    work_.told = index + 1;
    work_.told_failed += failed ? 1 : 0;
    return goes_on;
  }

  // Now and then.
  void tick() {
    lanes_.check_kernels();
    free_memory_.look();
    try {
      pass_on_warnings();
      progress_.tick();
    } catch (const std::bad_alloc&) {  // the files in work fail or not, each by itself
    }
  }

  // Adds what the batch did. Another may follow.
  void finish(const BatchEnd& batch, int threads, RunEnd& end) {
    pass_on_warnings();
    if (batch.threads < threads) {
      progress_.note("the system let only " + std::to_string(batch.threads) + " of " +
                     std::to_string(threads) + " threads start");
    }
    const std::int64_t untold = std::exchange(untold_, 0);
    end.done += batch.done - untold;
    end.skipped += batch.skipped;
    end.failed += batch.failed + untold;
    end.stopped = batch.stopped;
    end.retries += work_.retries + std::exchange(retries_, 0);
    end.clipped_values += std::exchange(clipped_values_, 0);
    end.clipped_files += std::exchange(clipped_files_, 0);
    before_ += static_cast<std::int64_t>(work_.pictures.size());
  }

 private:
  void pass_on_warnings() {
    for (const std::string& warning : lanes_.take_warnings()) progress_.note(warning);
  }

  bool tell(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
    static const PictureResult none;
    const Picture& picture = work_.pictures[static_cast<size_t>(index)];
    const auto& result = file == nullptr ? none : static_cast<const PictureWork*>(file)->result();
    const FileReport report = report_of(before_ + index, picture, result, file_end);
    retries_ += file_end.tries - 1;
    clipped_values_ += report.clipped;
    clipped_files_ += report.clipped > 0 ? 1 : 0;
    return progress_.file(report);
  }

  WorkList& work_;
  Lanes& lanes_;
  Progress& progress_;
  FreeMemory free_memory_;
  std::int64_t before_ = 0;  // files of batches before this one
  std::int64_t untold_ = 0;  // files that were done, but there was no memory to tell of them
  std::int64_t retries_ = 0, clipped_values_ = 0, clipped_files_ = 0;
};

// How one batch of a watch differs from that of a run.
struct WatchedBatch {
  std::function<bool()> no_more;
  int first_lane = 0;
  std::function<void()> tick = [] {};
};

BatchEnd run_pictures(std::vector<Picture>& pictures, PictureSettings& settings,
                      const RunOptions& options, std::int64_t memory, ThreadPool& pool,
                      Reports& reports, const WatchedBatch& watched = {}) {
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
      batch_options, pool,
      [&](std::int64_t index, const FileWork* file, const FileEnd& end) {
        return reports.file(index, file, end);
      },
      [&] {
        watched.tick();
        reports.tick();
      });
}

// The start-up is over.
void begin_timeline(std::optional<Timeline>& timeline, PictureSettings& settings,
                    const RunOptions& options, const std::vector<Picture>& pictures) {
  const double start = std::chrono::duration<double>(options.start.time_since_epoch()).count();
  settings.timeline = &timeline.emplace(start, options.profile_slices);
  settings.first = pictures.data();
  timeline->add({.kind = Slice::Kind::start_up, .begin = start, .end = steady_seconds()});
}

// Everything but the measuring of limits is over.
Profile end_timeline(Timeline& timeline, const BatchEnd& batch, const PictureSettings& settings,
                     const RunOptions& options, const std::vector<Picture>& pictures) {
  const double now = steady_seconds();
  timeline.add({.kind = Slice::Kind::finish, .begin = timeline.last_end(), .end = now});
  Profile profile = make_profile(batch, settings, options, pictures);
  profile.wall = now - timeline.start();
  if (!threads_hang()) add_limits(profile, *settings.lanes);
  return profile;
}

// What threads may still use that hang when the run is over.
struct RunState {
  explicit RunState(pipeline::Pipeline of) : pipeline(std::move(of)) {}
  const pipeline::Pipeline pipeline;
  WorkList work;
  PictureSettings settings;
  std::optional<MadeImage> source;
  ThreadPool pool{0};  // the batch's threads are its helpers
  ImageInfos infos;
  std::optional<Lanes> lanes;
  std::optional<Timeline> timeline;
  std::optional<RunOptions> asked, begun;  // of a watch, see WatchRun
  RunEnd end;                              // of a watch, so far
  std::vector<WorkList> hung;              // of a watch: those with files that hang
};

// Then it stays.
struct RunStateDeleter {
  void operator()(RunState* state) const {
    if (!threads_hang()) delete state;
  }
};

// Opens the devices that are asked for or, when every file is known, the one that is best.
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
    memory_ = options_.memory > 0 ? options_.memory : default_memory();
    fill_settings(state_.settings, options_, pipeline, memory_);
    state_.settings.array_name = last_operator(pipeline);
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
    probe_all(work, *state_.asked, {}, state_.settings, state_.pool, state_.infos);
    if (!state_.lanes) open_lanes(state_, options_, {}, progress_, state_.end);
    if (!reports_) reports_.emplace(work, *state_.lanes, progress_);
    plan_all(work, *state_.lanes, options_, progress_);
    settle_names(names);
    progress_.kinds(kinds_of(work.pictures, state_.settings));
    const BatchEnd batch =
        run_pictures(work.pictures, state_.settings, options_, memory_, state_.pool, *reports_,
                     {.no_more = stop_, .first_lane = first_lane_, .tick = [&] { watch.look(); }});
    reports_->finish(batch, options_.threads, state_.end);
    if (batch.hung == 0) return;
    state_.hung.push_back(std::move(work));
    work = {};
    hung_ += batch.hung;
    first_lane_ += options_.threads + batch.hung;
    if (hung_ > most_hung) {
      throw Error("more than " + std::to_string(most_hung) + " files hang", ExitCode::file_failed);
    }
  }

  void settle_names(WatchedNames& names) {
    WorkList& work = state_.work;
    if (const Picture* planned = first_planned(work.pictures)) {
      check_target(target_, planned->program->plan, state_.pipeline, options_);
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

RunEnd watch_folder(RunState& state, const RunOptions& options, Progress& progress) {
  // Threads that hang may still use it.
  state.asked = state.begun = options;
  state.begun->stop = [] { return false; };
  WatchRun(state, progress).run();
  return std::move(state.end);
}

RunEnd run_files(RunState& state, const RunOptions& options, Progress& progress) {
  if (!options.watch.empty()) return watch_folder(state, options, progress);
  const pipeline::Pipeline& pipeline = state.pipeline;
  WorkList& work = state.work;
  PictureSettings& settings = state.settings;
  const std::optional<io::OutputTarget> target = target_of(options);
  check_in_place(options, pipeline);
  const io::OutputTarget* where = target ? &*target : nullptr;
  const std::int64_t memory = options.memory > 0 ? options.memory : default_memory();
  fill_settings(settings, options, pipeline, memory);
  if (pipeline.has_source()) state.source = pipeline::checked_source(pipeline, options.max_pixels);

  std::vector<OpenDevice> devices;
  backends::configure({.gpu_memory = options.gpu_memory, .dump_folder = options.dump_kernels});
  if (!is_automatic(options.device)) devices = open_devices(options.device, state.pool);

  work = list_work(options, pipeline, where, progress);
  RunEnd end{.skipped = work.skipped};
  for (const io::InputProblem& problem : work.unmatched) progress.note(problem.reason);
  if (work.pictures.empty()) {
    end.nothing_found = work.skipped == 0;
    return end;
  }
  number_frames(work, options, progress);
  if (names_are_apart(work, where, pipeline)) keep_part(work, options);
  probe_all(work, options, state.source, settings, state.pool, state.infos);
  open_lanes(state, options, std::move(devices), progress, end);
  plan_all(work, *state.lanes, options, progress);
  settle_outputs(work, where, *state.lanes, settings, options, progress);

  progress.detail(std::to_string(options.threads) + " threads, at most " +
                  std::to_string(memory >> 20) + " MiB in flight");
  if (options.profile) begin_timeline(state.timeline, settings, options, work.pictures);
  settings.array_name = last_operator(pipeline);
  progress.kinds(kinds_of(work.pictures, settings));
  progress.begin(static_cast<std::int64_t>(work.pictures.size()));
  Reports reports(work, *state.lanes, progress);
  const BatchEnd batch =
      run_pictures(work.pictures, settings, options, memory, state.pool, reports);
  reports.finish(batch, options.threads, end);
  if (state.timeline) {
    end.profile = end_timeline(*state.timeline, batch, settings, options, work.pictures);
  }
  return end;
}

}  // namespace

void remove_temporaries() noexcept { io::remove_temporaries(); }

RunEnd run(pipeline::Pipeline pipeline, const RunOptions& options, Progress& progress) {
  map_large_buffers();
  const std::unique_ptr<RunState, RunStateDeleter> state(new RunState(std::move(pipeline)));
  WorkList& work = state->work;
  try {
    return run_files(*state, options, progress);
  } catch (const std::bad_alloc&) {
    // There was none for what all files need: each of which nothing was told yet fails by name.
    RunEnd end = std::move(state->end);
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
}

}  // namespace impipe::engine
