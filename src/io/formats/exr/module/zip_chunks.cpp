// Packs and unpacks the chunks of ZIP and ZIPS.
#include "io/formats/exr/module/zip_chunks.hpp"

#include <libdeflate.h>

#include <bit>
#include <cstring>

namespace impipe::io {
namespace {

template <class Library>
Library* required(Library* library) {
  if (library == nullptr) throw std::bad_alloc();
  return library;
}

}  // namespace

ChunkUnpacker::ChunkUnpacker()
    : library_(required(libdeflate_alloc_decompressor()), libdeflate_free_decompressor) {}

const std::byte* ChunkUnpacker::unpack(std::span<const std::byte> chunk, size_t bytes) {
  if (chunk.size() == bytes) return chunk.data();  // it was not packed
  differences_.resize(bytes);
  bytes_.resize(bytes);
  if (libdeflate_zlib_decompress(library_.get(), chunk.data(), chunk.size(), differences_.data(),
                                 bytes, nullptr) != LIBDEFLATE_SUCCESS) {
    return nullptr;
  }
  auto* sums = reinterpret_cast<std::uint8_t*>(differences_.data());
  for (size_t i = 1; i < bytes; ++i) {
    sums[i] = static_cast<std::uint8_t>(sums[i] + sums[i - 1] - 128);
  }
  const size_t half = (bytes + 1) / 2;
  auto* out = reinterpret_cast<std::uint8_t*>(bytes_.data());
  for (size_t i = 0; i < bytes / 2; ++i) {
    out[2 * i] = sums[i];
    out[2 * i + 1] = sums[half + i];
  }
  if (bytes % 2 == 1) out[bytes - 1] = sums[half - 1];
  return bytes_.data();
}

ChunkPacker::ChunkPacker(int level)
    : library_(required(libdeflate_alloc_compressor(level)), libdeflate_free_compressor) {}

std::span<const std::byte> ChunkPacker::pack(std::span<const std::byte> bytes) {
  const size_t size = bytes.size(), half = (size + 1) / 2;
  differences_.resize(2 * size);
  chunk_.resize(size);
  const auto* in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  auto* parted = reinterpret_cast<std::uint8_t*>(differences_.data());
  for (size_t i = 0; i < size / 2; ++i) {
    parted[i] = in[2 * i];
    parted[half + i] = in[2 * i + 1];
  }
  if (size % 2 == 1) parted[half - 1] = in[size - 1];
  std::uint8_t* differences = parted + size;
  if (size > 0) differences[0] = parted[0];
  for (size_t i = 1; i < size; ++i) {
    differences[i] = static_cast<std::uint8_t>(parted[i] - parted[i - 1] + 128);
  }
  // 0: it does not fit in fewer bytes.
  const size_t packed = size == 0 ? 0
                                  : libdeflate_zlib_compress(library_.get(), differences, size,
                                                             chunk_.data(), size - 1);
  return packed == 0 ? bytes : std::span<const std::byte>(chunk_.data(), packed);
}

void floats_of_halves(const std::byte* halves, float* to, size_t count) {
  constexpr float exponents = 0x1p112f;  // from the bias of halves, 15, to that of floats, 127
  for (size_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, halves + 2 * i, sizeof bits);
    const float value = std::bit_cast<float>((bits & 0x7fffu) << 13) * exponents;
    const std::uint32_t beyond = value >= 65536.0f ? 0x7f800000u : 0;  // infinite, or no number
    to[i] =
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | beyond | (bits & 0x8000u) << 16);
  }
}

}  // namespace impipe::io
