// Results that follow each other in one file or on stdout.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/batch/picture.hpp"
#include "io/files/atomic_file.hpp"

namespace impipe::engine {

// Used by one thread, in the order of the inputs.
class JoinedOutput {
 public:
  // Puts a result behind those before it, into a file that is made at the first one. Returns what
  // goes to stdout instead. A dry run writes nothing. Throws Error when it is of another kind than
  // those, or cannot be written.
  std::span<const std::byte> add(const Picture& picture, const PictureResult& result,
                                 const PictureSettings& settings);
  // What the user should know of the first result, or empty.
  std::string take_note() { return std::exchange(note_, {}); }
  // Something is missing: a later run with -u makes it again.
  void miss() { is_whole_ = false; }
  // The file is whole and gets its name; others may follow. False where it is not written, since
  // pages are missing. Throws Error.
  bool end(const PictureSettings& settings);

 private:
  void add_axes(const io::FileAxes& of);
  void write_pages(const PictureSettings& settings);

  std::optional<std::string> output_;  // that is being written, "-": stdout
  std::string common_;                 // of its results
  std::unique_ptr<io::GrowingFile> file_;
  std::vector<io::Bytes> pages_;  // results that become one file when all are there
  io::Format format_ = io::Format::tiff;
  io::FileAxes axes_;         // of `pages_`, none of which has a name
  bool has_one_size_ = true;  // pixels of all inputs are of one size in the scene
  bool is_whole_ = true;
  std::string note_;
};

}  // namespace impipe::engine
