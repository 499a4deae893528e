// The numbers of arrays (NPY, Zarr), of any type that NumPy has, as pixels.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/bytes/byte_source.hpp"
#include "io/picture/image_info.hpp"
#include "io/picture/numbers.hpp"
#include "io/picture/sample_type.hpp"

namespace impipe::io {

// NumPy's words for it.
struct ArrayType {
  char kind = 'u';  // b, u, i, f
  int bytes = 1;
  bool big_endian = false;
  // Whether an image's class has the same numbers in the same order of bytes.
  bool is_of(PixelClass cls) const {
    const bool same_kind = cls == PixelClass::single ? kind == 'f' : kind == 'u';
    return same_kind && bytes == bytes_of(cls) && (bytes == 1 || !big_endian);
  }
};

// The type of the image, and of its samples, that numbers of this type make; whether they make one.
// Numbers that no class holds become single without a white, as in TIFF
// (docs/decisions/0024-number-types-in-and-out.md).
inline bool set_type(ImageInfo& info, const ArrayType& of) {
  const bool up_to_64_bits = of.bytes == 1 || of.bytes == 2 || of.bytes == 4 || of.bytes == 8;
  ImageType& image = info.type;
  if (of.kind == 'b' && of.bytes == 1) {
    image = {.cls = PixelClass::logical, .white = 1};
  } else if (of.kind == 'u' && of.bytes <= 2 && up_to_64_bits) {
    image = of.bytes == 1 ? ImageType{.cls = PixelClass::uint8, .white = 255}
                          : ImageType{.cls = PixelClass::uint16, .white = 65535};
  } else if (of.kind == 'f' && of.bytes > 1 && up_to_64_bits) {
    image = {.cls = PixelClass::single, .white = 1};
    if (of.bytes == 8) info.samples = SampleType::float64;
  } else if ((of.kind == 'u' || of.kind == 'i') && up_to_64_bits) {
    image = {.cls = PixelClass::single, .white = 0};
    info.samples = sample_type_of(of.kind == 'i', of.bytes);
  } else {
    return false;
  }
  return true;
}

// "16-bit signed": the beginning of ImageInfo::detail.
inline std::string depth_text(const ArrayType& type) {
  return depth_text(type.kind == 'b' ? 1 : 8 * type.bytes, type.kind == 'f') +
         (type.kind == 'i' ? " signed" : "");
}

template <class Word>
Word word_at(const std::byte* from, bool swap) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  if (!swap) return word;
  if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
  return word;
}

// A number that no class but single takes in.
inline float single_at(const std::byte* from, const ArrayType& type, Inexact& inexact) {
  const bool swap = type.big_endian;
  const bool is_signed = type.kind == 'i';
  switch (type.bytes) {
    case 1: return static_cast<float>(static_cast<std::int8_t>(*from));
    case 2: {
      const auto word = word_at<std::uint16_t>(from, swap);
      return is_signed ? static_cast<float>(static_cast<std::int16_t>(word)) : half_to_float(word);
    }
    case 4: {
      const auto word = word_at<std::uint32_t>(from, swap);
      if (type.kind == 'f') return std::bit_cast<float>(word);
      return is_signed ? to_single(static_cast<std::int32_t>(word), inexact)
                       : to_single(word, inexact);
    }
    default: {
      const auto word = word_at<std::uint64_t>(from, swap);
      if (type.kind == 'f') return to_single(std::bit_cast<double>(word), inexact);
      return is_signed ? to_single(static_cast<std::int64_t>(word), inexact)
                       : to_single(word, inexact);
    }
  }
}

// The number at `from` becomes pixel x of row y.
inline void store_item(Plane& plane, std::int64_t y, std::int64_t x, const std::byte* from,
                       const ArrayType& type, Inexact& inexact) {
  switch (plane.cls()) {
    case PixelClass::logical:
      plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(*from) != 0;
      return;
    case PixelClass::uint8:
      plane.row_as<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(*from);
      return;
    case PixelClass::uint16:
      plane.row_as<std::uint16_t>(y)[x] = word_at<std::uint16_t>(from, type.big_endian);
      return;
    case PixelClass::single: plane.row_as<float>(y)[x] = single_at(from, type, inexact);
  }
}

}  // namespace impipe::io
