// Types of samples that are no pixel class: they are computed as single, and a result is written in
// the type of its input again where that holds it (docs/decisions/0024-number-types-in-and-out.md).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "core/image.hpp"

namespace impipe::io {

// `of_class`: the samples are those of the image's class.
enum class SampleType : std::uint8_t {
  of_class,
  int8,
  int16,
  int32,
  int64,
  uint32,
  uint64,
  float64
};

// "int16"; of `of_class` "float32", which such results are of.
inline std::string_view name_of(SampleType type) {
  constexpr std::string_view names[] = {"float32", "int8",   "int16",  "int32",
                                        "int64",   "uint32", "uint64", "float64"};
  return names[static_cast<int>(type)];
}

// use(T{}) with the number type; float for `of_class`.
template <class Use>
auto with_number(SampleType type, Use use) {
  switch (type) {
    case SampleType::int8: return use(std::int8_t{});
    case SampleType::int16: return use(std::int16_t{});
    case SampleType::int32: return use(std::int32_t{});
    case SampleType::int64: return use(std::int64_t{});
    case SampleType::uint32: return use(std::uint32_t{});
    case SampleType::uint64: return use(std::uint64_t{});
    case SampleType::float64: return use(double{});
    case SampleType::of_class: break;
  }
  return use(float{});
}

inline int bytes_of(SampleType type) {
  return with_number(type, [](auto zero) { return static_cast<int>(sizeof zero); });
}

// The type of whole numbers of so many bytes; `of_class` for those that have a class.
SampleType sample_type_of(bool is_signed, int bytes);

// Whether the type has each value of a single image exactly.
bool holds(SampleType type, const HostImage& image);

// Writes `count` numbers, each of which the type holds, in the machine's byte order.
inline void store_samples(SampleType type, const float* from, std::int64_t count, void* to) {
  with_number(type, [&]<class Number>(Number) {
    auto* out = static_cast<std::byte*>(to);
    for (std::int64_t i = 0; i < count; ++i, out += sizeof(Number)) {
      const auto number = static_cast<Number>(from[i]);
      std::memcpy(out, &number, sizeof number);
    }
  });
}

}  // namespace impipe::io
