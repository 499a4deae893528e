#include "io/files/file_stamp.hpp"

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "core/error.hpp"
#include "core/fnv.hpp"

namespace impipe::io {
namespace {

// How long a file has to stand still before it is read: times of files go in ticks of up to 10 ms,
// and that of a write is noted when the write begins.
constexpr std::int64_t quiet = 20'000'000;  // nanoseconds

// A second ahead is a clock far away; what is later than that was not written just now.
bool was_written_just_now(const FileStamp& stamp) {
  timespec now = {};
  if (stamp.size < 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const std::int64_t seconds = now.tv_sec - stamp.seconds;
  return seconds >= -1 && seconds <= 1 &&
         seconds * 1'000'000'000 + now.tv_nsec - stamp.nanoseconds < quiet;
}

}  // namespace

FileStamp stamp_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return {};
  return {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) return stamp_of(status);
  // A picture in a slide has the slide's.
  const bool is_in_file = errno == ENOTDIR && stat(path.parent_path().c_str(), &status) == 0;
  return is_in_file ? stamp_of(status) : FileStamp{};
}

FileStamp stamp_of(int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) throw system_error(errno);
  return stamp_of(status);
}

FileStamp stamp_before_reading(int file) {
  FileStamp stamp = stamp_of(file);
  for (int waits = 0; waits < 2 && was_written_just_now(stamp); ++waits) {
    const timespec pause = {.tv_sec = 0, .tv_nsec = quiet};
    nanosleep(&pause, nullptr);
    stamp = stamp_of(file);
  }
  return stamp;
}

std::string made_note(std::string_view maker, std::span<const FileStamp> sources) {
  Fnv1a hash;
  for (const FileStamp& source : sources) {
    for (const std::int64_t number : {source.size, source.seconds, source.nanoseconds}) {
      hash.add_number(static_cast<std::uint64_t>(number));
    }
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "-%016llx", static_cast<unsigned long long>(hash.value()));
  return std::string(maker) + digits;
}

}  // namespace impipe::io
