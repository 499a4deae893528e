// A file's descriptor and its end.
#pragma once

#include <unistd.h>

#include <utility>

namespace impipe::io {

class OpenFile {
 public:
  // Below 0: none.
  explicit OpenFile(int file = -1) : file_(file) {}
  OpenFile(OpenFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }
  int get() const { return file_; }

 private:
  int file_;
};

}  // namespace impipe::io
