// Pictures some rows at a time: files opened and made for the codec module that knows their rows.
#include "io/picture_rows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/byte_source.hpp"
#include "io/file_metadata.hpp"
#include "io/headers.hpp"
#include "io/module.hpp"
#include "io/module_call.hpp"
#include "io/thumbnail.hpp"

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
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    return from_module([&] { return rows_->read(y, y_end); });
  }

 private:
  InputFile file_;
  std::unique_ptr<PictureRows> rows_;
};

// The rows of a file in memory.
class JpegRowsInMemory final : public PictureRows {
 public:
  JpegRowsInMemory(std::span<const std::byte> file, const ImageInfo& info) {
    const auto make = [](const ImageType& type, Size size) { return HostImage(type, size); };
    rows_ = from_module([&] { return codec_module(Format::jpeg).open_rows(file, info, make); });
  }
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    return from_module([&] { return rows_->read(y, y_end); });
  }

 private:
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

std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> file, const ImageInfo& info) {
  return std::make_unique<JpegRowsInMemory>(file, info);
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
  SampleType samples = SampleType::of_class;
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
  stored.samples = wanted_samples(type, metadata, Format::tiff, options);
  state_->samples = stored.samples;
  state_->sink = codec_module(Format::tiff)
                     .make_rows(state_->file.descriptor(), type, target.size, target.tile, stored);
}

RowsFile::~RowsFile() = default;

bool RowsFile::write(const HostImage& rows, std::int64_t& clipped) {
  HostImage ready = convert(rows, state_->cls, &clipped);
  const PixelClass cls = stored_class(ready.type, state_->cls);
  if (cls != state_->cls) ready = convert(ready, cls);
  if (state_->samples != SampleType::of_class && !holds(state_->samples, ready)) return false;
  state_->sink->write(ready);
  return true;
}

void RowsFile::commit(std::string_view maker, UnsyncedDisks* disks) {
  state_->sink->finish();
  state_->sink.reset();
  if (!maker.empty()) state_->file.note_maker(maker);
  state_->file.commit(disks);
}

struct RowsJpeg::State {
  ImageType type;  // in the file
  Size size;
  const Metadata& metadata;
  std::unique_ptr<PictureSink> sink;
  std::optional<SmallPicture> small;  // where a thumbnail is wanted
  Encoded encoded;
};

RowsJpeg::RowsJpeg(const ImageType& type, Size size, const Metadata& metadata,
                   const EncodeOptions& options)
    : state_(new State{.type = type, .size = size, .metadata = metadata}) {
  State& s = *state_;
  s.type.cls = PixelClass::uint8;
  s.type.white = class_max(PixelClass::uint8);
  EncodeOptions stored = options;
  stored.jpeg = jpeg_storage_for(metadata, options);
  s.sink = from_module([&] { return codec_module(Format::jpeg).make_rows(s.type, size, stored); });
  if (wants_thumbnail(metadata)) s.small.emplace(s.type, size, thumbnail_side(metadata));
}

RowsJpeg::~RowsJpeg() = default;

void RowsJpeg::write(const HostImage& rows) {
  const HostImage ready = convert(rows, PixelClass::uint8, &state_->encoded.clipped);
  from_module([&] {
    state_->sink->write(ready);
    return true;
  });
  if (state_->small) state_->small->add(ready);
}

Encoded RowsJpeg::finish() {
  State& s = *state_;
  const HostImage none(s.type, {1, 1});
  const HostImage& shown = s.small ? s.small->image() : none;
  s.encoded.bytes = from_module([&] {
    return with_metadata(s.sink->finish(), Format::jpeg, s.metadata, {s.size, shown},
                         s.encoded.lost);
  });
  return std::move(s.encoded);
}

}  // namespace impipe::io
