// Libraries of codecs that write to stderr, silenced.
#pragma once

#include <sys/types.h>

#include <cstdio>

namespace impipe::io {

// libjxl and dav1d write lines of their own to stderr about what is damaged, and return an error,
// too. While there is one of these, what its thread writes to the stream stderr goes nowhere.
class Quiet {
 public:
  Quiet() { ++depth_; }
  ~Quiet() { --depth_; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

  // Once, for all threads.
  static void watch_stderr() {
    FILE* stream =
        fopencookie(nullptr, "w", {.read = {}, .write = write_on, .seek = {}, .close = {}});
    if (stream == nullptr) return;
    setvbuf(stream, nullptr, _IONBF, 0);
    before_ = stderr;  // another module's, where that came first
    stderr = stream;
  }

 private:
  static ssize_t write_on(void*, const char* text, size_t size) {
    return static_cast<ssize_t>(depth_ > 0 ? size : fwrite(text, 1, size, before_));
  }
  static inline thread_local int depth_ = 0;
  static inline FILE* before_ = nullptr;
};

}  // namespace impipe::io
