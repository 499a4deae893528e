// One syncfs for a file system costs as much as a few fsyncs, however many files it is for.
#include "io/files/unsynced_disks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace impipe::io {

void UnsyncedDisks::add(int file, const std::filesystem::path& path) {
  struct stat status = {};
  if (fstat(file, &status) != 0) throw system_error(errno);
  std::lock_guard lock(mutex_);
  if (disks_.contains(status.st_dev)) return;
  OpenFile copy(fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (copy.get() < 0) throw system_error(errno);
  disks_.try_emplace(status.st_dev, std::move(copy), path);
}

void UnsyncedDisks::sync() {
  std::map<dev_t, Disk> disks;
  {
    std::lock_guard lock(mutex_);
    disks = std::exchange(disks_, {});
  }
  std::optional<Error> failure;
  for (const auto& [device, disk] : disks) {
    if (syncfs(disk.file.get()) != 0) {
      failure = system_error(
          errno, "the disk of '" + disk.path.string() + "' fails, and results may be lost: ");
    }
  }
  if (failure) throw Error(*failure);
}

}  // namespace impipe::io
