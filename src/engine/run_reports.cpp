// Tells the ends of files, also where memory is out.
#include "engine/run_reports.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/printable.hpp"
#include "engine/batch/picture_work.hpp"

namespace impipe::engine {
namespace {

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
  report.tries = end.tries;
  report.state = end.state;
  if (end.state == FileState::failed) {
    report.stage = stage_of(picture, end);
    report.message = end.message;
    if (picture.failure) report.tries = picture.failure->tries;
  }
  if (end.state != FileState::done) return report;
  report.rows = result.rows;
  report.bytes = result.bytes;
  report.clipped = result.clipped;
  report.lost = result.lost;
  report.notes = result.notes;
  if (result.inexact.count > 0) report.notes.push_back(result.inexact.text());
  return report;
}

}  // namespace

std::vector<FileReport::Row> kinds_of(const std::vector<Picture>& pictures,
                                      const PictureSettings& settings) {
  std::set<std::tuple<const Program*, bool, bool>> seen;
  std::vector<FileReport::Row> kinds;
  for (const Picture& picture : pictures) {
    const bool has_pages = picture.stream || picture.only_page() > 0 ||
                           (picture.pages && picture.pages->numbers.size() > 1);
    if (!picture.program) continue;
    if (!seen.insert({picture.program.get(), has_pages, picture.has_one_result()}).second) continue;
    const std::vector<const Program*> parts = picture.parts();
    for (size_t part = 0; part < parts.size(); ++part) {
      const Plan& plan = parts[part]->plan;
      const bool is_last = !parts[part]->then;
      if (!is_last && plan.measurements.empty()) continue;
      for (FileReport::Row& row : kinds_of_rows(plan, picture)) {
        row.page = has_pages && !picture.is_one_image(part) ? 1 : 0;
        if (settings.hash && plan.writes_image && is_last) row.hash = "hash";
        kinds.push_back(std::move(row));
      }
    }
  }
  return kinds;
}

bool has_rows(const Picture& picture, const PictureSettings& settings) {
  if (!picture.program) return false;
  if (settings.hash && picture.last_part().plan.writes_image) return true;
  return std::ranges::any_of(picture.parts(), [&](const Program* part) {
    return std::ranges::any_of(part->plan.measurements, [&](const PlanMeasurement& one) {
      return !is_written_outline(one, part->plan, picture);
    });
  });
}

void note_skipped_rows(std::int64_t results, const PictureSettings& settings, Progress& progress) {
  if (results == 0) return;
  progress.note(std::string(settings.update ? "-u" : "--no-clobber") + " skipped " +
                (results == 1 ? "a result, and its row is"
                              : std::to_string(results) + " results, and their rows are") +
                " not printed");
}

void tell_too_large(std::vector<Picture>& pictures, PictureSettings& settings, Progress& progress) {
  // Pictures that are alike share their headers and programs.
  std::map<std::pair<const io::ImageInfo*, const Program*>, std::string> reasons;
  std::string first;
  std::int64_t others = -1;
  for (size_t i = 0; i < pictures.size(); ++i) {
    Picture& picture = pictures[i];
    if (picture.failure || !picture.program || picture.info == nullptr) continue;
    const auto [reason, is_new] = reasons.try_emplace({picture.info, picture.program.get()});
    try {
      const auto index = static_cast<std::int64_t>(i);
      if (is_new) reason->second = why_too_large({picture, settings, index});
    } catch (const Error&) {  // the file fails by itself
    }
    if (reason->second.empty()) continue;
    if (++others == 0) first = printable(picture.path) + ": " + reason->second;
  }
  if (others < 0) return;
  if (others > 0) first += "; so do " + std::to_string(others) + " other files";
  progress.note(first);
}

bool Reports::file(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
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

bool Reports::frame(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
  lanes_.check_kernels();
  free_memory_.look();
  static const PictureResult none;
  const auto* work = static_cast<const PictureWork*>(file);
  const Picture& picture =
      work == nullptr ? work_.pictures[static_cast<size_t>(index)] : work->picture();
  const PictureResult& result = work == nullptr ? none : work->result();
  FileReport report = report_of(before_ + index, picture, result, file_end);
  report.frame = work == nullptr ? told_frame_ + 1 : picture.frame;
  if (told_frame_ > 0) report.lost.clear();  // what one is without, all are
  join(report, picture, result);
  count_skipped(report, picture);
  told_frame_ += report.state == FileReport::State::done ? 1 : 0;
  clipped_values_ += report.clipped;
  clipped_frames_ += report.clipped > 0 ? 1 : 0;
  if (report.state != FileReport::State::failed) {
    is_over_ = !progress_.file(report);
    return !is_over_;
  }
  frame_failure_ = report;
  return false;
}

FileEnd::State Reports::stream(std::int64_t index, bool skipped, const std::string& failure,
                               const std::string& note) {
  const Picture& picture = work_.pictures[static_cast<size_t>(index)];
  FileEnd end{.state = skipped ? FileEnd::State::skipped : FileEnd::State::done, .message = ""};
  if (frame_failure_) {
    end = {FileEnd::State::failed, Part::encode,
           "frame " + std::to_string(frame_failure_->frame) + ": " + frame_failure_->message};
  } else if (!failure.empty()) {
    end = {FileEnd::State::failed, Part::decode, failure};
  }
  FileReport report = report_of(before_ + index, picture, {}, end);
  if (frame_failure_) report.stage = frame_failure_->stage;
  count_skipped(report, picture);
  if (!note.empty()) report.notes.push_back(note);
  report.frames = std::exchange(told_frame_, 0);
  frames_ += report.frames;
  if (end.state == FileEnd::State::failed) joined_.miss();
  clipped_files_ += std::exchange(clipped_frames_, 0) > 0 ? 1 : 0;
  frame_failure_.reset();
  work_.told = index + 1;
  work_.told_failed += end.state == FileEnd::State::failed ? 1 : 0;
  progress_.file(report);
  return end.state;
}

void Reports::tick() {
  lanes_.check_kernels();
  free_memory_.look();
  try {
    pass_on_warnings();
    progress_.tick();
  } catch (const std::bad_alloc&) {  // the files in work fail or not, each by itself
  }
}

void Reports::finish(const BatchEnd& batch, int threads, RunEnd& end) {
  pass_on_warnings();
  if (batch.threads < threads) {
    progress_.note("the system let only " + std::to_string(batch.threads) + " of " +
                   std::to_string(threads) + " threads start");
  }
  if (settings_.shrink_on_load) tell_shrunk();
  tell_widened();
  note_skipped_rows(std::exchange(skipped_rows_, 0), settings_, progress_);
  if (decoded_there_ + encoded_there_ > 0 || settings_.codec_place == CodecPlace::device) {
    progress_.detail("--codec: pictures decoded on the device " +
                     std::to_string(std::exchange(decoded_there_, 0)) + ", by the processor " +
                     std::to_string(std::exchange(decoded_here_, 0)) + "; encoded on the device " +
                     std::to_string(std::exchange(encoded_there_, 0)));
  }
  const std::int64_t untold = std::exchange(untold_, 0);
  end.done += batch.done - untold;
  end.skipped += batch.skipped;
  end.failed += batch.failed + untold;
  end.stopped = batch.stopped;
  end.frames += std::exchange(frames_, 0);
  if (!batch.stopped && !joined_.end(settings_)) end.joined_unwritten = true;
  if (const std::string note = joined_.take_note(); !note.empty()) progress_.note(note);
  end.retries += work_.retries + std::exchange(retries_, 0);
  end.clipped_values += std::exchange(clipped_values_, 0);
  end.clipped_files += std::exchange(clipped_files_, 0);
  before_ += static_cast<std::int64_t>(work_.pictures.size());
  try {
    if (settings_.disks) settings_.disks->sync();
  } catch (const Error& error) {
    end.error = error;
    end.stopped = true;
  }
}

void Reports::pass_on_warnings() {
  for (const std::string& warning : lanes_.take_warnings()) progress_.note(warning);
  for (const std::string& detail : lanes_.take_details()) progress_.detail(detail);
}

void Reports::tell_shrunk() {
  std::string read;
  for (const auto& [by, pictures] : std::exchange(shrunk_, {})) {
    const std::string size = by == 1 ? "at full size" : "at 1/" + std::to_string(by);
    read += (read.empty() ? "" : ", ") + std::to_string(pictures) + " " + size;
  }
  if (!read.empty()) progress_.detail("--shrink-on-load: pictures read " + read);
}

void Reports::tell_widened() {
  for (const auto& [type, files] : std::exchange(widened_, {})) {
    if (!told_widened_.insert(type).second) continue;
    const std::string name(io::name_of(type));
    progress_.note(std::to_string(files) + (files == 1 ? " result is" : " results are") +
                   " of class single, since " + name + ", the type of the " +
                   (files == 1 ? "input" : "inputs") +
                   ", does not hold each value; `map 'round(x)'` makes whole numbers");
  }
}

void Reports::count_skipped(const FileReport& report, const Picture& picture) {
  if (report.state == FileState::skipped && has_rows(picture, settings_)) ++skipped_rows_;
}

void Reports::join(FileReport& report, const Picture& picture, const PictureResult& result) {
  if (!picture.joined) return;
  if (report.state == FileReport::State::failed) joined_.miss();
  if (report.state != FileReport::State::done) return;
  try {
    report.bytes = joined_.add(picture, result, settings_);
    if (report.bytes.empty()) {
      report.joined = static_cast<std::int64_t>(result.bytes.size());
      for (const io::Bytes& page : result.pages) report.joined += std::ssize(page);
    }
    const std::string note = joined_.take_note();
    if (!note.empty()) progress_.note(note);
  } catch (const Error& error) {
    report.state = FileReport::State::failed;
    report.stage = name_of(Part::encode);
    report.message = error.what();
    report.bytes = {};
    joined_.miss();
  }
}

bool Reports::tell(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
  static const PictureResult none;
  const Picture& picture = work_.pictures[static_cast<size_t>(index)];
  const auto& result = file == nullptr ? none : static_cast<const PictureWork*>(file)->result();
  FileReport report = report_of(before_ + index, picture, result, file_end);
  if (file != nullptr) join(report, picture, result);
  if (report.state != file_end.state) ++untold_;
  count_skipped(report, picture);
  retries_ += file_end.tries - 1;
  clipped_values_ += report.clipped;
  clipped_files_ += report.clipped > 0 ? 1 : 0;
  if (report.state == FileState::done) {
    ++shrunk_[result.shrink];
    if (result.widened != io::SampleType::of_class) ++widened_[result.widened];
    ++(result.decoded_on_device ? decoded_there_ : decoded_here_);
    if (result.encoded_on_device) ++encoded_there_;
  }
  return progress_.file(report);
}

}  // namespace impipe::engine
