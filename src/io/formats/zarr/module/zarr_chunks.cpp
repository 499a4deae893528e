// Packs chunks by c-blosc, and unpacks what c-blosc, libzstd and zlib read. None gives more than
// the bytes that the metadata promise.
#include "io/formats/zarr/module/zarr_chunks.hpp"

#include <blosc.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>

namespace impipe::io {
namespace {

Bytes inflated(std::span<const std::byte> packed, std::size_t most) {
  if (packed.size() > 0xffffffff) fail("it is too large for zlib");
  z_stream stream = {};
  constexpr int either = 32 + MAX_WBITS;  // zlib's header or gzip's
  if (inflateInit2(&stream, either) != Z_OK) throw std::bad_alloc();
  Bytes out(most);
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(most);
  const int end = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (end != Z_STREAM_END) fail("it is no whole zlib data of ", most, " bytes");
  return out;
}

Bytes unpacked_by_zstd(std::span<const std::byte> packed, std::size_t most) {
  Bytes out(most);
  const std::size_t got = ZSTD_decompress(out.data(), most, packed.data(), packed.size());
  if (ZSTD_isError(got)) fail("zstd: ", ZSTD_getErrorName(got));
  out.resize(got);
  return out;
}

Bytes unpacked_by_blosc(std::span<const std::byte> packed, std::size_t most) {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(packed.data(), packed.size(), &bytes) != 0 || bytes > most) {
    fail("it is no Blosc data of ", most, " bytes");
  }
  Bytes out(bytes);
  if (bytes == 0) return out;
  const int got = blosc_decompress_ctx(packed.data(), out.data(), bytes, 1);
  if (got < 0 || static_cast<std::size_t>(got) != bytes) fail("damaged Blosc data");
  return out;
}

// Castagnoli's polynomial.
std::uint32_t crc32c_of(std::span<const std::byte> bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
      out[i] = crc;
    }
    return out;
  }();
  std::uint32_t crc = ~0U;
  for (const std::byte b : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint32_t>(b)) & 255];
  return ~crc;
}

Bytes without_checksum(std::span<const std::byte> packed) {
  if (packed.size() < 4) fail("it has no checksum");
  const std::span<const std::byte> data = packed.first(packed.size() - 4);
  if (crc32c_of(data) != little_at(text_of(packed.last(4)), 0, 4)) fail("its checksum is wrong");
  return {data.begin(), data.end()};
}

}  // namespace

Bytes unpacked_chunk(std::span<const std::byte> packed, std::span<const ZarrPacking> packings,
                     std::int64_t bytes) {
  Bytes now;
  for (std::size_t i = packings.size(); i-- > 0;) {
    // What is packed twice may be a little larger in between.
    const auto most = static_cast<std::size_t>(i == 0 ? bytes : bytes + bytes / 8 + 4096);
    switch (packings[i]) {
      case ZarrPacking::inflate: now = inflated(packed, most); break;
      case ZarrPacking::zstd: now = unpacked_by_zstd(packed, most); break;
      case ZarrPacking::blosc: now = unpacked_by_blosc(packed, most); break;
      case ZarrPacking::crc32c: now = without_checksum(packed); break;
    }
    packed = now;
  }
  if (std::ssize(packed) != bytes) fail("it has ", packed.size(), " bytes, ", bytes, " needed");
  if (packings.empty()) now.assign(packed.begin(), packed.end());
  return now;
}

Bytes packed_by_blosc(std::span<const std::byte> items, int item_bytes, Compression compression) {
  const char* codec = compression == Compression::small ? "zstd" : "lz4";
  Bytes out(items.size() + BLOSC_MAX_OVERHEAD);
  const int bytes = blosc_compress_ctx(level_of(compression, 1, 5, 9), BLOSC_SHUFFLE,
                                       static_cast<std::size_t>(item_bytes), items.size(),
                                       items.data(), out.data(), out.size(), codec, 0, 1);
  if (bytes <= 0) fail("Blosc failed");
  out.resize(static_cast<std::size_t>(bytes));
  return out;
}

}  // namespace impipe::io
