// Chunks of EXR's ZIP and ZIPS compressions, through libdeflate: bytes at even offsets before those
// at odd ones, each as its difference from the one before, as zlib data.
#pragma once

#include <OpenEXR/ImfHeader.h>

#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "io/picture/encoding.hpp"

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace impipe::io {

inline bool is_zip(const Imf::Header& header) {
  return header.compression() == Imf::ZIP_COMPRESSION ||
         header.compression() == Imf::ZIPS_COMPRESSION;
}
// Rows of lines that make a chunk, of a header for which is_zip is true.
inline std::int64_t zip_rows(const Imf::Header& header) {
  return header.compression() == Imf::ZIP_COMPRESSION ? 16 : 1;
}

class ChunkUnpacker {
 public:
  ChunkUnpacker();
  // The `bytes` bytes that a chunk holds, until the next call; null where it is damaged.
  const std::byte* unpack(std::span<const std::byte> chunk, size_t bytes);

 private:
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> library_;
  Bytes differences_, bytes_;
};

class ChunkPacker {
 public:
  explicit ChunkPacker(int level);
  // A chunk of these bytes, until the next call; the bytes themselves where that is no smaller.
  std::span<const std::byte> pack(std::span<const std::byte> bytes);

 private:
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> library_;
  Bytes differences_, chunk_;
};

// Packers or unpackers of the threads that work on one picture: each is used by one thread at a
// time, and no more are made than are used at once.
template <class Worker>
class Workers {
 public:
  using Pointer = std::unique_ptr<Worker>;

  template <class Make, class Use>
  auto with_one(Make make, Use use) {
    Pointer worker = take();
    if (!worker) worker = make();
    auto result = use(*worker);
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
    return result;
  }

 private:
  Pointer take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return {};
    Pointer worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  std::mutex mutex_;
  std::vector<Pointer> idle_;
};

// Floats, of which none is a signalling NaN, as samples of 16 bits.
void halves_of_floats(const float* from, std::byte* to, size_t count);
// Samples of 16 bits as floats; bits of NaNs are as OpenEXR has them.
void floats_of_halves(const std::byte* halves, float* to, size_t count);

}  // namespace impipe::io
