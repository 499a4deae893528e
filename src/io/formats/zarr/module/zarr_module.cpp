// Zarr's chunks, which c-blosc, libzstd and zlib pack, as planes; and planes and their pyramid as
// chunks.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "io/formats/zarr/module/chunk_files.hpp"
#include "io/formats/zarr/module/zarr_chunks.hpp"
#include "io/formats/zarr/zarr_format.hpp"
#include "io/picture/pyramid.hpp"

namespace impipe::io {
namespace {

using Place = std::vector<std::int64_t>;
struct Range {
  std::int64_t begin = 0, end = 0;
};

// The chunks of an array, by their places.
class Chunks {
 public:
  Chunks(std::unique_ptr<const ChunkFiles> files, const ZarrArray& array)
      : files_(std::move(files)), array_(array) {}

  // The items of a chunk; none of one that is not there.
  std::optional<Bytes> unpacked(const Place& place) {
    Bytes room;
    const std::string key = array_.key(place);
    const InputBytes bytes = array_.shards ? in_shard(place, room) : file_at(key, room);
    if (bytes.data() == nullptr) return {};
    try {
      return unpacked_chunk(bytes, array_.packings, array_.chunk_bytes());
    } catch (const Error& error) {
      throw Error("damaged Zarr: chunk " + key + ": ", error);
    }
  }

 private:
  InputBytes file_at(const std::string& key, Bytes& room) const {
    const std::int64_t bytes = files_->bytes_of(key);
    if (bytes < 0) return {};
    room.reserve(1);  // of an empty file, too
    const InputBytes part = files_->part(key, 0, bytes, room);
    return part.data() == nullptr ? InputBytes(room.data(), 0) : part;
  }

  InputBytes in_shard(const Place& place, Bytes& room) {
    Place shard = place;
    std::size_t number = 0;  // of the chunk in it
    std::int64_t all = 1;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const std::int64_t sides = array_.shards->shape[i] / array_.chunk[i];
      shard[i] = place[i] / sides;
      number =
          number * static_cast<std::size_t>(sides) + static_cast<std::size_t>(place[i] % sides);
      all *= sides;
    }
    const std::string key = array_.key(shard);
    const std::int64_t bytes = files_->bytes_of(key);
    if (bytes < 0) return {};
    const std::string_view index = text_of(index_of(key, bytes, all));
    const std::uint64_t begin = little_at(index, 16 * number, 8),
                        size = little_at(index, 16 * number + 8, 8);
    if (begin == ~std::uint64_t{0} && size == begin) return {};
    if (begin > static_cast<std::uint64_t>(bytes) ||
        size > static_cast<std::uint64_t>(bytes) - begin) {
      fail("damaged Zarr: ", key, " has a chunk behind its end");
    }
    return files_->part(key, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(size),
                        room);
  }

  // Of the chunks in a shard, 16 bytes each.
  const Bytes& index_of(const std::string& key, std::int64_t shard, std::int64_t chunks) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = indices_.try_emplace(key);
    if (!is_new) return known->second;
    const std::int64_t packed = 16 * chunks + 4 * std::ssize(array_.shards->index);
    if (packed > shard) fail("truncated Zarr: ", key, " has no index of its chunks");
    try {
      Bytes room;
      const std::int64_t begin = array_.shards->index_at_end ? shard - packed : 0;
      known->second =
          unpacked_chunk(files_->part(key, begin, packed, room), array_.shards->index, 16 * chunks);
    } catch (const Error& error) {
      throw Error("damaged Zarr: the index of " + key + ": ", error);
    }
    return known->second;
  }

  const std::unique_ptr<const ChunkFiles> files_;
  const ZarrArray& array_;
  std::mutex mutex_;
  std::map<std::string, Bytes> indices_;
};

class Pages final : public PageDecoder {
 public:
  Pages(std::unique_ptr<const ChunkFiles> files, const ImageInfo& info, MakeImage make_image,
        ForEach for_each)
      : zarr_(*info.zarr),
        chunks_(std::move(files), zarr_.array),
        make_image_(make_image),
        for_each_(for_each) {
    const ZarrArray& array = zarr_.array;
    steps_.resize(array.chunk.size());
    std::int64_t step = 1;
    for (std::size_t i = array.order.size(); i-- > 0;) {
      const auto dimension = static_cast<std::size_t>(array.order[i]);
      steps_[dimension] = step;
      step *= array.chunk[dimension];
    }
  }

  HostImage decode(const ImageInfo& info) override { return rows(info, 0, info.stored.height); }

  // Rows [y, y_end) of a page.
  HostImage rows(const ImageInfo& info, std::int64_t y, std::int64_t y_end) {
    check_header(zarr_.info.stored == info.stored && zarr_.info.type == info.type &&
                     info.page < zarr_.info.pages,
                 "Zarr");
    HostImage image = make_image_(info.type, {info.stored.width, y_end - y});
    place_of_page(info.page);
    const auto chunks_in = [&](int dimension, std::int64_t begin, std::int64_t end) {
      if (dimension < 0) return Range{0, 1};
      const std::int64_t chunk = zarr_.array.chunk[static_cast<std::size_t>(dimension)];
      return Range{begin / chunk, (end + chunk - 1) / chunk};
    };
    const std::int64_t channels =
        zarr_.channel < 0 ? 1 : zarr_.array.shape[static_cast<std::size_t>(zarr_.channel)];
    const Range lines = chunks_in(zarr_.y, y, y_end);
    const std::int64_t across = chunks_in(zarr_.x, 0, info.stored.width).end,
                       down = lines.end - lines.begin,
                       deep = chunks_in(zarr_.channel, 0, channels).end;
    kept_.resize(holds_several_pages_ ? static_cast<std::size_t>(across * down * deep) : 0);
    std::map<std::int64_t, Inexact> inexact;  // by chunks
    std::mutex mutex;
    for_each_(across * down * deep, [&](std::int64_t i) {
      Place place = chunk_;
      place[static_cast<std::size_t>(zarr_.x)] = i % across;
      place[static_cast<std::size_t>(zarr_.y)] = lines.begin + i / across % down;
      if (zarr_.channel >= 0) place[static_cast<std::size_t>(zarr_.channel)] = i / across / down;
      const auto at = static_cast<std::size_t>(i);
      Inexact of_chunk;
      if (!holds_several_pages_) {
        copy(place, chunks_.unpacked(place), {y, y_end}, image, of_chunk);
      } else {
        if (!kept_[at]) kept_[at] = std::make_shared<std::optional<Bytes>>(chunks_.unpacked(place));
        copy(place, *kept_[at], {y, y_end}, image, of_chunk);
      }
      if (of_chunk.count == 0) return;
      const std::lock_guard lock(mutex);
      inexact.emplace(i, std::move(of_chunk));
    });
    for (const auto& [chunk, one] : inexact) info.inexact->add(one);
    return image;
  }

 private:
  // Sets which chunks a page lies in, and where in each. Chunks of several pages are kept for
  // those.
  void place_of_page(std::int64_t page) {
    const ZarrArray& array = zarr_.array;
    Place chunk(array.shape.size());
    offset_ = 0;
    holds_several_pages_ = false;
    for (std::size_t i = zarr_.pages.size(); i-- > 0;) {
      const auto at = static_cast<std::size_t>(zarr_.pages[i]);
      const std::int64_t place = page % array.shape[at];
      page /= array.shape[at];
      chunk[at] = place / array.chunk[at];
      offset_ += place % array.chunk[at] * steps_[at];
      holds_several_pages_ = holds_several_pages_ || array.chunk[at] > 1;
    }
    if (chunk != chunk_) kept_.clear();
    chunk_ = std::move(chunk);
  }

  // Puts the rows of a chunk that are among these into their image.
  void copy(const Place& place, const std::optional<Bytes>& items, Range lines, HostImage& image,
            Inexact& inexact) const {
    const auto range = [&](int dimension) {
      if (dimension < 0) return std::pair<std::int64_t, std::int64_t>{0, 1};
      const auto at = static_cast<std::size_t>(dimension);
      const std::int64_t begin = place[at] * zarr_.array.chunk[at];
      return std::pair{begin, std::min(zarr_.array.shape[at], begin + zarr_.array.chunk[at])};
    };
    const auto step = [&](int dimension) {
      return dimension < 0 ? 0 : steps_[static_cast<std::size_t>(dimension)];
    };
    const auto [x, x_end] = range(zarr_.x);
    const auto [y, y_end] = range(zarr_.y);
    const auto [c, c_end] = range(zarr_.channel);
    const std::int64_t bytes = zarr_.array.type.bytes;
    for (std::int64_t channel = c; channel < c_end; ++channel) {
      const auto number = static_cast<std::size_t>(channel);
      Plane& plane = number < image.planes.size() ? image.planes[number] : image.alpha;
      for (std::int64_t row = std::max(y, lines.begin); row < std::min(y_end, lines.end); ++row) {
        const std::int64_t first =
            offset_ + (channel - c) * step(zarr_.channel) + (row - y) * step(zarr_.y);
        const std::byte* from = items ? items->data() + first * bytes
                                      : reinterpret_cast<const std::byte*>(zarr_.array.fill.data());
        const std::int64_t apart = items ? step(zarr_.x) * bytes : 0;
        copy_row(from, apart, plane, row - lines.begin, x, x_end, inexact);
      }
    }
  }

  void copy_row(const std::byte* from, std::int64_t apart, Plane& plane, std::int64_t y,
                std::int64_t x, std::int64_t x_end, Inexact& inexact) const {
    const ArrayType& type = zarr_.array.type;
    if (apart == type.bytes && type.is_of(plane.cls())) {
      std::copy_n(from, (x_end - x) * apart, plane.row(y) + x * apart);
      return;
    }
    for (; x < x_end; ++x, from += apart) store_item(plane, y, x, from, type, inexact);
  }

  const ZarrImage zarr_;  // a copy: the pages outlive what the header says of one
  Chunks chunks_;
  const MakeImage make_image_;
  const ForEach for_each_;
  Place steps_;              // items between neighbours in a chunk
  Place chunk_;              // that the page lies in; 0 along x, y and the channels
  std::int64_t offset_ = 0;  // items from a chunk's first to the page's first
  bool holds_several_pages_ = false;
  std::vector<std::shared_ptr<std::optional<Bytes>>> kept_;
};

// Rows of a page.
class Rows final : public PictureRows {
 public:
  Rows(std::unique_ptr<const ChunkFiles> files, ImageInfo info, MakeImage make_image,
       ForEach for_each)
      : pages_(std::move(files), info, make_image, for_each), info_(std::move(info)) {
    if (!info_.inexact) info_.inexact = std::make_shared<Inexact>();
  }
  HostImage read(std::int64_t y, std::int64_t y_end) override {
    return pages_.rows(info_, y, y_end);
  }

 private:
  Pages pages_;
  ImageInfo info_;
};

// Chunks of an image and of the smaller ones of its pyramid, written as soon as their rows are
// there.
class Writer {
 public:
  Writer(ChunkTarget& target, const ImageType& type, Size size, const EncodeOptions& options,
         ForEach for_each)
      : target_(target),
        options_(options),
        for_each_(for_each),
        item_bytes_(options.samples == SampleType::of_class ? bytes_of(type.cls)
                                                            : bytes_of(options.samples)),
        levels_(zarr_levels(size, options)),
        pyramid_(levels_, type.channels, options.zarr_means, options.first_row) {
    rows_.resize(levels_.size() * static_cast<std::size_t>(type.channels));
    channels_ = type.channels;
  }

  void write(const HostImage& rows) {
    for (int c = 0; c < channels_; ++c) {
      pyramid_.add(
          c, rows.planes[static_cast<std::size_t>(c)], 0, rows.size().height,
          [&](int level, std::int64_t y, const std::byte* row) { take(level, c, y, row); });
    }
  }

 private:
  void take(int level, int channel, std::int64_t y, const std::byte* row) {
    const Size size = levels_[static_cast<std::size_t>(level)];
    const Size chunk{std::min(size.width, options_.chunk), std::min(size.height, options_.chunk)};
    const std::int64_t row_bytes = size.width * item_bytes_;
    Bytes& rows = rows_[static_cast<std::size_t>(level * channels_ + channel)];
    rows.resize(static_cast<std::size_t>(row_bytes * chunk.height));
    std::byte* to = rows.data() + y % chunk.height * row_bytes;
    if (options_.samples == SampleType::of_class) {
      std::copy_n(row, row_bytes, to);
    } else {
      store_samples(options_.samples, reinterpret_cast<const float*>(row), size.width, to);
    }
    if ((y + 1) % chunk.height != 0 && y + 1 < size.height) return;
    const std::string keys = zarr_row_key(options_, channels_, level, channel, y / chunk.height);
    const std::int64_t across = (size.width + chunk.width - 1) / chunk.width;
    std::vector<ChunkTarget::Chunk> chunks(static_cast<std::size_t>(across));
    for_each_(across, [&](std::int64_t i) {
      chunks[static_cast<std::size_t>(i)] = {
          keys + std::to_string(i), packed_chunk(rows, y % chunk.height + 1, size.width, i, chunk)};
    });
    target_.put(chunks);
  }

  // Chunks at the edges are stored whole.
  Bytes packed_chunk(const Bytes& rows, std::int64_t count, std::int64_t width, std::int64_t which,
                     Size chunk) const {
    const std::int64_t row = width * item_bytes_, wide = chunk.width * item_bytes_;
    const std::int64_t from = which * wide, part = std::min(wide, row - from);
    Bytes items(static_cast<std::size_t>(wide * chunk.height));
    for (std::int64_t y = 0; y < count; ++y) {
      std::copy_n(rows.data() + y * row + from, part, items.data() + y * wide);
    }
    return packed_by_blosc(items, item_bytes_, options_.compression);
  }

  ChunkTarget& target_;
  const EncodeOptions options_;
  const ForEach for_each_;
  const int item_bytes_;
  const std::vector<Size> levels_;
  Pyramid pyramid_;
  int channels_ = 1;
  std::vector<Bytes> rows_;  // of chunks that are not whole yet, for each level and channel
};

// Rows into a folder.
class Sink final : public PictureSink {
 public:
  Sink(int folder, const ImageType& type, Size size, const EncodeOptions& options, ForEach for_each)
      : target_(folder, options.zarr_part, for_each),
        writer_(target_, type, size, options, for_each) {}
  void write(const HostImage& rows) override { writer_.write(rows); }
  Bytes finish() override { return {}; }

 private:
  FolderTarget target_;
  Writer writer_;
};

class Module final : public CodecModule {
 public:
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }
  std::unique_ptr<PageDecoder> open_pages(InputBytes file, const ImageInfo& info,
                                          MakeImage make_image) const override {
    return std::make_unique<Pages>(std::make_unique<ZippedChunks>(file), info, make_image,
                                   for_each_);
  }
  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override {
    ZipTarget target;
    Writer(target, image.type, image.size(), options, for_each_).write(image);
    return target.finish();
  }
  std::unique_ptr<PictureRows> open_rows(int folder, std::int64_t, const ImageInfo& info,
                                         MakeImage make_image) const override {
    return std::make_unique<Rows>(std::make_unique<FolderChunks>(folder), info, make_image,
                                  for_each_);
  }
  std::unique_ptr<PictureSink> make_rows(int folder, const ImageType& type, Size size, Size,
                                         const EncodeOptions& options) const override {
    return std::make_unique<Sink>(folder, type, size, options, for_each_);
  }

 private:
  mutable std::atomic<ForEach> for_each_;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Module)
