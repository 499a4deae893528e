// Writes EXR through OpenEXR: in lines, or in tiles with the levels of mip and rip maps.
#include "io/formats/exr/module/write.hpp"

#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfOpaqueAttribute.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfStandardAttributes.h>
#include <OpenEXR/ImfTiledOutputFile.h>
#include <OpenEXR/ImfVersion.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "io/formats/exr/exr_header.hpp"
#include "io/formats/exr/module/carried.hpp"
#include "io/formats/exr/module/levels.hpp"
#include "io/formats/exr/module/streams.hpp"
#include "io/formats/exr/module/zip_chunks.hpp"

namespace impipe::io {
namespace {

Imath::Box2i box_of(const std::array<int, 4>& window) {
  return {Imath::V2i(window[0], window[1]), Imath::V2i(window[2], window[3])};
}

// Its value goes through OpenEXR's own reader of that type, if it has one.
void insert(const ExrAttribute& attribute, Imf::Header& header) {
  const char* type = attribute.type.c_str();
  const std::unique_ptr<Imf::Attribute> made(Imf::Attribute::knownType(type)
                                                 ? Imf::Attribute::newAttribute(type)
                                                 : new Imf::OpaqueAttribute(type));
  Input value(std::as_bytes(std::span(attribute.value)));
  made->readValueFrom(value, static_cast<int>(attribute.value.size()), Imf::EXR_VERSION);
  header.insert(attribute.name, *made);
}

// The channels of an image, as they are called and stored.
std::vector<ExrStorage::Named> channels_of(const ImageType& type, const ExrStorage& storage) {
  if (!storage.named.empty()) return storage.named;
  std::vector<ExrStorage::Named> channels;
  const auto add = [&](const std::string& name) {
    channels.push_back({storage.layer + name, storage.type});
  };
  if (type.channels == 3) {
    for (const char* name : {"R", "G", "B"}) add(name);
  } else {
    add(storage.gray);
  }
  if (type.alpha) add("A");
  return channels;
}

Imf::PixelType type_of(const ExrStorage::Named& channel) {
  return static_cast<Imf::PixelType>(channel.type);
}

Imf::Header header_of(const ExrStorage& storage, const std::vector<ExrStorage::Named>& channels,
                      Compression compression) {
  Imf::Header header(box_of(storage.display_window), box_of(storage.data_window),
                     storage.pixel_aspect, Imath::V2f(0, 0), 1,
                     static_cast<Imf::LineOrder>(storage.line_order),
                     static_cast<Imf::Compression>(storage.compression));
  header.zipCompressionLevel() =
      level_of(compression, 1, header.zipCompressionLevel(), header.zipCompressionLevel());
  header.dwaCompressionLevel() = storage.dwa_level;
  if (const ExrTiles& tiles = storage.tiles; !tiles.empty()) {
    header.setTileDescription({tiles.width, tiles.height, static_cast<Imf::LevelMode>(tiles.levels),
                               static_cast<Imf::LevelRoundingMode>(tiles.rounding)});
  }
  if (!storage.name.empty()) header.setName(storage.name);
  if (storage.has_type) {
    header.setType(storage.tiles.empty() ? Imf::SCANLINEIMAGE : Imf::TILEDIMAGE);
  }
  for (const ExrAttribute& attribute : storage.attributes) insert(attribute, header);
  for (const ExrStorage::Named& channel : channels) {
    header.channels().insert(channel.name, Imf::Channel(type_of(channel)));
  }
  return header;
}

// The image itself; alpha comes last.
ExrLevel whole_picture(const HostImage& image) {
  ExrLevel out{image.size(), {}};
  Planes planes = image.planes;
  if (image.type.alpha) planes.push_back(image.alpha);
  for (const Plane& plane : planes) {
    out.channels.push_back(
        {plane.row_as<float>(0), plane.stride() / std::int64_t{sizeof(float)}, {}});
  }
  return out;
}

// Some rows of every channel, in words of the file.
class Words {
 public:
  Words(std::vector<ExrStorage::Named> channels, const ExrStorage& storage)
      : channels_(std::move(channels)),
        words_(channels_.size()),
        left_(storage.data_window[0]),
        top_(storage.data_window[1]) {}

  // They stay until the next call.
  Imf::FrameBuffer rows(const ExrLevel& level, std::int64_t top, std::int64_t rows) {
    Imf::FrameBuffer buffer;
    const auto width = static_cast<size_t>(level.size.width);
    for (size_t c = 0; c < channels_.size(); ++c) {
      const ExrStorage::Named& channel = channels_[c];
      const size_t bytes = channel.type == ExrType::half ? 2 : 4;
      words_[c].resize(bytes * width * static_cast<size_t>(rows));
      std::byte* to = words_[c].data();
      buffer.insert(channel.name,
                    Imf::Slice::Make(type_of(channel), to, Imath::V2i(left_, line(top)),
                                     level.size.width, rows, bytes, bytes * width));
      for (std::int64_t y = top; y < top + rows; ++y, to += bytes * width) {
        put(level.channels[c].row(y), width, channel.type, to);
      }
    }
    return buffer;
  }
  // Bytes of a row of all channels.
  size_t row_bytes(size_t width) const {
    size_t bytes = 0;
    for (const auto& channel : channels_) bytes += width * (channel.type == ExrType::half ? 2 : 4);
    return bytes;
  }
  // The same as they are in a chunk: row after row, the channels in the order of their names.
  void chunk(const ExrLevel& level, std::int64_t top, std::int64_t rows, Bytes& out) const {
    std::vector<size_t> order(channels_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return channels_[a].name < channels_[b].name; });
    const auto width = static_cast<size_t>(level.size.width);
    out.resize(row_bytes(width) * static_cast<size_t>(rows));
    std::byte* to = out.data();
    for (std::int64_t y = top; y < top + rows; ++y) {
      for (const size_t c : order) {
        put(level.channels[c].row(y), width, channels_[c].type, to);
        to += width * (channels_[c].type == ExrType::half ? 2 : 4);
      }
    }
  }
  int line(std::int64_t y) const { return top_ + static_cast<int>(y); }

 private:
  static void put(const float* row, size_t width, ExrType type, std::byte* to) {
    switch (type) {
      case ExrType::single: std::memcpy(to, row, sizeof(float) * width); break;
      case ExrType::half: halves_of_floats(row, to, width); break;
      case ExrType::whole:
        std::transform(row, row + width, reinterpret_cast<std::uint32_t*>(to),
                       [](float value) { return static_cast<std::uint32_t>(value); });
    }
  }

  std::vector<ExrStorage::Named> channels_;
  std::vector<Bytes> words_;
  int left_, top_;
};

// The beginnings of blocks of rows, in the order of the lines of a file.
std::vector<std::int64_t> tops_of(std::int64_t height, std::int64_t rows, bool upward) {
  std::vector<std::int64_t> out;
  for (std::int64_t top = 0; top < height; top += rows) out.push_back(top);
  if (upward) std::reverse(out.begin(), out.end());
  return out;
}

class Writer {
 public:
  Writer(const ImageType& type, const EncodeOptions& options)
      : storage_(options.exr), options_(options), words_(channels_of(type, storage_), storage_) {
    const std::vector<ExrStorage::Named> channels = channels_of(type, storage_);
    header_ = header_of(storage_, channels, options.compression);
    // Between identifiers, labels and the like there is nothing.
    for (const auto& channel : channels) {
      means_.push_back(storage_.means && channel.type != ExrType::whole);
    }
    if (storage_.carried.empty()) return;
    carried_.emplace(storage_.carried, !storage_.tiles.empty());
    carried_->add_to(header_);
  }

  Bytes write(const ExrLevel& picture, ForEach for_each) {
    if (storage_.tiles.empty() && is_zip(header_) && !carried_) {
      return zip_lines(picture, for_each);
    }
    Output stream;
    if (storage_.tiles.empty()) {
      write_lines(picture, stream);
    } else {
      write_tiles(picture, stream);
    }
    return stream.take();
  }

  // The chunks in the order of their lines.
  Bytes write(Size size, std::span<const PackedChunk> chunks, Bytes room) {
    const std::int64_t most = exr_compressions[storage_.compression].rows;
    return of_chunks(size.height, most, std::move(room),
                     [&](std::int64_t top) { return chunks[static_cast<size_t>(top / most)]; });
  }

 private:
  bool upward() const { return storage_.line_order == Imf::DECREASING_Y; }

  // A chunk of the lines that begin at `top`.
  void zip_chunk(const ExrLevel& picture, std::int64_t top, Bytes& out) {
    const std::int64_t rows = std::min(zip_rows(header_), picture.size.height - top);
    zippers_.with_one(
        [this] {
          // Level 1 makes files of the size that zlib's level 4, OpenEXR's own, makes.
          return std::make_unique<Zipper>(level_of(options_.compression, 1, 1, 6));
        },
        [&](Zipper& zipper) {
          words_.chunk(picture, top, rows, zipper.rows);
          const PackedChunk packed = zipper.packer.pack(zipper.rows);
          out.assign(packed.begin(), packed.end());
          return true;
        });
  }

  Bytes zip_lines(const ExrLevel& picture, ForEach for_each) {
    const std::int64_t height = picture.size.height, most = zip_rows(header_);
    const std::vector<std::int64_t> tops = tops_of(height, most, upward());
    // Chunks that are packed at once: they are held until the last of them is.
    constexpr std::int64_t lines = 512;
    std::vector<Bytes> packed(static_cast<size_t>(lines / most));
    size_t done = 0;
    // Memory that is not written to is not taken.
    constexpr size_t head_bytes = 65536, of_row = 8;
    Bytes room;
    room.reserve(head_bytes +
                 static_cast<size_t>(height) *
                     (of_row + words_.row_bytes(static_cast<size_t>(picture.size.width))));
    return of_chunks(height, most, std::move(room), [&](std::int64_t) -> PackedChunk {
      const size_t at = done % packed.size();
      if (at == 0) {
        for_each(static_cast<std::int64_t>(std::min(packed.size(), tops.size() - done)),
                 [&](std::int64_t i) {
                   const auto chunk = static_cast<size_t>(i);
                   zip_chunk(picture, tops[done + chunk], packed[chunk]);
                 });
      }
      ++done;
      return packed[at];
    });
  }

  // OpenEXR writes the header and an empty table of the chunks' offsets. chunk_at: of the line of
  // the picture where it begins, called in the order of tops_of; `most` lines are in one. out: has
  // room for the file.
  template <class ChunkAt>
  Bytes of_chunks(std::int64_t height, std::int64_t most, Bytes out, ChunkAt chunk_at) {
    Output stream;
    { const Imf::OutputFile file(stream, header_, no_threads); }
    const Bytes begin = stream.take();
    out.assign(begin.begin(), begin.end());
    const auto tops = tops_of(height, most, upward());
    const size_t table = out.size() - 8 * tops.size();
    for (const std::int64_t top : tops) {
      const std::uint64_t offset = out.size();
      std::memcpy(out.data() + table + 8 * static_cast<size_t>(top / most), &offset, sizeof offset);
      const PackedChunk chunk = chunk_at(top);
      const std::int32_t head[] = {words_.line(top), static_cast<std::int32_t>(chunk.size())};
      const auto bytes = std::as_bytes(std::span(head));
      out.insert(out.end(), bytes.begin(), bytes.end());
      out.insert(out.end(), chunk.begin(), chunk.end());
    }
    return out;
  }

  void write_lines(const ExrLevel& picture, Output& stream) {
    Imf::OutputFile file(stream, header_, no_threads);
    const std::int64_t height = picture.size.height, most = carried_ ? carried_->rows() : 32;
    for (const std::int64_t top : tops_of(height, most, upward())) {
      const std::int64_t rows = std::min(most, height - top);
      Imf::FrameBuffer buffer = words_.rows(picture, top, rows);
      if (carried_) carried_->read_lines(words_.line(top), rows, buffer);
      file.setFrameBuffer(buffer);
      file.writePixels(static_cast<int>(rows));
    }
  }  // writes where the rows lie

  void write_tiles(const ExrLevel& picture, Output& stream) {
    Imf::TiledOutputFile file(stream, header_, no_threads);
    const bool is_rip = storage_.tiles.levels == Imf::RIPMAP_LEVELS;
    ExrLevel column;  // of all rows of maps, the first
    const ExrLevel* begin = &picture;
    for (int y = 0; y < file.numYLevels(); ++y) {
      const Size size{is_rip || y == 0 ? picture.size.width : file.levelWidth(y),
                      file.levelHeight(y)};
      if (y > 0) {
        column = reduced(*begin, size, means_);
        begin = &column;
      }
      if (!is_rip) {
        write_level(*begin, y, y, file);
        continue;
      }
      write_level(*begin, 0, y, file);
      ExrLevel level;
      for (int x = 1; x < file.numXLevels(); ++x) {
        level = reduced(x == 1 ? *begin : level, {file.levelWidth(x), size.height}, means_);
        write_level(level, x, y, file);
      }
    }
  }

  void write_level(const ExrLevel& level, int x, int y, Imf::TiledOutputFile& file) {
    const std::int64_t tile = storage_.tiles.height, height = level.size.height;
    for (const std::int64_t top : tops_of(height, tile, upward())) {
      const std::int64_t rows = std::min(tile, height - top);
      const int number = static_cast<int>(top / tile);
      Imf::FrameBuffer buffer = words_.rows(level, top, rows);
      if (carried_) carried_->read_tiles({number, x, y, words_.line(top), rows}, buffer);
      file.setFrameBuffer(buffer);
      file.writeTiles(0, file.numXTiles(x) - 1, number, number, x, y);
    }
  }

  struct Zipper {
    explicit Zipper(int level) : packer(level) {}
    ChunkPacker packer;
    Bytes rows;
  };

  const ExrStorage& storage_;
  const EncodeOptions& options_;
  Words words_;
  Workers<Zipper> zippers_;
  Imf::Header header_;
  std::vector<bool> means_;
  std::optional<CarriedChannels> carried_;
};

}  // namespace

Bytes write_exr(const HostImage& image, const EncodeOptions& options, ForEach for_each) {
  return Writer(image.type, options).write(whole_picture(image), for_each);
}

Bytes write_packed_exr(const ImageType& type, Size size, std::span<const PackedChunk> chunks,
                       const EncodeOptions& options, Bytes room) {
  return Writer(type, options).write(size, chunks, std::move(room));
}

}  // namespace impipe::io
