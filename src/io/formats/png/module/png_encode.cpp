// Writes PNG: chunks with a checksum, rows stored as what a filter leaves of them, compressed. Rows
// that do not repeat themselves, as those of photographs, are compressed by codes of their bytes
// alone, others by libdeflate, which looks for matches.
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "io/bytes/bits.hpp"
#include "io/formats/png/module/literal_deflate.hpp"
#include "io/formats/png/module/png.hpp"
#include "io/formats/png/module/png_filter.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::io {
namespace {

// A chunk that is being appended.
class Chunk {
 public:
  Chunk(Bytes& out, std::string_view kind) : out_(&out), begin_(out.size()) {
    append(out, big(0, 4));
    append(out, kind);
  }
  size_t size() const { return out_->size() - begin_ - 8; }
  void end() {
    const size_t bytes = size();
    std::byte* begin = out_->data() + begin_;
    for (int i = 0; i < 4; ++i) begin[i] = static_cast<std::byte>(bytes >> (24 - 8 * i));
    append(*out_, big(libdeflate_crc32(0, begin + 4, bytes + 4), 4));
  }

 private:
  Bytes* out_;
  size_t begin_;
};

// Rows of an image as a PNG file has them: big-endian words, alpha beside the colours, 1-bit
// packed.
class StoredRows {
 public:
  explicit StoredRows(const HostImage& image)
      : image_(image),
        joiner_(image),
        one_bit_(image.type.cls == PixelClass::logical),
        wide_(image.type.cls == PixelClass::uint16) {
    if (wide_) words_.resize(static_cast<size_t>(row_bytes()) / 2);
  }

  std::int64_t pixel_bytes() const { return one_bit_ ? 1 : stored_bytes(image_.type, 1); }
  std::int64_t row_bytes() const {
    const std::int64_t width = image_.size().width;
    return one_bit_ ? (width + 7) / 8 : width * pixel_bytes();
  }

  // Row `y`: in `memory`, or in the image when it is stored there just so.
  const std::uint8_t* row(std::int64_t y, std::uint8_t* memory) {
    const std::int64_t width = image_.size().width;
    if (one_bit_) {
      pack_bits(image_.planes.front().row_as<std::uint8_t>(y), memory, width);
      return memory;
    }
    if (wide_) {
      swap_word_bytes(joiner_.row<std::uint16_t>(y), words_.data(), row_bytes() / 2);
      std::memcpy(memory, words_.data(), static_cast<size_t>(row_bytes()));
      return memory;
    }
    if (stored_channels(image_.type) == 1) return image_.planes.front().row_as<std::uint8_t>(y);
    joiner_.copy(y, memory);
    return memory;
  }

 private:
  const HostImage& image_;
  RowJoiner joiner_;
  bool one_bit_;
  bool wide_;
  std::vector<std::uint16_t> words_;  // a row, its bytes the other way round
};

double entropy(const std::array<std::uint32_t, 256>& histogram) {
  double bits = 0, total = 0;
  for (const std::uint32_t n : histogram) {
    if (n > 0) bits -= n * std::log2(static_cast<double>(n));
    total += n;
  }
  return total > 0 ? bits + total * std::log2(total) : 0;
}

// The rows as they are compressed: a filter's number, then what it leaves.
class FilteredRows {
 public:
  explicit FilteredRows(const HostImage& image)
      : rows_(image),
        height_(image.size().height),
        count_(rows_.row_bytes()),
        one_bit_(image.type.cls == PixelClass::logical),
        memory_(3 * static_cast<size_t>(count_)) {}

  std::int64_t row_bytes() const { return count_ + 1; }
  std::int64_t height() const { return height_; }

  // The filter that leaves the lowest entropy of rows y, y + step, … before y_end, of the first so
  // many.
  PngFilter best_filter(std::int64_t y, std::int64_t y_end, std::int64_t step,
                        int filters = png_filters) {
    if (one_bit_) return PngFilter::none;
    std::array<std::array<std::uint32_t, 256>, png_filters> histograms = {};
    std::uint8_t* left = memory_.data() + 2 * count_;
    for (; y < y_end; y += step) {
      const auto [row, above] = rows_at(y);
      for (int f = 0; f < filters; ++f) {
        filter_row(static_cast<PngFilter>(f), row, above, left, count_, rows_.pixel_bytes());
        for (std::int64_t i = 0; i < count_; ++i) ++histograms[static_cast<size_t>(f)][left[i]];
      }
    }
    size_t best = 0;
    for (size_t f = 1; f < static_cast<size_t>(filters); ++f) {
      if (entropy(histograms[f]) < entropy(histograms[best])) best = f;
    }
    return static_cast<PngFilter>(best);
  }

  // Rows [y, y_end), one after the other, in `to`.
  void make(PngFilter filter, std::int64_t y, std::int64_t y_end, std::uint8_t* to) {
    for (; y < y_end; ++y, to += row_bytes()) {
      const auto [row, above] = rows_at(y);
      to[0] = static_cast<std::uint8_t>(filter);
      filter_row(filter, row, above, to + 1, count_, rows_.pixel_bytes());
    }
  }

  // As make, with the best filter for each row.
  void make_each(std::int64_t y, std::int64_t y_end, std::uint8_t* to) {
    for (; y < y_end; ++y, to += row_bytes()) make(best_filter(y, y + 1, 1), y, y + 1, to);
  }

  // As make, with the best filter for each group of rows, by the one in its middle.
  void make_groups(std::int64_t y, std::int64_t y_end, std::uint8_t* to) {
    constexpr std::int64_t group = 64;
    for (std::int64_t next; y < y_end; to += (next - y) * row_bytes(), y = next) {
      const std::int64_t begin = y / group * group;
      next = std::min(y_end, begin + group);
      if (begin != group_) {
        // Not where blocks of a JPEG meet, whose rows differ more.
        const std::int64_t last = std::min(height_, begin + group) - 1;
        const std::int64_t middle = std::min((begin + last + 1) / 2 | 3, last);
        group_filter_ = best_filter(middle, middle + 1, 1);
        group_ = begin;
      }
      make(group_filter_, y, next, to);
    }
  }

 private:
  struct TwoRows {
    const std::uint8_t *row, *above;
  };
  // Row y and the one before, until the next call; joined once where rows follow each other.
  TwoRows rows_at(std::int64_t y) {
    const auto memory = [&](std::int64_t row) { return memory_.data() + row % 2 * count_; };
    const std::uint8_t* above = last_row_;
    if (y == 0) {
      above = memory(1);
      std::memset(memory(1), 0, static_cast<size_t>(count_));
    } else if (last_ != y - 1) {
      above = rows_.row(y - 1, memory(y + 1));
    }
    last_row_ = rows_.row(y, memory(y));
    last_ = y;
    return {last_row_, above};
  }

  StoredRows rows_;
  std::int64_t height_, count_;
  bool one_bit_;
  std::vector<std::uint8_t> memory_;  // two rows and what a filter leaves of one
  std::int64_t last_ = -2;            // the row that was joined last
  const std::uint8_t* last_row_ = nullptr;
  std::int64_t group_ = -1;  // the first row of the group that group_filter_ is of
  PngFilter group_filter_ = PngFilter::none;
};

// What Paeth's filter leaves repeats itself less.
constexpr int filters_for_matches = static_cast<int>(PngFilter::paeth);

using Compressor = Made<libdeflate_compressor, libdeflate_free_compressor>;
Compressor compressor(int level = 1) {
  Compressor made(libdeflate_alloc_compressor(level));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

// Whether matches would make the rows clearly smaller, by a 64th of them.
bool repeats_itself(FilteredRows& rows) {
  constexpr std::int64_t piece_bytes = 48 << 10;
  const std::int64_t piece = std::clamp<std::int64_t>(piece_bytes / rows.row_bytes(), 1, 256);
  const std::int64_t pieces = std::max<std::int64_t>(2, rows.height() / (64 * piece));
  if (rows.height() < 2 * pieces * piece) return true;  // hardly more than the samples
  const auto size = static_cast<size_t>(piece * rows.row_bytes());
  std::vector<std::uint8_t> sample(size);
  const Compressor deflate = compressor();
  std::vector<std::uint8_t> packed(libdeflate_deflate_compress_bound(deflate.get(), size));
  size_t with_matches = 0, without = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const std::int64_t y = (2 * i + 1) * rows.height() / (2 * pieces) - piece / 2;
    rows.make(rows.best_filter(y + piece / 2, y + piece, piece, filters_for_matches), y, y + piece,
              sample.data());
    with_matches += libdeflate_deflate_compress(deflate.get(), sample.data(), size, packed.data(),
                                                packed.size());
    Bytes out;
    rows.make_groups(y, y + piece, sample.data());
    LiteralDeflate().block(sample, true, out);
    without += out.size();
  }
  return static_cast<double>(without) > 1.06 * static_cast<double>(with_matches);
}

// Whether words of 16 bits repeat one byte, as those of 8-bit pictures that were made 16-bit ones:
// only matches find that. By every 16th row.
bool was_8_bits(const HostImage& image) {
  if (image.type.cls != PixelClass::uint16) return false;
  for (const Plane& plane : image.planes) {
    for (std::int64_t y = 0; y < image.size().height; y += 16) {
      const auto* row = plane.row_as<std::uint16_t>(y);
      const auto repeats = [](std::uint16_t v) { return v >> 8 == (v & 255); };
      if (!std::all_of(row, row + image.size().width, repeats)) return false;
    }
  }
  return true;
}

// Makes room for the rest of the rows, if all are like the first so many.
void reserve_like(Bytes& out, size_t bytes, std::int64_t rows, std::int64_t height) {
  const double more = static_cast<double>(bytes) * static_cast<double>(height - rows);
  out.reserve(out.size() + static_cast<size_t>(1.1 * more / static_cast<double>(rows)) + 4096);
}

// The rows as codes of their bytes, in chunks of some MiB. quick: see LiteralDeflate.
void append_literals(FilteredRows& rows, Bytes& out, bool quick = false) {
  constexpr std::int64_t block_bytes = 192 << 10;
  constexpr size_t max_in_chunk = size_t{1} << 28;
  const std::int64_t step = std::max<std::int64_t>(1, block_bytes / rows.row_bytes());
  std::vector<std::uint8_t> block(static_cast<size_t>(step * rows.row_bytes()));
  LiteralDeflate deflate(quick);
  std::uint32_t checksum = 1;
  Chunk chunk(out, "IDAT");
  append(out, "\x78\x01");
  for (std::int64_t y = 0; y < rows.height(); y += step) {
    const std::int64_t y_end = std::min(y + step, rows.height());
    const auto size = static_cast<size_t>((y_end - y) * rows.row_bytes());
    rows.make_groups(y, y_end, block.data());
    checksum = libdeflate_adler32(checksum, block.data(), size);
    const size_t before = out.size();
    deflate.block({block.data(), size}, y_end == rows.height(), out);
    if (y == 0) reserve_like(out, out.size() - before, y_end, rows.height());
    if (chunk.size() > max_in_chunk) {
      chunk.end();
      chunk = Chunk(out, "IDAT");
    }
  }
  append(out, big(checksum, 4));
  chunk.end();
}

// All rows in memory, and what libdeflate makes of them in one chunk.
class WholeRows {
 public:
  WholeRows(FilteredRows& rows, int level)
      : bytes_(static_cast<size_t>(rows.row_bytes() * rows.height())),
        deflate_(compressor(level)),
        bound_(libdeflate_zlib_compress_bound(deflate_.get(), bytes_)) {
    if (fits()) raw_.reset(new std::uint8_t[bytes_]);
  }
  // Whether they fit into one chunk (2 GiB).
  bool fits() const { return bound_ <= 0x7fffffff; }
  std::uint8_t* data() { return raw_.get(); }
  void append(Bytes& out) {
    Chunk chunk(out, "IDAT");
    const size_t begin = out.size();
    out.resize(begin + bound_);
    out.resize(begin + libdeflate_zlib_compress(deflate_.get(), raw_.get(), bytes_,
                                                out.data() + begin, bound_));
    chunk.end();
  }
  // As zlib makes it of differences: it takes short matches only where they are worth it, which
  // pays for photographs.
  void append_by_zlib(Bytes& out) {
    z_stream stream = {};
    if (deflateInit2(&stream, 9, Z_DEFLATED, 15, 9, Z_FILTERED) != Z_OK) throw std::bad_alloc();
    Chunk chunk(out, "IDAT");
    const size_t begin = out.size();
    const size_t bound = deflateBound(&stream, static_cast<uLong>(bytes_));
    out.resize(begin + bound);
    stream.next_in = raw_.get();
    stream.avail_in = static_cast<uInt>(bytes_);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + begin);
    stream.avail_out = static_cast<uInt>(bound);
    const int state = deflate(&stream, Z_FINISH);
    out.resize(begin + stream.total_out);
    deflateEnd(&stream);
    if (state != Z_STREAM_END) fail("zlib did not write a PNG's rows");
    chunk.end();
  }

 private:
  size_t bytes_;
  Compressor deflate_;
  size_t bound_;
  std::unique_ptr<std::uint8_t[]> raw_;
};

// Of every sixteenth row.
PngFilter filter_of_all(FilteredRows& rows, int filters) {
  const std::int64_t first = std::min<std::int64_t>(11, rows.height() - 1);
  return rows.best_filter(first, rows.height(), 16, filters);
}

// The rows by libdeflate; false where they would not fit.
bool append_matches(FilteredRows& rows, Bytes& out) {
  WholeRows whole(rows, 1);
  if (!whole.fits()) return false;
  rows.make(filter_of_all(rows, filters_for_matches), 0, rows.height(), whole.data());
  whole.append(out);
  return true;
}

// The smallest of what other filters and codes alone make of the rows.
void append_smallest(FilteredRows& rows, Bytes& out) {
  constexpr int level = 9;
  Bytes best;
  append_literals(rows, best);
  const auto keep = [&](Bytes tried) {
    if (tried.size() < best.size()) best = std::move(tried);
  };
  WholeRows whole(rows, level);
  const auto try_matches = [&](auto make) {
    make();
    Bytes tried;
    whole.append(tried);
    keep(std::move(tried));
  };
  if (whole.fits()) {
    const std::int64_t height = rows.height();
    try_matches([&] { rows.make(PngFilter::none, 0, height, whole.data()); });
    try_matches(
        [&] { rows.make(filter_of_all(rows, filters_for_matches), 0, height, whole.data()); });
    try_matches([&] { rows.make_each(0, height, whole.data()); });
    Bytes tried;
    whole.append_by_zlib(tried);
    keep(std::move(tried));
  }
  out.insert(out.end(), best.begin(), best.end());
}

void append_header(const ImageType& type, Size size, Bytes& out) {
  append(out, "\x89PNG\r\n\x1a\n");
  Chunk chunk(out, "IHDR");
  append(out, big(static_cast<std::uint64_t>(size.width), 4) +
                  big(static_cast<std::uint64_t>(size.height), 4));
  const int bits = type.cls == PixelClass::logical ? 1 : type.cls == PixelClass::uint16 ? 16 : 8;
  const int colour = (type.channels == 3 ? 2 : 0) | (type.alpha ? 4 : 0);
  for (const int v : {bits, colour, 0, 0, 0}) out.push_back(static_cast<std::byte>(v));
  chunk.end();
}

}  // namespace

Bytes encode_packed_png(const ImageType& type, Size size, PackedChunk stream, Bytes room) {
  constexpr size_t most = 0x7fffffff;  // of a chunk
  Bytes out = std::move(room);
  append_header(type, size, out);
  while (!stream.empty()) {
    const PackedChunk part = stream.first(std::min(most, stream.size()));
    Chunk chunk(out, "IDAT");
    out.insert(out.end(), part.begin(), part.end());
    chunk.end();
    stream = stream.subspan(part.size());
  }
  Chunk(out, "IEND").end();
  return out;
}

Bytes encode_png(const HostImage& image, const EncodeOptions& options) {
  FilteredRows rows(image);
  Bytes out;
  append_header(image.type, image.size(), out);
  if (options.compression == Compression::fast) {
    if (!was_8_bits(image) || !append_matches(rows, out)) append_literals(rows, out, true);
  } else if (options.compression == Compression::small) {
    append_smallest(rows, out);
  } else if (!repeats_itself(rows) || !append_matches(rows, out)) {
    append_literals(rows, out);
  }
  Chunk(out, "IEND").end();
  return out;
}

}  // namespace impipe::io
