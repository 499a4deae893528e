// Files that appear whole or not at all: written under a temporary name beside the target, then
// renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes/open_file.hpp"

namespace impipe::io {

class UnsyncedDisks;

// One file being written; used by one thread. Unless committed, the destructor removes it. While it
// is written it is locked, which tells `sweep_stale_temporaries` that somebody is at it.
class AtomicFile {
 public:
  // Makes the folder of `target` when it is missing. Throws Error (file_failed) naming the target
  // and the system's reason, as all functions here do. mode: without what umask takes away.
  explicit AtomicFile(std::filesystem::path target, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Closes the file and gives it its name, in place of whatever had it. With `disks`, to which the
  // file's is added, what it replaces is there until it is on the disk; null: see --no-sync. Notes
  // in an extended attribute what made the file, unless that is empty, and its size, where its file
  // system has any.
  void commit(std::string_view maker = "", UnsyncedDisks* disks = nullptr);
  const std::filesystem::path& temporary() const { return temporary_; }
  // Of the temporary file, until the commit.
  int descriptor() const { return file_; }

 private:
  // Opens and locks `temporary_`. Returns 0 or the error's number; EEXIST: try another name.
  int open_temporary(unsigned mode);
  [[noreturn]] void fail_with(int error);
  void note_maker(std::string_view maker) const;
  void discard();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
  int slot_ = -1;  // in the table that remove_temporaries reads
};

// Whether what is there is written into instead of replaced: a pipe, a device, or a name that the
// system gives an open file, such as /dev/stdout.
bool is_written_into(const std::filesystem::path& target);
// Whole or not at all, but for what is written into. maker: a note of made_note. disks: see
// AtomicFile::commit, here and below.
void write_file(const std::filesystem::path& target, std::span<const std::byte> bytes,
                std::string_view maker = "", UnsyncedDisks* disks = nullptr);
// A file that is written bit by bit: whole or not at all, but for what is written into. Used by one
// thread.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path target);

  const std::filesystem::path& target() const { return target_; }
  void write(std::span<const std::byte> bytes);
  // Gives it its name. maker: see is_up_to_date; empty: unknown.
  void commit(std::string_view maker, UnsyncedDisks* disks = nullptr);

 private:
  std::filesystem::path target_;
  std::unique_ptr<AtomicFile> file_;
  OpenFile into_;  // of what is written into
};
// The attribute that says what made a file.
inline constexpr const char* maker_attribute = "user.impipe.made";

// Gives an existing file other content, whole or not at all. It keeps its mode, owner, group and
// extended attributes (access control lists among them); a symbolic link stays one, and the file
// that it leads to is replaced.
void replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                  UnsyncedDisks* disks = nullptr);
// Why replace_file would not do for this file, as "it has 2 names (hard links), …"; empty when it
// would.
std::string why_not_replaceable(const std::filesystem::path& path);

// A name for what is being made and is to be called `target`, which sweep_stale_temporaries knows.
std::filesystem::path temporary_beside(const std::filesystem::path& target);

// Removes the temporary files that are being written at this moment. May be called from a signal
// handler: it takes no lock and no memory.
void remove_temporaries() noexcept;

// Removes temporary files and folders in `folder`, not below it, that nobody is writing any more:
// unlocked, and of this machine's running system, or unlocked and a day old. Returns how many.
int sweep_stale_temporaries(const std::filesystem::path& folder);
// ".impipe-…-….tmp"; such files are no inputs.
bool is_temporary_name(std::string_view name);

// For -u: `output` is not empty, is not older than any of the inputs that exist, and has no note
// that something else than `maker` made it, with another size, or of other states of the inputs
// (made_note). A note of the maker alone, as results of many files have, tells nothing of inputs.
bool is_up_to_date(const std::filesystem::path& output,
                   std::span<const std::filesystem::path> inputs, std::string_view maker = "");

}  // namespace impipe::io
