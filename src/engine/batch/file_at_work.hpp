// Which file a thread works on: for a process that has to end at once, because a library throws
// where nothing may be thrown, and is to say with which file that happened.
#pragma once

#include <utility>

namespace impipe::engine {

class FileAtWork {
 public:
  // `name` outlives this.
  explicit FileAtWork(const char* name) noexcept : outer_(std::exchange(at_work_, name)) {}
  ~FileAtWork() { at_work_ = outer_; }
  FileAtWork(const FileAtWork&) = delete;
  FileAtWork& operator=(const FileAtWork&) = delete;

  // Null when the calling thread works on none.
  static const char* name() noexcept { return at_work_; }

 private:
  // A pointer for each thread: it takes no memory to set or to read.
  static inline thread_local constinit const char* at_work_ = nullptr;
  const char* outer_;
};

}  // namespace impipe::engine
