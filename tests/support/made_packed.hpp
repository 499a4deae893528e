// Pictures in lossless forms, made from samples as the formats' texts say it, with zlib and
// libdeflate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/packed_picture.hpp"

namespace impipe::testing {

// What packs the bytes of a chunk.
struct Packer {
  enum class Library { zlib, libdeflate } library = Library::zlib;
  int level = 6;
  int strategy = 0;  // of zlib: Z_FIXED and its like
};
std::vector<std::byte> zlib_stream(const std::vector<std::byte>& bytes, const Packer& packer);
// What zlib's inflate makes of a stream that is to have `count` bytes; empty where it refuses it,
// or where the stream has another length.
std::vector<std::byte> inflated(const std::vector<std::byte>& stream, std::size_t count);

enum class Samples { noise, natural, flat, drawn };

struct MadePicture {
  PackedPicture packed;
  Planes expected;  // alpha is the last of them
};
// Random stored samples of a form, and the planes they are. `stored`: chunks that are not packed.
MadePicture made_packed(const PackedForm& form, Samples samples, const Packer& packer,
                        unsigned seed, const std::function<bool(std::size_t)>& stored = {});

// Where planes differ; empty where they do not.
std::string difference(const Planes& planes, const Planes& expected);

}  // namespace impipe::testing
