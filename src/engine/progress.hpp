// What a run tells while it goes on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batch/file_report.hpp"

namespace impipe::engine {

// All calls come from the thread that called `run`.
class Progress {
 public:
  virtual ~Progress() = default;
  // Before `begin`, or `more`: what rows of numbers the files will have, one for each kind of
  // image, without its numbers.
  virtual void kinds(const std::vector<FileReport::Row>&) {}
  // Before the first file. Of a watch: 0, and what comes is told to `more`.
  virtual void begin(std::int64_t files) = 0;
  // So many files have come, and will be done now.
  virtual void more(std::int64_t) {}
  // In the order of the inputs. False when results cannot be told any more: the run stops.
  virtual bool file(const FileReport& report) = 0;
  // Instead of `file` when there is no memory for a report: the file failed in `stage`. Takes none.
  virtual void out_of_memory(std::string_view input, std::string_view stage) noexcept = 0;
  // Something the user should know, once a run.
  virtual void note(const std::string& text) = 0;
  // For -v.
  virtual void detail(const std::string& text) = 0;
  // Now and then, also when nothing has happened.
  virtual void tick() = 0;
};

}  // namespace impipe::engine
