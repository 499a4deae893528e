// Zarr's chunks, which c-blosc, libzstd and zlib pack, as planes; and planes and their pyramid as
// chunks.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "io/formats/zarr/module/zarr_chunks.hpp"
#include "io/formats/zarr/zip_archive.hpp"
#include "io/module/library_codec.hpp"

namespace impipe::io {
namespace {

using Place = std::vector<std::int64_t>;

// The chunks of an array, by their places.
class Chunks {
 public:
  Chunks(InputBytes file, const ZarrArray& array)
      : file_(file), zip_(ByteSource(file)), array_(array) {}

  // The items of a chunk; none of one that is not there.
  std::optional<Bytes> unpacked(const Place& place) {
    const InputBytes bytes = array_.shards ? in_shard(place) : file_at(array_.key(place));
    if (bytes.data() == nullptr) return {};
    try {
      return unpacked_chunk(bytes, array_.packings, array_.chunk_bytes());
    } catch (const Error& error) {
      throw Error("damaged Zarr: chunk " + array_.key(place) + ": ", error);
    }
  }

 private:
  InputBytes file_at(const std::string& key) const {
    const auto found = zip_.entries().find(key);
    if (found == zip_.entries().end()) return {};
    const std::int64_t begin = zip_.begin_of(key, found->second);
    return file_.subspan(static_cast<std::size_t>(begin),
                         static_cast<std::size_t>(found->second.bytes));
  }

  InputBytes in_shard(const Place& place) {
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
    const InputBytes bytes = file_at(array_.key(shard));
    if (bytes.data() == nullptr) return {};
    const std::string_view index = text_of(index_of(array_.key(shard), bytes, all));
    const std::uint64_t begin = little_at(index, 16 * number, 8),
                        size = little_at(index, 16 * number + 8, 8);
    if (begin == ~std::uint64_t{0} && size == begin) return {};
    if (begin > bytes.size() || size > bytes.size() - begin) {
      fail("damaged Zarr: ", array_.key(shard), " has a chunk behind its end");
    }
    return bytes.subspan(begin, size);
  }

  // Of the chunks in a shard, 16 bytes each.
  const Bytes& index_of(const std::string& key, InputBytes shard, std::int64_t chunks) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = indices_.try_emplace(key);
    if (!is_new) return known->second;
    const auto packed = static_cast<std::size_t>(
        16 * chunks + 4 * static_cast<std::int64_t>(array_.shards->index.size()));
    if (packed > shard.size()) fail("truncated Zarr: ", key, " has no index of its chunks");
    try {
      known->second =
          unpacked_chunk(array_.shards->index_at_end ? shard.last(packed) : shard.first(packed),
                         array_.shards->index, 16 * chunks);
    } catch (const Error& error) {
      throw Error("damaged Zarr: the index of " + key + ": ", error);
    }
    return known->second;
  }

  const InputBytes file_;
  const ZipReader zip_;
  const ZarrArray& array_;
  std::mutex mutex_;
  std::map<std::string, Bytes> indices_;
};

class Pages final : public PageDecoder {
 public:
  Pages(InputBytes file, const ImageInfo& info, MakeImage make_image, ForEach for_each)
      : zarr_(*info.zarr),
        chunks_(file, zarr_.array),
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

  HostImage decode(const ImageInfo& info) override {
    check_header(zarr_.info.stored == info.stored && zarr_.info.type == info.type &&
                     info.page < zarr_.info.pages,
                 "Zarr");
    HostImage image = make_image_(info.type, info.stored);
    place_of_page(info.page);
    const auto count_along = [&](int dimension) {
      if (dimension < 0) return std::int64_t{1};
      const auto at = static_cast<std::size_t>(dimension);
      return (zarr_.array.shape[at] + zarr_.array.chunk[at] - 1) / zarr_.array.chunk[at];
    };
    const std::int64_t across = count_along(zarr_.x), down = count_along(zarr_.y),
                       deep = count_along(zarr_.channel);
    kept_.resize(holds_several_pages_ ? static_cast<std::size_t>(across * down * deep) : 0);
    std::map<std::int64_t, Inexact> inexact;  // by chunks
    std::mutex mutex;
    for_each_(across * down * deep, [&](std::int64_t i) {
      Place place = chunk_;
      place[static_cast<std::size_t>(zarr_.x)] = i % across;
      place[static_cast<std::size_t>(zarr_.y)] = i / across % down;
      if (zarr_.channel >= 0) place[static_cast<std::size_t>(zarr_.channel)] = i / across / down;
      const auto at = static_cast<std::size_t>(i);
      Inexact of_chunk;
      if (!holds_several_pages_) {
        copy(place, chunks_.unpacked(place), image, of_chunk);
      } else {
        if (!kept_[at]) kept_[at] = std::make_shared<std::optional<Bytes>>(chunks_.unpacked(place));
        copy(place, *kept_[at], image, of_chunk);
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

  void copy(const Place& place, const std::optional<Bytes>& items, HostImage& image,
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
      for (std::int64_t row = y; row < y_end; ++row) {
        const std::int64_t first =
            offset_ + (channel - c) * step(zarr_.channel) + (row - y) * step(zarr_.y);
        const std::byte* from = items ? items->data() + first * bytes
                                      : reinterpret_cast<const std::byte*>(zarr_.array.fill.data());
        const std::int64_t apart = items ? step(zarr_.x) * bytes : 0;
        copy_row(from, apart, plane, row, x, x_end, inexact);
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

// A channel at a level of the pyramid. Level 0 is the plane; of a level above it each pixel is made
// of a square of those of the plane: their mean or, of numbers without a white, the first.
class Level {
 public:
  Level(const Plane& plane, bool takes_means) : plane_(&plane), takes_means_(takes_means) {}

  Size size() const { return size_of(plane_->size(), by_); }
  Level half() const {
    Level out(*plane_, takes_means_);
    out.by_ = 2 * by_;
    if (!takes_means_) return out;
    const Size size = out.size(), before = this->size();
    out.sums_.resize(static_cast<std::size_t>(size.pixels()));
    for (std::int64_t y = 0; y < size.height; ++y) {
      for (std::int64_t x = 0; x < size.width; ++x) {
        double sum = 0;
        for (std::int64_t below = 2 * y; below < std::min(2 * y + 2, before.height); ++below) {
          double row = 0;
          for (std::int64_t at = 2 * x; at < std::min(2 * x + 2, before.width); ++at) {
            row += sum_at(at, below);
          }
          sum += row;
        }
        out.sums_[static_cast<std::size_t>(y * size.width + x)] = sum;
      }
    }
    return out;
  }
  // Row y as the class has it.
  void row(std::int64_t y, std::byte* to) const {
    switch (plane_->cls()) {
      case PixelClass::logical:
      case PixelClass::uint8: return row_as<std::uint8_t>(y, to);
      case PixelClass::uint16: return row_as<std::uint16_t>(y, to);
      case PixelClass::single: return row_as<float>(y, to);
    }
  }

 private:
  static Size size_of(Size size, std::int64_t by) {
    return {(size.width + by - 1) / by, (size.height + by - 1) / by};
  }
  double pixel(std::int64_t x, std::int64_t y) const {
    if (plane_->cls() == PixelClass::single) return plane_->row_as<float>(y)[x];
    if (plane_->cls() == PixelClass::uint16) return plane_->row_as<std::uint16_t>(y)[x];
    return plane_->row_as<std::uint8_t>(y)[x];
  }
  double sum_at(std::int64_t x, std::int64_t y) const {
    return by_ == 1 ? pixel(x, y) : sums_[static_cast<std::size_t>(y * size().width + x)];
  }
  template <class Number>
  void row_as(std::int64_t y, std::byte* to) const {
    auto* out = reinterpret_cast<Number*>(to);
    const Size whole = plane_->size();
    const std::int64_t width = size().width;
    if (by_ == 1 || !takes_means_) {
      const Number* from = plane_->row_as<Number>(y * by_);
      for (std::int64_t x = 0; x < width; ++x) out[x] = from[x * by_];
      return;
    }
    const std::int64_t high = std::min(by_, whole.height - y * by_);
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t wide = std::min(by_, whole.width - x * by_);
      const double mean = sum_at(x, y) / static_cast<double>(high * wide);
      out[x] = static_cast<Number>(std::is_integral_v<Number> ? std::floor(mean + 0.5) : mean);
    }
  }

  const Plane* plane_;
  bool takes_means_;
  std::int64_t by_ = 1;
  std::vector<double> sums_;  // of the plane's pixels, at levels above it
};

class Writer {
 public:
  Writer(const HostImage& image, const EncodeOptions& options, ForEach for_each)
      : image_(image),
        options_(options),
        for_each_(for_each),
        item_bytes_(options.samples == SampleType::of_class ? bytes_of(image.type.cls)
                                                            : bytes_of(options.samples)) {}

  // The chunks alone, by their keys.
  Bytes write() {
    const std::size_t levels = zarr_levels(image_.size(), options_.zarr_chunk).size();
    const std::string begin = options_.zarr_version == 3 ? "/c/" : "/";
    for (std::size_t c = 0; c < image_.planes.size(); ++c) {
      Level level(image_.planes[c], options_.zarr_means);
      for (std::size_t i = 0; i < levels; ++i) {
        if (i > 0) level = level.half();
        const std::string channel = image_.planes.size() > 1 ? std::to_string(c) + "/" : "";
        write_level(level, std::to_string(i) + begin + channel);
      }
    }
    return zip_.finish();
  }

 private:
  void write_level(const Level& level, const std::string& keys) {
    const Size size = level.size();
    const Size chunk{std::min(size.width, options_.zarr_chunk),
                     std::min(size.height, options_.zarr_chunk)};
    const std::int64_t across = (size.width + chunk.width - 1) / chunk.width;
    for (std::int64_t y = 0; y < size.height; y += chunk.height) {
      const Bytes rows = items_of(level, y, std::min(size.height, y + chunk.height));
      std::vector<Bytes> packed(static_cast<std::size_t>(across));
      for_each_(across, [&](std::int64_t i) {
        packed[static_cast<std::size_t>(i)] = packed_chunk(rows, size.width, i, chunk);
      });
      for (std::int64_t i = 0; i < across; ++i) {
        zip_.add(keys + std::to_string(y / chunk.height) + "/" + std::to_string(i),
                 packed[static_cast<std::size_t>(i)]);
      }
    }
  }

  Bytes items_of(const Level& level, std::int64_t y, std::int64_t y_end) const {
    const std::int64_t width = level.size().width, bytes = width * item_bytes_;
    Bytes out(static_cast<std::size_t>((y_end - y) * bytes));
    std::vector<float> numbers(
        options_.samples == SampleType::of_class ? 0 : static_cast<std::size_t>(width));
    for (std::byte* to = out.data(); y < y_end; ++y, to += bytes) {
      if (numbers.empty()) {
        level.row(y, to);
      } else {
        level.row(y, reinterpret_cast<std::byte*>(numbers.data()));
        store_samples(options_.samples, numbers.data(), width, to);
      }
    }
    return out;
  }

  // Chunks at the edges are stored whole.
  Bytes packed_chunk(const Bytes& rows, std::int64_t width, std::int64_t which, Size chunk) const {
    const std::int64_t row = width * item_bytes_, wide = chunk.width * item_bytes_;
    const std::int64_t from = which * wide, count = std::min(wide, row - from);
    Bytes items(static_cast<std::size_t>(wide * chunk.height));
    for (std::int64_t y = 0; y < std::ssize(rows) / row; ++y) {
      std::copy_n(rows.data() + y * row + from, count, items.data() + y * wide);
    }
    return packed_by_blosc(items, item_bytes_, options_.compression);
  }

  const HostImage& image_;
  const EncodeOptions& options_;
  const ForEach for_each_;
  const int item_bytes_;
  ZipWriter zip_;
};

class Module final : public CodecModule {
 public:
  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }
  std::unique_ptr<PageDecoder> open_pages(InputBytes file, const ImageInfo& info,
                                          MakeImage make_image) const override {
    return std::make_unique<Pages>(file, info, make_image, for_each_);
  }
  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override {
    return Writer(image, options, for_each_).write();
  }

 private:
  mutable std::atomic<ForEach> for_each_;
};

}  // namespace
}  // namespace impipe::io

IMPIPE_OPEN_CODEC(Module)
