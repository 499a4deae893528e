// Which file a thread works on: for a process that has to end at once, because a library throws
// where nothing may be thrown, and is to say with which file that happened.
#pragma once

namespace impipe::engine {

class FileAtWork {
 public:
  // `name` outlives this.
  explicit FileAtWork(const char* name) noexcept;
  ~FileAtWork();
  FileAtWork(const FileAtWork&) = delete;
  FileAtWork& operator=(const FileAtWork&) = delete;

  // Null when the calling thread works on none.
  static const char* name() noexcept;

 private:
  const char* outer_;
};

}  // namespace impipe::engine
