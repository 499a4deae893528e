// What the kernels that decode lossless pictures are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace impipe::jit {

// As codec/unpack.cl has it.
struct UnpackParameters {
  int pictures, chunks, step;
  int width, height;
  int chunk_width, chunk_height;
  int across, down;
  int padded;
  int packing, filter, order, sample, bits;
  int big_endian, inverted;
  int channels, samples, alpha;
  int palette;
  int pixel_bytes;
  int fully, scale;
  int streams, pass;
  int stride;
  int carried, to_single;
  std::int64_t plane;
  std::uint64_t channel_of;
  std::uint64_t carried_before;
};

inline std::vector<std::byte> bytes_of_parameters(const UnpackParameters& parameters) {
  std::vector<std::byte> bytes(sizeof parameters);
  std::memcpy(bytes.data(), &parameters, sizeof parameters);
  return bytes;
}

// Work-items of a group that inflates.
inline constexpr int inflaters = 128;

}  // namespace impipe::jit
