// Files that appear whole or not at all: written under a temporary name beside the target, then
// renamed.
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>
#include <system_error>

#include "core/error.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".impipe-";
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

// A number for this machine: on a shared disk another machine's processes cannot be asked after.
unsigned machine_number() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  unsigned hash = 2166136261u;
  for (const char* c = name; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  }
  return hash;
}

std::string temporary_name() {
  static const unsigned machine = machine_number();
  static std::atomic<unsigned> counter{std::random_device{}()};
  char name[64];
  std::snprintf(name, sizeof name, ".impipe-%08x-%d-%08x.tmp", machine, static_cast<int>(getpid()),
                counter.fetch_add(1));
  return name;
}

[[noreturn]] void fail_write(const std::string& name, int error) {
  throw Error("cannot write '" + name + "': " + std::strerror(error), ExitCode::file_failed);
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

}  // namespace

AtomicFile::AtomicFile(fs::path target) : target_(std::move(target)) {
  const fs::path folder = target_.parent_path();
  if (!folder.empty()) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) fail_write(target_.string(), error.value());
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = folder / temporary_name();
    slot_ = claim_slot(temporary_.string());
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ >= 0) return;
    const int error = errno;
    free_slot(slot_);
    slot_ = -1;
    if (error != EEXIST) fail_write(target_.string(), error);
  }
  fail_write(target_.string(), EEXIST);
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

void AtomicFile::commit() {
  // Some file systems tell of a full disk or quota only at the close.
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0 && errno != EINTR) fail_with(errno);
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_with(errno);
  temporary_.clear();
  free_slot(slot_);
  slot_ = -1;
}

void write_file(const fs::path& target, std::span<const std::byte> bytes) {
  AtomicFile file(target);
  file.write(bytes);
  file.commit();
}

void write_descriptor(int file, std::span<const std::byte> bytes, std::string_view name) {
  if (const int error = write_all(file, bytes); error != 0) fail_write(std::string(name), error);
}

void remove_temporaries() noexcept {
  for (Slot& slot : slots) {
    if (slot.state.load() == slot_live) unlink(slot.path);
  }
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(prefix) && name.ends_with(suffix);
}

int sweep_stale_temporaries(const fs::path& folder) {
  int removed = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    unsigned machine = 0, number = 0;
    int process = 0;
    if (!is_temporary_name(name) ||
        std::sscanf(name.c_str(), ".impipe-%8x-%d-%8x.tmp", &machine, &process, &number) != 3) {
      continue;
    }
    const bool gone = process > 0 && kill(process, 0) != 0 && errno == ESRCH;
    if (machine == machine_number() && gone && unlink(at->path().c_str()) == 0) ++removed;
  }
  return removed;
}

bool is_up_to_date(const fs::path& output, std::span<const fs::path> inputs) {
  struct stat made = {};
  if (stat(output.c_str(), &made) != 0) return false;
  for (const fs::path& input : inputs) {
    struct stat status = {};
    if (stat(input.c_str(), &status) != 0) continue;
    const bool newer = status.st_mtim.tv_sec != made.st_mtim.tv_sec
                           ? status.st_mtim.tv_sec > made.st_mtim.tv_sec
                           : status.st_mtim.tv_nsec > made.st_mtim.tv_nsec;
    if (newer) return false;
  }
  return true;
}

}  // namespace impipe::io
