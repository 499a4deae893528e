// Packs and unpacks the chunks of ZIP and ZIPS.
#include "io/formats/exr/module/zip_chunks.hpp"

#include <half.h>
#include <libdeflate.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>

namespace impipe::io {
namespace {

template <class Library>
Library* required(Library* library) {
  if (library == nullptr) throw std::bad_alloc();
  return library;
}

// Differences, 128 standing for none, become the bytes that they are of: sums of 16 at once.
void add_up(std::uint8_t* bytes, size_t count) {
  using Lanes = std::uint8_t __attribute__((vector_size(16)));
  constexpr Lanes none = {};
  std::uint8_t before = 0;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Lanes v;
    std::memcpy(&v, bytes + i, sizeof v);
    v ^= 128;
    v += __builtin_shufflevector(none, v, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                                 29, 30);
    v += __builtin_shufflevector(none, v, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                                 28, 29);
    v += __builtin_shufflevector(none, v, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                 26, 27);
    v += __builtin_shufflevector(none, v, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                 23);
    v += before;
    before = v[15];
    v ^= 128;
    std::memcpy(bytes + i, &v, sizeof v);
  }
  for (; i < count; ++i) {
    before = static_cast<std::uint8_t>(before + bytes[i] - 128);
    bytes[i] = static_cast<std::uint8_t>(before + 128);
  }
}

#if defined(__x86_64__)
// All but the last few; how many.
__attribute__((target("avx,f16c"))) size_t halves_by_f16c(const float* from, std::byte* to,
                                                          size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#endif

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
  add_up(sums, bytes);
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

void halves_of_floats(const float* from, std::byte* to, size_t count) {
  size_t done = 0;
#if defined(__x86_64__)
  static const bool has_f16c = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  if (has_f16c) done = halves_by_f16c(from, to, count);
#endif
  for (size_t i = done; i < count; ++i) {
    const half value(from[i]);
    std::memcpy(to + 2 * i, &value, sizeof value);
  }
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
