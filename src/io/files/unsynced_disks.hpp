// Results that outlast a power cut: which file systems have to write down what was written to them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "io/bytes/open_file.hpp"

namespace impipe::io {

// The file systems that files were written to since the last `sync`. Any thread may call any
// function.
class UnsyncedDisks {
 public:
  // Notes that of an open file. path: for errors.
  void add(int file, const std::filesystem::path& path);
  // Waits until all that was written to them is on their disks. Throws Error (file_failed) naming a
  // file of a disk that fails, after all others were waited for.
  void sync();

 private:
  struct Disk {
    OpenFile file;  // some file of it
    std::filesystem::path path;
  };
  std::mutex mutex_;
  std::map<dev_t, Disk> disks_;
};

}  // namespace impipe::io
