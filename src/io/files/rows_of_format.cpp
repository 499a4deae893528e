// Files that are written some rows at a time: TIFFs by libtiff, Zarrs by the module that packs
// their chunks, and NPYs.
#include "io/files/rows_of_format.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/zarr_folder.hpp"
#include "io/formats/format_traits.hpp"
#include "io/formats/npy/npy.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/formats/tiff/tiff_metadata.hpp"
#include "io/formats/tiff/tiff_tiles.hpp"
#include "io/formats/zarr/zarr_format.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/stale_fields.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/module/module.hpp"
#include "io/module/module_call.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// How a TIFF stores the pixels of a result.
TiffLayout layout_of(const RowsResult& result) {
  const ImageType& type = result.stored;
  const SampleType samples = result.options.samples;
  const bool is_own = samples == SampleType::of_class;
  const bool is_float = is_own ? type.cls == PixelClass::single : samples == SampleType::float64;
  const int bytes = is_own ? bytes_of(type.cls) : bytes_of(samples);
  return {.size = result.target.size,
          .bits = type.cls == PixelClass::logical ? 1 : static_cast<std::uint64_t>(8 * bytes),
          .samples = static_cast<std::uint64_t>(type.channels + (type.alpha ? 1 : 0)),
          .numbers = is_float                                    ? tiff_float
                     : is_own || name_of(samples).front() == 'u' ? tiff_unsigned
                                                                 : tiff_signed};
}

// What goes into a TIFF of a picture, of which `shown` is what a thumbnail is made of.
TiffAdditions additions(const RowsResult& result, const HostImage& shown, const TiffOrder& order,
                        std::vector<std::string>& lost) {
  const Metadata& metadata = result.metadata;
  const bool has_axes = !(metadata.pages.empty() && metadata.measured.empty());
  if (metadata.empty() && metadata.pieces.empty() && !has_axes && !metadata.wants_ome) return {};
  const PictureOfFile picture{result.target.size, shown};
  const Metadata ready = metadata_of_picture(metadata, Format::tiff, picture, lost);
  TiffAdditions out = tiff_additions(ready, order, lost);
  describe_tiff(out.fields, layout_of(result), 1, axes_of_result(ready), lost);
  return out;
}

class TiffOfRows final : public RowsOfFormat {
 public:
  explicit TiffOfRows(const RowsResult& result) : file_(result.path), result_(result) {
    const Metadata& metadata = result.metadata;
    set_tiff_storage(metadata, result_.options);
    const Size size = result.target.size;
    if (wants_thumbnail(metadata)) small_.emplace(result.stored, size, thumbnail_side(metadata));
    std::vector<std::string> lost;
    const HostImage none(result.stored, {1, 1});
    std::string front =
        additions(result_, none, {.big_endian = result_.options.big_endian_tiff}, lost).front;
    if (front.size() % 2 != 0) front += '\0';
    file_.write(std::as_bytes(std::span(front)));
    sink_ = from_module([&] {
      return codec_module(main_module)
          .make_rows(file_.descriptor(), result.stored, size, result.target.tile, result_.options);
    });
  }
  void write(const HostImage& rows) override {
    if (small_) small_->add(rows);
    sink_->write(rows);
  }
  void commit(std::string_view maker, UnsyncedDisks* disks) override {
    sink_->finish();
    sink_.reset();
    add_metadata();
    file_.commit(maker, disks);
  }

 private:
  // A directory behind the one that the sink wrote, with its fields and more.
  void add_metadata() {
    const int descriptor = file_.descriptor();
    const off_t bytes = lseek(descriptor, 0, SEEK_END);
    if (bytes < 0) throw system_error(errno);
    const ByteSource source(descriptor, bytes);
    const TiffOrder order = tiff_order(source);
    std::vector<std::string> lost;
    const HostImage none(result_.stored, {1, 1});
    TiffAdditions more = additions(result_, small_ ? small_->image() : none, order, lost);
    if (more.fields.empty()) return;
    TiffFields fields =
        read_fields(source, order, order.first, [](std::uint16_t) { return true; }).fields;
    add_fields(fields, std::move(more.fields));
    std::string tail(bytes % 2, '\0');
    const auto base = static_cast<std::uint64_t>(bytes) + tail.size();
    file_.write(std::as_bytes(std::span(tail)));
    tail.clear();
    const std::uint64_t begin = append_directory(tail, order, std::move(fields), 0, base);
    file_.write(std::as_bytes(std::span(tail)));
    const int offset_bytes = order.offset_bytes();
    const std::string offset = number_text(begin, offset_bytes, order.big_endian);
    if (pwrite(descriptor, offset.data(), offset.size(), offset_bytes) != offset_bytes) {
      throw system_error(errno);
    }
  }

  AtomicFile file_;
  RowsResult result_;
  std::unique_ptr<PictureSink> sink_;
  std::optional<SmallPicture> small_;  // where a thumbnail is wanted
};

// In tiles, with the smaller images of a pyramid or without.
class TilesOfRows final : public RowsOfFormat {
 public:
  explicit TilesOfRows(const RowsResult& result)
      : file_(result.path),
        result_(result),
        tiled_(image_of(result_), [this] { return unnamed(); }) {
    if (wants_thumbnail(result.metadata)) {
      small_.emplace(result.stored, result.target.size, thumbnail_side(result.metadata));
    }
  }
  void write(const HostImage& rows) override {
    if (small_) small_->add(rows);
    tiled_.write(rows);
  }
  void commit(std::string_view maker, UnsyncedDisks* disks) override {
    std::vector<std::string> lost;
    const HostImage none(result_.stored, {1, 1});
    tiled_.finish(
        small_ ? small_->image() : none,
        [this](std::span<const std::byte> part) { file_.write(part); }, lost);
    file_.commit(maker, disks);
  }

 private:
  static TiledTiff::Image image_of(RowsResult& result) {
    set_tiff_storage(result.metadata, result.options);
    return {result.stored, result.target.size, result.target.type.white != 0, result.metadata,
            result.options};
  }
  // A file on the disk of the result, which vanishes when it is closed.
  OpenFile unnamed() const {
    const std::filesystem::path name = temporary_beside(result_.path);
    OpenFile file(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.get() < 0) throw system_error(errno, "cannot write '" + result_.path.string() + "': ");
    unlink(name.c_str());
    return file;
  }

  AtomicFile file_;
  RowsResult result_;
  TiledTiff tiled_;
  std::optional<SmallPicture> small_;  // where a thumbnail is wanted
};

EncodeOptions options_of_zarr(const RowsResult& result) {
  return zarr_options(result.target.type, result.metadata, result.options);
}

class ZarrOfRows final : public RowsOfFormat {
 public:
  explicit ZarrOfRows(const RowsResult& result) : folder_(result.path) {
    const EncodeOptions options = options_of_zarr(result);
    const Size size = result.target.size;
    std::vector<std::string> lost;
    write_zarr_documents(
        {result.stored, size, result.metadata, options},
        [&](const std::string& key, const std::string& text) {
          folder_.add(key, std::as_bytes(std::span(text)));
        },
        lost);
    sink_ = from_module([&] {
      return codec_module(traits(Format::zarr).module)
          .make_rows(folder_.descriptor(), result.stored, size, {}, options);
    });
  }
  void write(const HostImage& rows) override {
    from_module([&] {
      sink_->write(rows);
      return true;
    });
  }
  void commit(std::string_view, UnsyncedDisks* disks) override {
    sink_.reset();
    folder_.commit(disks);
  }

 private:
  ZarrFolder folder_;
  std::unique_ptr<PictureSink> sink_;
};

// Rows of chunks of a Zarr that other processes write, too.
class ZarrPartOfRows final : public RowsOfFormat {
 public:
  explicit ZarrPartOfRows(const RowsResult& result)
      : result_(result), options_(options_of_zarr(result)), zarr_(result.path) {
    std::vector<std::string> lost;
    write_zarr_documents(
        {result.stored, result.target.size, result.metadata, options_},
        [&](const std::string& key, const std::string& text) { zarr_.add(key, text); }, lost);
    options_.first_row = (rows_ = rows_left()).begin;
    sink_ = from_module([&] {
      return codec_module(traits(Format::zarr).module)
          .make_rows(zarr_.descriptor(), result.stored, result.target.size, {}, options_);
    });
  }
  std::optional<RowRange> rows() const override { return rows_; }
  void write(const HostImage& rows) override {
    from_module([&] {
      sink_->write(rows);
      return true;
    });
  }
  void commit(std::string_view, UnsyncedDisks* disks) override {
    if (disks != nullptr) disks->add(zarr_.descriptor(), result_.path);
  }

 private:
  RowRange rows_left() const {
    const ZarrPart& part = result_.target.part;
    const Size size = result_.target.size;
    const std::int64_t high = std::min(options_.chunk, size.height);
    const std::int64_t rows = (size.height + high - 1) / high;
    std::int64_t first = rows * (part.index - 1) / part.count;
    const std::int64_t end = rows * part.index / part.count;
    if (part.goes_on && zarr_.is_made_by(part)) {
      while (first < end && has_chunks(first)) ++first;
    } else {
      zarr_.forget_makers(part);
      for (std::int64_t row = first; row < end; ++row) {
        for (const std::string& key : keys_of_row(row)) zarr_.remove(key);
      }
      zarr_.note_maker(part);
    }
    return {first * high, std::min(size.height, end * high)};
  }
  bool has_chunks(std::int64_t row) const {
    return std::ranges::all_of(keys_of_row(row),
                               [&](const std::string& key) { return zarr_.has(key); });
  }
  std::vector<std::string> keys_of_row(std::int64_t row) const {
    const int channels = result_.stored.channels;
    const std::int64_t wide = std::min(options_.chunk, result_.target.size.width);
    const std::int64_t across = (result_.target.size.width + wide - 1) / wide;
    std::vector<std::string> keys;
    for (int c = 0; c < channels; ++c) {
      const std::string begin = zarr_row_key(options_, channels, 0, c, row);
      for (std::int64_t x = 0; x < across; ++x) keys.push_back(begin + std::to_string(x));
    }
    return keys;
  }

  const RowsResult result_;
  EncodeOptions options_;
  SharedZarr zarr_;
  RowRange rows_;
  std::unique_ptr<PictureSink> sink_;
};

class NpyOfRows final : public RowsOfFormat {
 public:
  explicit NpyOfRows(const RowsResult& result)
      : file_(result.path), samples_(result.options.samples) {
    const auto begin =
        begin_npy_rows(result.stored, result.target.size, result.metadata.npy.get(), samples_);
    if (!begin) {
      fail(
          "out of memory: channels that are planes of an NPY are written as a whole; without "
          "--axes they lie side by side");
    }
    file_.write(*begin);
  }
  void write(const HostImage& rows) override {
    const Size size = rows.size();
    bytes_.clear();
    if (samples_ == SampleType::of_class) {
      append_rows(bytes_, rows, 0, size.height, 1);
    } else {
      RowJoiner joiner(rows);
      const std::int64_t items = size.width * stored_channels(rows.type);
      const std::int64_t row = items * bytes_of(samples_);
      bytes_.resize(static_cast<std::size_t>(row * size.height));
      for (std::int64_t y = 0; y < size.height; ++y) {
        store_samples(samples_, joiner.row<float>(y), items, bytes_.data() + y * row);
      }
    }
    file_.write(bytes_);
  }
  void commit(std::string_view maker, UnsyncedDisks* disks) override { file_.commit(maker, disks); }

 private:
  AtomicFile file_;
  SampleType samples_;
  Bytes bytes_;
};

}  // namespace

std::unique_ptr<RowsOfFormat> make_rows_of_format(const RowsResult& result) {
  if (result.target.format == Format::zarr && result.options.zarr_part) {
    return std::make_unique<ZarrPartOfRows>(result);
  }
  if (result.target.format == Format::zarr) return std::make_unique<ZarrOfRows>(result);
  if (result.target.format == Format::npy) return std::make_unique<NpyOfRows>(result);
  if (result.options.tiff_storage >= TiffStorage::tiles)
    return std::make_unique<TilesOfRows>(result);
  return std::make_unique<TiffOfRows>(result);
}

std::vector<std::string> lost_of_rows(const RowsResult& result) {
  std::vector<std::string> lost;
  const Metadata& metadata = result.metadata;
  const HostImage none(result.stored, {1, 1});
  const Format format = result.target.format;
  if (format == Format::tiff) {
    additions(result, none, {.big_endian = is_big_endian(metadata)}, lost);
    return lost;
  }
  if (format == Format::zarr) {
    write_zarr_documents(
        {result.stored, result.target.size, metadata, options_of_zarr(result)},
        [](const std::string&, const std::string&) {}, lost);
  }
  with_metadata({}, format, metadata, {result.target.size, none}, lost);
  return lost;
}

}  // namespace impipe::io
