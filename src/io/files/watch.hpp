// A folder that is watched: which pictures have come into it, each when it is whole.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/bytes/open_file.hpp"
#include "io/files/inputs.hpp"

namespace impipe::io {

// A file that is whole, as far as can be told from outside.
struct Arrival {
  Input input;
  bool is_new = false;  // it came, or changed, after the watch had begun
};

// Files are found by what the system tells of them (inotify): one that was closed after writing, or
// moved in, is whole. Others are whole when they have stood still for a while: those that were
// there before, those in a folder that came with its files, and those on file systems that do not
// tell what other machines write, where the folder is looked at again and again. Of one thread.
class Watch {
 public:
  // Throws Error (usage) when `folder` is none, or cannot be read.
  Watch(std::filesystem::path folder, const InputOptions& options);

  // Hears what the system has told. To be called often: it keeps only so much.
  void look();
  // Waits until something is told, for so long at most.
  void wait(std::chrono::milliseconds most) const;
  // The files that are whole and were not taken yet as they are now, in the order of their names.
  std::vector<Arrival> take();
  // Whether some file has begun to come and is not taken yet.
  bool is_pending() const { return !candidates_.empty(); }
  // Why nothing can come any more; empty while it can.
  std::string why_over();
  // Whether a file of this name would be taken, if there was one.
  bool covers(const std::filesystem::path& file) const;
  // What the user should know, since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  using Clock = std::chrono::steady_clock;

  // What tells two states of a file apart.
  struct Stamp {
    ino_t inode = 0;
    off_t size = 0;
    timespec changed = {};
    // Some network file systems give a file another number now and then: a file that was looked
    // for is the same without.
    bool is_same_content(const Stamp& other) const {
      return size == other.size && changed.tv_sec == other.changed.tv_sec &&
             changed.tv_nsec == other.changed.tv_nsec;
    }
    bool operator==(const Stamp& other) const {
      return inode == other.inode && is_same_content(other);
    }
  };
  // A file that may not be whole yet. It is when it has stood still from `since` for `wait`.
  struct Candidate {
    std::optional<Stamp> stamp;  // when it was seen last
    Clock::time_point since;
    Clock::duration wait;
    bool is_new = true;
  };
  enum class Found { at_start, later };

  static std::optional<Stamp> stamp_of(const std::filesystem::path& path);
  // Below the folder, as the names of all maps are.
  std::filesystem::path full(const std::string& name) const;
  bool is_due(const std::string& name, Candidate& candidate, Clock::time_point now) const;
  std::optional<Arrival> taken(const std::string& name, const Candidate& candidate);

  bool is_output(const std::filesystem::path& folder) const;
  void add_watch(const std::string& folder);
  void scan_all(Found found);
  void scan(const std::string& folder, std::set<FolderId>& above, Found found);
  void meet(const std::string& name, Found found);
  void hear(int watch, std::uint32_t what, const std::string& name);
  void hear_of_folder(std::uint32_t what, const std::string& name);
  void hear_of_file(std::uint32_t what, const std::string& name);
  void forget(const std::string& name);
  void forget_folder(const std::string& folder);

  const std::filesystem::path root_;
  const InputOptions options_;
  std::filesystem::path canonical_root_, canonical_output_;
  std::optional<FolderId> id_, output_id_;
  OpenFile inotify_;
  bool tells_all_ = true;    // else the folder is looked at now and then
  bool wants_scan_ = false;  // what was told is not all
  bool scan_failed_ = false;
  Clock::time_point next_scan_, next_check_;
  std::map<int, std::set<std::string>> folders_;  // by watch: links may lead to one in several ways
  std::map<std::string, Candidate> candidates_;
  std::map<std::string, Stamp> taken_;  // as they were then; those that are no pictures too
  std::set<std::string> seen_;          // by the scan that goes on
  std::vector<std::string> notes_;
};

}  // namespace impipe::io
