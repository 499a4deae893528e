// A run whose pipeline makes one image of all files: what stands before `stack` is done with each
// of them, as in any run, and what follows with a picture that is none of the files.
#include "engine/stack_run.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "engine/batch/free_memory.hpp"
#include "engine/batch/picture_job.hpp"
#include "engine/output_names.hpp"
#include "engine/run_reports.hpp"
#include "engine/run_settings.hpp"
#include "io/files/picture_rows.hpp"

namespace impipe::engine {
namespace {

class StackRun {
 public:
  StackRun(RunState& state, const RunOptions& options, const io::OutputTarget* target,
           std::int64_t memory, Progress& progress, RunEnd& end)
      : state_(state),
        work_(state.work),
        settings_(state.settings),
        options_(options),
        target_(target),
        memory_(memory),
        progress_(progress),
        end_(end) {}

  BatchEnd run() {
    end_.stacked = files_;
    const BatchEnd batch = run_to_result();
    end_.done = made_result_ ? files_ : 0;
    return batch;
  }

 private:
  BatchEnd run_to_result() {
    if (std::ranges::any_of(work_.pictures, has_failed)) return report_failed();
    check_alike();
    std::vector<Picture> result;
    result.push_back(picture_of_result());
    settle_outputs(result);
    StackSink sink(reduction(), sink_options());
    settings_.stack = &sink;
    if (!PictureJob{result.front(), settings_, files_}.is_wanted()) {
      progress_.begin(files_);
      end_.skipped += files_;
      const bool have_rows =
          has_rows(result.front(), settings_) || has_rows(work_.pictures.front(), settings_);
      note_skipped_rows(have_rows ? 1 : 0, settings_, progress_);
      return {.skipped = files_};
    }
    const bool by_bands = reads_rows();
    if (by_bands) read_by_bands(sink);
    begin(result, by_bands);
    Reports reports(work_, *state_.lanes, settings_, progress_);
    BatchEnd batch = by_bands ? BatchEnd{} : run_files(reports);
    if (batch.failed == 0 && !batch.stopped) {
      tell_scratch(sink);
      work_.pictures = std::move(result);
      batch = run_pictures(state_, options_, memory_, reports);
      reports.finish(batch, options_.threads, end_);
      made_result_ = batch.done > 0;
      end_.result_failed = batch.failed > 0;
    }
    return batch;
  }

  static bool has_failed(const Picture& picture) { return picture.failure != nullptr; }

  const ImageReduction& reduction() const {
    return work_.pictures.front().last_part().then->reduction;
  }

  StackSink::Options sink_options() const {
    StackSink::Options out{files_, memory_ / 2, options_.scratch, &state_.pool, {}, {}};
    for (const Picture& picture : work_.pictures) {
      if (picture.is_stdin) continue;
      out.paths.emplace_back(picture.path);
      out.stamps.push_back(io::stamp_of(out.paths.back()));
    }
    return out;
  }

  // Nothing is begun where it is known that there will be no result.
  BatchEnd report_failed() {
    std::erase_if(work_.pictures, [](const Picture& picture) { return !has_failed(picture); });
    progress_.begin(std::ssize(work_.pictures));
    Reports reports(work_, *state_.lanes, settings_, progress_);
    return run_files(reports);
  }

  BatchEnd run_files(Reports& reports) {
    RunOptions options = options_;
    options.fail_fast = true;
    const BatchEnd batch = run_pictures(state_, options, memory_, reports);
    reports.finish(batch, options_.threads, end_);
    if (batch.failed > 0) {
      progress_.note(
          "stack: a file failed, so there is no result; leave it out to stack the others");
    }
    return batch;
  }

  // Of a file, as headers say it, what `stack` takes.
  struct Stacked {
    ImageType type;
    Size size;
    size_t pages = 1;
    bool operator==(const Stacked&) const = default;
  };
  Stacked stacked_of(const Picture& picture) {
    const auto last = PictureJob{picture_at(picture), settings_, 0}.sized_parts().back();
    const Plan& plan = last.program->plan;
    Stacked out{plan.values[plan.result].type, last.sizes[static_cast<size_t>(plan.result)]};
    out.type.alpha = plan.result_alpha.has_value();
    out.pages = pages_of(picture).numbers.size();
    return out;
  }
  // That `stack` takes of a file.
  static PageList pages_of(const Picture& picture) {
    return picture.pages_before(picture.parts().size() - 1);
  }
  static std::string text_of(const Stacked& stacked) {
    ImageKind kind{stacked.type, stacked.size, {}};
    if (stacked.type.alpha) kind.alpha = stacked.type.cls;
    std::string text = to_string(kind);
    if (stacked.pages > 1) text += ", " + std::to_string(stacked.pages) + " pages";
    return text;
  }

  void check_alike() {
    const Picture& first = work_.pictures.front();
    const Stacked wanted = stacked_of(first);
    std::pair<const io::ImageInfo*, const Program*> known{first.info, first.program.get()};
    for (const Picture& picture : work_.pictures) {
      const std::pair<const io::ImageInfo*, const Program*> kind{picture.info,
                                                                 picture.program.get()};
      if (kind == known && !picture.pages) continue;
      const Stacked stacked = stacked_of(picture);
      if (stacked == wanted) continue;
      throw Error("stack: " + printable(picture.path) + " is " + text_of(stacked) + ", and " +
                      printable(first.path) + " is " + text_of(wanted) +
                      ": files of a stack have one size, class and number of channels and pages",
                  ExitCode::file_failed);
    }
  }

  Picture& picture_at(const Picture& picture) {
    return work_.pictures[static_cast<size_t>(&picture - work_.pictures.data())];
  }

  // A picture whose pages `stack` makes, with the names and the header of the first file.
  Picture picture_of_result() {
    const Picture& first = work_.pictures.front();
    Picture out;
    out.path = std::to_string(files_) + (files_ == 1 ? " file" : " files");
    out.info = first.info;
    out.program = first.program;
    out.first_part = static_cast<std::uint8_t>(first.parts().size());
    if (first.partners) out.partners = std::make_unique<Picture::Partners>(*first.partners);
    if (first.pages && !first.has_one_result()) {
      PageList pages = pages_of(first);
      out.pages = std::make_unique<Picture::Pages>(Picture::Pages{
          .numbers = std::move(pages.numbers), .others = {}, .outputs = {}, .axes = pages.axes});
    }
    return out;
  }

  // The names of what is saved of the files and of the result. None is that of a file.
  void settle_outputs(std::vector<Picture>& result) {
    const Plan& plan = last_plan(*result.front().program);
    check_target(target_, plan, state_.pipeline, options_);
    name_outputs(work_.inputs, work_.pictures,
                 {nullptr, state_.pipeline, settings_.operands, options_});
    RunOptions options = options_;
    for (const Picture& picture : work_.pictures) {
      if (!picture.is_stdin) options.other_files.push_back({"the inputs", picture.path});
      if (!picture.saves) continue;
      for (const Picture::Save& save : *picture.saves) {
        for (const auto& file : save.files) options.other_files.push_back({"save", file, true});
      }
    }
    const std::string note = name_outputs(std::span(work_.inputs).first(1), result,
                                          {target_, state_.pipeline, settings_.operands, options});
    if (!note.empty()) progress_.note(note);
    const bool in_folder = target_ && target_->kind == io::OutputTarget::Kind::folder;
    if (in_folder && !options_.dry_run) io::prepare_folder(target_->folder);
    std::set<std::string> swept;
    if (options_.dry_run) return;
    sweep_folders(work_.pictures, false, swept);
    sweep_folders(result, false, swept);
  }

  // Whether nothing is to be done with the files but to read their rows.
  bool reads_rows() {
    return std::ranges::all_of(work_.pictures, [&](const Picture& picture) {
      const Plan& plan = picture.program->plan;
      return picture.first_part == 0 && picture.parts().size() == 1 && plan.steps.empty() &&
             plan.measurements.empty() && plan.checks.empty() && plan.saves.empty() &&
             !picture.content && !picture.is_stdin && !picture.missing_frame &&
             (!picture.pages || picture.pages->numbers.size() == 1) &&
             !settings_.decode.by_opencv && io::has_rows_in_any_order(picture.path, *picture.info);
    });
  }

  void read_by_bands(StackSink& sink) {
    const Picture& first = work_.pictures.front();
    std::vector<std::pair<std::string, const io::ImageInfo*>> files;
    for (const Picture& picture : work_.pictures) files.emplace_back(picture.path, picture.info);
    PageSource source{*first.info, {}};
    if (settings_.decode.metadata) {
      source.metadata =
          io::read_metadata(first.path, *first.info, settings_.decode.reading).metadata;
    }
    source.metadata.samples = first.info->samples;
    source.metadata.tiff = first.info->tiff;
    ImageKind kind{first.info->type, first.info->size(), {}};
    if (kind.type.alpha) kind.alpha = kind.type.cls;
    const auto read = [files = std::move(files), &reading = settings_.decode.reading, &sink](
                          std::int64_t i, RowRange rows) {
      const auto& [path, info] = files[static_cast<size_t>(i)];
      try {
        io::ImageInfo counted = *info;
        counted.inexact = std::make_shared<io::Inexact>();
        HostImage image = io::read_rows(path, counted, reading, rows.begin, rows.end);
        sink.count(*counted.inexact);
        return image;
      } catch (const Error& error) {
        throw Error(printable(path) + ": ", error, error.code());
      }
    };
    sink.read_by_bands(kind, read, std::make_shared<const PageSource>(std::move(source)));
  }

  void begin(const std::vector<Picture>& result, bool by_bands) {
    std::vector<FileReport::Row> kinds = kinds_of(result, settings_);
    if (!by_bands)
      std::ranges::move(kinds_of(work_.pictures, settings_), std::back_inserter(kinds));
    progress_.kinds(kinds);
    progress_.detail("stack: " + std::string(by_bands ? "some rows of all files are read at a time"
                                                      : "each file is decoded as a whole"));
    progress_.begin(by_bands ? 1 : files_ + 1);
    work_.inputs = std::vector<io::Input>();
  }

  void tell_scratch(const StackSink& sink) {
    const auto [bytes, folder] = sink.on_disk();
    if (bytes == 0) return;
    progress_.note("stack: the decoded files wait in " + folder.string() + ", " +
                   memory_text(bytes) + "; --scratch names another folder");
  }

  RunState& state_;
  WorkList& work_;
  PictureSettings& settings_;
  const RunOptions& options_;
  const io::OutputTarget* target_;
  const std::int64_t memory_;
  Progress& progress_;
  RunEnd& end_;
  bool made_result_ = false;
  const std::int64_t files_ = std::ssize(work_.pictures);
};

}  // namespace

void check_stack_options(const RunOptions& options, const pipeline::Pipeline& pipeline) {
  if (pipeline.file_reduction() == nullptr) return;
  if (options.in_place)
    throw Error("stack makes one image of all files: give -o FILE, not --in-place");
  if (!options.watch.empty())
    throw Error("stack takes all files of a run, and a watch has no last one");
  if (options.shard_count > 1) {
    throw Error("stack makes one image of all files, and --shard would leave some out");
  }
}

BatchEnd run_stack(RunState& state, const RunOptions& options, const io::OutputTarget* target,
                   std::int64_t memory, Progress& progress, RunEnd& end) {
  return StackRun(state, options, target, memory, progress, end).run();
}

}  // namespace impipe::engine
