// Pictures some rows at a time: files opened and made for the codec module that knows their rows.
#include "io/files/picture_rows.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/bytes/open_file.hpp"
#include "io/files/atomic_file.hpp"
#include "io/formats/format_traits.hpp"
#include "io/formats/jpeg/jpeg_metadata.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
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
  explicit InputFile(const std::filesystem::path& path)
      : file(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status = {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0) throw system_error(errno);
    size = status.st_size;
  }
  OpenFile file;
  std::int64_t size = 0;
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

// The class in which an image of this type is stored: no format has 1-bit pixels beside an alpha or
// in colour.
PixelClass stored_class(const ImageType& type, PixelClass cls) {
  return cls == PixelClass::logical && (type.alpha || type.channels > 1) ? PixelClass::uint8 : cls;
}

}  // namespace

std::unique_ptr<PictureRows> open_rows(const std::filesystem::path& path, const ImageInfo& info) {
  if (info.format != Format::tiff || info.orientation != 1) return nullptr;
  InputFile input(path);
  auto rows = codec_module(main_module).open_rows(input.file.get(), input.size, info, make_image);
  return rows ? std::make_unique<ModuleRows>(std::move(rows), std::move(input.file)) : nullptr;
}

std::unique_ptr<PictureRows> open_rows(std::span<const std::byte> file, const ImageInfo& info) {
  return std::make_unique<ModuleRows>(
      from_module([&] { return codec_module(main_module).open_rows(file, info, make_image); }));
}

namespace {

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

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

MetadataRead read_metadata(const std::filesystem::path& path, const ImageInfo& info) {
  return read_metadata(MappedFile(path).bytes(), info);
}

bool has_rows_in_any_order(const std::filesystem::path& path, const ImageInfo& info) {
  if (info.orientation != 1) return false;
  if (info.format != Format::tiff) return traits(info.format).read_rows != nullptr;
  constexpr int uncompressed = 1;
  return info.pages == 1 && info.tile.pixels() == 0 && !info.blocks && info.tiff &&
         info.tiff->compression == uncompressed && open_rows(path, info) != nullptr;
}

HostImage read_rows(const std::filesystem::path& path, const ImageInfo& info,
                    const Reading& reading, std::int64_t y, std::int64_t y_end) {
  if (info.format == Format::tiff) return open_rows(path, info)->read(y, y_end);
  return traits(info.format).read_rows({MappedFile(path).bytes(), info, reading, y, y_end});
}

namespace {

// The type in the file.
ImageType stored_type(const RowsTarget& target) {
  ImageType type = target.type;
  type.cls = stored_class(type, target.cls);
  type.white = type.cls == PixelClass::single ? type.white : class_max(type.cls);
  return type;
}

// What goes into the file of a picture, of which `shown` is what a thumbnail is made of.
TiffAdditions additions(const Metadata& metadata, Size size, const HostImage& shown,
                        const TiffOrder& order, std::vector<std::string>& lost) {
  if (metadata.empty() && metadata.pieces.empty()) return {};
  return tiff_additions(metadata_of_picture(metadata, Format::tiff, {size, shown}, lost), order,
                        lost);
}

}  // namespace

struct RowsFile::State {
  State(const std::filesystem::path& path, const RowsTarget& target, const Metadata& said)
      : file(path), cls(target.cls), type(stored_type(target)), size(target.size), metadata(said) {}
  AtomicFile file;
  PixelClass cls;
  ImageType type;
  SampleType samples = SampleType::of_class;
  Size size;
  const Metadata& metadata;
  std::unique_ptr<PictureSink> sink;
  std::optional<SmallPicture> small;  // where a thumbnail is wanted

  void add_metadata();
};

std::vector<std::string> RowsFile::losses(const RowsTarget& target, const Metadata& metadata) {
  std::vector<std::string> lost;
  const HostImage none(stored_type(target), {1, 1});
  additions(metadata, target.size, none, {.big_endian = is_big_endian(metadata)}, lost);
  return lost;
}

RowsFile::RowsFile(const std::filesystem::path& path, const RowsTarget& target,
                   const Metadata& metadata, const EncodeOptions& options)
    : state_(std::make_unique<State>(path, target, metadata)) {
  State& s = *state_;
  EncodeOptions stored = options;
  s.samples = stored.samples = wanted_samples(s.type, metadata, options);
  set_tiff_storage(metadata, stored);
  if (wants_thumbnail(metadata)) s.small.emplace(s.type, s.size, thumbnail_side(metadata));
  std::vector<std::string> lost;
  const HostImage none(s.type, {1, 1});
  std::string front =
      additions(metadata, s.size, none, {.big_endian = stored.big_endian_tiff}, lost).front;
  if (front.size() % 2 != 0) front += '\0';
  s.file.write(std::as_bytes(std::span(front)));
  s.sink = codec_module(main_module)
               .make_rows(s.file.descriptor(), s.type, target.size, target.tile, stored);
}

RowsFile::~RowsFile() = default;

bool RowsFile::write(const HostImage& rows, std::int64_t& clipped) {
  HostImage ready = convert(rows, state_->cls, &clipped);
  const PixelClass cls = stored_class(ready.type, state_->cls);
  if (cls != state_->cls) ready = convert(ready, cls);
  if (state_->samples != SampleType::of_class && !holds(state_->samples, ready)) return false;
  if (state_->small) state_->small->add(ready);
  state_->sink->write(ready);
  return true;
}

// A directory behind the one that the sink wrote, with its fields and more.
void RowsFile::State::add_metadata() {
  const int descriptor = file.descriptor();
  const off_t bytes = lseek(descriptor, 0, SEEK_END);
  if (bytes < 0) throw system_error(errno);
  const ByteSource source(descriptor, bytes);
  const TiffOrder order = tiff_order(source);
  std::vector<std::string> lost;
  const HostImage none(type, {1, 1});
  TiffAdditions more = additions(metadata, size, small ? small->image() : none, order, lost);
  if (more.fields.empty()) return;
  TiffFields fields =
      read_fields(source, order, order.first, [](std::uint16_t) { return true; }).fields;
  add_fields(fields, std::move(more.fields));
  std::string tail(bytes % 2, '\0');
  const auto base = static_cast<std::uint64_t>(bytes) + tail.size();
  file.write(std::as_bytes(std::span(tail)));
  tail.clear();
  const std::uint64_t begin = append_directory(tail, order, std::move(fields), 0, base);
  file.write(std::as_bytes(std::span(tail)));
  const int offset_bytes = order.offset_bytes();
  const std::string offset = number_text(begin, offset_bytes, order.big_endian);
  if (pwrite(descriptor, offset.data(), offset.size(), offset_bytes) != offset_bytes) {
    throw system_error(errno);
  }
}

void RowsFile::commit(std::string_view maker, UnsyncedDisks* disks) {
  state_->sink->finish();
  state_->sink.reset();
  state_->add_metadata();
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
