// The directories of a TIFF structure and their entries as they lie in the file.
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

// The directories of one file, one after another.
class TiffDirectories {
 public:
  explicit TiffDirectories(const ByteSource& source) : source_(source) {
    const std::string head = source.read(0, 8);
    big_endian_ = head[0] == 'M';
    big_tiff_ = number(head, 2, 2) == 43;
    next_ = big_tiff_ ? offset(source.read(8, 8), 0) : offset(head, 4);
  }

  std::int64_t next() const { return next_; }  // 0 after the last
  void go_to(std::int64_t begin) { next_ = begin; }

  // Calls visit(tag, entry) for the entries of the next directory, and goes on to the one after.
  template <class Visit>
  void visit(Visit visit) {
    const std::int64_t begin = next_;
    const int count_bytes = big_tiff_ ? 8 : 2;
    const std::uint64_t count = number(source_.read(begin, count_bytes), 0, count_bytes);
    if (count > 4096) fail("damaged TIFF: its directory claims ", count, " entries");
    const int entry_bytes = big_tiff_ ? 20 : 12;
    const std::string entries =
        source_.read(begin + count_bytes, static_cast<std::int64_t>(count) * entry_bytes);
    for (std::uint64_t i = 0; i < count; ++i) {
      const size_t at = i * static_cast<size_t>(entry_bytes);
      visit(number(entries, at, 2), entry_at(entries, at));
    }
    // The very end of a file may lack the zeros that end the chain.
    const std::string link = source_.read_some(
        begin + count_bytes + static_cast<std::int64_t>(entries.size()), big_tiff_ ? 8 : 4);
    next_ = offset(link, 0);
  }

 private:
  std::uint64_t number(const std::string& text, size_t at, int bytes) const {
    return number_at(text, at, bytes, big_endian_);
  }
  std::int64_t offset(const std::string& text, size_t at) const {
    return static_cast<std::int64_t>(number(text, at, big_tiff_ ? 8 : 4));
  }

  TiffEntry entry_at(const std::string& entries, size_t at) const {
    TiffEntry entry;
    entry.big_endian = big_endian_;
    entry.type = number(entries, at + 2, 2);
    entry.count = number(entries, at + 4, big_tiff_ ? 8 : 4);
    const size_t value_at = at + (big_tiff_ ? 12 : 8);
    const size_t inline_bytes = big_tiff_ ? 8 : 4;
    const std::uint64_t bytes = std::min<std::uint64_t>(entry.count, 64) *
                                static_cast<std::uint64_t>(tiff_type_bytes(entry.type));
    if (bytes <= inline_bytes) {
      entry.values = entries.substr(value_at, inline_bytes);
    } else {
      entry.offset = offset(entries, value_at);
      entry.values = source_.read_some(
          entry.offset, static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, 64)));
    }
    return entry;
  }

  const ByteSource& source_;
  bool big_endian_ = false;
  bool big_tiff_ = false;
  std::int64_t next_ = 0;
};

// Of the tag 274; what is no orientation says 1.
inline int valid_tiff_orientation(std::uint64_t value) {
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

}  // namespace impipe::io
