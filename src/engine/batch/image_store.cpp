#include "engine/batch/image_store.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/thread_pool.hpp"
#include "engine/batch/image_rows.hpp"

namespace impipe::engine {
namespace {

// Calls `use` with each row of an image of this kind, one behind the other: that of each channel,
// then that of alpha.
template <class Image, class Use>
void visit_row(Image& image, std::int64_t y, Use use) {
  for (auto& plane : image.planes) use(plane.row(y), plane.row_bytes());
  if (!image.alpha.empty()) use(image.alpha.row(y), image.alpha.row_bytes());
}

// Throws Error where it is no folder.
std::filesystem::path system_folder() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (!error) return folder;
  std::string name = "/tmp";
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {  // as the library asks
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    name = std::string(variable) + "=" + value;
    break;
  }
  throw Error(name + ": " + error.message() + "; --scratch names a folder for images that wait",
              ExitCode::file_failed);
}

HostImage image_of(const ImageKind& kind, std::int64_t rows) {
  HostImage out;
  out.type = kind.type;
  const Size size{kind.size.width, rows};
  out.planes = new_planes(kind.type.cls, kind.type.channels, size);
  if (kind.alpha) out.alpha = Plane(*kind.alpha, size);
  return out;
}

// Rows of a band: as many as `bytes_a_row` lets into the memory, and all of them where they fit.
std::int64_t rows_of_band(const ReductionTask& task, std::int64_t bytes_a_row) {
  constexpr std::int64_t enough = 384 << 20;  // more gains nothing
  const std::int64_t memory = std::min(task.memory, enough);
  const std::int64_t fits =
      std::max<std::int64_t>(1, memory / std::max<std::int64_t>(1, bytes_a_row));
  const std::int64_t bands = (task.kind.size.height + fits - 1) / fits;
  return (task.kind.size.height + bands - 1) / bands;
}

// Images are read side by side, but are added in their order.
HostImage running_band(const ReductionTask& task, RowRange rows, std::int64_t at_once,
                       const ReadRows& read) {
  RunningReduction running(task.reduction);
  for (std::int64_t first = 0; first < task.images; first += at_once) {
    task.check();
    std::vector<HostImage> images(static_cast<std::size_t>(std::min(at_once, task.images - first)));
    task.pool.for_each(std::ssize(images), [&](std::int64_t i) {
      images[static_cast<std::size_t>(i)] = read(first + i, rows);
    });
    for (const HostImage& image : images) running.add(image, task.pool);
  }
  return running.result(task.pool);
}

HostImage ordered_band(const ReductionTask& task, RowRange rows, const ReadRows& read) {
  std::vector<HostImage> images(static_cast<std::size_t>(task.images));
  task.pool.for_each(task.images, [&](std::int64_t i) {
    task.check();
    images[static_cast<std::size_t>(i)] = read(i, rows);
  });
  std::vector<const HostImage*> all;
  for (const HostImage& image : images) all.push_back(&image);
  return reduced(task.reduction, all, task.pool);
}

}  // namespace

std::int64_t ImageKind::row_bytes() const {
  return size.width * (type.channels * bytes_of(type.cls) + (alpha ? bytes_of(*alpha) : 0));
}

ImageKind kind_of(const HostImage& image) {
  ImageKind out{image.type, image.size(), {}};
  if (!image.alpha.empty()) out.alpha = image.alpha.cls();
  return out;
}

std::string to_string(const ImageKind& kind) {
  std::string text = to_string(kind.size) + " " + std::string(name_of(kind.type.cls));
  if (kind.type.channels > 1) text += " x" + std::to_string(kind.type.channels);
  return text + (kind.alpha ? " + alpha" : "");
}

HostImage reduced_by_bands(const ReductionTask& task, const ReadRows& read) {
  constexpr std::int64_t files_at_once = 8;
  const bool by_order = task.reduction.is_by_order();
  const double running_bytes = RunningReduction::bytes_a_pixel(task.reduction) *
                               static_cast<double>(task.kind.size.width) *
                               (task.kind.type.channels + (task.kind.alpha ? 1 : 0));
  const std::int64_t rows = rows_of_band(
      task, by_order
                ? task.images * task.kind.row_bytes()
                : files_at_once * task.kind.row_bytes() + static_cast<std::int64_t>(running_bytes));
  HostImage out;
  const std::int64_t height = task.kind.size.height;
  for (std::int64_t y = 0; y < height; y += rows) {
    const RowRange range{y, std::min(height, y + rows)};
    HostImage band =
        by_order ? ordered_band(task, range, read) : running_band(task, range, files_at_once, read);
    if (range.end - range.begin == height) return band;
    if (out.empty()) out = image_like(band, height);
    copy_rows(band, 0, range.end - range.begin, out, y);
  }
  return out;
}

void ImageStore::put(std::int64_t index, HostImage image) {
  std::unique_lock lock(mutex_);
  if (!has_kind_) {
    kind_ = kind_of(image);
    has_kind_ = true;
    if (image_bytes() * std::ssize(images_) > memory_) open_file();
  }
  if (kind_of(image) != kind_) {
    throw Error("it is " + to_string(kind_of(image)) + ", and others are " + to_string(kind_),
                ExitCode::file_failed);
  }
  if (file_.get() < 0) {
    images_[static_cast<std::size_t>(index)] = std::move(image);
    return;
  }
  lock.unlock();
  write(index, image);
}

HostImage ImageStore::take(std::int64_t index) {
  if (file_.get() < 0) return std::exchange(images_[static_cast<std::size_t>(index)], {});
  return read(index, {0, kind_.size.height});
}

void ImageStore::open_file() {
  if (folder_.empty()) folder_ = system_folder();
  int file = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) {  // a file system without such
    std::string name = (folder_ / "impipe-XXXXXX").string();
    file = mkostemp(name.data(), O_CLOEXEC);
    if (file >= 0) unlink(name.c_str());
  }
  if (file < 0) {
    throw Error("--scratch " + folder_.string() + ": " + std::strerror(errno) +
                    "; give a folder that can be written to",
                ExitCode::file_failed);
  }
  file_ = io::OpenFile(file);
}

void ImageStore::write(std::int64_t index, const HostImage& image) const {
  // So many bytes go at once.
  constexpr std::size_t enough = 1 << 20;
  std::vector<std::byte> buffer;
  std::int64_t at = index * image_bytes();
  const auto flush = [&] {
    for (std::size_t done = 0; done < buffer.size();) {
      const ssize_t wrote = pwrite(file_.get(), buffer.data() + done, buffer.size() - done, at);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        throw Error("--scratch " + folder_.string() + ": " + std::strerror(errno) +
                        "; give a folder with more room",
                    ExitCode::file_failed);
      }
      done += static_cast<std::size_t>(wrote);
      at += wrote;
    }
    buffer.clear();
  };
  for (std::int64_t y = 0; y < kind_.size.height; ++y) {
    visit_row(image, y, [&](const std::byte* row, std::int64_t bytes) {
      buffer.insert(buffer.end(), row, row + bytes);
    });
    if (buffer.size() >= enough) flush();
  }
  flush();
}

HostImage ImageStore::read(std::int64_t index, RowRange rows) const {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>((rows.end - rows.begin) * kind_.row_bytes()));
  const std::int64_t begin = index * image_bytes() + rows.begin * kind_.row_bytes();
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = pread(file_.get(), bytes.data() + done, bytes.size() - done,
                              begin + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error("--scratch " + folder_.string() + ": cannot be read: " +
                      (got < 0 ? std::strerror(errno) : "it has become shorter"),
                  ExitCode::file_failed);
    }
    done += static_cast<std::size_t>(got);
  }
  HostImage out = image_of(kind_, rows.end - rows.begin);
  const std::byte* from = bytes.data();
  for (std::int64_t y = 0; y < rows.end - rows.begin; ++y) {
    visit_row(out, y, [&](std::byte* row, std::int64_t count) {
      std::memcpy(row, from, static_cast<std::size_t>(count));
      from += count;
    });
  }
  return out;
}

HostImage ImageStore::reduced(const ImageReduction& reduction, ThreadPool& pool,
                              const std::function<void()>& check) {
  if (file_.get() < 0) {
    std::vector<const HostImage*> all;
    for (const HostImage& image : images_) all.push_back(&image);
    HostImage out = impipe::reduced(reduction, all, pool);
    images_.clear();
    return out;
  }
  return reduced_by_bands({reduction, std::ssize(images_), kind_, memory_, pool, check},
                          [&](std::int64_t i, RowRange rows) { return read(i, rows); });
}

std::int64_t ImageStore::bytes_on_disk() const {
  std::lock_guard lock(mutex_);
  return file_.get() < 0 ? 0 : image_bytes() * std::ssize(images_);
}

}  // namespace impipe::engine
