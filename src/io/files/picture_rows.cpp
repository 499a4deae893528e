// Pictures some rows at a time: files opened and made for the codec module that knows their rows.
#include "io/files/picture_rows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/open_file.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/read_picture.hpp"
#include "io/files/rows_of_format.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/format_traits.hpp"
#include "io/formats/jpeg/jpeg_metadata.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_tiles.hpp"
#include "io/formats/zarr/zarr_array.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/module/module.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/convert.hpp"
#include "io/picture/written_samples.hpp"

namespace impipe::io {
namespace {

// A file to read, and how many bytes it has.
struct InputFile {
  explicit InputFile(const std::filesystem::path& path, int flags = 0)
      : file(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    struct stat status = {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0) throw system_error(errno);
    size = status.st_size;
  }
  OpenFile file;
  std::int64_t size = 0;
};

// What is not looked at takes no memory.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const InputFile input(path);
    size_ = static_cast<size_t>(input.size);
    bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, input.file.get(), 0);
    if (bytes_ == MAP_FAILED) throw system_error(errno);
  }
  ~MappedFile() { munmap(bytes_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(bytes_), size_};
  }
  // What was read so far stays in the system's cache alone.
  void release() const { madvise(bytes_, size_, MADV_DONTNEED); }

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
};

// The module's reader, with the file that it reads, if that is not in memory.
class ModuleRows final : public PictureRows {
 public:
  explicit ModuleRows(std::unique_ptr<PictureRows> rows, OpenFile file = OpenFile())
      : file_(std::move(file)), rows_(std::move(rows)) {}
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    return from_module([&] { return rows_->read(y, y_end); });
  }

 private:
  OpenFile file_;
  std::unique_ptr<PictureRows> rows_;
};

// Reads a format whose rows need no others.
class MappedRows final : public PictureRows {
 public:
  MappedRows(const std::filesystem::path& path, ImageInfo info, Reading reading)
      : file_(path), info_(std::move(info)), reading_(std::move(reading)) {}
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    HostImage rows = traits(info_.format).read_rows({file_.bytes(), info_, reading_, y, y_end});
    file_.release();
    return rows;
  }

 private:
  const MappedFile file_;
  const ImageInfo info_;
  const Reading reading_;
};

// The class in which an image of this type is stored in a TIFF, which has no 1-bit pixels with an
// alpha or in colour.
PixelClass tiff_class(const ImageType& type, PixelClass cls) {
  return cls == PixelClass::logical && (type.alpha || type.channels > 1) ? PixelClass::uint8 : cls;
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

bool reads_rows(const ImageInfo& info) {
  if (info.orientation != 1) return false;
  if (info.format == Format::zarr) return info.pages == 1;
  if (info.format == Format::slide) return true;
  return info.format == Format::tiff || info.format == Format::jpeg || info.format == Format::npy;
}

std::int64_t rows_together(const ImageInfo& info) {
  const std::int64_t rows =
      info.zarr ? info.zarr->array.chunk[static_cast<size_t>(info.zarr->y)] : info.tile.height;
  return std::max<std::int64_t>(1, rows);
}

std::unique_ptr<PictureRows> open_rows(const std::filesystem::path& path, const ImageInfo& info,
                                       const Reading& reading) {
  if (!reads_rows(info) || (info.format == Format::zarr && !is_folder(path))) return nullptr;
  if (info.format == Format::npy) return std::make_unique<MappedRows>(path, info, reading);
  if (info.format == Format::slide) return open_rows(read_picture(path), info);
  const bool is_zarr = info.format == Format::zarr;
  InputFile input = is_zarr ? InputFile(zarr_root(path), O_DIRECTORY) : InputFile(path);
  auto rows = from_module([&] {
    return codec_module(traits(info.format).module)
        .open_rows(input.file.get(), input.size, info, make_image);
  });
  return rows ? std::make_unique<ModuleRows>(std::move(rows), std::move(input.file)) : nullptr;
}

std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> file, const ImageInfo& info) {
  return std::make_unique<ModuleRows>(from_module(
      [&] { return codec_module(traits(info.format).module).open_rows(file, info, make_image); }));
}

MetadataRead read_metadata(const std::filesystem::path& path, const ImageInfo& info,
                           const Reading& reading) {
  if (is_folder(path)) return read_metadata(read_zarr_folder(path, true), info);
  if (info.format == Format::slide) return read_metadata(read_picture(path), info);
  const MappedFile file(path);
  MetadataRead out = read_metadata(file.bytes(), info);
  if (info.format == Format::npy) {
    out.metadata.npy =
        std::make_shared<const NpyAxes>(npy_axes(ByteSource(file.bytes()), reading.axes));
  }
  return out;
}

bool has_rows_in_any_order(const std::filesystem::path& path, const ImageInfo& info) {
  if (info.orientation != 1) return false;
  if (info.format != Format::tiff) return traits(info.format).read_rows != nullptr;
  constexpr int uncompressed = 1;
  return info.pages == 1 && info.tile.pixels() == 0 && !info.blocks && info.tiff &&
         info.tiff->compression == uncompressed && open_rows(path, info, {}) != nullptr;
}

HostImage read_rows(const std::filesystem::path& path, const ImageInfo& info,
                    const Reading& reading, std::int64_t y, std::int64_t y_end) {
  if (info.format == Format::tiff) return open_rows(path, info, reading)->read(y, y_end);
  return MappedRows(path, info, reading).read(y, y_end);
}

bool writes_rows(const std::filesystem::path& path, Format format) {
  if (path == "-" || is_written_into(path)) return false;
  return format == Format::tiff || format == Format::npy ||
         (format == Format::zarr && path.extension() == ".zarr");
}

std::int64_t rows_that_wait(const RowsTarget& target, const ImageInfo& input,
                            const EncodeOptions& options) {
  // Each level keeps a row of tiles.
  if (target.format == Format::tiff && options.tiff_storage >= TiffStorage::tiles) {
    return 2 * tiff_tile(options).height;
  }
  if (target.format != Format::zarr) return target.tile.height;
  std::int64_t chunk = options.chunk;
  if (chunk == 0 && input.zarr) {
    const auto side = [&](int at) { return input.zarr->array.chunk[static_cast<size_t>(at)]; };
    chunk = std::max(side(input.zarr->x), side(input.zarr->y));
  }
  if (chunk == 0) chunk = default_chunk;
  return 3 * std::min(chunk, target.size.height);  // those of the smaller images, and packed ones
}

namespace {

// The type in the file.
ImageType stored_type(const RowsTarget& target) {
  ImageType type = target.type;
  type.alpha = type.alpha && traits(target.format).can[Can::alpha];
  type.cls = target.format == Format::tiff ? tiff_class(type, target.cls) : target.cls;
  type.white = type.cls == PixelClass::single ? type.white : class_max(type.cls);
  return type;
}

}  // namespace

Encoded RowsFile::losses(const RowsTarget& target, const Metadata& metadata,
                         const EncodeOptions& options) {
  Encoded out;
  const RowsResult result{{}, target, stored_type(target), metadata, options};
  out.alpha_dropped = target.type.alpha && !result.stored.alpha;
  if (out.alpha_dropped) out.lost.emplace_back("alpha");
  name_lost_bits({target.format, target.cls}, options, out.lost);
  name_lost_storage(target.format, metadata, out.lost);
  for (std::string& one : lost_of_rows(result)) out.lost.push_back(std::move(one));
  return out;
}

RowsFile::RowsFile(const std::filesystem::path& path, const RowsTarget& target,
                   const Metadata& metadata, const EncodeOptions& options)
    : target_(target) {
  RowsResult result{path, target_, stored_type(target), metadata, options};
  samples_ = result.options.samples = wanted_samples(result.stored, metadata, options);
  file_ = make_rows_of_format(result);
}

RowsFile::~RowsFile() = default;

RowRange RowsFile::rows() const { return file_->rows().value_or(RowRange{0, target_.size.height}); }

bool RowsFile::write(const HostImage& rows, std::int64_t& clipped) {
  Encoded out;
  HostImage ready = ready_for(rows, target_.format, target_.cls, out);
  clipped += out.clipped;
  const PixelClass cls =
      target_.format == Format::tiff ? tiff_class(ready.type, target_.cls) : target_.cls;
  if (cls != ready.type.cls) ready = convert(ready, cls);
  if (samples_ != SampleType::of_class && !holds(samples_, ready)) return false;
  file_->write(ready);
  return true;
}

void RowsFile::commit(std::string_view maker, UnsyncedDisks* disks) { file_->commit(maker, disks); }

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
  s.sink = from_module([&] { return codec_module(main_module).make_rows(s.type, size, stored); });
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
  s.encoded.bytes = with_metadata(from_module([&] { return s.sink->finish(); }), Format::jpeg,
                                  s.metadata, {s.size, shown}, s.encoded.lost);
  return std::move(s.encoded);
}

}  // namespace impipe::io
