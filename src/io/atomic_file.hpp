// Files that appear whole or not at all: written under a temporary name beside the target, then
// renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace impipe::io {

// One file being written; used by one thread. Unless committed, the destructor removes it.
class AtomicFile {
 public:
  // Makes the folder of `target` when it is missing. Throws Error (file_failed) naming the target
  // and the system's reason, as all functions here do.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  // Closes the file and gives it its name, in place of whatever had it.
  void commit();
  const std::filesystem::path& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail_with(int error);
  void discard();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
  int slot_ = -1;  // in the table that remove_temporaries reads
};

void write_file(const std::filesystem::path& target, std::span<const std::byte> bytes);

// Writes to an open file such as stdout; `name` stands in the message ("stdout").
void write_descriptor(int file, std::span<const std::byte> bytes, std::string_view name);

// Removes the temporary files that are being written at this moment. May be called from a signal
// handler: it takes no lock and no memory.
void remove_temporaries() noexcept;

// Removes temporary files in `folder` whose process on this machine is gone; returns how many.
int sweep_stale_temporaries(const std::filesystem::path& folder);
// ".impipe-…-….tmp"; such files are no inputs.
bool is_temporary_name(std::string_view name);

// For -u: `output` exists and is not older than any of the inputs that exist.
bool is_up_to_date(const std::filesystem::path& output,
                   std::span<const std::filesystem::path> inputs);

}  // namespace impipe::io
