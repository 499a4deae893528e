// What `stack` makes of all files of a run, while they come and when all are there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/batch/page_reducer.hpp"
#include "io/files/file_stamp.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::engine {

// Any thread may call any function.
class StackSink {
 public:
  struct Options {
    std::int64_t files = 0;
    std::int64_t memory = 0;
    std::filesystem::path scratch;
    ThreadPool* pool = nullptr;
    std::vector<std::filesystem::path> paths;  // of the files, but of stdin
    std::vector<io::FileStamp> stamps;         // of these, before they are read
  };
  StackSink(const ImageReduction& reduction, Options options)
      : reduction_(reduction), options_(std::move(options)) {}

  // Files that are not added: `read` gives their rows, when the result is made. source: of the
  // first file.
  void read_by_bands(const ImageKind& kind, ReadRows read,
                     std::shared_ptr<const PageSource> source);
  // Page `page.which` of a file; once. Throws Error where it does not go with those of other files.
  void add(std::int64_t file, Page page);
  // Page k is that of the k-th pages. Every file has been added.
  std::vector<Page> result(const std::function<void()>& check);
  // Values of files whose rows were read that single does not hold.
  void count(const io::Inexact& inexact);
  const io::Inexact& inexact() const { return inexact_; }
  const std::vector<std::filesystem::path>& paths() const { return options_.paths; }
  const std::vector<io::FileStamp>& stamps() const { return options_.stamps; }
  // What waits in a file: bytes, and its folder.
  std::pair<std::int64_t, std::filesystem::path> on_disk() const;

 private:
  // What is known of the k-th pages.
  struct Pages {
    std::optional<ImageKind> kind;
    std::optional<RunningReduction> running;
    // For files before theirs, by their files; without pixels: it is in `store`.
    std::map<std::int64_t, HostImage> waiting;
    std::int64_t next = 0;              // file to be added
    std::unique_ptr<ImageStore> store;  // by order: of all files
    Page first;                         // of the first file, without its image
  };
  Pages& pages_at(std::size_t which);
  // Holds an image until those before it are there: in memory, or where too much is there, on disk.
  void hold(Pages& pages, std::int64_t file, HostImage image);

  const ImageReduction reduction_;
  const Options options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pages>> pages_;
  std::int64_t held_ = 0;  // bytes of images that wait in memory
  ReadRows read_;
  io::Inexact inexact_;
};

}  // namespace impipe::engine
