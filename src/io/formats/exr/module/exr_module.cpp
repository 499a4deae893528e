// The codec module for EXR: OpenEXR reads from and writes to memory, on the calling thread alone.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfRgbaFile.h>
#include <OpenEXR/ImfThreading.h>

#include <algorithm>

#include "io/formats/exr/exr_layout.hpp"
#include "io/formats/exr/module/scan.hpp"
#include "io/formats/exr/module/streams.hpp"
#include "io/formats/exr/module/write.hpp"
#include "io/formats/exr/module/zip_chunks.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

Imath::Box2i box_of(const std::array<int, 4>& window) {
  return {Imath::V2i(window[0], window[1]), Imath::V2i(window[2], window[3])};
}

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

// Reads lines of ZIP and ZIPS; false for other compressions, tiles, channels of fewer pixels, and
// damaged chunks, with pixels of any value.
bool read_zip_lines(Imf::InputFile& file, const ExrLayout& layout, Planes& planes) {
  const Imf::Header& header = file.header();
  if (!is_zip(header) || !layout.storage.tiles.empty()) return false;
  const Imath::Box2i window = header.dataWindow();
  const size_t width = static_cast<size_t>(planes[0].size().width);
  std::vector<StoredChannel> channels;
  size_t row_bytes = 0;
  for (auto it = header.channels().begin(); it != header.channels().end(); ++it) {
    if (it.channel().xSampling != 1 || it.channel().ySampling != 1) return false;
    const auto found = std::find(layout.channels.begin(), layout.channels.end(), it.name());
    const bool is_wanted = found != layout.channels.end();
    channels.push_back(
        {it.channel().type, is_wanted ? static_cast<int>(found - layout.channels.begin()) : -1});
    row_bytes += width * (it.channel().type == Imf::HALF ? 2 : 4);
  }
  ChunkUnpacker unpacker;
  const std::int64_t height = planes[0].size().height, most = zip_rows(header);
  for (std::int64_t top = 0; top < height; top += most) {
    const std::int64_t rows = std::min(most, height - top);
    const char* chunk = nullptr;
    int bytes = 0;
    file.rawPixelData(window.min.y + static_cast<int>(top), chunk, bytes);
    const std::byte* from =
        unpacker.unpack(std::as_bytes(std::span(chunk, static_cast<size_t>(std::max(bytes, 0)))),
                        row_bytes * static_cast<size_t>(rows));
    if (from == nullptr) return false;
    for (std::int64_t y = top; y < top + rows; ++y) {
      for (const StoredChannel& channel : channels) {
        const size_t sample = channel.type == Imf::HALF ? 2 : 4;
        if (channel.plane >= 0) {
          float* to = planes[static_cast<size_t>(channel.plane)].row_as<float>(y);
          if (channel.type == Imf::HALF) {
            floats_of_halves(from, to, width);
          } else {
            std::memcpy(to, from, sample * width);
          }
        }
        from += sample * width;
      }
    }
  }
  return true;
}

void read_channels(InputBytes bytes, const ExrLayout& layout, Inexact& inexact, HostImage& image) {
  Input stream(bytes);
  Imf::InputFile file(stream, no_threads);
  const Imf::Header& header = file.header();
  const Imath::Box2i window = box_of(layout.storage.data_window);
  Planes planes = planes_of(image);
  Imf::FrameBuffer buffer;
  for (size_t i = 0; i < planes.size(); ++i) {
    const std::string& name = layout.channels[i];
    const Imf::Channel* channel = header.channels().findChannel(name);
    if (channel == nullptr ||
        static_cast<int>(channel->type) != static_cast<int>(layout.types[i])) {
      fail("damaged EXR: contradictory headers");
    }
    const Imf::PixelType type = channel->type == Imf::UINT ? Imf::UINT : Imf::FLOAT;
    buffer.insert(name, Imf::Slice::Make(type, planes[i].row_as<float>(0), window, sizeof(float),
                                         static_cast<size_t>(planes[i].stride())));
  }
  if (header.dataWindow() != window) fail("damaged EXR: contradictory headers");
  if (!file.isComplete()) fail("truncated EXR: parts of its picture are missing");
  bool done = false;
  try {
    done = read_zip_lines(file, layout, planes);
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

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    return guarded("damaged EXR", [&] {
      const ExrLayout layout = exr_layout(ByteSource(bytes), 0, info.named);
      HostImage image = make_image(info.type, info.stored);
      if (layout.luma_chroma) {
        read_luma_chroma(bytes, layout, image);
      } else {
        Inexact ignored;
        read_channels(bytes, layout, info.inexact ? *info.inexact : ignored, image);
      }
      return image;
    });
  }

  std::optional<PackedPicture> scan(InputBytes bytes, const ImageInfo& info) const override {
    return guarded("damaged EXR", [&] { return scan_exr(bytes, info); });
  }
  Bytes encode_packed(const ImageType& type, Size size, Format, std::span<const PackedChunk> chunks,
                      const EncodeOptions& options) const override {
    return guarded("EXR cannot be written",
                   [&] { return write_packed_exr(type, size, chunks, options); });
  }
  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override {
    return guarded("EXR cannot be written",
                   [&] { return write_exr(image, options.exr, options.compression); });
  }
};

}  // namespace
}  // namespace impipe::io

extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule* impipe_open_codec(
    const char* version) {
  static const impipe::io::OpenExr open_exr;
  return std::strcmp(version, impipe::io::codec_version) == 0 ? &open_exr : nullptr;
}
