// Tells the ends of files, also where memory is out.
#include "engine/run_reports.hpp"

#include <new>
#include <set>
#include <string_view>
#include <utility>

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

}  // namespace

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

void Reports::pass_on_warnings() {
  for (const std::string& warning : lanes_.take_warnings()) progress_.note(warning);
}

bool Reports::tell(std::int64_t index, const FileWork* file, const FileEnd& file_end) {
  static const PictureResult none;
  const Picture& picture = work_.pictures[static_cast<size_t>(index)];
  const auto& result = file == nullptr ? none : static_cast<const PictureWork*>(file)->result();
  const FileReport report = report_of(before_ + index, picture, result, file_end);
  retries_ += file_end.tries - 1;
  clipped_values_ += report.clipped;
  clipped_files_ += report.clipped > 0 ? 1 : 0;
  return progress_.file(report);
}

}  // namespace impipe::engine
