// Watches a folder by inotify, and by looking where that tells nothing.
#include "io/files/watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/error.hpp"
#include "io/bytes/open_file.hpp"
#include "io/formats.hpp"

namespace impipe::io {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// How long a file has to stand still. One that was closed or moved in, since some programs then
// give it another name; one that was found; one found where other machines write, whose clients see
// changes late; and one that is open here for writing or, on such file systems, empty.
constexpr std::chrono::milliseconds after_close = 100ms, when_found = 2s, when_far = 5s,
                                    when_open = 60s;

// Between two looks at a folder of which not all is told: the second, or so many times what a look
// takes.
constexpr auto between_scans = 2s;
constexpr int scan_share = 20;

constexpr std::uint32_t wanted_events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MOVED_FROM |
                                        IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                                        IN_EXCL_UNLINK;

// File systems that only this machine writes to, by way of this kernel: what happens is told.
bool is_local(const fs::path& folder) {
  constexpr std::array<std::uint64_t, 10> local = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // XFS
      0x9123683E,  // Btrfs
      0x01021994,  // tmpfs
      0x858458F6,  // ramfs
      0xF2F52010,  // F2FS
      0x2FC12FC1,  // ZFS
      0xCA451A4E,  // bcachefs
      0x4D44,      // FAT
      0x2011BAB0,  // exFAT
  };
  struct statfs info = {};
  if (statfs(folder.c_str(), &info) != 0) return false;
  return std::ranges::find(local, static_cast<std::uint32_t>(info.f_type)) != local.end();
}

// Names that programs give to files which are not whole, in front of any look at what they hold.
bool is_temporary(const std::string& name) {
  constexpr std::array<std::string_view, 9> endings = {
      "~", ".tmp", ".temp", ".part", ".partial", ".filepart", ".download", ".crdownload", ".swp"};
  return name.starts_with('.') || std::ranges::any_of(endings, [&](std::string_view ending) {
           return name.ends_with(ending);
         });
}

std::string below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// How long ago by the clock of the files.
std::chrono::nanoseconds age_of(const timespec& time) {
  const auto changed = std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  const auto age = std::chrono::system_clock::now().time_since_epoch() - changed;
  return std::max<std::chrono::nanoseconds>(age, 0s);
}

// A link, or one more name of a file: nothing is written when it comes.
bool is_link(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 && (S_ISLNK(status.st_mode) || status.st_nlink > 1);
}

}  // namespace

Watch::Watch(fs::path folder, const InputOptions& options)
    : root_(std::move(folder)), options_(options) {
  std::error_code error;
  if (!fs::is_directory(root_, error)) {
    const bool is_there = fs::exists(root_, error);
    throw Error("--watch: " + (is_there ? "'" + root_.string() + "' is no folder"
                                        : "there is no folder '" + root_.string() + "'"));
  }
  const fs::directory_iterator readable(root_, error);
  if (error) throw Error("--watch: '" + root_.string() + "': " + error.message());
  id_ = folder_id(root_);
  output_id_ = folder_id(options_.output_folder);
  canonical_root_ = fs::weakly_canonical(root_, error);
  if (!options_.output_folder.empty()) {
    canonical_output_ = fs::weakly_canonical(options_.output_folder, error);
  }
  inotify_ = OpenFile(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  tells_all_ = inotify_.get() >= 0 && is_local(root_);
  if (inotify_.get() < 0) {
    notes_.push_back("the system does not tell what comes into folders (" +
                     std::string(std::strerror(errno)) + "): '" + root_.string() +
                     "' is looked at every few seconds");
  }
  scan_all(Found::at_start);
}

fs::path Watch::full(const std::string& name) const { return name.empty() ? root_ : root_ / name; }

// Of regular files alone. Opened, since that makes a client of NFS ask its server.
std::optional<Watch::Stamp> Watch::stamp_of(const fs::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const OpenFile file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const bool lost =
      file.get() >= 0 && (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode));
  if (lost) return {};
  return Stamp{status.st_ino, status.st_size, status.st_mtim};
}

// By its name too: it may have been removed, and made anew.
bool Watch::is_output(const fs::path& folder) const {
  if (canonical_output_.empty()) return false;
  std::error_code error;
  return (output_id_ && folder_id(folder) == output_id_) ||
         fs::weakly_canonical(folder, error) == canonical_output_;
}

void Watch::add_watch(const std::string& folder) {
  if (inotify_.get() < 0) return;
  const int watch = inotify_add_watch(inotify_.get(), full(folder).c_str(), wanted_events);
  if (watch >= 0) {
    folders_[watch].insert(folder);
  } else if (errno == ENOSPC || errno == ENOMEM) {
    if (tells_all_) {
      notes_.push_back("the system watches no more folders (fs.inotify.max_user_watches): '" +
                       root_.string() + "' is looked at every few seconds");
    }
    tells_all_ = false;
  }
}

void Watch::scan_all(Found found) {
  const auto begin = Clock::now();
  std::set<FolderId> above;
  scan_failed_ = wants_scan_ = false;
  seen_.clear();
  scan("", above, found);
  if (!scan_failed_)
    std::erase_if(taken_, [&](const auto& one) { return !seen_.contains(one.first); });
  seen_.clear();
  const auto now = Clock::now();
  next_scan_ = now + std::max<Clock::duration>(between_scans, scan_share * (now - begin));
}

// The watch stands before the names are read, so that nothing gets lost in between.
void Watch::scan(const std::string& folder, std::set<FolderId>& above, Found found) {
  const fs::path path = full(folder);
  const auto id = folder_id(path);
  if (!id || !above.insert(*id).second) return;
  add_watch(folder);
  std::error_code error;
  fs::directory_iterator at(path, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code ignored;
    if (!at->is_directory(ignored)) {
      meet(below(folder, name), found);
    } else if (options_.recursive && !is_output(at->path())) {
      scan(below(folder, name), above, found);
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    scan_failed_ = true;
    notes_.push_back("'" + path.string() + "': " + error.message());
  }
  above.erase(*id);
}

// A file that was found, not told of.
void Watch::meet(const std::string& name, Found found) {
  seen_.insert(name);
  if (candidates_.contains(name)) return;
  const auto stamp = stamp_of(full(name));
  const auto before = taken_.find(name);
  if (!stamp || (before != taken_.end() && before->second.is_same_content(*stamp))) return;
  // A clock far away may be wrong, and what is written there comes late.
  const bool by_age = tells_all_ || found == Found::at_start;
  const Clock::duration wait = tells_all_         ? Clock::duration(when_found)
                               : stamp->size == 0 ? Clock::duration(when_open)
                                                  : Clock::duration(when_far);
  candidates_[name] = {.stamp = stamp,
                       .since = Clock::now() - (by_age ? age_of(stamp->changed) : 0ns),
                       .wait = wait,
                       .is_new = found == Found::later};
}

void Watch::look() {
  if (inotify_.get() < 0) return;
  alignas(inotify_event) std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t length = read(inotify_.get(), buffer.data(), buffer.size());
    if (length <= 0) return;
    for (ssize_t at = 0; at < length;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      hear(event->wd, event->mask, event->len > 0 ? event->name : "");
    }
  }
}

void Watch::hear(int watch, std::uint32_t what, const std::string& name) {
  if ((what & IN_Q_OVERFLOW) != 0) wants_scan_ = true;
  const auto found = folders_.find(watch);
  if (found == folders_.end()) return;
  if ((what & IN_IGNORED) != 0) {
    folders_.erase(found);
    return;
  }
  if ((what & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0) next_check_ = {};
  if (name.empty() || name.starts_with('.')) return;
  const std::set<std::string> folders = found->second;  // a copy: they may change
  for (const std::string& folder : folders) {
    if ((what & IN_ISDIR) != 0) {
      hear_of_folder(what, below(folder, name));
    } else {
      hear_of_file(what, below(folder, name));
    }
  }
}

void Watch::hear_of_folder(std::uint32_t what, const std::string& name) {
  if (!options_.recursive) return;
  if ((what & (IN_MOVED_FROM | IN_DELETE)) != 0) forget_folder(name);
  if ((what & (IN_CREATE | IN_MOVED_TO)) == 0) return;
  if (is_output(full(name))) return;
  std::set<FolderId> above;  // it is new: what leads back from it does so by itself
  scan(name, above, Found::later);
}

void Watch::hear_of_file(std::uint32_t what, const std::string& name) {
  if ((what & (IN_MOVED_FROM | IN_DELETE)) != 0) return forget(name);
  Clock::duration wait = after_close;
  if ((what & IN_CREATE) != 0) {
    // A link to a folder is told of as a file.
    std::error_code error;
    if (fs::is_directory(full(name), error)) return hear_of_folder(what, name);
    if (is_link(full(name))) {
      wait = when_found;
    } else if (format_of_extension(name)) {
      wait = when_open;
    } else {
      return;  // what it is can be told when it is closed
    }
  } else if ((what & (IN_CLOSE_WRITE | IN_MOVED_TO)) == 0) {
    return;
  }
  const auto stamp = stamp_of(full(name));
  // Closed, and nothing was written.
  const auto before = taken_.find(name);
  if (stamp && before != taken_.end() && before->second == *stamp) return;
  candidates_[name] = {.stamp = stamp, .since = Clock::now(), .wait = wait};
}

void Watch::forget(const std::string& name) {
  candidates_.erase(name);
  taken_.erase(name);
}

// And what is in it. What moved is told of once more where it has come to.
void Watch::forget_folder(const std::string& folder) {
  const std::string inside = folder + "/";
  const auto is_inside = [&](const std::string& name) {
    return name == folder || name.starts_with(inside);
  };
  std::erase_if(candidates_, [&](const auto& one) { return is_inside(one.first); });
  std::erase_if(taken_, [&](const auto& one) { return is_inside(one.first); });
  for (auto at = folders_.begin(); at != folders_.end();) {
    std::erase_if(at->second, is_inside);
    if (!at->second.empty()) {
      ++at;
      continue;
    }
    inotify_rm_watch(inotify_.get(), at->first);
    at = folders_.erase(at);
  }
}

void Watch::wait(std::chrono::milliseconds most) const {
  pollfd told = {.fd = inotify_.get(), .events = POLLIN, .revents = 0};
  if (inotify_.get() < 0) {
    std::this_thread::sleep_for(most);
  } else {
    poll(&told, 1, static_cast<int>(most.count()));
  }
}

// Whether the file has stood still for long enough.
bool Watch::is_due(const std::string& name, Candidate& candidate, Clock::time_point now) const {
  if (now - candidate.since < candidate.wait) return false;
  const auto stamp = stamp_of(full(name));
  if (stamp == candidate.stamp) return true;
  candidate.stamp = stamp;
  candidate.since = now;
  return false;
}

std::optional<Arrival> Watch::taken(const std::string& name, const Candidate& candidate) {
  if (!candidate.stamp) return {};  // gone, or no file
  const fs::path path = full(name);
  taken_[name] = *candidate.stamp;
  if (is_temporary(path.filename().string())) return {};
  if (!is_picture_file(path)) {
    const std::string kind = unread_extension(name);
    if (!kind.empty()) notes_.push_back("'" + path.string() + "' was left unread: ." + kind);
    return {};
  }
  return Arrival{.input = {.path = path, .relative = name}, .is_new = candidate.is_new};
}

std::vector<Arrival> Watch::take() {
  look();
  if (wants_scan_ || (!tells_all_ && Clock::now() >= next_scan_)) scan_all(Found::later);
  std::vector<Arrival> arrivals;
  const auto now = Clock::now();
  for (auto at = candidates_.begin(); at != candidates_.end();) {
    if (!is_due(at->first, at->second, now)) {
      ++at;
      continue;
    }
    if (auto arrival = taken(at->first, at->second)) arrivals.push_back(std::move(*arrival));
    at = candidates_.erase(at);
  }
  std::ranges::sort(arrivals, [](const Arrival& a, const Arrival& b) {
    return a.input.relative < b.input.relative;
  });
  return arrivals;
}

std::string Watch::why_over() {
  const auto now = Clock::now();
  if (now < next_check_) return "";
  next_check_ = now + 1s;
  struct stat status = {};
  if (stat(root_.c_str(), &status) != 0) {
    // A network that fails for a while is no end.
    if (errno != ENOENT && errno != ENOTDIR) return "";
    return "--watch: the folder '" + root_.string() + "' is gone";
  }
  if (std::pair{status.st_dev, status.st_ino} == id_) return "";
  return "--watch: the folder '" + root_.string() + "' is another one now";
}

bool Watch::covers(const fs::path& file) const {
  if (file.filename().string().starts_with('.')) return false;
  std::error_code error;
  const fs::path parent = file.parent_path();
  const fs::path folder = fs::weakly_canonical(parent.empty() ? "." : parent, error);
  const auto is_below = [&](const fs::path& above) {
    const fs::path way = folder.lexically_relative(above);
    return !way.empty() && *way.begin() != "..";
  };
  if (folder == canonical_root_) return true;
  if (!options_.recursive || !is_below(canonical_root_)) return false;
  return canonical_output_.empty() || !is_below(canonical_output_);
}

}  // namespace impipe::io
