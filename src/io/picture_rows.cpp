// Pictures some rows at a time: files opened and made for the codec module that knows their rows.
#include "io/picture_rows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/byte_source.hpp"
#include "io/file_metadata.hpp"
#include "io/module.hpp"

namespace impipe::io {
namespace {

// A file to read, and its end.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status = {};
    if (file_ < 0 || fstat(file_, &status) != 0) {
      const int error = errno;
      if (file_ >= 0) close(file_);
      throw system_error(error);
    }
    size_ = status.st_size;
  }
  ~InputFile() { close(file_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  int get() const { return file_; }
  std::int64_t size() const { return size_; }

 private:
  int file_;
  std::int64_t size_ = 0;
};

// The module's reader with the file that it reads.
class OpenRows final : public PictureRows {
 public:
  explicit OpenRows(const std::filesystem::path& path) : file_(path) {}
  bool open(const ImageInfo& info) {
    const auto make = [](const ImageType& type, Size size) { return HostImage(type, size); };
    rows_ = codec_module(info.format).open_rows(file_.get(), file_.size(), info, make);
    return rows_ != nullptr;
  }
  HostImage read(std::int64_t y, std::int64_t y_end) override { return rows_->read(y, y_end); }

 private:
  InputFile file_;
  std::unique_ptr<PictureRows> rows_;
};

// The class in which an image of this type is stored: no format has 1-bit pixels beside an alpha or
// in colour.
PixelClass stored_class(const ImageType& type, PixelClass cls) {
  return cls == PixelClass::logical && (type.alpha || type.channels > 1) ? PixelClass::uint8 : cls;
}

}  // namespace

std::unique_ptr<PictureRows> open_rows(const std::filesystem::path& path, const ImageInfo& info) {
  if (info.format != Format::tiff || info.orientation != 1) return nullptr;
  auto rows = std::make_unique<OpenRows>(path);
  if (!rows->open(info)) return nullptr;
  return rows;
}

MetadataRead read_metadata(const std::filesystem::path& path, const ImageInfo& info) {
  const InputFile file(path);
  const auto size = static_cast<size_t>(file.size());
  // Mapped: what is not looked at takes no memory.
  void* bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) throw system_error(errno);
  const std::unique_ptr<void, std::function<void(void*)>> owner(
      bytes, [size](void* mapped) { munmap(mapped, size); });
  return read_metadata(std::span(static_cast<const std::byte*>(bytes), size), info);
}

struct RowsFile::State {
  State(const std::filesystem::path& path, PixelClass wanted) : file(path), cls(wanted) {}
  AtomicFile file;
  PixelClass cls;
  std::unique_ptr<PictureSink> sink;
};

RowsFile::RowsFile(const std::filesystem::path& path, const RowsTarget& target,
                   const Metadata& metadata, const EncodeOptions& options,
                   std::vector<std::string>& lost)
    : state_(std::make_unique<State>(path, target.cls)) {
  EncodeOptions stored = options;
  stored.big_endian_tiff = metadata.big_endian;
  stored.metadata = metadata;
  if (!metadata.exif.empty()) lost.emplace_back("EXIF");
  if (!metadata.comments.empty()) lost.emplace_back("a comment");
  name_pieces(metadata, lost);
  ImageType type = target.type;
  type.cls = stored_class(type, target.cls);
  type.white = type.cls == PixelClass::single ? type.white : class_max(type.cls);
  state_->sink = codec_module(Format::tiff)
                     .make_rows(state_->file.descriptor(), type, target.size, target.tile, stored);
}

RowsFile::~RowsFile() = default;

void RowsFile::write(const HostImage& rows, std::int64_t& clipped) {
  HostImage ready = convert(rows, state_->cls, &clipped);
  const PixelClass cls = stored_class(ready.type, state_->cls);
  if (cls != state_->cls) ready = convert(ready, cls);
  state_->sink->write(ready);
}

void RowsFile::commit(std::string_view maker) {
  state_->sink->finish();
  state_->sink.reset();
  if (!maker.empty()) state_->file.note_maker(maker);
  state_->file.commit();
}

}  // namespace impipe::io
