// An entry of a TIFF's directory as it lies in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

constexpr int tiff_type_bytes(std::uint64_t type) {
  constexpr int sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(sizes) ? sizes[type] : 0;
}

// `at` is the index-th of its values, of the first 64 bytes of them.
struct TiffEntry {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::string values;        // the first values, at most 64 bytes
  std::int64_t offset = -1;  // of all values, when they are not in the entry itself
  bool big_endian = false;
  std::uint64_t at(std::uint64_t index = 0) const {
    const int bytes = tiff_type_bytes(type);
    if (index >= count || index >= 64 || bytes == 0) return 0;
    return number_at(values, index * static_cast<size_t>(bytes), bytes, big_endian);
  }

  // All whole numbers of the entry. Throws Error where the file ends before.
  std::vector<std::int64_t> numbers(const ByteSource& source) const {
    const int bytes = tiff_type_bytes(type);
    if (bytes == 0) return {};
    const auto fits = static_cast<std::uint64_t>(source.size() / bytes);
    const auto all_bytes = static_cast<std::int64_t>(std::min(count, fits + 1)) * bytes;
    const std::string all = offset < 0 ? values : source.read(offset, all_bytes);
    std::vector<std::int64_t> out;
    for (size_t i = 0; i < count; ++i) {
      const size_t first_byte = i * static_cast<size_t>(bytes);
      out.push_back(static_cast<std::int64_t>(number_at(all, first_byte, bytes, big_endian)));
    }
    return out;
  }
};

}  // namespace impipe::io
