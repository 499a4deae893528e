// The codec module for EXR: OpenEXR reads from and writes to memory, on the calling thread alone;
// lines of ZIP and ZIPS are unpacked and packed on all threads that have nothing else to do.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfRgbaFile.h>
#include <OpenEXR/ImfThreading.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "io/formats/exr/exr_header.hpp"
#include "io/formats/exr/exr_layout.hpp"
#include "io/formats/exr/module/scan.hpp"
#include "io/formats/exr/module/streams.hpp"
#include "io/formats/exr/module/write.hpp"
#include "io/formats/exr/module/zip_chunks.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

// The planes of an image in the order of its file's channels: alpha comes last.
Planes planes_of(const HostImage& image) {
  Planes planes = image.planes;
  if (image.type.alpha) planes.push_back(image.alpha);
  return planes;
}

// Whole numbers of 32 bits, in the memory of floats, become floats.
void from_integers(Plane& plane, Inexact& inexact) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    float* row = plane.row_as<float>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      std::uint32_t whole;
      std::memcpy(&whole, row + x, sizeof whole);
      row[x] = to_single(whole, inexact);
    }
  }
}

// Where a channel of the file goes: its plane among those of the image, or -1.
struct StoredChannel {
  Imf::PixelType type;
  int plane = -1;
};

// Lines of ZIP and ZIPS in a file of one part, without tiles.
class ZipLines {
 public:
  ZipLines(InputBytes file, const Imf::Header& header, const ExrLayout& layout, Planes& planes)
      : file_(file), planes_(planes), top_(header.dataWindow().min.y), most_(zip_rows(header)) {
    const ExrHeaders headers = read_exr_headers(ByteSource(file));
    table_ = static_cast<size_t>(headers.end);
    if (headers.several) part_bytes_ = 4;
    for (auto it = header.channels().begin(); it != header.channels().end(); ++it) {
      const auto found = std::find(layout.channels.begin(), layout.channels.end(), it.name());
      const bool is_wanted = found != layout.channels.end();
      channels_.push_back(
          {it.channel().type, is_wanted ? static_cast<int>(found - layout.channels.begin()) : -1});
      row_bytes_ += width() * (it.channel().type == Imf::HALF ? 2 : 4);
      is_full_ = is_full_ && it.channel().xSampling == 1 && it.channel().ySampling == 1;
    }
  }

  bool is_full() const { return is_full_; }  // every channel has all pixels
  std::int64_t chunks() const { return (height() + most_ - 1) / most_; }

  // Puts the pixels of a chunk into the planes; false where it is damaged.
  bool read(std::int64_t chunk, ChunkUnpacker& unpacker) {
    const std::int64_t top = chunk * most_, end = std::min(top + most_, height());
    const auto packed = chunk_of(chunk);
    if (!packed) return false;
    const std::byte* from = unpacker.unpack(*packed, row_bytes_ * static_cast<size_t>(end - top));
    if (from == nullptr) return false;
    for (std::int64_t y = top; y < end; ++y) {
      for (const StoredChannel& channel : channels_) {
        const size_t bytes = width() * (channel.type == Imf::HALF ? 2 : 4);
        if (channel.plane >= 0) {
          float* to = planes_[static_cast<size_t>(channel.plane)].row_as<float>(y);
          if (channel.type == Imf::HALF) {
            floats_of_halves(from, to, width());
          } else {
            std::memcpy(to, from, bytes);
          }
        }
        from += bytes;
      }
    }
    return true;
  }

 private:
  size_t width() const { return static_cast<size_t>(planes_[0].size().width); }
  std::int64_t height() const { return planes_[0].size().height; }

  // A number of the file; 0 behind its end.
  template <class Number>
  Number number_at(std::uint64_t at) const {
    Number number = 0;
    if (at <= file_.size() && sizeof number <= file_.size() - at) {
      std::memcpy(&number, file_.data() + at, sizeof number);
    }
    return number;
  }

  // A chunk's data as they are in the file, by the table of offsets behind the headers.
  std::optional<InputBytes> chunk_of(std::int64_t chunk) const {
    const auto offset = number_at<std::uint64_t>(table_ + 8 * static_cast<size_t>(chunk));
    if (offset <= table_ || offset >= file_.size()) return {};
    const std::uint64_t at = offset + part_bytes_;
    const auto bytes = number_at<std::int32_t>(at + 4);
    if (number_at<std::int32_t>(at) != top_ + static_cast<int>(chunk * most_) || bytes <= 0 ||
        static_cast<std::uint64_t>(bytes) > file_.size() - at - 8) {
      return {};
    }
    return file_.subspan(at + 8, static_cast<size_t>(bytes));
  }

  InputBytes file_;
  Planes& planes_;
  int top_;            // the first line's number
  std::int64_t most_;  // lines of a chunk
  size_t table_ = 0, part_bytes_ = 0;
  std::vector<StoredChannel> channels_;
  size_t row_bytes_ = 0;
  bool is_full_ = true;
};

// Reads lines of ZIP and ZIPS; false for other compressions, tiles, channels of fewer pixels, and
// damaged chunks, with pixels of any value.
bool read_zip_lines(InputBytes file, const Imf::Header& header, const ExrLayout& layout,
                    ForEach for_each, Planes& planes) {
  if (!is_zip(header) || !layout.storage.tiles.empty()) return false;
  ZipLines lines(file, header, layout, planes);
  if (!lines.is_full()) return false;
  Workers<ChunkUnpacker> unpackers;
  std::atomic<bool> whole = true;
  for_each(lines.chunks(), [&](std::int64_t i) {
    if (!whole) return;
    const bool read =
        unpackers.with_one([] { return std::make_unique<ChunkUnpacker>(); },
                           [&](ChunkUnpacker& unpacker) { return lines.read(i, unpacker); });
    if (!read) whole = false;
  });
  return whole;
}

void read_channels(InputBytes bytes, const ExrLayout& layout, ForEach for_each, Inexact& inexact,
                   HostImage& image) {
  Input stream(bytes);
  Imf::InputFile file(stream, no_threads);
  check_headers(file, layout);
  const Imf::Header& header = file.header();
  const Imath::Box2i window = header.dataWindow();
  Planes planes = planes_of(image);
  Imf::FrameBuffer buffer;
  for (size_t i = 0; i < planes.size(); ++i) {
    const Imf::PixelType type = layout.types[i] == ExrType::whole ? Imf::UINT : Imf::FLOAT;
    buffer.insert(layout.channels[i],
                  Imf::Slice::Make(type, planes[i].row_as<float>(0), window, sizeof(float),
                                   static_cast<size_t>(planes[i].stride())));
  }
  bool done = false;
  try {
    done = read_zip_lines(bytes, header, layout, for_each, planes);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // OpenEXR, below, says what is wrong
  }
  if (!done) {
    file.setFrameBuffer(buffer);
    file.readPixels(window.min.y, window.max.y);
  }
  for (size_t i = 0; i < planes.size(); ++i) {
    if (layout.types[i] == ExrType::whole) from_integers(planes[i], inexact);
  }
}

// Luminance and chroma, by OpenEXR's own conversion.
void read_luma_chroma(InputBytes bytes, const ExrLayout& layout, HostImage& image) {
  Input stream(bytes);
  const std::string& layer = layout.storage.layer;
  Imf::RgbaInputFile file(stream, layer.empty() ? layer : layer.substr(0, layer.size() - 1),
                          no_threads);
  const Imath::Box2i window = box_of(layout.storage.data_window);
  if (file.dataWindow() != window) fail("damaged EXR: contradictory headers");
  if (!file.isComplete()) fail("truncated EXR: parts of its picture are missing");
  Planes planes = planes_of(image);
  std::vector<Imf::Rgba> row(static_cast<size_t>(image.size().width));
  // The same row for every y, which begins at window.min.x.
  const auto begin = reinterpret_cast<std::intptr_t>(row.data()) -
                     static_cast<std::intptr_t>(window.min.x) * std::intptr_t{sizeof(Imf::Rgba)};
  file.setFrameBuffer(reinterpret_cast<Imf::Rgba*>(begin), 1, 0);
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    const int line = window.min.y + static_cast<int>(y);
    file.readPixels(line, line);
    constexpr half Imf::Rgba::*parts[] = {&Imf::Rgba::r, &Imf::Rgba::g, &Imf::Rgba::b,
                                          &Imf::Rgba::a};
    for (size_t c = 0; c < planes.size(); ++c) {
      float* to = planes[c].row_as<float>(y);
      for (const Imf::Rgba& pixel : row) *to++ = pixel.*parts[c];
    }
  }
}

class OpenExr final : public CodecModule {
 public:
  OpenExr() { Imf::setGlobalThreadCount(no_threads); }

  void set_for_each(ForEach for_each) const override { for_each_ = for_each; }

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    return guarded("damaged EXR", [&] {
      const ExrLayout layout = exr_layout(ByteSource(bytes), 0, info.named);
      HostImage image = make_image(info.type, info.stored);
      if (layout.luma_chroma) {
        read_luma_chroma(bytes, layout, image);
      } else {
        Inexact ignored;
        read_channels(bytes, layout, for_each_, info.inexact ? *info.inexact : ignored, image);
      }
      return image;
    });
  }

  std::optional<PackedPicture> scan(InputBytes bytes, const ImageInfo& info) const override {
    return guarded("damaged EXR", [&] { return scan_exr(bytes, info); });
  }
  Bytes encode_packed(const ImageType& type, Size size, Format, std::span<const PackedChunk> chunks,
                      const EncodeOptions& options, Bytes room) const override {
    return guarded("EXR cannot be written",
                   [&] { return write_packed_exr(type, size, chunks, options, std::move(room)); });
  }
  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override {
    return guarded("EXR cannot be written", [&] { return write_exr(image, options, for_each_); });
  }

 private:
  mutable std::atomic<ForEach> for_each_;
};

}  // namespace
}  // namespace impipe::io

extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule* impipe_open_codec(
    const char* version) {
  static const impipe::io::OpenExr open_exr;
  return std::strcmp(version, impipe::io::codec_version) == 0 ? &open_exr : nullptr;
}
