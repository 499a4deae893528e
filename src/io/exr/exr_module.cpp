// The codec module for EXR: OpenEXR reads from and writes to memory, on the calling thread alone.
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfHeader.h>
#include <OpenEXR/ImfIO.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOpaqueAttribute.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfRgbaFile.h>
#include <OpenEXR/ImfThreading.h>
#include <OpenEXR/ImfVersion.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "io/exr_layout.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {
namespace {

using InputBytes = std::span<const std::byte>;
constexpr int no_threads = 0;  // the batch has its own

class Input final : public Imf::IStream {
 public:
  explicit Input(InputBytes bytes) : IStream("picture"), bytes_(bytes) {}

  bool read(char to[], int count) override {
    const std::uint64_t left = at_ < bytes_.size() ? bytes_.size() - at_ : 0;
    if (count < 0 || static_cast<std::uint64_t>(count) > left) {
      fail("truncated EXR: it ends at byte " + std::to_string(bytes_.size()));
    }
    std::memcpy(to, bytes_.data() + at_, static_cast<size_t>(count));
    at_ += static_cast<std::uint64_t>(count);
    return at_ < bytes_.size();
  }
  std::uint64_t tellg() override { return at_; }
  void seekg(std::uint64_t place) override { at_ = place; }

 private:
  InputBytes bytes_;
  std::uint64_t at_ = 0;
};

class Output final : public Imf::OStream {
 public:
  Output() : OStream("picture") {}

  void write(const char from[], int count) override {
    const std::uint64_t end = at_ + static_cast<std::uint64_t>(count);
    if (end > bytes_.size()) bytes_.resize(end);
    std::memcpy(bytes_.data() + at_, from, static_cast<size_t>(count));
    at_ = end;
  }
  std::uint64_t tellp() override { return at_; }
  void seekp(std::uint64_t place) override { at_ = place; }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  std::uint64_t at_ = 0;
};

// "Error reading pixel data from image file \"picture\". Data decoding (zlib) failed." without what
// says nothing.
std::string reason(const std::exception& error) {
  std::string text = error.what();
  const std::string_view name = " from image file \"picture\"";
  for (const std::string_view part : {name, name.substr(5), std::string_view(" \"picture\"")}) {
    if (const size_t at = text.find(part); at != text.npos) text.erase(at, part.size());
  }
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  return text;
}

// Runs what calls OpenEXR; whatever that throws becomes an Error.
template <class Work>
auto guarded(const char* what, Work work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(std::string(what) + ": " + reason(error));
  } catch (...) {
    fail(std::string(what) + ": for no known reason");
  }
}

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
void from_integers(Plane& plane, const std::string& name) {
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    float* row = plane.row_as<float>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      std::uint32_t whole;
      std::memcpy(&whole, row + x, sizeof whole);
      row[x] = static_cast<float>(whole);
      if (static_cast<double>(row[x]) != static_cast<double>(whole)) {
        fail("EXR with the number " + std::to_string(whole) + " in channel " + name +
             " is not supported: a single holds whole numbers up to 16777216");
      }
    }
  }
}

void read_channels(InputBytes bytes, const ExrLayout& layout, HostImage& image) {
  Input stream(bytes);
  Imf::InputFile file(stream, no_threads);
  const Imf::Header& header = file.header();
  const Imath::Box2i window = box_of(layout.storage.data_window);
  Planes planes = planes_of(image);
  Imf::FrameBuffer buffer;
  for (size_t i = 0; i < planes.size(); ++i) {
    const std::string& name = layout.channels[i];
    const Imf::Channel* channel = header.channels().findChannel(name);
    if (channel == nullptr || static_cast<int>(channel->type) != layout.types[i]) {
      fail("damaged EXR: contradictory headers");
    }
    const Imf::PixelType type = channel->type == Imf::UINT ? Imf::UINT : Imf::FLOAT;
    buffer.insert(name, Imf::Slice::Make(type, planes[i].row_as<float>(0), window, sizeof(float),
                                         static_cast<size_t>(planes[i].stride())));
  }
  if (header.dataWindow() != window) fail("damaged EXR: contradictory headers");
  if (!file.isComplete()) fail("truncated EXR: parts of its picture are missing");
  file.setFrameBuffer(buffer);
  file.readPixels(window.min.y, window.max.y);
  for (size_t i = 0; i < planes.size(); ++i) {
    if (layout.types[i] == Imf::UINT) from_integers(planes[i], layout.channels[i]);
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

// The channels that are carried, in the words that they have in the file which has them.
class Carried {
 public:
  explicit Carried(const ExrCarried& carried)
      : names_(carried.names), bytes_(*carried.file), file_(bytes_, no_threads) {
    if (!file_.isComplete()) fail("truncated EXR: parts of its picture are missing");
  }

  // How many rows are best read at a time: those that are unpacked together.
  std::int64_t rows() const {
    return file_.header().compression() == Imf::DWAB_COMPRESSION ? 256 : 32;
  }

  void add_to(Imf::Header& header) const {
    for (const std::string& name : names_) {
      if (header.channels().findChannel(name) != nullptr) {
        fail("EXR would have two channels " + name + ": that of the input and the result's");
      }
      header.channels().insert(name, channel(name));
    }
  }

  // Reads so many rows, of the picture's width, and adds them to what is written. They stay until
  // the next call.
  void read(int line, std::int64_t width, std::int64_t rows, Imf::FrameBuffer& written) {
    words_.resize(names_.size());
    Imf::FrameBuffer buffer;
    for (size_t c = 0; c < names_.size(); ++c) {
      const Imf::PixelType type = channel(names_[c]).type;
      const size_t bytes = type == Imf::HALF ? 2 : 4;
      words_[c].resize(bytes * static_cast<size_t>(width * rows));
      const Imath::V2i origin(file_.header().dataWindow().min.x, line);
      const Imf::Slice slice = Imf::Slice::Make(type, words_[c].data(), origin, width, rows, bytes);
      buffer.insert(names_[c], slice);
      written.insert(names_[c], slice);
    }
    guarded("damaged EXR", [&] {
      file_.setFrameBuffer(buffer);
      file_.readPixels(line, line + static_cast<int>(rows) - 1);
    });
  }

 private:
  const Imf::Channel& channel(const std::string& name) const {
    const Imf::Channel* found = file_.header().channels().findChannel(name);
    if (found == nullptr) fail("damaged EXR: contradictory headers");
    return *found;
  }

  std::vector<std::string> names_;
  Input bytes_;
  Imf::InputFile file_;
  std::vector<Bytes> words_;  // of each channel
};

// The channels of an image, as they are called and stored.
std::vector<ExrStorage::Named> channels_of(const HostImage& image, const ExrStorage& storage) {
  if (!storage.named.empty()) return storage.named;
  std::vector<ExrStorage::Named> channels;
  const auto add = [&](const std::string& name) {
    channels.push_back({storage.layer + name, storage.half});
  };
  if (image.type.channels == 3) {
    for (const char* name : {"R", "G", "B"}) add(name);
  } else {
    add(storage.gray);
  }
  if (image.type.alpha) add("A");
  return channels;
}

Imf::PixelType type_of(const ExrStorage::Named& channel) {
  return channel.half ? Imf::HALF : Imf::FLOAT;
}

Imf::Header header_of(const ExrStorage& storage, const std::vector<ExrStorage::Named>& channels) {
  Imf::Header header(box_of(storage.display_window), box_of(storage.data_window),
                     storage.pixel_aspect, Imath::V2f(0, 0), 1, Imf::INCREASING_Y,
                     static_cast<Imf::Compression>(storage.compression));
  header.dwaCompressionLevel() = storage.dwa_level;
  for (const ExrAttribute& attribute : storage.attributes) insert(attribute, header);
  for (const ExrStorage::Named& channel : channels) {
    header.channels().insert(channel.name, Imf::Channel(type_of(channel)));
  }
  return header;
}

// Some rows of every channel at a time, in words of the file.
void write_rows(const HostImage& image, const std::vector<ExrStorage::Named>& channels,
                const ExrStorage& storage, Carried* carried, Imf::OutputFile& file) {
  const std::int64_t max_rows = carried != nullptr ? carried->rows() : 32;
  const Size size = image.size();
  const Planes planes = planes_of(image);
  const auto width = static_cast<size_t>(size.width);
  const size_t pixels = width * static_cast<size_t>(std::min(max_rows, size.height));
  std::vector<Bytes> words(channels.size());
  for (size_t c = 0; c < channels.size(); ++c) {
    words[c].resize(pixels * (channels[c].half ? sizeof(half) : sizeof(float)));
  }
  for (std::int64_t top = 0; top < size.height; top += max_rows) {
    const std::int64_t rows = std::min(max_rows, size.height - top);
    Imf::FrameBuffer buffer;
    for (size_t c = 0; c < channels.size(); ++c) {
      std::byte* to = words[c].data();
      const size_t bytes = channels[c].half ? sizeof(half) : sizeof(float);
      const Imath::V2i origin(storage.data_window[0],
                              storage.data_window[1] + static_cast<int>(top));
      buffer.insert(channels[c].name, Imf::Slice::Make(type_of(channels[c]), to, origin, size.width,
                                                       rows, bytes, bytes * width));
      for (std::int64_t y = top; y < top + rows; ++y, to += bytes * width) {
        const float* row = planes[c].row_as<float>(y);
        if (channels[c].half) {
          std::transform(row, row + width, reinterpret_cast<half*>(to),
                         [](float value) { return half(value); });
        } else {
          std::memcpy(to, row, bytes * width);
        }
      }
    }
    if (carried != nullptr) {
      carried->read(storage.data_window[1] + static_cast<int>(top), size.width, rows, buffer);
    }
    file.setFrameBuffer(buffer);
    file.writePixels(static_cast<int>(rows));
  }
}

class OpenExr final : public CodecModule {
 public:
  OpenExr() { Imf::setGlobalThreadCount(no_threads); }

  HostImage decode(InputBytes bytes, const ImageInfo& info, MakeImage make_image) const override {
    return guarded("damaged EXR", [&] {
      const ExrLayout layout = exr_layout(ByteSource(bytes), info.named);
      HostImage image = make_image(info.type, info.stored);
      if (layout.luma_chroma) {
        read_luma_chroma(bytes, layout, image);
      } else {
        read_channels(bytes, layout, image);
      }
      return image;
    });
  }

  Bytes encode(const HostImage& image, Format, const EncodeOptions& options) const override {
    const ExrStorage& storage = options.exr;
    const std::vector<ExrStorage::Named> channels = channels_of(image, storage);
    return guarded("EXR cannot be written", [&] {
      Output stream;
      std::unique_ptr<Carried> carried;
      if (!storage.carried.empty()) carried = std::make_unique<Carried>(storage.carried);
      Imf::Header header = header_of(storage, channels);
      if (carried) carried->add_to(header);
      {
        Imf::OutputFile file(stream, header, no_threads);
        write_rows(image, channels, storage, carried.get(), file);
      }  // writes where the rows lie
      return stream.take();
    });
  }
};

}  // namespace
}  // namespace impipe::io

extern "C" __attribute__((visibility("default"))) const impipe::io::CodecModule* impipe_open_codec(
    const char* version) {
  static const impipe::io::OpenExr open_exr;
  return std::strcmp(version, impipe::io::codec_version) == 0 ? &open_exr : nullptr;
}
