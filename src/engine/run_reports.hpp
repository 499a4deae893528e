// How the ends of files are told while a run goes on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/batch/free_memory.hpp"
#include "engine/batch/picture.hpp"
#include "engine/device/lanes.hpp"
#include "engine/joined_output.hpp"
#include "engine/progress.hpp"
#include "engine/run_end.hpp"
#include "engine/run_options.hpp"
#include "engine/work_list.hpp"

namespace impipe::engine {

// What rows the pictures will have: one for each of their programs.
std::vector<FileReport::Row> kinds_of(const std::vector<Picture>& pictures,
                                      const PictureSettings& settings);

// Whether rows are printed of a picture.
bool has_rows(const Picture& picture, const PictureSettings& settings);
// Says that no rows are printed of so many results which are there already.
void note_skipped_rows(std::int64_t results, const PictureSettings& settings, Progress& progress);

// Tells of pictures that will take more than --memory allows: the first, and how many others.
void tell_too_large(std::vector<Picture>& pictures, PictureSettings& settings, Progress& progress);

// Tells the user the end of each file, and counts.
class Reports {
 public:
  Reports(WorkList& work, Lanes& lanes, const PictureSettings& settings, Progress& progress)
      : work_(work), lanes_(lanes), settings_(settings), progress_(progress) {}

  // After file `index`; false ends the batch. `file` is null where its work could not begin.
  bool file(std::int64_t index, const FileWork* file, const FileEnd& file_end);
  // After a frame of the stream that file `index` is; false ends the batch.
  bool frame(std::int64_t index, const FileWork* file, const FileEnd& file_end);
  // After the frames of file `index`, as which it is told. failure: why it ended before its end.
  FileEnd::State stream(std::int64_t index, bool skipped, const std::string& failure,
                        const std::string& note);
  // Whether results cannot be told any more.
  bool is_over() const { return is_over_; }
  // Now and then.
  void tick();
  // Waits until the results are on their disks, and adds what the batch did. Another may follow.
  void finish(const BatchEnd& batch, int threads, RunEnd& end);

 private:
  void pass_on_warnings();
  // Tells what --shrink-on-load did.
  void tell_shrunk();
  // Results that are not of the type of their inputs' samples.
  void tell_widened();
  void count_skipped(const FileReport& report, const Picture& picture);
  // Puts a result where it follows others. What cannot be put there has failed.
  void join(FileReport& report, const Picture& picture, const PictureResult& result);
  bool tell(std::int64_t index, const FileWork* file, const FileEnd& file_end);

  WorkList& work_;
  Lanes& lanes_;
  const PictureSettings& settings_;
  Progress& progress_;
  JoinedOutput joined_;
  std::optional<FileReport> frame_failure_;  // that ended the stream
  bool is_over_ = false;
  std::int64_t decoded_there_ = 0, decoded_here_ = 0, encoded_there_ = 0;  // see --codec
  std::int64_t told_frame_ = 0, frames_ = 0, clipped_frames_ = 0;
  FreeMemory free_memory_;
  std::int64_t before_ = 0;  // files of batches before this one
  std::int64_t untold_ = 0;  // files that were done, but there was no memory or place for them
  std::int64_t skipped_rows_ = 0;
  std::int64_t retries_ = 0, clipped_values_ = 0, clipped_files_ = 0;
  std::map<io::SampleType, std::int64_t> widened_;
  std::set<io::SampleType> told_widened_;
  std::map<int, std::int64_t> shrunk_;  // pictures by how small they were read
};

}  // namespace impipe::engine
