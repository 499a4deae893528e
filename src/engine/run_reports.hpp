// How the ends of files are told while a run goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch/free_memory.hpp"
#include "engine/batch/picture.hpp"
#include "engine/device/lanes.hpp"
#include "engine/progress.hpp"
#include "engine/run.hpp"
#include "engine/work_list.hpp"

namespace impipe::engine {

// What rows the pictures will have: one for each of their programs.
std::vector<FileReport::Row> kinds_of(const std::vector<Picture>& pictures,
                                      const PictureSettings& settings);

// Tells the user the end of each file, and counts.
class Reports {
 public:
  Reports(WorkList& work, Lanes& lanes, Progress& progress)
      : work_(work), lanes_(lanes), progress_(progress) {}

  // After file `index`; false ends the batch. `file` is null where its work could not begin.
  bool file(std::int64_t index, const FileWork* file, const FileEnd& file_end);
  // Now and then.
  void tick();
  // Adds what the batch did. Another may follow.
  void finish(const BatchEnd& batch, int threads, RunEnd& end);

 private:
  void pass_on_warnings();
  bool tell(std::int64_t index, const FileWork* file, const FileEnd& file_end);

  WorkList& work_;
  Lanes& lanes_;
  Progress& progress_;
  FreeMemory free_memory_;
  std::int64_t before_ = 0;  // files of batches before this one
  std::int64_t untold_ = 0;  // files that were done, but there was no memory to tell of them
  std::int64_t retries_ = 0, clipped_values_ = 0, clipped_files_ = 0;
};

}  // namespace impipe::engine
