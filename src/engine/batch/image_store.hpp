// Images of one kind that wait until all of them are there, and the reduction of images of which
// some rows are read at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/image_reduction.hpp"
#include "io/bytes/open_file.hpp"

namespace impipe::engine {

// What images have in common that are reduced together. alpha: the class of that plane, if any.
struct ImageKind {
  ImageType type;
  Size size;
  std::optional<PixelClass> alpha;

  bool operator==(const ImageKind&) const = default;
  std::int64_t row_bytes() const;  // of all planes
};
ImageKind kind_of(const HostImage& image);
// "640x480 uint8 x3 + alpha"
std::string to_string(const ImageKind& kind);

struct ReductionTask {
  const ImageReduction& reduction;
  std::int64_t images = 0;
  ImageKind kind;
  std::int64_t memory = 0;  // bytes that rows of all images may take
  ThreadPool& pool;
  std::function<void()> check = [] {};  // now and then; may throw
};
// Rows of image `index`. Any thread.
using ReadRows = std::function<HostImage(std::int64_t index, RowRange rows)>;
// As `reduced`, reading every row of every image once.
HostImage reduced_by_bands(const ReductionTask& task, const ReadRows& read);

// Any thread; each image once. Images stay in memory as long as all of them fit there, else they
// are in a file that has no name.
class ImageStore {
 public:
  // folder: of the file; empty: the system's for temporary files. memory: bytes.
  ImageStore(std::filesystem::path folder, std::int64_t images, std::int64_t memory)
      : folder_(std::move(folder)), memory_(memory), images_(static_cast<std::size_t>(images)) {}

  // Throws Error where the image is of another kind than the first one, and when the disk is full.
  void put(std::int64_t index, HostImage image);
  // One that is there; once.
  HostImage take(std::int64_t index);
  // The images' reduction; all have been put.
  HostImage reduced(const ImageReduction& reduction, ThreadPool& pool,
                    const std::function<void()>& check);
  // Bytes in the file, 0 when there is none; and its folder.
  std::int64_t bytes_on_disk() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::int64_t image_bytes() const { return kind_.row_bytes() * kind_.size.height; }
  void open_file();
  void write(std::int64_t index, const HostImage& image) const;
  HostImage read(std::int64_t index, RowRange rows) const;

  std::filesystem::path folder_;
  const std::int64_t memory_;
  mutable std::mutex mutex_;
  bool has_kind_ = false;
  ImageKind kind_;
  std::vector<HostImage> images_;  // while they are in memory
  io::OpenFile file_;
};

}  // namespace impipe::engine
