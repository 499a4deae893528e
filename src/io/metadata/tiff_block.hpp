// A TIFF structure in memory, as EXIF blocks are, whose entries are read and changed in place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/bytes/tiff_fields.hpp"

namespace impipe::io {

// A block by its directories and entries. Places are offsets in the block; 0 is none.
class TiffBlock {
 public:
  explicit TiffBlock(std::string& bytes) : bytes_(bytes), big_(bytes.starts_with("MM")) {}

  std::uint64_t number(size_t at, int bytes) const { return number_at(bytes_, at, bytes, big_); }
  size_t first() const { return number(4, 4); }
  size_t entries(size_t directory) const { return directory == 0 ? 0 : number(directory, 2); }
  size_t entry_at(size_t directory, size_t i) const { return directory + 2 + 12 * i; }
  size_t next_at(size_t directory) const { return entry_at(directory, entries(directory)); }
  size_t next(size_t directory) const { return directory == 0 ? 0 : number(next_at(directory), 4); }
  size_t entry(size_t directory, std::uint16_t tag) const {
    for (size_t i = 0; i < entries(directory); ++i) {
      const size_t at = entry_at(directory, i);
      if (at + 12 > bytes_.size()) return 0;
      if (number(at, 2) == tag) return at;
    }
    return 0;
  }
  // Of a field of one whole number.
  std::uint64_t value(size_t directory, std::uint16_t tag) const {
    const size_t at = entry(directory, tag);
    if (at == 0) return 0;
    return number(at + 8, number(at + 2, 2) == 3 ? 2 : 4);
  }
  void set(size_t directory, std::uint16_t tag, std::uint64_t value) {
    const size_t at = entry(directory, tag);
    if (at == 0 || number(at + 4, 4) != 1) return;
    const bool is_short = number(at + 2, 2) == 3;
    if (!is_short && number(at + 2, 2) != 4) return;
    const bool wide = !is_short || value > 65535;
    put_number(bytes_, at + 2, wide ? 4 : 3, 2, big_);
    put_number(bytes_, at + 8, value, wide ? 4 : 2, big_);
  }
  // Where the values of an entry begin; 0 when they do not lie in the block.
  size_t values_at(size_t entry) const {
    const size_t bytes = bytes_of_values(entry);
    const size_t at = bytes <= 4 ? entry + 8 : number(entry + 8, 4);
    return bytes == 0 || at < 8 || at > bytes_.size() || bytes > bytes_.size() - at ? 0 : at;
  }
  size_t bytes_of_values(size_t entry) const {
    return number(entry + 4, 4) * static_cast<size_t>(tiff_type_bytes(number(entry + 2, 2)));
  }
  void remove_if(size_t directory, const std::function<bool(std::uint16_t tag)>& is_stale) {
    const size_t begin = directory + 2, end = std::min(next_at(directory) + 4, bytes_.size());
    std::string kept;
    size_t count = 0, at = begin;
    for (size_t i = 0; i < entries(directory) && at + 12 <= end; ++i, at += 12) {
      if (is_stale(static_cast<std::uint16_t>(number(at, 2)))) continue;
      kept += bytes_.substr(at, 12);
      ++count;
    }
    if (directory == 0 || begin + kept.size() == at) return;
    kept += bytes_.substr(at, end - at);  // where the next directory is
    kept.resize(end - begin);
    bytes_.replace(begin, end - begin, kept);
    put_number(bytes_, directory, count, 2, big_);
  }
  void put(size_t at, std::uint64_t value, int bytes) {
    put_number(bytes_, at, value, bytes, big_);
  }
  void zero(size_t at, size_t count) {
    if (at >= bytes_.size()) return;
    std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                std::min(count, bytes_.size() - at), '\0');
  }
  // A field becomes one of another number and type, whose values, this many, begin at a place.
  void retag(size_t entry, std::uint16_t tag, int type, size_t count, size_t values) {
    put(entry, tag, 2);
    put(entry + 2, static_cast<std::uint64_t>(type), 2);
    put(entry + 4, count, 4);
    put(entry + 8, values, 4);
  }
  // Entries by their numbers.
  void sort(size_t directory) {
    constexpr size_t entry_bytes = 12;
    std::vector<std::string> sorted;
    const size_t begin = directory + 2, count = entries(directory);
    for (size_t i = 0; i < count; ++i) {
      sorted.push_back(bytes_.substr(begin + entry_bytes * i, entry_bytes));
    }
    std::ranges::stable_sort(
        sorted, {}, [&](const std::string& entry) { return number_at(entry, 0, 2, big_); });
    for (size_t i = 0; i < count; ++i) {
      bytes_.replace(begin + entry_bytes * i, entry_bytes, sorted[i]);
    }
  }

 protected:
  std::string& bytes_;
  const bool big_;
};

}  // namespace impipe::io
