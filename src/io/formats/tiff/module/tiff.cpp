// TIFF through libtiff: strips and tiles, any compression it knows. What the pixels become is
// tiff_header's decision.
#include <fcntl.h>
#include <tiffio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <new>

#include "io/bytes/bits.hpp"
#include "io/formats/tiff/module/tiff.hpp"
#include "io/formats/tiff/tiff_form.hpp"
#include "io/formats/tiff/tiff_header.hpp"
#include "io/picture/numbers.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// A file in memory or open, as libtiff's client calls see it, and what libtiff said went wrong.
struct Memory {
  InputBytes input;
  Bytes* output = nullptr;  // null when reading
  int file = -1;            // instead of both
  std::uint64_t file_bytes = 0;
  std::uint64_t at = 0;
  std::uint64_t directory = 0;  // of the input: what the header shall name as the first; 0: its own
  std::uint64_t shift = 0;      // of the input: what is read lies so many bytes further on
  char complaint[256] = {};
  std::uint64_t size() const {
    return file >= 0 ? file_bytes : output != nullptr ? output->size() : input.size();
  }
};

// Reads or writes all of it at `memory.at`; fewer bytes at the file's end or after an error.
template <class Move>
tmsize_t move_all(Memory& memory, tmsize_t count, Move move) {
  tmsize_t done = 0;
  while (done < count) {
    const ssize_t moved = move(done, static_cast<off_t>(memory.at));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) break;
    done += moved;
    memory.at += static_cast<std::uint64_t>(moved);
  }
  return done;
}

// Puts the directory that is wanted into the header, where these bytes have it: libtiff would walk
// to it along all those before.
void name_directory(const Memory& memory, std::byte* bytes, std::uint64_t count) {
  const auto head = [&](size_t i) { return std::to_integer<int>(memory.input[i]); };
  const bool big_endian = head(0) == 'M';
  const bool big = head(big_endian ? 3 : 2) == 43;
  const std::uint64_t field = big ? 8 : 4, width = big ? 8 : 4;
  for (std::uint64_t i = 0; i < width; ++i) {
    if (field + i < memory.at || field + i >= memory.at + count) continue;
    const std::uint64_t shift = 8 * (big_endian ? width - 1 - i : i);
    bytes[field + i - memory.at] = static_cast<std::byte>(memory.directory >> shift);
  }
}

tmsize_t read_memory(thandle_t handle, void* to, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(handle);
  if (memory.file >= 0) {
    return move_all(memory, count, [&](tmsize_t done, off_t at) {
      return pread(memory.file, static_cast<std::byte*>(to) + done,
                   static_cast<size_t>(count - done), at);
    });
  }
  const std::uint64_t at = memory.at + memory.shift;
  const std::uint64_t left = at < memory.size() ? memory.size() - at : 0;
  const auto bytes = std::min<std::uint64_t>(left, static_cast<std::uint64_t>(count));
  const std::byte* from = memory.output != nullptr ? memory.output->data() : memory.input.data();
  if (bytes > 0) std::memcpy(to, from + at, bytes);
  if (memory.shift > 0 && bytes < static_cast<std::uint64_t>(count)) {
    // A plane is whole, but its strip may be as long as all planes.
    std::memset(static_cast<std::byte*>(to) + bytes, 0, static_cast<size_t>(count) - bytes);
    memory.at += static_cast<std::uint64_t>(count);
    return count;
  }
  if (memory.directory != 0) name_directory(memory, static_cast<std::byte*>(to), bytes);
  memory.at += bytes;
  return static_cast<tmsize_t>(bytes);
}
tmsize_t write_memory(thandle_t handle, void* from, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(handle);
  if (memory.file >= 0) {
    const tmsize_t written = move_all(memory, count, [&](tmsize_t done, off_t at) {
      return pwrite(memory.file, static_cast<const std::byte*>(from) + done,
                    static_cast<size_t>(count - done), at);
    });
    memory.file_bytes = std::max(memory.file_bytes, memory.at);
    if (written < count && memory.complaint[0] == '\0') {
      std::snprintf(memory.complaint, sizeof memory.complaint, "%s", std::strerror(errno));
    }
    return written;
  }
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
  // The first is the cause; a tag that is passed over harms no pixel.
  const bool is_of_tag = std::string_view(format).find("tag is not read from") != std::string::npos;
  if (complaint[0] == '\0' && !is_of_tag) {
    std::vsnprintf(complaint, sizeof complaint, format, arguments);
  }
  return 1;
}
// Some warnings say that pixels were made up: of JPEG and CCITT data that ends early or is damaged.
int on_warning(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
  char line[256];
  std::vsnprintf(line, sizeof line, format, arguments);
  const std::string_view text(line);
  const bool jpeg = module != nullptr && std::string_view(module) == "JPEGLib" &&
                    text.find("extraneous") == text.npos && text.find("Adobe") == text.npos &&
                    text.find("JFIF") == text.npos && text.find("progression") == text.npos;
  auto& complaint = static_cast<Memory*>(user)->complaint;
  if (complaint[0] == '\0' && (jpeg || text.find("Premature EOF") != text.npos)) {
    std::snprintf(complaint, sizeof complaint, "%s", line);
  }
  return 1;
}

using TiffFile = Made<TIFF, TIFFClose>;

[[noreturn]] void fail_tiff(const Memory& memory, const char* otherwise) {
  std::string text = memory.complaint[0] == '\0' ? otherwise : memory.complaint;
  const bool short_file = text.find("Read error") != text.npos ||
                          text.find("Not enough data") != text.npos ||
                          text.find("Premature") != text.npos || text.find("got") != text.npos;
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

// What libtiff makes of the directory it has at hand.
TiffLayout layout_of(TIFF* tiff) {
  TiffLayout l;
  const auto number = [&](ttag_t tag, auto& to) {
    std::uint16_t value = 0;
    if (TIFFGetFieldDefaulted(tiff, tag, &value) != 0) to = value;
  };
  const auto side = [&](ttag_t tag, std::int64_t& to) {
    std::uint32_t value = 0;
    if (TIFFGetField(tiff, tag, &value) != 0) to = value;
  };
  side(TIFFTAG_IMAGEWIDTH, l.size.width);
  side(TIFFTAG_IMAGELENGTH, l.size.height);
  side(TIFFTAG_TILEWIDTH, l.tile.width);
  side(TIFFTAG_TILELENGTH, l.tile.height);
  side(TIFFTAG_IMAGEDEPTH, l.depth);
  side(TIFFTAG_TILEDEPTH, l.tile_depth);
  number(TIFFTAG_BITSPERSAMPLE, l.bits);
  number(TIFFTAG_SAMPLESPERPIXEL, l.samples);
  number(TIFFTAG_PLANARCONFIG, l.planar);
  number(TIFFTAG_PHOTOMETRIC, l.photometric);
  number(TIFFTAG_COMPRESSION, l.compression);
  number(TIFFTAG_SAMPLEFORMAT, l.numbers);
  number(TIFFTAG_INKSET, l.ink_set);
  number(TIFFTAG_ORIENTATION, l.orientation);
  std::uint16_t count = 0;
  std::uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) != 0) {
    l.extra.assign(kinds, kinds + count);
  }
  l.name_all_samples();
  return l;
}

// Throws Error where libtiff has no decoder of the compression.
void check_compression(std::uint64_t compression) {
  if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) != 0) return;
  struct Name {
    std::uint64_t compression;
    const char* name;
  };
  static constexpr Name names[] = {
      {6, "JPEG of TIFF 5"},  {22610, "JPEG XR"},       {32767, "Sony's ARW"},
      {32769, "Epson's ERF"}, {32770, "Samsung's SRW"}, {33003, "JPEG 2000"},
      {33004, "JPEG 2000"},   {33005, "JPEG 2000"},     {33007, "JPEG"},
      {34661, "JBIG"},        {34712, "JPEG 2000"},     {34713, "Nikon's NEF"},
      {34715, "JBIG2"},       {34887, "LERC"},          {34892, "JPEG with loss, of DNG"},
      {34925, "LZMA"},        {34926, "Zstandard"},     {34927, "WebP"},
      {34933, "PNG"},         {34934, "JPEG XR"},       {48124, "Jetraw"},
      {50000, "Zstandard"},   {50001, "WebP"},          {50002, "JPEG XL"},
      {52546, "JPEG XL"},     {65000, "Kodak's DCR"},   {65535, "Pentax' PEF"}};
  std::string what = "compression " + std::to_string(compression);
  for (const Name& one : names) {
    if (one.compression == compression) what += std::string(" (") + one.name + ")";
  }
  fail("TIFF of " + what + " is not supported");
}

// The colours of a palette in 8 bits.
class Palette {
 public:
  Palette(TIFF* tiff, const TiffLayout& l) {
    if (!l.is_palette()) return;
    std::uint16_t* maps[3] = {};
    if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2]) == 0) {
      fail("damaged TIFF: no colour map");
    }
    const std::int64_t count = std::int64_t{1} << l.bits;
    // Old writers put 8-bit values into the 16-bit map; the usual ones 257 times that.
    bool wide = false;
    for (const std::uint16_t* map : maps) {
      wide = wide || std::any_of(map, map + count, [](std::uint16_t v) { return v > 255; });
    }
    for (std::int64_t i = 0; i < count; ++i) {
      for (int c = 0; c < 3; ++c) {
        colours_[i][c] = static_cast<std::uint8_t>(wide ? maps[c][i] >> 8 : maps[c][i]);
      }
    }
  }
  const std::uint8_t* colour(std::uint8_t index) const { return colours_[index]; }
  // As PackedPicture has them.
  std::vector<std::uint32_t> packed() const {
    std::vector<std::uint32_t> out;
    for (const auto& [red, green, blue] : colours_) {
      out.push_back(std::uint32_t{red} | std::uint32_t{green} << 8 | std::uint32_t{blue} << 16);
    }
    return out;
  }

 private:
  std::uint8_t colours_[256][3] = {};
};

// Rows of samples, as libtiff unpacks them, into an image.
class RowReader {
 public:
  RowReader(TIFF* tiff, const TiffLayout& layout, HostImage& image, Inexact& inexact)
      : l_(layout), palette_(tiff, layout), image_(image), splitter_(image), inexact_(inexact) {
    bits_ = static_cast<int>(l_.bits);
    alpha_ = l_.alpha_sample();
    top_ = l_.is_palette() || image.type.cls == PixelClass::single ? 0 : (1u << bits_) - 1;
  }

  // Puts `count` pixels of a row of the file at (x, y). `sample` is the first of the row's samples,
  // `stride` the number of samples a pixel has there (1 when the planes are apart).
  void put(const std::uint8_t* row, std::int64_t x, std::int64_t y, std::int64_t count, int sample,
           int stride) {
    const PixelClass cls = image_.type.cls;
    const bool as_stored = bits_ == 8 * bytes_of(cls) && l_.photometric != tiff_white_is_zero &&
                           !l_.is_palette() && !l_.is_cmyk() &&
                           (cls != PixelClass::single || l_.numbers == tiff_float);
    const bool alpha_last = alpha_ < 0 || alpha_ == image_.type.channels;
    if (as_stored && alpha_last && stride == stored_channels(image_.type)) {
      return splitter_.put(row, y, x, count);
    }
    if (cls == PixelClass::logical && l_.photometric == tiff_black_is_zero && x % 8 == 0) {
      unpack_bits(row, image_.planes.front().row_as<std::uint8_t>(y) + x, count);
      return;
    }
    switch (cls) {
      case PixelClass::single: return put_as<float>(row, x, y, count, sample, stride);
      case PixelClass::uint16: return put_as<std::uint16_t>(row, x, y, count, sample, stride);
      default: return put_as<std::uint8_t>(row, x, y, count, sample, stride);
    }
  }

 private:
  template <class T>
  void put_as(const std::uint8_t* row, std::int64_t x0, std::int64_t y, std::int64_t count,
              int sample, int stride) {
    const T* values = samples_of<T>(row, count * stride);
    const T white = static_cast<T>(class_max(image_.type.cls));
    const auto channel = [&](int c) {
      return image_.planes[static_cast<size_t>(c)].row_as<T>(y) + x0;
    };
    for (int s = 0; s < stride; ++s) {
      const int which = sample + s;
      const T* from = values + s;
      if (which == alpha_) {
        T* alpha = image_.alpha.row_as<T>(y) + x0;
        for (std::int64_t x = 0; x < count; ++x) {
          const T value = from[x * stride];
          alpha[x] = l_.is_palette()
                         ? scaled<T>(static_cast<std::uint32_t>(value), (1u << bits_) - 1)
                         : value;
        }
      } else if (l_.is_palette()) {
        for (int c = 0; c < 3; ++c) {
          T* to = channel(c);
          for (std::int64_t x = 0; x < count; ++x) {
            to[x] = palette_.colour(static_cast<std::uint8_t>(from[x * stride]))[c];
          }
        }
      } else if (l_.is_cmyk() && image_.type.channels == 3 &&
                 which == 3) {  // black, after the three inks: it darkens what they leave
        for (int c = 0; c < 3; ++c) {
          T* to = channel(c);
          for (std::int64_t x = 0; x < count; ++x) {
            to[x] = product(to[x], static_cast<T>(white - from[x * stride]), white);
          }
        }
      } else {
        // Floats whose white is 0 are read as they are, as other programs do.
        const bool invert =
            !std::is_same_v<T, float> && ((l_.is_cmyk() && image_.type.channels == 3) ||
                                          (l_.photometric == tiff_white_is_zero && which == 0));
        T* to = channel(alpha_ >= 0 && which > alpha_ ? which - 1 : which);
        for (std::int64_t x = 0; x < count; ++x) {
          const T value = from[x * stride];
          to[x] = invert ? static_cast<T>(white - value) : value;
        }
      }
    }
  }

  // a b / white, rounded. Floats are never inks.
  template <class T>
  static T product(T a, T b, T white) {
    if constexpr (std::is_same_v<T, float>) {
      return a;
    } else {
      return static_cast<T>((2 * std::uint64_t{a} * b + white) / (2 * std::uint64_t{white}));
    }
  }

  // A value of 0 … `top` on the range of the class; `top` 0 keeps it.
  template <class T>
  static T scaled(std::uint32_t value, std::uint32_t top) {
    constexpr std::uint32_t full = std::is_same_v<T, std::uint16_t> ? 65535 : 255;
    return static_cast<T>(top == 0 || top == full ? value : (2 * value * full + top) / (2 * top));
  }

  // The samples of a row as T: where they lie, or converted. Few bits go to the full range, but
  // for indices of a palette and what is logical.
  template <class T>
  const T* samples_of(const std::uint8_t* row, std::int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
      if (l_.numbers == tiff_float && bits_ == 32) return reinterpret_cast<const float*>(row);
      convert_numbers(row, count);
      return floats_.data();
    } else {
      if (bits_ == 8 * static_cast<int>(sizeof(T))) return reinterpret_cast<const T*>(row);
      auto& values = buffer<T>();
      values.resize(static_cast<size_t>(count));
      const std::uint32_t top = image_.type.cls == PixelClass::logical ? 0 : top_;
      for (std::int64_t i = 0; i < count; ++i) {
        values[static_cast<size_t>(i)] = scaled<T>(packed_sample(row, i), top);
      }
      return values.data();
    }
  }

  // Sample `i` of at most 16 bits, the first in the highest bits of a row without gaps. The row's
  // memory goes on for two bytes more.
  std::uint32_t packed_sample(const std::uint8_t* row, std::int64_t i) const {
    const std::int64_t bit = i * bits_;
    const std::uint8_t* p = row + bit / 8;
    const std::uint32_t three = std::uint32_t{p[0]} << 16 | std::uint32_t{p[1]} << 8 | p[2];
    return three >> (24 - bits_ - bit % 8) & ((1u << bits_) - 1);
  }

  void convert_numbers(const std::uint8_t* row, std::int64_t count) {
    floats_.resize(static_cast<size_t>(count));
    const auto each = [&]<class Word>(Word, auto to_single) {
      const auto* words = reinterpret_cast<const Word*>(row);
      for (std::int64_t i = 0; i < count; ++i) {
        floats_[static_cast<size_t>(i)] = to_single(words[i]);
      }
    };
    const auto single = [this](auto word) { return to_single(word, inexact_); };
    if (l_.numbers == tiff_float) {
      if (bits_ == 16) return each(std::uint16_t{}, half_to_float);
      return each(double{}, single);
    }
    const bool is_signed = l_.numbers == tiff_signed;
    switch (bits_) {
      case 8: return each(std::int8_t{}, single);
      case 16: return each(std::int16_t{}, single);
      case 32: return is_signed ? each(std::int32_t{}, single) : each(std::uint32_t{}, single);
      default: return is_signed ? each(std::int64_t{}, single) : each(std::uint64_t{}, single);
    }
  }

  template <class T>
  auto& buffer() {
    if constexpr (std::is_same_v<T, std::uint16_t>) {
      return words_;
    } else {
      return bytes_;
    }
  }

  const TiffLayout& l_;
  Palette palette_;
  HostImage& image_;
  RowSplitter splitter_;
  Inexact& inexact_;
  int bits_ = 8;
  int alpha_ = -1;         // which sample
  std::uint32_t top_ = 0;  // the largest sample, where samples are scaled
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint16_t> words_;
  std::vector<float> floats_;
};

// Rows [y, y_end) of a picture become the rows of an image.
struct RowRange {
  std::int64_t y, y_end;
};

// For PackBits: some writers let a run go on in the next row, though TIFF 6.0 says to pack each by
// itself. Asked for single rows, libtiff drops the rest of such a run, and what follows is shifted.
void read_whole_strips(TIFF* tiff, const Memory& memory, const TiffLayout& l, RowRange rows,
                       RowReader& reader) {
  std::uint32_t said = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &said);
  const std::int64_t strip_rows = std::clamp<std::int64_t>(said, 1, l.size.height);
  const auto row_bytes = static_cast<size_t>(TIFFScanlineSize64(tiff));
  std::vector<std::uint8_t> strip(static_cast<size_t>(TIFFStripSize64(tiff)) + 8);
  const int samples = static_cast<int>(l.samples);
  const bool apart = l.planar == PLANARCONFIG_SEPARATE;
  for (int plane = 0; plane < (apart ? samples : 1); ++plane) {
    for (std::int64_t top = rows.y / strip_rows * strip_rows; top < rows.y_end; top += strip_rows) {
      const std::uint32_t which = TIFFComputeStrip(tiff, static_cast<std::uint32_t>(top),
                                                   static_cast<std::uint16_t>(plane));
      if (TIFFReadEncodedStrip(tiff, which, strip.data(), -1) < 0) {
        fail_tiff(memory, "a strip cannot be read");
      }
      const std::int64_t end = std::min(top + strip_rows, rows.y_end);
      for (std::int64_t y = std::max(top, rows.y); y < end; ++y) {
        reader.put(strip.data() + static_cast<size_t>(y - top) * row_bytes, 0, y - rows.y,
                   l.size.width, plane, apart ? 1 : samples);
      }
    }
  }
}

void read_strips(TIFF* tiff, const Memory& memory, const TiffLayout& l, RowRange rows,
                 RowReader& reader) {
  constexpr std::uint64_t most_at_once = std::uint64_t{64} << 20;  // bytes of a strip
  if (l.compression == COMPRESSION_PACKBITS && TIFFStripSize64(tiff) <= most_at_once) {
    return read_whole_strips(tiff, memory, l, rows, reader);
  }
  std::vector<std::uint8_t> row(static_cast<size_t>(TIFFScanlineSize64(tiff)) + 8);
  const int samples = static_cast<int>(l.samples);
  const bool apart = l.planar == PLANARCONFIG_SEPARATE;
  for (int plane = 0; plane < (apart ? samples : 1); ++plane) {
    for (std::int64_t y = rows.y; y < rows.y_end; ++y) {
      if (TIFFReadScanline(tiff, row.data(), static_cast<std::uint32_t>(y),
                           static_cast<std::uint16_t>(plane)) < 0) {
        fail_tiff(memory, "a row cannot be read");
      }
      reader.put(row.data(), 0, y - rows.y, l.size.width, plane, apart ? 1 : samples);
    }
  }
}

// Tiles with the slices of a volume, of which libtiff unpacks the first alone.
class DeepTiles {
 public:
  DeepTiles(TIFF* tiff, const Memory& memory) : tiff_(tiff), memory_(memory) {}

  // Unpacks all slices of a tile into `to`, one behind the other; false where that fails.
  bool read(std::uint32_t tile, std::int64_t slices, std::uint8_t* to) {
    const std::uint64_t at = TIFFGetStrileOffset(tiff_, tile);
    const std::uint64_t bytes = TIFFGetStrileByteCount(tiff_, tile);
    const std::uint64_t all = memory_.input.size();
    if (at == 0 || at > all || bytes > all - at)
      fail("truncated TIFF: a tile ends behind the file");
    // A copy: libtiff may reverse the bits of what it is given.
    const std::byte* begin = memory_.input.data() + at;
    packed_.assign(begin, begin + bytes);
    return TIFFReadFromUserBuffer(tiff_, tile, packed_.data(), static_cast<tmsize_t>(bytes), to,
                                  static_cast<tmsize_t>(slices) * TIFFTileSize(tiff_)) != 0;
  }

 private:
  TIFF* tiff_;
  const Memory& memory_;
  std::vector<std::byte> packed_;
};

void read_tiles(TIFF* tiff, const Memory& memory, const TiffHeader& header, RowRange rows,
                RowReader& reader) {
  const TiffLayout& l = header.layout;
  const int samples = static_cast<int>(l.samples);
  const bool apart = l.planar == PLANARCONFIG_SEPARATE;
  const auto row_bytes = static_cast<size_t>(TIFFTileRowSize64(tiff));
  const bool deep = header.planes.count > 1 && l.tile_depth > 1;
  const std::int64_t slice = deep ? header.plane % l.tile_depth : 0;
  const auto slice_bytes = static_cast<size_t>(TIFFTileSize64(tiff));
  const std::int64_t slices = deep ? l.tile_depth : 1;
  std::vector<std::uint8_t> tile(static_cast<size_t>(slices) * slice_bytes + 8);
  const std::uint8_t* pixels = tile.data() + static_cast<size_t>(slice) * slice_bytes;
  DeepTiles deep_tiles(tiff, memory);
  for (int plane = 0; plane < (apart ? samples : 1); ++plane) {
    for (std::int64_t top = rows.y / l.tile.height * l.tile.height; top < rows.y_end;
         top += l.tile.height) {
      for (std::int64_t x = 0; x < l.size.width; x += l.tile.width) {
        const std::uint32_t which = TIFFComputeTile(
            tiff, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(top),
            static_cast<std::uint32_t>(header.plane), static_cast<std::uint16_t>(plane));
        const bool is_read = deep ? deep_tiles.read(which, slices, tile.data())
                                  : TIFFReadEncodedTile(tiff, which, tile.data(), -1) >= 0;
        if (!is_read) fail_tiff(memory, "a tile cannot be read");
        const std::int64_t count = std::min<std::int64_t>(l.tile.width, l.size.width - x);
        const std::int64_t end = std::min(top + l.tile.height, rows.y_end);
        for (std::int64_t y = std::max(top, rows.y); y < end; ++y) {
          reader.put(pixels + static_cast<size_t>(y - top) * row_bytes, x, y - rows.y, count, plane,
                     apart ? 1 : samples);
        }
      }
    }
  }
}

// Rows of any file but one in YCbCr, as they are stored.
void read_rows(TIFF* tiff, const Memory& memory, const TiffHeader& header, RowRange rows,
               Inexact& inexact, HostImage& image) {
  RowReader reader(tiff, header.layout, image, inexact);
  if (TIFFIsTiled(tiff) != 0) {
    read_tiles(tiff, memory, header, rows, reader);
  } else {
    read_strips(tiff, memory, header.layout, rows, reader);
  }
}

// libtiff's own conversion to 8-bit red, green and blue.
void read_ycbcr(TIFF* tiff, const Memory& memory, const TiffLayout& l, HostImage& image) {
  const Size size = image.size();
  std::vector<std::uint32_t> raster(static_cast<size_t>(size.pixels()));
  // Asked for the file's own orientation, it turns nothing: that is done later, for all formats.
  if (TIFFReadRGBAImageOriented(tiff, static_cast<std::uint32_t>(size.width),
                                static_cast<std::uint32_t>(size.height), raster.data(),
                                static_cast<std::uint16_t>(l.orientation), 1) == 0) {
    fail_tiff(memory, "its colours cannot be converted");
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    const std::uint32_t* from = raster.data() + y * size.width;
    for (int c = 0; c < 3; ++c) {  // red in the lowest byte
      auto* row = image.planes[static_cast<size_t>(c)].row_as<std::uint8_t>(y);
      for (std::int64_t x = 0; x < size.width; ++x) {
        row[x] = static_cast<std::uint8_t>(from[x] >> 8 * c);
      }
    }
  }
}

template <class T>
void unassociate(HostImage& image, std::uint64_t colours) {
  const double top = class_max(image.type.cls);
  const auto straighten = [&](Plane& plane, std::int64_t y) {
    T* pixels = plane.row_as<T>(y);
    const T* alpha = image.alpha.row_as<T>(y);
    for (std::int64_t x = 0; x < image.size().width; ++x) {
      const double a = alpha[x];
      if (a == 0) continue;  // no colour was stored; zero stays
      const double straight = pixels[x] * top / a;
      if constexpr (std::is_same_v<T, float>) {
        pixels[x] = static_cast<float>(straight);
      } else {
        pixels[x] = static_cast<T>(std::min(straight, top) + 0.5);
      }
    }
  };
  for (std::size_t c = 0; c < colours; ++c) {
    for (std::int64_t y = 0; y < image.size().height; ++y) straighten(image.planes[c], y);
  }
}

bool has_associated_alpha(const TiffLayout& l) {
  const int alpha = l.alpha_sample();
  return alpha >= 0 &&
         l.extra[static_cast<std::uint64_t>(alpha) - l.colours()] == tiff_associated_alpha;
}

void unassociate(HostImage& image, const TiffLayout& l) {
  const std::uint64_t colours = l.colours();
  if (!has_associated_alpha(l)) return;
  switch (image.type.cls) {
    case PixelClass::single: return unassociate<float>(image, colours);
    case PixelClass::uint16: return unassociate<std::uint16_t>(image, colours);
    default: return unassociate<std::uint8_t>(image, colours);
  }
}

// Opens the file at the directory of a page, which is the one that the program has read.
TiffFile open_page(Memory& memory, const TiffHeader& header, const ImageInfo& info) {
  TiffFile file = open_tiff(memory, "rm");
  TIFF* tiff = file.get();
  if (TIFFCurrentDirOffset(tiff) != static_cast<std::uint64_t>(header.directory) &&
      TIFFSetSubDirectory(tiff, static_cast<std::uint64_t>(header.directory)) == 0) {
    fail_tiff(memory, "its directory cannot be read");
  }
  check_header(layout_of(tiff) == header.layout && header.layout.size == info.stored, "TIFF");
  check_compression(header.layout.compression);
  return file;
}

// Has libjpeg convert YCbCr of JPEG, as TIFFReadRGBAImage has it do: the samples are RGB then.
void read_as_rgb(TIFF* tiff, TiffLayout& l) {
  if (!l.is_ycbcr() || l.compression != COMPRESSION_JPEG || l.planar != PLANARCONFIG_CONTIG) return;
  if (TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0) l.photometric = tiff_rgb;
}

// Which channel each sample of a pixel is; alpha is the last.
void set_samples(const TiffLayout& l, PackedForm& form) {
  const int alpha = l.alpha_sample();
  form.channel_of.resize(static_cast<size_t>(form.samples()));
  for (int k = 0; k < form.samples(); ++k) {
    const bool is_behind = alpha >= 0 && k > alpha;
    form.channel_of[static_cast<size_t>(k)] = static_cast<std::uint8_t>(k == alpha  ? form.colours()
                                                                        : is_behind ? k - 1
                                                                                    : k);
  }
  if (has_associated_alpha(l)) form.alpha = PackedForm::Alpha::associated;
}

// Nothing for files whose samples are stored in ways that no device knows.
std::optional<PackedForm> form_of(TIFF* tiff, const TiffHeader& header, const ImageInfo& info) {
  const TiffLayout& l = header.layout;
  const bool is_plain =
      (l.is_gray() || l.photometric == tiff_rgb || (l.is_palette() && l.samples == 1)) &&
      header.planes.count == 1 && l.depth == 1;
  std::uint16_t fill = FILLORDER_MSB2LSB, predictor = PREDICTOR_NONE;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &fill);
  TIFFGetField(tiff, TIFFTAG_PREDICTOR, &predictor);
  if (!is_plain || fill != FILLORDER_MSB2LSB || l.samples > 255) return {};
  auto form = tiff_form(info.type, l.size, static_cast<int>(l.compression), predictor);
  if (!form) return {};
  form->bits = static_cast<int>(l.bits);
  if (l.numbers == tiff_signed) form->sample = PackedForm::Sample::signed_integer;
  if (l.numbers == tiff_unsigned) form->sample = PackedForm::Sample::integer;
  if (l.numbers == tiff_float && l.bits == 16) form->sample = PackedForm::Sample::half;
  form->big_endian = TIFFIsBigEndian(tiff) != 0;
  // Floats whose white is 0 are read as they are.
  form->inverted = l.photometric == tiff_white_is_zero && info.type.cls != PixelClass::single;
  form->palette = l.is_palette();
  set_samples(l, *form);
  // Samples beside the colours are not multiplied by alpha.
  const bool has_more = form->colours() != static_cast<int>(l.colours()) && !form->palette;
  if (form->alpha == PackedForm::Alpha::associated && has_more) return {};
  if (l.planar == PLANARCONFIG_SEPARATE && l.samples > 1) {
    form->order = PackedForm::Order::by_plane;
  }
  form->padded = TIFFIsTiled(tiff) != 0;
  form->chunk = l.tile;
  if (!form->padded) {
    std::uint32_t rows = 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
    form->chunk = {l.size.width, std::clamp<std::int64_t>(rows, 1, l.size.height)};
  }
  return form;
}

}  // namespace

std::optional<PackedPicture> scan_tiff(InputBytes bytes, const ImageInfo& info) {
  const TiffHeader header = read_tiff(ByteSource(bytes), info.page, info.tiff_pages.get());
  Memory memory{.input = bytes, .directory = static_cast<std::uint64_t>(header.directory)};
  const TiffFile file = open_page(memory, header, info);
  auto form = form_of(file.get(), header, info);
  if (!form) return {};
  PackedPicture out{.form = std::move(*form), .chunks = {}, .parts = {bytes}};
  if (out.form.palette) out.palette = Palette(file.get(), header.layout).packed();
  for (std::int64_t i = 0; i < out.form.chunks(); ++i) {
    const auto chunk = static_cast<std::uint32_t>(i);
    const std::uint64_t begin = TIFFGetStrileOffset(file.get(), chunk);
    const std::uint64_t count = TIFFGetStrileByteCount(file.get(), chunk);
    if (begin > bytes.size() || count > bytes.size() - begin) return {};
    out.chunks.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(count)});
  }
  if (memory.complaint[0] != '\0') return {};  // which the processor's decoder ends with
  return out;
}

HostImage decode_tiff(InputBytes bytes, const ImageInfo& info, MakeImage make_image) {
  TiffHeader header = read_tiff(ByteSource(bytes), info.page, info.tiff_pages.get());
  const TiffLayout& l = header.layout;
  Memory memory{.input = bytes, .directory = static_cast<std::uint64_t>(header.directory)};
  const TiffFile file = open_page(memory, header, info);
  TIFF* tiff = file.get();
  read_as_rgb(tiff, header.layout);
  HostImage image = make_image(info.type, info.stored);
  Inexact ignored;
  Inexact& inexact = info.inexact ? *info.inexact : ignored;
  // From here on libtiff reads pixels alone.
  memory.directory = 0;
  memory.shift = static_cast<std::uint64_t>(header.plane * header.planes.stride);
  if (l.is_ycbcr()) {
    if (header.plane > 0) fail("TIFF of a volume in YCbCr is not supported");
    read_ycbcr(tiff, memory, l, image);
  } else {
    read_rows(tiff, memory, header, {0, l.size.height}, inexact, image);
  }
  // Some decoders go on after damage with whatever pixels.
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");
  unassociate(image, l);
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

// Bytes of `count` pixels as they are written, but for 1-bit ones.
std::int64_t written_bytes(const ImageType& type, SampleType samples, std::int64_t count) {
  return samples == SampleType::of_class ? stored_bytes(type, count)
                                         : count * stored_channels(type) * bytes_of(samples);
}

// What may need more than 4 GiB has offsets of 64 bits.
const char* write_mode(const ImageType& type, Size size, const EncodeOptions& options) {
  constexpr std::int64_t max_classic = std::int64_t{4000} << 20;  // bytes
  const bool big = written_bytes(type, options.samples, size.pixels()) > max_classic;
  if (options.big_endian_tiff) return big ? "wb8m" : "wbm";
  return big ? "wl8m" : "wlm";
}

// Whether libtiff writes so many samples of so many bits in it, and without loss.
bool is_written(int compression, int bits, int samples) {
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_LZW:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_LZMA:
    case COMPRESSION_ZSTD: break;
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
      if (bits > 1 || samples > 1) return false;
      break;
    default: return false;
  }
  return TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) != 0;
}

// As the input was, where samples of this kind can be.
void set_packing(TIFF* tiff, bool is_float, int bits, int samples, const EncodeOptions& options) {
  const bool as_input = options.tiff && is_written(options.tiff->compression, bits, samples);
  // Of 64 bits not every reader takes differences back.
  const bool predicts =
      as_input ? options.tiff->predictor > PREDICTOR_NONE : !is_float && bits < 64;
  const int compression = options.compression == Compression::g4 ? COMPRESSION_CCITTFAX4
                          : as_input                             ? options.tiff->compression
                                                                 : COMPRESSION_ADOBE_DEFLATE;
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE) {
    TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, level_of(options.compression, 1, 1, 9));
  } else if (compression == COMPRESSION_ZSTD) {
    TIFFSetField(tiff, TIFFTAG_ZSTD_LEVEL, 1);
  }
  if (predicts && bits > 1) {
    TIFFSetField(tiff, TIFFTAG_PREDICTOR,
                 is_float ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
  }
}

// Everything about the pixels but their places. tile: of no pixels: in strips.
void set_layout(TIFF* tiff, const ImageType& type, Size size, Size tile,
                const EncodeOptions& options) {
  const PixelClass cls = type.cls;
  const SampleType samples = options.samples;
  const bool of_class = samples == SampleType::of_class;
  const bool one_bit = cls == PixelClass::logical;
  const int bits = one_bit ? 1 : 8 * (of_class ? bytes_of(cls) : bytes_of(samples));
  const char kind = of_class ? (is_integer(cls) ? 'u' : 'f') : name_of(samples).front();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, stored_channels(type));
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
               kind == 'f'   ? SAMPLEFORMAT_IEEEFP
               : kind == 'i' ? SAMPLEFORMAT_INT
                             : SAMPLEFORMAT_UINT);
  // Three channels and one more are colour and something beside it; others are just channels.
  const int channels = type.channels;
  const bool colour = channels == 3 || channels == 4;
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  std::vector<std::uint16_t> extra(static_cast<size_t>(channels - (colour ? 3 : 1)),
                                   EXTRASAMPLE_UNSPECIFIED);
  if (type.alpha) extra.push_back(EXTRASAMPLE_UNASSALPHA);
  if (!extra.empty()) {
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  set_packing(tiff, kind == 'f', bits, stored_channels(type), options);
  if (tile.pixels() > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, static_cast<std::uint32_t>(tile.width));
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile.height));
    return;
  }
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP,
               static_cast<std::uint32_t>(
                   tiff_strip_rows(written_bytes(type, samples, size.width), size.height)));
}

// A row of an image as a TIFF has it, in `to`: libtiff changes what it is given.
void copy_row(const HostImage& image, RowJoiner& joiner, std::int64_t y, SampleType samples,
              std::uint8_t* to) {
  if (samples != SampleType::of_class) {
    const std::int64_t count = image.size().width * stored_channels(image.type);
    store_samples(samples, joiner.row<float>(y), count, to);
  } else if (image.type.cls == PixelClass::logical) {
    pack_bits(image.planes.front().row_as<std::uint8_t>(y), to, image.size().width);
  } else {
    joiner.copy(y, to);
  }
}

void flush_tiff(TIFF* tiff, const Memory& memory) {
  if (TIFFFlush(tiff) == 0) fail_tiff(memory, "the directory cannot be written");
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");
}

static Bytes encoded(const HostImage& image, const EncodeOptions& options) {
  Bytes out;
  Memory memory{.output = &out};
  TiffFile file = open_tiff(memory, write_mode(image.type, image.size(), options));
  TIFF* tiff = file.get();
  DropUnlessWritten drop{tiff};
  set_layout(tiff, image.type, image.size(), {}, options);
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");  // a field was refused
  std::vector<std::uint8_t> row(
      static_cast<size_t>(written_bytes(image.type, options.samples, image.size().width)));
  RowJoiner joiner(image);
  for (std::int64_t y = 0; y < image.size().height; ++y) {
    copy_row(image, joiner, y, options.samples, row.data());
    if (TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) < 0) {
      fail_tiff(memory, "a row cannot be written");
    }
  }
  flush_tiff(tiff, memory);
  drop.tiff = nullptr;
  file.reset();
  return out;
}

Bytes encode_packed_tiff(const ImageType& type, Size size, std::span<const PackedChunk> chunks,
                         const EncodeOptions& options, Bytes room) {
  Bytes out = std::move(room);
  Memory memory{.output = &out};
  TiffFile file = open_tiff(memory, write_mode(type, size, options));
  TIFF* tiff = file.get();
  DropUnlessWritten drop{tiff};
  set_layout(tiff, type, size, {}, options);
  if (memory.complaint[0] != '\0') fail_tiff(memory, "");  // a field was refused
  for (std::uint32_t i = 0; i < chunks.size(); ++i) {
    const auto count = static_cast<tmsize_t>(chunks[i].size());
    if (TIFFWriteRawStrip(tiff, i, const_cast<std::byte*>(chunks[i].data()), count) < 0) {
      fail_tiff(memory, "a strip cannot be written");
    }
  }
  flush_tiff(tiff, memory);
  drop.tiff = nullptr;
  file.reset();
  return out;
}

Bytes encode_tiff(const HostImage& image, const EncodeOptions& options) {
  Bytes out = encoded(image, options);
  if (options.compression != Compression::small) return out;
  // The search for longer matches makes some pictures larger.
  EncodeOptions usual = options;
  usual.compression = Compression::standard;
  Bytes other = encoded(image, usual);
  return other.size() < out.size() ? other : out;
}

namespace {

// Rows of an open file.
class TiffRows final : public PictureRows {
 public:
  TiffRows(int file, std::int64_t bytes, const ImageInfo& info, MakeImage make_image)
      : type_(info.type),
        make_image_(make_image),
        inexact_(info.inexact ? info.inexact : std::make_shared<Inexact>()),
        header_(read_tiff(ByteSource(file, bytes), info.page)) {
    memory_.file = file;
    memory_.file_bytes = static_cast<std::uint64_t>(bytes);
    file_ = open_page(memory_, header_, info);
    read_as_rgb(file_.get(), header_.layout);
  }

  bool is_readable() const {
    const TiffLayout& l = header_.layout;
    return !l.is_ycbcr() && (l.planar == PLANARCONFIG_CONTIG || l.samples == 1);
  }

  HostImage read(std::int64_t y, std::int64_t y_end) override {
    HostImage image = make_image_(type_, {header_.layout.size.width, y_end - y});
    read_rows(file_.get(), memory_, header_, {y, y_end}, *inexact_, image);
    // Some decoders go on after damage with whatever pixels.
    if (memory_.complaint[0] != '\0') fail_tiff(memory_, "");
    unassociate(image, header_.layout);
    return image;
  }

 private:
  ImageType type_;
  MakeImage make_image_;
  std::shared_ptr<Inexact> inexact_;
  TiffHeader header_;
  Memory memory_;
  TiffFile file_;
};

// Rows into an open file, behind what is there already, but for the header.
class TiffSink final : public PictureSink {
 public:
  TiffSink(int file, const ImageType& type, Size size, Size tile, const EncodeOptions& options)
      : size_(size),
        tile_(tile),
        samples_(options.samples),
        row_bytes_(type.cls == PixelClass::logical ? (size.width + 7) / 8
                                                   : written_bytes(type, samples_, size.width)),
        rows_(static_cast<size_t>(row_bytes_ * std::max<std::int64_t>(1, tile.height))) {
    memory_.file = file;
    memory_.file_bytes = static_cast<std::uint64_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END)));
    file_ = open_tiff(memory_, write_mode(type, size, options));
    drop_.tiff = file_.get();
    set_layout(file_.get(), type, size, tile, options);
    if (memory_.complaint[0] != '\0') fail_tiff(memory_, "");  // a field was refused
  }

  void write(const HostImage& image) override {
    RowJoiner joiner(image);
    for (std::int64_t y = 0; y < image.size().height; ++y, ++y_) {
      if (tile_.pixels() == 0) {
        copy_row(image, joiner, y, samples_, rows_.data());
        if (TIFFWriteScanline(file_.get(), rows_.data(), static_cast<std::uint32_t>(y_), 0) < 0) {
          fail_tiff(memory_, "a row cannot be written");
        }
        continue;
      }
      copy_row(image, joiner, y, samples_, rows_.data() + y_ % tile_.height * row_bytes_);
      if ((y_ + 1) % tile_.height == 0 || y_ + 1 == size_.height) write_tiles();
    }
  }

  Bytes finish() override {
    flush_tiff(file_.get(), memory_);
    drop_.tiff = nullptr;
    file_.reset();
    return {};
  }

 private:
  // Those that end in row y_.
  void write_tiles() {
    const auto tile_row = static_cast<std::int64_t>(TIFFTileRowSize64(file_.get()));
    const std::int64_t top = y_ / tile_.height * tile_.height;
    std::vector<std::uint8_t> tile;
    for (std::int64_t x = 0, at = 0; x < size_.width; x += tile_.width, at += tile_row) {
      tile.assign(static_cast<size_t>(tile_row * tile_.height), 0);
      const std::int64_t bytes = std::min(tile_row, row_bytes_ - at);
      for (std::int64_t row = 0; row <= y_ - top; ++row) {
        std::copy_n(rows_.data() + row * row_bytes_ + at, bytes, tile.data() + row * tile_row);
      }
      if (TIFFWriteTile(file_.get(), tile.data(), static_cast<std::uint32_t>(x),
                        static_cast<std::uint32_t>(top), 0, 0) < 0) {
        fail_tiff(memory_, "a tile cannot be written");
      }
    }
  }

  Size size_, tile_;
  SampleType samples_;
  std::int64_t row_bytes_;
  std::vector<std::uint8_t> rows_;  // a row, or those of the tiles that are not whole yet
  std::int64_t y_ = 0;              // the next row
  Memory memory_;
  TiffFile file_;
  DropUnlessWritten drop_{nullptr};  // before the file is closed
};

}  // namespace

std::unique_ptr<PictureRows> open_tiff_rows(int file, std::int64_t bytes, const ImageInfo& info,
                                            MakeImage make_image) {
  auto rows = std::make_unique<TiffRows>(file, bytes, info, make_image);
  if (!rows->is_readable()) return nullptr;
  return rows;
}

std::unique_ptr<PictureSink> make_tiff_rows(int file, const ImageType& type, Size size, Size tile,
                                            const EncodeOptions& options) {
  return std::make_unique<TiffSink>(file, type, size, tile, options);
}

}  // namespace impipe::io
