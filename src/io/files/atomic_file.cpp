// Files that appear whole or not at all: written under a temporary name beside the target, then
// renamed.
#include "io/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/fnv.hpp"
#include "io/files/file_stamp.hpp"
#include "io/files/unsynced_disks.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view temporary_prefix = ".impipe-";
constexpr std::string_view suffix = ".tmp";

// Paths of live temporary files, where a signal handler can read them. A writer claims a slot,
// fills it and then marks it live; more files than slots, or longer paths, are removed by their
// destructors alone.
enum SlotState { slot_free, slot_claimed, slot_live };
struct Slot {
  std::atomic<int> state{slot_free};
  char path[1024] = {};
};
std::array<Slot, 256> slots;

int claim_slot(const std::string& path) {
  if (path.size() >= sizeof(Slot::path)) return -1;
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = slot_free;
    if (!slots[i].state.compare_exchange_strong(expected, slot_claimed)) continue;
    std::memcpy(slots[i].path, path.c_str(), path.size() + 1);
    slots[i].state.store(slot_live);
    return static_cast<int>(i);
  }
  return -1;
}

void free_slot(int slot) {
  if (slot >= 0) slots[static_cast<size_t>(slot)].state.store(slot_free);
}

// A number for the running system, the same in all of its containers: locks tell at once who lives
// there. From start to start, and from machine to machine, it differs.
std::uint64_t system_number() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  if (id.empty()) return std::random_device{}();  // unknown: every other process is foreign
  return fnv1a(id);
}

std::uint64_t this_system() {
  static const std::uint64_t number = system_number();
  return number;
}

// "SYSTEM-RANDOM", in hexadecimal digits.
std::string temporary_name() {
  static std::atomic<std::uint64_t> counter{(std::uint64_t{std::random_device{}()} << 32) +
                                            std::random_device{}()};
  char name[64];
  std::snprintf(name, sizeof name, ".impipe-%016llx-%016llx.tmp",
                static_cast<unsigned long long>(this_system()),
                static_cast<unsigned long long>(counter.fetch_add(1)));
  return name;
}

std::string cannot_write(const std::string& name) { return "cannot write '" + name + "': "; }

[[noreturn]] void fail_write(const std::string& name, int error) {
  throw system_error(error, cannot_write(name));
}

// Returns 0 or the error's number.
int write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return 0;
}

// What the attribute holds. A power cut may leave it on a file that is empty or shorter.
std::string note_of(std::string_view maker, std::int64_t size) {
  return std::string(maker) + "+" + std::to_string(size);
}

bool is_there(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0;
}

// The number of a descriptor that is written as a path, /dev/stdout say, or -1.
int descriptor_named(std::string_view name) {
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const char* const end = name.data() + name.size();
    int number = -1;
    const auto read = std::from_chars(name.data() + folder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
  }
  return -1;
}

// A descriptor is written to where it stands. Opened anew by its path, a file would be overwritten
// from its start, what `>>` keeps and what was printed there before included.
int open_to_write_into(const fs::path& target) {
  const int number = descriptor_named(target.native());
  return number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0)
                     : open(target.c_str(), O_WRONLY | O_CLOEXEC);
}

// Removes a temporary file unless somebody may be writing it.
bool sweep_one(const fs::path& path, const std::string& name) {
  // A temporary is written within seconds; a day covers clocks that differ.
  constexpr std::time_t old = 24 * 60 * 60;
  const OpenFile file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return false;
  const bool locked = flock(file.get(), LOCK_SH | LOCK_NB) != 0;
  if (locked && errno == EWOULDBLOCK) return false;
  unsigned long long system = 0, number = 0;
  const bool ours = !locked &&
                    std::sscanf(name.c_str(), ".impipe-%16llx-%16llx.tmp", &system, &number) == 2 &&
                    system == this_system();
  // Locks of other machines may be unknown here: a network file system can be without them.
  const bool aged = std::time(nullptr) - status.st_mtime > old;
  std::error_code error;
  return (ours || aged) && fs::remove_all(path, error) > 0 && !error;
}

}  // namespace

AtomicFile::AtomicFile(fs::path target, unsigned mode) : target_(std::move(target)) {
  const fs::path folder = target_.parent_path();
  if (!folder.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) fail_write(target_.string(), error.value());
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = folder / temporary_name();
    slot_ = claim_slot(temporary_.string());
    const int error = open_temporary(mode);
    if (error == 0) return;
    free_slot(slot_);
    slot_ = -1;
    if (error != EEXIST) fail_write(target_.string(), error);
  }
  fail_write(target_.string(), EEXIST);
}

int AtomicFile::open_temporary(unsigned mode) {
  file_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file_ < 0) return errno;
  const bool swept = flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat status = {};
  // Between the open and the lock somebody may have taken it for a dead one.
  if (!swept && fstat(file_, &status) == 0 && status.st_nlink > 0) return 0;
  close(file_);
  file_ = -1;
  return EEXIST;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  free_slot(slot_);
  file_ = slot_ = -1;
  temporary_.clear();
}

void AtomicFile::fail_with(int error) {
  discard();
  fail_write(target_.string(), error);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (const int error = write_all(file_, bytes); error != 0) fail_with(error);
}

void AtomicFile::note_maker(std::string_view maker) const {
  const std::string note = note_of(maker, stamp_of(file_).size);
  fsetxattr(file_, maker_attribute, note.data(), note.size(), 0);  // without it -u goes by time
}

void AtomicFile::commit(std::string_view maker, UnsyncedDisks* disks) {
  if (!maker.empty()) note_maker(maker);
  if (disks != nullptr) {
    if (is_there(target_) && fdatasync(file_) != 0) fail_with(errno);
    disks->add(file_, target_);
  }
  // Some file systems tell of a full disk or quota only at a close: that of a second descriptor,
  // since the lock has to last until the file has its own name.
  const int second = dup(file_);
  if (second >= 0 && close(second) != 0 && errno != EINTR) fail_with(errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_with(errno);
  temporary_.clear();  // it is the target now
  discard();
}

fs::path temporary_beside(const fs::path& target) {
  return target.parent_path() / temporary_name();
}

bool is_written_into(const fs::path& target) {
  // A container's /dev need not have these names.
  if (const int number = descriptor_named(target.native()); number >= 0) {
    return fcntl(number, F_GETFD) >= 0;
  }
  struct stat status = {};
  if (stat(target.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
  return !S_ISREG(status.st_mode) || target.native().starts_with("/proc/");
}

void write_file(const fs::path& target, std::span<const std::byte> bytes, std::string_view maker,
                UnsyncedDisks* disks) {
  if (is_written_into(target)) {
    const OpenFile file(open_to_write_into(target));
    const int error = file.get() < 0 ? errno : write_all(file.get(), bytes);
    // Never to be tried again: a part of the bytes may be there already.
    if (error != 0)
      throw Error(system_error(error, cannot_write(target.string())).what(), ExitCode::file_failed);
    return;
  }
  AtomicFile file(target);
  file.write(bytes);
  file.commit(maker, disks);
}

GrowingFile::GrowingFile(fs::path target) : target_(std::move(target)) {
  if (!is_written_into(target_)) {
    file_ = std::make_unique<AtomicFile>(target_);
  } else if (into_ = OpenFile(open_to_write_into(target_)); into_.get() < 0) {
    fail_write(target_.string(), errno);
  }
}

void GrowingFile::write(std::span<const std::byte> bytes) {
  if (file_) return file_->write(bytes);
  if (const int error = write_all(into_.get(), bytes); error != 0)
    fail_write(target_.string(), error);
}

void GrowingFile::commit(std::string_view maker, UnsyncedDisks* disks) {
  if (file_) file_->commit(maker, disks);
}

void remove_temporaries() noexcept {
  for (Slot& slot : slots) {
    if (slot.state.load() == slot_live) unlink(slot.path);
  }
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(temporary_prefix) && name.ends_with(suffix);
}

int sweep_stale_temporaries(const fs::path& folder) {
  int removed = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_temporary_name(name) && sweep_one(at->path(), name)) ++removed;
  }
  return removed;
}

bool is_up_to_date(const fs::path& output, std::span<const fs::path> inputs,
                   std::string_view maker) {
  const FileStamp made = stamp_of(output);
  if (made.size <= 0) return false;  // not there, or emptied by a power cut
  std::vector<FileStamp> sources;
  for (const fs::path& input : inputs) sources.push_back(stamp_of(input));
  const std::string wanted = made_note(maker, sources);
  char noted[64];
  const ssize_t length = getxattr(output.c_str(), maker_attribute, noted, sizeof noted);
  const bool tells = length > 0 || (length < 0 && errno == ERANGE);
  if (tells) {
    const std::string_view note(noted, static_cast<size_t>(std::max<ssize_t>(length, 0)));
    // A result of many files that were read one by one has a note of the maker without sources;
    // only the times below are compared for these.
    if (note != note_of(wanted, made.size) && note != note_of(maker, made.size)) return false;
  }
  return std::ranges::none_of(sources, [&](const FileStamp& source) {
    return std::pair(source.seconds, source.nanoseconds) >
           std::pair(made.seconds, made.nanoseconds);
  });
}

}  // namespace impipe::io
