// The main job: lists the inputs, settles every output before any work, runs the batch.
#include "engine/run.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "backends/registry.hpp"
#include "engine/file_at_work.hpp"
#include "engine/free_memory.hpp"
#include "engine/image_infos.hpp"
#include "engine/output_names.hpp"
#include "engine/picture.hpp"
#include "engine/work_cost.hpp"
#include "io/atomic_file.hpp"
#include "io/inputs.hpp"
#include "io/outputs.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;

// The files of a run and what is known of them before the batch, and how many the user was told
// the end of.
struct Work {
  std::vector<io::Input> inputs;
  std::vector<Picture> pictures;  // one an input
  std::int64_t skipped = 0;       // missing frames that are left out
  std::vector<io::InputProblem> unmatched;
  std::int64_t told = 0, told_failed = 0;
};

void fail(Picture& picture, const char* stage, const Error& error) {
  picture.failure.reset(new Picture::Failure{stage, error.what()});
}

// Takes no memory: there is none.
void fail_out_of_memory(Picture& picture) { picture.failure.reset(&Picture::out_of_memory); }

Work list_work(const RunOptions& options, const pipeline::Pipeline& pipeline,
               const io::OutputTarget* target, Progress& progress) {
  Work work;
  if (pipeline.has_source()) {
    if (!options.inputs.empty() || !options.files_from.empty()) {
      throw Error("the pipeline makes its own image, with " +
                  std::string(pipeline.stages.front().call->op().name) + ", and takes no inputs");
    }
    const std::string name(pipeline.stages.front().call->op().name);
    work.inputs.push_back({.path = name, .relative = name});
    work.pictures.resize(1);
    work.pictures.front().path = name;
    return work;
  }
  io::InputOptions input_options{.recursive = options.recursive, .output_folder = {}};
  if (target != nullptr && target->kind == io::OutputTarget::Kind::folder) {
    input_options.output_folder = target->folder;
  }
  io::InputList list = io::list_inputs(options.inputs, input_options);
  if (!options.files_from.empty()) {
    io::add_names(list, io::read_names(options.files_from, options.nul_separated));
  }
  if (list.skipped > 0) {
    progress.detail(list.skipped == 1
                        ? "1 file is no picture and was skipped"
                        : std::to_string(list.skipped) + " files are no pictures and were skipped");
  }
  work.unmatched = std::move(list.unmatched);
  work.inputs = std::move(list.inputs);
  if (options.missing_frame == MissingFrame::skip) {
    work.skipped = static_cast<std::int64_t>(
        std::erase_if(work.inputs, [](const io::Input& input) { return input.missing_frame; }));
  }
  const size_t readable = work.inputs.size();
  for (const io::InputProblem& problem : list.unreadable) {
    work.inputs.push_back({.path = problem.subject, .relative = problem.subject});
  }
  work.pictures.resize(work.inputs.size());
  for (size_t i = 0; i < work.inputs.size(); ++i) {
    Picture& picture = work.pictures[i];
    picture.path = work.inputs[i].path.string();
    picture.is_stdin = work.inputs[i].is_stdin;
    picture.missing_frame = work.inputs[i].missing_frame;
    if (i >= readable) fail(picture, "list", Error(list.unreadable[i - readable].reason));
  }
  return work;
}

std::string known_extensions() {
  std::string known;
  for (const io::FormatTraits& format : io::all_formats()) {
    if (!known.empty()) known += ", ";
    known += format.extensions.substr(0, format.extensions.find(' '));
  }
  return known;
}

// Reads headers on several threads: on a network folder each costs a round trip.
void probe_all(Work& work, const RunOptions& options, const std::optional<MadeImage>& source,
               PictureSettings& settings, ThreadPool& pool, ImageInfos& infos) {
  std::vector<Picture>& pictures = work.pictures;
  const bool black = options.missing_frame == MissingFrame::black;
  const auto read = [&](size_t i) {
    Picture& picture = pictures[i];
    if (source) {
      picture.info = infos.keep({.type = source->type, .stored = source->size, .detail = {}});
    } else if (picture.is_stdin) {
      picture.content = std::make_unique<io::Bytes>(io::read_picture(STDIN_FILENO, settings.pipes));
      picture.info = infos.keep(io::probe(*picture.content));
    } else if (!picture.missing_frame || !black) {
      io::Bytes content;
      picture.info = infos.keep(io::probe(picture.path, content, settings.pipes));
      if (!content.empty()) picture.content = std::make_unique<io::Bytes>(std::move(content));
    }
    if (!settings.operands.empty()) picture.partners = std::make_unique<Picture::Partners>();
    for (const auto& operand : settings.operands) {
      std::vector<fs::path>& paths = picture.partners->paths;
      paths.push_back(operand->partner(work.inputs[i].relative));
      const io::ImageInfo info = operand->info(paths.back(), settings.pipes);
      picture.partners->types[operand->name()] = info.type;
      picture.partners->sizes[operand->name()] = info.size();
    }
  };
  const auto probe = [&](std::int64_t i) {
    Picture& picture = pictures[static_cast<size_t>(i)];
    if (picture.failure || options.stop()) return;
    const FileAtWork at_work(picture.path.c_str());
    try {
      try {
        read(static_cast<size_t>(i));
      } catch (const Error& error) {
        fail(picture, "decode", error);
      }
    } catch (const std::bad_alloc&) {
      fail_out_of_memory(picture);
    }
  };
  pool.for_each(static_cast<std::int64_t>(pictures.size()), probe);
  infos.finish();
  if (!black) return;
  const auto model = std::find_if(pictures.begin(), pictures.end(),
                                  [](const Picture& p) { return !p.missing_frame && !p.failure; });
  for (Picture& picture : pictures) {
    if (!picture.missing_frame || picture.failure) continue;
    if (model == pictures.end()) {
      fail(picture, "decode", Error("no frame of the range exists, so that its size is unknown"));
    } else {
      picture.info = model->info;
    }
  }
}

// What the run is to compute. Pictures that the pipeline does not fit count for nothing here; the
// reason is told when they are planned.
WorkCost cost_of(const std::vector<Picture>& pictures, const pipeline::Pipeline& pipeline,
                 const SessionOptions& options) {
  struct Alike {
    const Picture* picture = nullptr;
    double pixels = 0, images = 0;
  };
  std::map<std::string, Alike> groups;
  for (const Picture& picture : pictures) {
    if (picture.failure) continue;
    std::string types = to_string(picture.info->type);
    for (const auto& [name, type] : picture.partner_types()) types += ";" + to_string(type);
    Alike& group = groups[types];
    group.picture = &picture;
    group.pixels += static_cast<double>(picture.info->size().pixels());
    ++group.images;
  }
  WorkCost cost;
  for (const auto& [types, group] : groups) {
    try {
      const Plan lowered =
          pipeline::lower(pipeline, group.picture->info->type, group.picture->partner_types(),
                          {.strict = options.strict});
      cost.add(options.fuse ? pipeline::fuse(lowered) : pipeline::without_unread(lowered),
               group.pixels, group.images);
    } catch (const Error&) {
    }
  }
  return cost;
}

// The programs of all types there are. When the pipeline fits no picture at all, for one and the
// same reason, that is the pipeline's fault.
void plan_all(std::vector<Picture>& pictures, Lanes& lanes, std::int64_t max_pixels,
              Progress& progress) {
  std::set<std::string> notes;
  std::string reason;
  bool all_failed = true;
  for (Picture& picture : pictures) {
    if (picture.failure) continue;
    try {
      auto program = lanes.program(picture.info->type, picture.partner_types());
      pipeline::planned_sizes(lanes.pipeline(), program->lowered, picture.info->size(),
                              picture.partner_sizes(), max_pixels);
      picture.program = std::move(program);
      all_failed = false;
      for (const std::string& note : picture.program->plan.notes) {
        if (notes.insert(note).second) progress.note(note);
      }
    } catch (const Error& error) {
      if (error.code() == ExitCode::backend) throw;
      fail(picture, "plan", error);
      all_failed = all_failed && (reason.empty() || reason == picture.failure->message);
      reason = picture.failure->message;
    }
  }
  if (all_failed && !reason.empty()) throw Error(reason);
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
  } else if (target != nullptr && target->format != io::Format::npy) {
    throw Error("the pipeline ends in " + last_operator(pipeline) +
                ", a measurement: there is no image to write; leave -o out, or write the numbers "
                "with -o '{stem}.npy'");
  }
}

// The stage at which a file failed, as reports name it.
std::string_view stage_of(const Picture& picture, const FileEnd& end) {
  return picture.failure ? std::string_view(picture.failure->stage) : name_of(end.part);
}

FileReport report_of(std::int64_t index, const Picture& picture, const PictureResult& result,
                     const FileEnd& end) {
  FileReport report;
  report.index = index;
  report.input = picture.path;
  report.output = picture.output;
  switch (end.state) {
    case FileEnd::State::done: break;
    case FileEnd::State::skipped: report.state = FileReport::State::skipped; return report;
    case FileEnd::State::failed:
      report.state = FileReport::State::failed;
      report.stage = stage_of(picture, end);
      report.message = end.message;
      return report;
  }
  for (const PlanColumn& column : picture.program->plan.columns) {
    report.columns.push_back(column.name);
  }
  report.values = result.values;
  report.hash = result.hash;
  report.bytes = result.bytes;
  report.clipped = result.clipped;
  return report;
}

Profile make_profile(double start_up, const BatchEnd& batch, const PictureSettings& settings) {
  Profile profile;
  profile.threads = batch.threads;
  profile.files = batch.done;
  profile.start_up = start_up;
  profile.times = batch.times;
  profile.transfer = settings.step_times.transfer();
  profile.kernel_wait = settings.step_times.kernel_wait();
  profile.steps = settings.step_times.steps();
  profile.peak_memory = plane_memory().peak;
  profile.estimated = settings.largest;
  const jit::CompileCounts compiled = backends::compile_counts();
  profile.compiled = compiled.compiled;
  profile.cached = compiled.cached;
  profile.compile = compiled.seconds;
  profile.copy_speed = settings.lanes->first().measure_copy(batch.threads);
  profile.devices = settings.lanes->shares();
  // Each of several images in flight has its share of the memory's speed; one alone has all of it,
  // as a GPU's kernels do, which run one after the other.
  double images = 1;
  if (!settings.lanes->first().device().is_gpu) {
    images = std::clamp<double>(static_cast<double>(batch.done), 1, batch.threads);
  }
  for (StepProfile& step : profile.steps) step.floor = step.bytes / (profile.copy_speed / images);
  return profile;
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

RunEnd run_files(pipeline::Pipeline pipeline, const RunOptions& options, Progress& progress,
                 Work& work) {
  std::optional<io::Format> format;
  if (!options.format.empty()) {
    format = io::format_of_extension(options.format);
    if (!format) {
      throw Error("--format: '" + options.format + "' is no known format; there are " +
                  known_extensions());
    }
  }
  std::optional<io::OutputTarget> target;
  if (!options.output.empty() || options.in_place) {
    target = io::parse_target(options.output, options.in_place, format);
  }
  check_in_place(options, pipeline);
  const io::OutputTarget* where = target ? &*target : nullptr;
  PictureSettings settings;
  settings.operands = parse_operands(options.with, pipeline.operands);
  settings.decode = {.max_pixels = options.max_pixels, .metadata = !options.strip};
  settings.encode = {
      .quality = options.quality,
      .full_float = options.cls == PixelClass::single || options.cls == PixelClass::uint16};
  const std::int64_t memory = options.memory > 0 ? options.memory : default_memory();
  settings.pipes = memory;
  settings.in_place = options.in_place;
  settings.dry_run = options.dry_run;
  settings.update = options.update;
  settings.no_clobber = options.no_clobber;
  settings.hash = options.hash;
  settings.timed = options.profile;
  settings.stop = options.stop;
  for (const pipeline::BoundStage& stage : pipeline.stages) {
    settings.stage_texts.push_back(stage.text);
  }
  settings.most_memory = 2 * static_cast<double>(default_memory());
  std::optional<MadeImage> source;
  if (pipeline.has_source()) source = pipeline::checked_source(pipeline, options.max_pixels);

  ThreadPool pool(0);  // the batch's threads are its helpers
  std::vector<OpenDevice> devices;
  backends::configure({.gpu_memory = options.gpu_memory, .dump_folder = options.dump_kernels});
  if (!is_automatic(options.device)) devices = open_devices(options.device, pool);
  ImageInfos infos;
  work = list_work(options, pipeline, where, progress);
  RunEnd end;
  for (const io::InputProblem& problem : work.unmatched) {
    progress.note(problem.reason);
  }
  end.skipped = work.skipped;
  if (work.pictures.empty()) {
    end.nothing_found = work.skipped == 0;
    return end;
  }
  {
    ThreadPool probing(options.threads - 1);
    probe_all(work, options, source, settings, probing, infos);
  }
  if (devices.empty()) {
    const WorkCost cost = cost_of(work.pictures, pipeline, options.session);
    devices.push_back(choose_device(cost, options.threads, pool));
  }
  const std::string why = devices.front().why;
  for (const OpenDevice& device : devices) {
    if (!device.warning.empty()) progress.note(device.warning);
  }
  Lanes lanes(pipeline, std::move(devices), options.session, options.threads);
  progress.detail(lanes.names() + ": " + why);
  settings.lanes = &lanes;
  plan_all(work.pictures, lanes, options.max_pixels, progress);
  if (const Picture* planned = first_planned(work.pictures)) {
    check_target(where, planned->program->plan, lanes.pipeline(), options);
  }
  const std::string renamed = name_outputs(work.inputs, work.pictures,
                                           {where, lanes.pipeline(), settings.operands, options});
  if (!renamed.empty()) progress.note(renamed);
  if (where != nullptr && where->kind == io::OutputTarget::Kind::folder && !options.dry_run) {
    io::prepare_folder(where->folder);
  }
  if (options.shard_count > 1) {
    std::vector<Picture> mine;
    mine.reserve(work.pictures.size());  // so that no name gets lost on the way
    for (size_t i = 0; i < work.pictures.size(); ++i) {
      if (io::in_shard(work.inputs[i].relative, options.shard_index, options.shard_count)) {
        mine.push_back(std::move(work.pictures[i]));
      }
    }
    work.pictures = std::move(mine);
  }
  if (!options.dry_run) sweep_folders(work.pictures, options.in_place);

  work.inputs = std::vector<io::Input>();
  // The tables that found names used twice were many times larger than what stays of them.
  return_free_memory();
  progress.detail(std::to_string(options.threads) + " threads, at most " +
                  std::to_string(memory >> 20) + " MiB in flight");
  const BatchOptions batch_options{.threads = options.threads,
                                   .in_flight = options.threads + std::max(1, options.threads / 4),
                                   .memory = memory,
                                   .fail_fast = options.fail_fast,
                                   .stop = options.stop};
  const std::chrono::duration<double> start_up = std::chrono::steady_clock::now() - options.start;
  progress.begin(static_cast<std::int64_t>(work.pictures.size()));
  bool said_alpha = false, said_place = false;
  std::int64_t untold = 0;  // files that were done, but there was no memory to tell of them
  FreeMemory free_memory;
  const auto pass_on_warnings = [&] {
    for (const std::string& warning : lanes.take_warnings()) progress.note(warning);
  };
  const auto tell = [&](std::int64_t index, const FileWork* file, const FileEnd& file_end) {
    static const PictureResult none;
    const Picture& picture = work.pictures[static_cast<size_t>(index)];
    const auto& result = file == nullptr ? none : static_cast<const PictureWork*>(file)->result();
    const FileReport report = report_of(index, picture, result, file_end);
    end.clipped_values += report.clipped;
    end.clipped_files += report.clipped > 0 ? 1 : 0;
    if (result.alpha_dropped && !std::exchange(said_alpha, true)) {
      progress.note(report.output.string() + ": the format holds no alpha, which is dropped");
    }
    if (result.place_dropped && !std::exchange(said_place, true)) {
      progress.note(report.output.string() +
                    ": the EXR's display window and pixel aspect ratio are lost");
    }
    return progress.file(report);
  };
  const BatchEnd batch = run_batch(
      static_cast<std::int64_t>(work.pictures.size()),
      [&](std::int64_t i) {
        return std::make_unique<PictureWork>(work.pictures[static_cast<size_t>(i)], settings);
      },
      batch_options, pool,
      [&](std::int64_t index, const FileWork* file, const FileEnd& file_end) {
        lanes.check_kernels();  // one that can't be made ends the run instead of every file
        free_memory.look();
        bool goes_on = true, failed = file_end.state == FileEnd::State::failed;
        try {
          goes_on = tell(index, file, file_end);
        } catch (const std::bad_alloc&) {
          const Picture& picture = work.pictures[static_cast<size_t>(index)];
          untold += failed ? 0 : 1;
          failed = true;
          progress.out_of_memory(picture.path, stage_of(picture, file_end));
        }
        work.told = index + 1;
        work.told_failed += failed ? 1 : 0;
        return goes_on;
      },
      [&] {
        lanes.check_kernels();
        free_memory.look();
        try {
          pass_on_warnings();
          progress.tick();
        } catch (const std::bad_alloc&) {  // the files in work fail or not, each by itself
        }
      });
  pass_on_warnings();
  if (batch.threads < options.threads) {
    progress.note("the system let only " + std::to_string(batch.threads) + " of " +
                  std::to_string(options.threads) + " threads start");
  }
  end.done = batch.done - untold;
  end.skipped += batch.skipped;
  end.failed = batch.failed + untold;
  end.stopped = batch.stopped;
  if (options.profile) end.profile = make_profile(start_up.count(), batch, settings);
  return end;
}

}  // namespace

void remove_temporaries() noexcept { io::remove_temporaries(); }

RunEnd run(pipeline::Pipeline pipeline, const RunOptions& options, Progress& progress) {
  map_large_buffers();
  Work work;
  try {
    return run_files(std::move(pipeline), options, progress, work);
  } catch (const std::bad_alloc&) {
    // There was none for what all files need: each of which nothing was told yet fails by name.
    RunEnd end{.failed = work.told_failed};
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
    if (end.failed == work.told_failed) throw;
    return end;
  }
}

}  // namespace impipe::engine
