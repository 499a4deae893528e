// Pictures as files: their bytes, and what their headers say.
#include "io/files/read_picture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <span>
#include <thread>

#include "core/kept_bytes.hpp"
#include "io/bytes/open_file.hpp"
#include "io/files/slide_path.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/nifti/nifti.hpp"
#include "io/formats/y4m/frame_reader.hpp"

namespace impipe::io {
namespace {

OpenFile opened(const std::filesystem::path& path, int flags = 0) {
  OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (file.get() >= 0) return file;
  const int error = errno;
  if (error == ENOENT) fail("no such file");
  if (error == EACCES) fail("permission denied");
  throw system_error(error);
}

// Reads until `out` is full or the file ends; returns the number of bytes.
size_t read_fully(int file, std::byte* out, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = read(file, out + done, count - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EISDIR) fail("is a directory");
    if (got < 0) throw system_error(errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Bytes read_regular(int file, size_t size) {
  std::byte head[sniffed_bytes];
  const size_t head_bytes = read_fully(file, head, sizeof head);
  sniff_or_fail({head, head_bytes});
  Bytes bytes = kept_bytes(std::max(size, head_bytes));
  std::copy_n(head, head_bytes, bytes.data());
  const size_t rest = read_fully(file, bytes.data() + head_bytes, bytes.size() - head_bytes);
  bytes.resize(head_bytes + rest);
  return bytes;
}

// One file of a NIfTI's header and its voxels, which lie in a file beside it.
Bytes with_voxels(const std::filesystem::path& path, std::span<const std::byte> header) {
  const std::filesystem::path voxels = std::filesystem::path(path).replace_extension(".img");
  try {
    std::error_code ignored;
    if (std::filesystem::is_symlink(voxels, ignored)) {
      fail("is a link, and none is followed; nibabel writes both as one .nii");
    }
    const OpenFile file = opened(voxels, O_NONBLOCK | O_NOFOLLOW);  // nor waits for a pipe's writer
    struct stat status = {};
    if (fstat(file.get(), &status) != 0) throw system_error(errno);
    if (!S_ISREG(status.st_mode)) fail("is no file");
    const std::string head = nifti_of_pair(text_of(header));
    Bytes out(head.size() + static_cast<size_t>(status.st_size));
    std::ranges::copy(std::as_bytes(std::span(head)), out.begin());
    const size_t got = read_fully(file.get(), out.data() + head.size(), out.size() - head.size());
    out.resize(head.size() + got);
    return out;
  } catch (const Error& error) {
    throw Error("its voxels in '" + voxels.string() + "': ", error, error.code());
  }
}

// The other file of a pair has the name with .img: no file of another name is read for it.
bool may_have_voxels_apart(const std::filesystem::path& path) {
  return path.extension() == ".hdr" || path.extension() == ".HDR";
}

ImageInfo probe_file(const std::filesystem::path& path, const ByteSource& source,
                     std::optional<int> page, const Reading& reading) {
  if (!may_have_voxels_apart(path)) return probe(source, page, reading);
  const std::string head = source.read_some(0, nifti_header_bytes);
  if (!is_nifti_pair(head)) return probe(source, page, reading);
  return probe(bytes_of_text(nifti_of_pair(head)), page, reading);
}

Bytes read_irregular(const std::filesystem::path& path, int file) {
  struct stat status = {};
  if (fstat(file, &status) != 0) throw system_error(errno);
  if (S_ISDIR(status.st_mode) && is_zarr_folder(path)) return read_zarr_folder(path);
  if (S_ISDIR(status.st_mode)) fail("is a directory");
  PipeBudget no_limit = std::numeric_limits<std::int64_t>::max();
  return read_picture(file, no_limit);
}

}  // namespace

Bytes read_picture(const std::filesystem::path& path) {
  FileStamp stamp;
  return read_picture(path, stamp);
}

Bytes read_picture(const std::filesystem::path& path, FileStamp& stamp) {
  if (const auto slide = slide_of(path)) {
    return read_unchanged(slide->file, stamp, [&](int, size_t) { return slide_note(*slide); });
  }
  Bytes bytes = read_unchanged(path, stamp, read_regular);
  if (may_have_voxels_apart(path) && is_nifti_pair(text_of(bytes))) {
    return with_voxels(path, bytes);
  }
  return bytes;
}

Bytes read_unchanged(const std::filesystem::path& path, FileStamp& stamp, const ReadFile& read) {
  constexpr int max_reads = 5;
  for (int reads = 1;; ++reads) {
    // Opened each time: another file may have taken the name.
    const OpenFile file = opened(path);
    stamp = stamp_before_reading(file.get());
    if (stamp == FileStamp{}) return read_irregular(path, file.get());
    const auto is_changed = [&] { return stamp_of(file.get()) != stamp; };
    try {
      Bytes bytes = read(file.get(), static_cast<size_t>(stamp.size));
      if (!is_changed()) return bytes;
    } catch (const Error&) {
      if (!is_changed()) throw;
    }
    if (reads == max_reads) {
      throw Error(
          "it was written to while it was read, " + std::to_string(max_reads) + " times in a row",
          ExitCode::file_failed, true);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 << reads));
  }
}

Bytes read_picture(int file_descriptor, PipeBudget& budget, std::shared_ptr<FrameReader>* frames) {
  Bytes bytes(1 << 16);
  size_t done = read_fully(file_descriptor, bytes.data(), sniffed_bytes);
  if (sniff_or_fail({bytes.data(), done}) == Format::y4m && frames != nullptr) {
    std::string head(reinterpret_cast<const char*>(bytes.data()), done);
    *frames = std::make_shared<FrameReader>(file_descriptor, std::move(head));
    return {};
  }
  budget -= static_cast<std::int64_t>(done);
  for (;;) {
    const size_t got = read_fully(file_descriptor, bytes.data() + done, bytes.size() - done);
    if (got == 0) break;
    done += got;
    if (budget.fetch_sub(static_cast<std::int64_t>(got)) < static_cast<std::int64_t>(got)) {
      fail("a pipe gave more than fits into the memory for pictures (--memory)");
    }
    if (done == bytes.size()) bytes.resize(2 * bytes.size());
  }
  bytes.resize(done);
  return bytes;
}

bool is_picture(const std::filesystem::path& path) {
  const OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::byte head[sniffed_bytes];
  const ssize_t got = file.get() < 0 ? 0 : read(file.get(), head, sizeof head);
  return got > 0 && sniff({head, static_cast<size_t>(got)}).has_value();
}

ImageInfo probe(const std::filesystem::path& path, std::optional<int> page,
                const Reading& reading) {
  if (slide_of(path)) return probe(read_picture(path), page, reading);
  const OpenFile file = opened(path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) throw system_error(errno);
  if (S_ISREG(status.st_mode)) {
    return probe_file(path, ByteSource(file.get(), status.st_size), page, reading);
  }
  if (S_ISDIR(status.st_mode) && is_zarr_folder(path)) {
    return probe(read_zarr_folder(path, true), page, reading);
  }
  Bytes content;
  PipeBudget no_limit = std::numeric_limits<std::int64_t>::max();
  return probe(path, content, no_limit, reading);
}

ImageInfo probe(const std::filesystem::path& path, Bytes& content, PipeBudget& budget,
                const Reading& reading, std::shared_ptr<FrameReader>* frames) {
  if (slide_of(path)) return probe(path, {}, reading);
  const OpenFile file = opened(path);
  struct stat status = {};
  if (fstat(file.get(), &status) != 0) throw system_error(errno);
  if (S_ISDIR(status.st_mode)) {
    if (is_zarr_folder(path)) return probe(read_zarr_folder(path, true), {}, reading);
    fail("is a directory");
  }
  if (!S_ISREG(status.st_mode)) {
    content = read_picture(file.get(), budget, frames);
    if (frames != nullptr && *frames) return info_of((*frames)->header());
    return probe(content, {}, reading);
  }
  return probe_file(path, ByteSource(file.get(), status.st_size), {}, reading);
}

}  // namespace impipe::io
