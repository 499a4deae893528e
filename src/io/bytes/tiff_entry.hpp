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

// The header of a structure.
struct TiffOrder {
  bool big_endian = false;
  bool big_tiff = false;   // 64-bit offsets
  std::int64_t first = 0;  // where the first directory begins

  int offset_bytes() const { return big_tiff ? 8 : 4; }
  std::uint64_t number(std::string_view text, size_t at, int bytes) const {
    return number_at(text, at, bytes, big_endian);
  }
  std::int64_t offset(std::string_view text, size_t at) const {
    return static_cast<std::int64_t>(number(text, at, offset_bytes()));
  }
};
// Whatever its other bytes are: see tiff_order.
inline TiffOrder order_of_head(const ByteSource& source) {
  const std::string head = source.read(0, 8);
  TiffOrder order{.big_endian = head[0] == 'M'};
  order.big_tiff = order.number(head, 2, 2) == 43;
  order.first = order.big_tiff ? order.offset(source.read(8, 8), 0) : order.offset(head, 4);
  return order;
}

// A directory as it lies in the file.
class TiffTable {
 public:
  static constexpr std::uint64_t most = 4096;  // entries of a sound one
  struct Entry {
    std::uint64_t tag, type, count;
    std::string value;  // or the offset of the values
  };

  TiffTable(const ByteSource& source, const TiffOrder& order, std::int64_t begin)
      : source_(source), order_(order) {
    const int count_bytes = order.big_tiff ? 8 : 2;
    count_ = order.number(source.read(begin, count_bytes), 0, count_bytes);
    entries_ = begin + count_bytes;
  }
  std::uint64_t count() const { return count_; }

  // Calls visit(entry) for each. Returns where the next directory begins, 0 after the last.
  template <class Visit>
  std::int64_t visit(Visit visit) const {
    const auto offset_bytes = static_cast<size_t>(order_.offset_bytes());
    const size_t entry_bytes = 4 + 2 * offset_bytes;
    const auto bytes = static_cast<std::int64_t>(count_ * entry_bytes);
    const std::string entries = source_.read(entries_, bytes);
    for (size_t at = 0; at < entries.size(); at += entry_bytes) {
      visit(Entry{order_.number(entries, at, 2), order_.number(entries, at + 2, 2),
                  order_.number(entries, at + 4, order_.offset_bytes()),
                  entries.substr(at + 4 + offset_bytes, offset_bytes)});
    }
    // The very end of a file may lack the zeros that end the chain.
    return order_.offset(source_.read_some(entries_ + bytes, order_.offset_bytes()), 0);
  }

 private:
  const ByteSource& source_;
  const TiffOrder& order_;
  std::uint64_t count_;
  std::int64_t entries_;  // where they begin
};

// `at` is the index-th of its values, of the first 64 bytes of them.
struct TiffEntry {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::string values;        // the first values, at most 64 bytes
  std::int64_t offset = -1;  // of all values, when they are not in the entry itself
  bool big_endian = false;

  TiffEntry() = default;
  TiffEntry(const ByteSource& source, const TiffOrder& order, const TiffTable::Entry& from)
      : type(from.type), count(from.count), values(from.value), big_endian(order.big_endian) {
    constexpr std::uint64_t most = 64;
    const std::uint64_t bytes =
        std::min(count, most) * static_cast<std::uint64_t>(tiff_type_bytes(type));
    if (bytes <= values.size()) return;
    offset = order.offset(from.value, 0);
    values = source.read_some(offset, static_cast<std::int64_t>(std::min(bytes, most)));
  }

  std::uint64_t at(std::uint64_t index = 0) const {
    const int bytes = tiff_type_bytes(type);
    if (index >= count || index >= 64 || bytes == 0) return 0;
    return number_at(values, index * static_cast<size_t>(bytes), bytes, big_endian);
  }

  // The first of its values.
  std::vector<std::uint64_t> first(std::uint64_t most) const {
    std::vector<std::uint64_t> out(std::min(count, most));
    for (size_t i = 0; i < out.size(); ++i) out[i] = at(i);
    return out;
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

// Of the tag 274; what is no orientation says 1.
inline int valid_tiff_orientation(std::uint64_t value) {
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

}  // namespace impipe::io
