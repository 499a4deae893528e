// EXIF, ICC and XMP through exiv2; into PNG as chunks (exiv2 writes EXIF as a text chunk that few
// programs read) and into WebP through libwebpmux (exiv2 0.27 spoils its header).
#include "io/module/metadata.hpp"

#include <webp/mux.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <exiv2/exiv2.hpp>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>

namespace impipe::io {
namespace {

const Exiv2::byte* as_exiv2(const std::byte* bytes) {
  return reinterpret_cast<const Exiv2::byte*>(bytes);
}

Bytes to_bytes(const Exiv2::byte* from, size_t count) {
  const auto* begin = reinterpret_cast<const std::byte*>(from);
  return Bytes(begin, begin + count);
}

// One thread at a time uses exiv2: its XMP parser is not safe to use from several, and its start
// never was. When memory is out, that parser leaves its lock taken and may then wait for it for
// ever. So there is a reserve, which is let go when an allocation fails; when that does not help
// either, the run ends. Afterwards the parser is started anew.
class Exiv2Turn {
 public:
  Exiv2Turn() : lock_(mutex_) {
    constexpr size_t reserve_bytes = 1 << 20;  // a packet has some KB
    reserve_ = ::operator new(reserve_bytes);
    owner_ = std::this_thread::get_id();
    errno = 0;
    if (xmp_ == Xmp::fresh) start();
    if (xmp_ != Xmp::ready) {
      end();
      throw std::bad_alloc();
    }
  }
  ~Exiv2Turn() {
    const int error = errno;
    end();
    if (error == ENOMEM) start_anew();
    errno = error;  // for the caller
  }
  Exiv2Turn(const Exiv2Turn&) = delete;
  Exiv2Turn& operator=(const Exiv2Turn&) = delete;

 private:
  static void start() {
    xmp_ = Xmp::broken;  // unless it comes to the end: it cannot be started in parts
    std::set_new_handler(out_of_memory);
    try {
      Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute);
      if (Exiv2::XmpParser::initialize()) xmp_ = Xmp::ready;
    } catch (...) {
    }
  }
  static void end() noexcept {
    owner_ = std::thread::id();
    ::operator delete(std::exchange(reserve_, nullptr));
  }
  static void start_anew() noexcept {
    if (xmp_ != Xmp::ready) return;
    xmp_ = Xmp::broken;
    try {
      Exiv2::XmpParser::terminate();
      xmp_ = Xmp::fresh;
    } catch (...) {
    }
  }
  // What operator new calls, on any thread; when it returns there is another try.
  static void out_of_memory() {
    if (owner_.load() != std::this_thread::get_id()) throw std::bad_alloc();
    if (reserve_ != nullptr) {
      ::operator delete(std::exchange(reserve_, nullptr));
      errno = 0;
      return;
    }
    try {
      throw std::bad_alloc();
    } catch (...) {
      std::terminate();  // the program's handler says why
    }
  }

  enum class Xmp { fresh, ready, broken };
  static inline std::mutex mutex_;
  static inline Xmp xmp_ = Xmp::fresh;
  static inline void* reserve_ = nullptr;
  static inline std::atomic<std::thread::id> owner_;
  std::lock_guard<std::mutex> lock_;
};

// Tags that say how the pixels of a TIFF file are stored: they are the writer's business.
constexpr std::uint16_t structure_tags[] = {
    254, 255, 256, 257, 258, 259, 262, 263, 266, 273, 277, 278, 279, 280, 281, 284,  292,
    293, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 330, 338, 339, 340,  341,
    347, 512, 513, 514, 515, 517, 518, 519, 520, 521, 529, 530, 531, 532, 700, 34675};

void keep_what_is_carried(Exiv2::ExifData& exif) {
  Exiv2::ExifThumb(exif).erase();
  std::set<std::string> seen;
  for (auto entry = exif.begin(); entry != exif.end();) {
    const std::string group = entry->groupName();
    // A PNG may have two blocks, the older one as text.
    const bool again = !seen.insert(entry->key()).second;
    const bool structure =
        group == "Image" && std::find(std::begin(structure_tags), std::end(structure_tags),
                                      entry->tag()) != std::end(structure_tags);
    const bool other_picture = group.starts_with("SubImage") || group.starts_with("Image2") ||
                               group.starts_with("Image3") || group == "Thumbnail";
    entry = again || structure || other_picture ? exif.erase(entry) : std::next(entry);
  }
  const auto orientation = exif.findKey(Exiv2::ExifKey("Exif.Image.Orientation"));
  if (orientation == exif.end()) return;
  if (exif.count() == 1) {
    exif.clear();  // it said nothing else
  } else {
    *orientation = std::uint16_t{1};
  }
}

std::string upright_xmp(const std::string& packet) {
  if (packet.find("tiff:Orientation") == packet.npos) return packet;
  Exiv2::XmpData xmp;
  if (Exiv2::XmpParser::decode(xmp, packet) != 0) return {};
  const auto entry = xmp.findKey(Exiv2::XmpKey("Xmp.tiff.Orientation"));
  if (entry != xmp.end()) xmp.erase(entry);
  std::string out;
  constexpr std::uint16_t format = Exiv2::XmpParser::useCompactFormat;
  return Exiv2::XmpParser::encode(out, xmp, format, 1) == 0 ? out : std::string();
}

void append_big(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

void append_chunk(Bytes& out, const char* kind, const std::string& before, const std::byte* data,
                  size_t count) {
  append_big(out, static_cast<std::uint32_t>(before.size() + count));
  const size_t begin = out.size();
  for (const char* c = kind; *c != '\0'; ++c) out.push_back(static_cast<std::byte>(*c));
  for (char c : before) out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), data, data + count);
  append_big(out,
             static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(out.data() + begin),
                                              static_cast<uInt>(out.size() - begin))));
}

Bytes with_png_chunks(const Bytes& file, const Metadata& metadata, const Bytes& exif) {
  constexpr size_t after_header = 33;  // the signature and IHDR
  Bytes out(file.begin(), file.begin() + after_header);
  if (!metadata.icc.empty()) {
    uLongf packed_bytes = compressBound(static_cast<uLong>(metadata.icc.size()));
    Bytes packed(packed_bytes);
    if (compress(reinterpret_cast<Bytef*>(packed.data()), &packed_bytes,
                 reinterpret_cast<const Bytef*>(metadata.icc.data()),
                 static_cast<uLong>(metadata.icc.size())) != Z_OK) {
      throw std::bad_alloc();
    }
    append_chunk(out, "iCCP", std::string("icc\0\0", 5), packed.data(), packed_bytes);
  }
  if (!exif.empty()) append_chunk(out, "eXIf", {}, exif.data(), exif.size());
  if (!metadata.xmp.empty()) {
    append_chunk(out, "iTXt", std::string("XML:com.adobe.xmp\0\0\0\0\0", 22),
                 reinterpret_cast<const std::byte*>(metadata.xmp.data()), metadata.xmp.size());
  }
  out.insert(out.end(), file.begin() + after_header, file.end());
  return out;
}

Bytes with_webp_chunks(const Bytes& file, const Metadata& metadata, const Bytes& exif) {
  const auto data_of = [](const auto& text) {
    return WebPData{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  };
  const WebPData whole = data_of(file);
  const std::unique_ptr<WebPMux, void (*)(WebPMux*)> mux(WebPMuxCreate(&whole, 0), WebPMuxDelete);
  if (mux == nullptr) return file;
  const auto set = [&](const char* kind, const WebPData& data) {
    if (data.size > 0) WebPMuxSetChunk(mux.get(), kind, &data, 0);
  };
  set("ICCP", data_of(metadata.icc));
  set("EXIF", data_of(exif));
  set("XMP ", data_of(metadata.xmp));
  WebPData joined = {};
  if (WebPMuxAssemble(mux.get(), &joined) != WEBP_MUX_OK) return file;
  const std::unique_ptr<WebPData, void (*)(WebPData*)> owner(&joined, WebPDataClear);
  return to_bytes(joined.bytes, joined.size);
}

// The EXIF block with the size of the picture it now belongs to.
Exiv2::ExifData exif_for(const Metadata& metadata, Size size) {
  Exiv2::ExifData exif;
  Exiv2::ExifParser::decode(exif, as_exiv2(metadata.exif.data()),
                            static_cast<std::uint32_t>(metadata.exif.size()));
  const auto set = [&](const char* key, std::int64_t value) {
    const auto entry = exif.findKey(Exiv2::ExifKey(key));
    if (entry != exif.end()) *entry = static_cast<std::uint32_t>(value);
  };
  set("Exif.Photo.PixelXDimension", size.width);
  set("Exif.Photo.PixelYDimension", size.height);
  return exif;
}

Bytes encoded(const Exiv2::ExifData& exif) {
  Exiv2::Blob blob;
  if (!exif.empty()) Exiv2::ExifParser::encode(blob, Exiv2::littleEndian, exif);
  return to_bytes(blob.data(), blob.size());
}

}  // namespace

Metadata read_exiv2(std::span<const std::byte> bytes) {
  Metadata out;
  const Exiv2Turn turn;
  try {
    const auto image =
        Exiv2::ImageFactory::open(as_exiv2(bytes.data()), static_cast<long>(bytes.size()));
    image->readMetadata();
    Exiv2::ExifData& exif = image->exifData();
    keep_what_is_carried(exif);
    out.exif = encoded(exif);
    if (const auto* profile = image->iccProfile(); profile != nullptr && profile->size_ > 0) {
      out.icc = to_bytes(profile->pData_, static_cast<size_t>(profile->size_));
    }
    out.xmp = upright_xmp(image->xmpPacket());
    Exiv2::XmpProperties::unregisterNs();  // what the packet registered would never be freed
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // exiv2's exceptions, and those of its XMP parser, which are of no common kind
    // Damaged metadata does not spoil a picture: what was read so far is carried.
    out.damaged = true;
  }
  return out;
}

Bytes write_exiv2(Bytes file, Format format, const Metadata& metadata, Size size) {
  const Exiv2Turn turn;
  try {
    Exiv2::ExifData exif;
    if (!metadata.exif.empty()) exif = exif_for(metadata, size);
    if (format == Format::png) return with_png_chunks(file, metadata, encoded(exif));
    if (format == Format::webp) return with_webp_chunks(file, metadata, encoded(exif));
    const auto image =
        Exiv2::ImageFactory::open(as_exiv2(file.data()), static_cast<long>(file.size()));
    image->readMetadata();
    for (const auto& entry : exif) image->exifData()[entry.key()] = entry.value();
    if (!metadata.icc.empty()) {
      Exiv2::DataBuf profile(as_exiv2(metadata.icc.data()), static_cast<long>(metadata.icc.size()));
      image->setIccProfile(profile);
    }
    if (!metadata.xmp.empty()) {
      image->setXmpPacket(metadata.xmp);
      image->writeXmpFromPacket(true);
    }
    image->writeMetadata();
    Exiv2::BasicIo& io = image->io();
    io.open();
    io.seek(0, Exiv2::BasicIo::beg);
    Bytes out(static_cast<size_t>(io.size()));
    io.read(reinterpret_cast<Exiv2::byte*>(out.data()), static_cast<long>(out.size()));
    return out;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    return file;  // the pixels matter more
  }
}

}  // namespace impipe::io
