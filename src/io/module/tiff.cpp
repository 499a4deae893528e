// TIFF through libtiff: strips and tiles, any compression it knows, 1 to 16 bits and float.
#include <fcntl.h>
#include <tiffio.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <new>

#include "io/bits.hpp"
#include "io/module/codecs.hpp"

namespace impipe::io {
namespace {

// A file in memory, as libtiff's client calls see it, and what libtiff said went wrong.
struct Memory {
  InputBytes input;
  Bytes* output = nullptr;  // null when reading
  std::uint64_t at = 0;
  char complaint[256] = {};
  std::uint64_t size() const { return output != nullptr ? output->size() : input.size(); }
};

tmsize_t read_memory(thandle_t handle, void* to, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(handle);
  const std::uint64_t left = memory.at < memory.size() ? memory.size() - memory.at : 0;
  const auto bytes = std::min<std::uint64_t>(left, static_cast<std::uint64_t>(count));
  const std::byte* from = memory.output != nullptr ? memory.output->data() : memory.input.data();
  if (bytes > 0) std::memcpy(to, from + memory.at, bytes);
  memory.at += bytes;
  return static_cast<tmsize_t>(bytes);
}
tmsize_t write_memory(thandle_t handle, void* from, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(handle);
  const auto end = memory.at + static_cast<std::uint64_t>(count);
  if (memory.output == nullptr) return 0;
  try {
    if (end > memory.output->size()) memory.output->resize(end);
  } catch (const std::bad_alloc&) {
    return 0;  // libtiff, which may be closing the file, makes an error of it
  }
  std::memcpy(memory.output->data() + memory.at, from, static_cast<size_t>(count));
  memory.at = end;
  return count;
}
toff_t seek_memory(thandle_t handle, toff_t offset, int from) {
  auto& memory = *static_cast<Memory*>(handle);
  memory.at = from == SEEK_SET   ? offset
              : from == SEEK_CUR ? memory.at + offset
                                 : memory.size() + offset;
  return memory.at;
}
int close_memory(thandle_t) { return 0; }
toff_t size_of_memory(thandle_t handle) { return static_cast<Memory*>(handle)->size(); }

int on_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  // After such an error libtiff goes on with null pointers: out through its frames, as in png.cpp.
  if (errno == ENOMEM) throw std::bad_alloc();
  auto& complaint = static_cast<Memory*>(user)->complaint;
  // The first is the cause.
  if (complaint[0] == '\0') std::vsnprintf(complaint, sizeof complaint, format, arguments);
  return 1;
}
int on_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffFile = std::unique_ptr<TIFF, CloseTiff>;

[[noreturn]] void fail_tiff(const Memory& memory, const char* otherwise) {
  std::string text = memory.complaint[0] == '\0' ? otherwise : memory.complaint;
  const bool short_file = text.find("Read error") != text.npos ||
                          text.find("Not enough data") != text.npos ||
                          text.find("got") != text.npos;
  // "Read error at scanline 4294967295; got 19 bytes, expected 35": the number tells nothing.
  if (const size_t detail = text.find("; got"); detail != text.npos) text.erase(0, detail + 2);
  fail((short_file ? "truncated TIFF: " : "damaged TIFF: ") + text);
}

TiffFile open_tiff(Memory& memory, const char* mode) {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  if (options == nullptr) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, &memory);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, &memory);
  TiffFile tiff(TIFFClientOpenExt("picture", mode, &memory, read_memory, write_memory, seek_memory,
                                  close_memory, size_of_memory, nullptr, nullptr, options));
  TIFFOpenOptionsFree(options);
  if (tiff == nullptr) fail_tiff(memory, "its directory cannot be read");
  return tiff;
}

struct Layout {
  std::uint16_t bits = 1, samples = 1, planar = PLANARCONFIG_CONTIG, photometric = 1;
  std::uint16_t compression = 1, format = 1, extra = 0;
  const std::uint16_t* colours[3] = {};
};

Layout layout_of(TIFF* tiff) {
  Layout l;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &l.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &l.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &l.planar);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &l.photometric);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &l.compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &l.format);
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 0 && count > 0) {
    l.extra = kinds[0];
  }
  if (l.photometric == PHOTOMETRIC_PALETTE) {
    std::uint16_t *r = nullptr, *g = nullptr, *b = nullptr;
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &r, &g, &b) == 0) fail("damaged TIFF: no colour map");
    l.colours[0] = r, l.colours[1] = g, l.colours[2] = b;
  }
  return l;
}

float half_to_float(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const float sign = (h & 0x8000) != 0 ? -1.0f : 1.0f;
  const auto mantissa = static_cast<float>(h & 1023);
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24)
                       : sign * std::ldexp(1024.0f + mantissa, exponent - 25);
}

// Sample `i` of a row of samples as the file packs them; integers of 8 bits or fewer on 0 … 255.
template <class T>
T sample_at(const std::uint8_t* row, std::int64_t i, const Layout& l) {
  if constexpr (std::is_same_v<T, float>) {
    if (l.bits == 16) return half_to_float(reinterpret_cast<const std::uint16_t*>(row)[i]);
    if (l.bits == 64) return static_cast<float>(reinterpret_cast<const double*>(row)[i]);
    return reinterpret_cast<const float*>(row)[i];
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    return reinterpret_cast<const std::uint16_t*>(row)[i];
  } else {
    if (l.bits == 8) return row[i];
    if (l.bits == 16) return static_cast<std::uint8_t>(row[2 * i + 1]);
    const int shift = 8 - l.bits - static_cast<int>(i * l.bits % 8);
    return static_cast<std::uint8_t>((row[i * l.bits / 8] >> shift) & ((1 << l.bits) - 1));
  }
}

// Puts `count` pixels of a row of the file at (x, y). `sample` is the first of the row's samples,
// `stride` the number of samples a pixel has there (1 when the planes are apart).
template <class T>
void unpack(const std::uint8_t* row, const Layout& l, HostImage& image, std::int64_t x0,
            std::int64_t y, std::int64_t count, int sample, int stride) {
  const int colours = image.type.channels;
  T* pixels = image.pixels.row_as<T>(y);
  const bool invert = l.photometric == PHOTOMETRIC_MINISWHITE;
  const T top = static_cast<T>(class_max(image.type.cls));
  for (int s = 0; s < stride; ++s) {
    const int which = sample + s;
    for (std::int64_t x = 0; x < count; ++x) {
      T value = sample_at<T>(row, x * stride + s, l);
      if (l.photometric == PHOTOMETRIC_PALETTE) {
        if (which != 0) continue;
        // Old writers put 8-bit values into the 16-bit map; the usual ones 257 times that.
        for (int c = 0; c < 3; ++c) {
          pixels[3 * (x0 + x) + c] = static_cast<T>(l.colours[c][static_cast<int>(value)] >> 8);
        }
        continue;
      }
      if constexpr (std::is_same_v<T, std::uint8_t>) {
        if (l.bits < 8 && image.type.cls != PixelClass::logical) {
          value = static_cast<T>(value * 255 / ((1 << l.bits) - 1));
        }
      }
      if (which < colours) {
        pixels[colours * (x0 + x) + which] = invert ? static_cast<T>(top - value) : value;
      } else if (which == colours && image.type.alpha) {
        image.alpha.row_as<T>(y)[x0 + x] = value;
      }
    }
  }
}

void unpack_row(const std::uint8_t* row, const Layout& l, HostImage& image, std::int64_t x0,
                std::int64_t y, std::int64_t count, int sample, int stride) {
  const bool whole = l.bits == 8 * bytes_of(image.type.cls) && stride == image.type.channels &&
                     l.photometric != PHOTOMETRIC_MINISWHITE &&
                     l.photometric != PHOTOMETRIC_PALETTE && sample == 0 && !image.type.alpha;
  if (whole) {
    const auto pixel = static_cast<std::int64_t>(stride) * bytes_of(image.type.cls);
    std::memcpy(image.pixels.row(y) + x0 * pixel, row, static_cast<size_t>(count * pixel));
    return;
  }
  if (image.type.cls == PixelClass::logical && stride == 1 &&
      l.photometric == PHOTOMETRIC_MINISBLACK && x0 % 8 == 0) {
    unpack_bits(row, image.pixels.row_as<std::uint8_t>(y) + x0, count);
    return;
  }
  switch (image.type.cls) {
    case PixelClass::single: return unpack<float>(row, l, image, x0, y, count, sample, stride);
    case PixelClass::uint16:
      return unpack<std::uint16_t>(row, l, image, x0, y, count, sample, stride);
    default: return unpack<std::uint8_t>(row, l, image, x0, y, count, sample, stride);
  }
}

void read_strips(TIFF* tiff, const Memory& memory, const Layout& l, HostImage& image) {
  std::vector<std::uint8_t> row(static_cast<size_t>(TIFFScanlineSize64(tiff)) + 8);
  const bool apart = l.planar == PLANARCONFIG_SEPARATE;
  for (int plane = 0; plane < (apart ? l.samples : 1); ++plane) {
    for (std::int64_t y = 0; y < image.size().height; ++y) {
      if (TIFFReadScanline(tiff, row.data(), static_cast<std::uint32_t>(y),
                           static_cast<std::uint16_t>(plane)) < 0) {
        fail_tiff(memory, "a row cannot be read");
      }
      unpack_row(row.data(), l, image, 0, y, image.size().width, plane, apart ? 1 : l.samples);
    }
  }
}

void read_tiles(TIFF* tiff, const Memory& memory, const Layout& l, HostImage& image) {
  std::uint32_t tile_width = 0, tile_height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height);
  const Size size = image.size();
  const bool apart = l.planar == PLANARCONFIG_SEPARATE;
  const auto row_bytes = static_cast<size_t>(TIFFTileRowSize64(tiff));
  // A tile may be far larger than the picture; its memory must not be.
  const std::uint64_t tile_bytes = TIFFTileSize64(tiff);
  if (tile_bytes > (std::uint64_t{1} << 31)) fail("damaged TIFF: a tile of more than 2 GiB");
  std::vector<std::uint8_t> tile(tile_bytes + 8);
  for (int plane = 0; plane < (apart ? l.samples : 1); ++plane) {
    for (std::int64_t y = 0; y < size.height; y += tile_height) {
      for (std::int64_t x = 0; x < size.width; x += tile_width) {
        if (TIFFReadTile(tiff, tile.data(), static_cast<std::uint32_t>(x),
                         static_cast<std::uint32_t>(y), 0, static_cast<std::uint16_t>(plane)) < 0) {
          fail_tiff(memory, "a tile cannot be read");
        }
        const std::int64_t bottom = std::min<std::int64_t>(tile_height, size.height - y);
        const std::int64_t count = std::min<std::int64_t>(tile_width, size.width - x);
        for (std::int64_t r = 0; r < bottom; ++r) {
          unpack_row(tile.data() + static_cast<size_t>(r) * row_bytes, l, image, x, y + r, count,
                     plane, apart ? 1 : l.samples);
        }
      }
    }
  }
}

// CMYK, YCbCr, Lab and the like: libtiff's own conversion to 8-bit red, green and blue.
void read_converted(TIFF* tiff, const Memory& memory, HostImage& image) {
  const Size size = image.size();
  std::uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  std::vector<std::uint32_t> raster(static_cast<size_t>(size.pixels()));
  // Asked for the file's own orientation, it turns nothing: that is done later, for all formats.
  if (TIFFReadRGBAImageOriented(tiff, static_cast<std::uint32_t>(size.width),
                                static_cast<std::uint32_t>(size.height), raster.data(), orientation,
                                1) == 0) {
    fail_tiff(memory, "its colours cannot be converted");
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    auto* row = image.pixels.row_as<std::uint8_t>(y);
    for (std::int64_t x = 0; x < size.width; ++x) {
      const std::uint32_t pixel = raster[static_cast<size_t>(y * size.width + x)];
      row[3 * x] = static_cast<std::uint8_t>(TIFFGetR(pixel));
      row[3 * x + 1] = static_cast<std::uint8_t>(TIFFGetG(pixel));
      row[3 * x + 2] = static_cast<std::uint8_t>(TIFFGetB(pixel));
    }
  }
}

template <class T>
void unassociate(HostImage& image) {
  const double top = class_max(image.type.cls);
  const int colours = image.type.channels;
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    T* pixels = image.pixels.row_as<T>(y);
    const T* alpha = image.alpha.row_as<T>(y);
    for (std::int64_t i = 0; i < image.size().width * colours; ++i) {
      const double a = alpha[i / colours];
      if (a == 0) continue;  // no colour was stored; zero stays
      const double straight = pixels[i] * top / a;
      if constexpr (std::is_same_v<T, float>) {
        pixels[i] = static_cast<float>(straight);
      } else {
        pixels[i] = static_cast<T>(std::min(straight, top) + 0.5);
      }
    }
  }
}

}  // namespace

HostImage decode_tiff(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  Memory memory{.input = bytes};
  const TiffFile file = open_tiff(memory, "rm");
  TIFF* tiff = file.get();
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  const Layout l = layout_of(tiff);
  const bool plain = l.photometric <= PHOTOMETRIC_RGB || l.photometric == PHOTOMETRIC_PALETTE;
  const int needed = info.type.channels + (info.type.alpha ? 1 : 0);
  const bool depth_fits =
      l.format == SAMPLEFORMAT_IEEEFP
          ? l.bits == 16 || l.bits == 32 || l.bits == 64
          : l.bits == 1 || l.bits == 2 || l.bits == 4 || l.bits == 8 || l.bits == 16;
  check_header(
      width == info.stored.width && height == info.stored.height && depth_fits &&
          (l.photometric == PHOTOMETRIC_PALETTE ? l.bits <= 8 : !plain || l.samples >= needed) &&
          (info.type.cls != PixelClass::uint16 || l.bits == 16) &&
          (info.type.cls == PixelClass::single) == (l.format == SAMPLEFORMAT_IEEEFP),
      "TIFF");
  HostImage image = make_image(info.type, info.stored);
  if (!plain) {
    read_converted(tiff, memory, image);
  } else if (TIFFIsTiled(tiff) != 0) {
    read_tiles(tiff, memory, l, image);
  } else {
    read_strips(tiff, memory, l, image);
  }
  if (image.type.alpha && l.extra == EXTRASAMPLE_ASSOCALPHA) {
    switch (image.type.cls) {
      case PixelClass::single: unassociate<float>(image); break;
      case PixelClass::uint16: unassociate<std::uint16_t>(image); break;
      default: unassociate<std::uint8_t>(image); break;
    }
  }
  return image;
}

// Lets go of a file that could not be written: to close one writes what it still holds, and libtiff
// does not survive that when a part of it is missing.
struct DropUnlessWritten {
  TIFF* tiff;
  ~DropUnlessWritten() {
    if (tiff != nullptr) TIFFSetMode(tiff, O_RDONLY);
  }
};

Bytes encode_tiff(const HostImage& image) {
  Bytes out;
  Memory memory{.output = &out};
  TiffFile file = open_tiff(memory, "wm");
  TIFF* tiff = file.get();
  DropUnlessWritten drop{tiff};
  const Size size = image.size();
  const PixelClass cls = image.type.cls;
  const bool one_bit = cls == PixelClass::logical;
  const int channels = image.type.channels + (image.type.alpha ? 1 : 0);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, one_bit ? 1 : 8 * bytes_of(cls));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
               cls == PixelClass::single ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               image.type.channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  if (image.type.alpha) {
    const std::uint16_t kind = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, 1);
  if (is_integer(cls) && !one_bit) TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  // Strips of about 256 KiB: readers need not hold the whole picture.
  const std::int64_t row_bytes = size.width * channels * bytes_of(cls);
  TIFFSetField(
      tiff, TIFFTAG_ROWSPERSTRIP,
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(
          (std::int64_t{256} << 10) / std::max<std::int64_t>(row_bytes, 1), 1, size.height)));
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");  // a field was refused
  std::vector<std::uint8_t> row(static_cast<size_t>(row_bytes));
  for (std::int64_t y = 0; y < size.height; ++y) {
    if (one_bit) {
      pack_bits(image.pixels.row_as<std::uint8_t>(y), row.data(), size.width);
    } else if (!image.type.alpha) {
      std::memcpy(row.data(), image.pixels.row(y), row.size());  // libtiff changes what it is given
    } else if (cls == PixelClass::single) {
      join_alpha(image.pixels.row_as<float>(y), image.alpha.row_as<float>(y),
                 reinterpret_cast<float*>(row.data()), size.width, image.type.channels);
    } else if (cls == PixelClass::uint16) {
      join_alpha(image.pixels.row_as<std::uint16_t>(y), image.alpha.row_as<std::uint16_t>(y),
                 reinterpret_cast<std::uint16_t*>(row.data()), size.width, image.type.channels);
    } else {
      join_alpha(image.pixels.row_as<std::uint8_t>(y), image.alpha.row_as<std::uint8_t>(y),
                 row.data(), size.width, image.type.channels);
    }
    if (TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) < 0) {
      fail_tiff(memory, "a row cannot be written");
    }
  }
  if (TIFFFlush(tiff) == 0) fail_tiff(memory, "the directory cannot be written");
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");
  drop.tiff = nullptr;
  file.reset();
  return out;
}

}  // namespace impipe::io
