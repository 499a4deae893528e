// Boxes of ISO's base media format, which HEIF, AVIF and JPEG 2000 are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

// A box's content, from `begin` up to `end` in the file.
struct Box {
  std::string kind;  // four characters
  std::int64_t begin = 0, end = 0;
};

inline std::string content_of(const ByteSource& source, const Box& box) {
  return source.read_some(box.begin, box.end - box.begin);
}

// Calls visit(box) for those between two offsets. What goes beyond them is cut.
template <class Visit>
void visit_boxes(const ByteSource& source, std::int64_t at, std::int64_t end, Visit visit) {
  end = std::min(end, source.size());
  while (at + 8 <= end) {
    const std::string head = source.read_some(at, 16);
    std::uint64_t size = big_at(head, 0, 4);
    const std::uint64_t head_bytes = size == 1 ? 16 : 8;
    if (size == 1) size = big_at(head, 8, 8);
    const auto left = static_cast<std::uint64_t>(end - at);
    if (size == 0 || size > left) size = left;
    if (size < head_bytes) return;
    const std::int64_t next = at + static_cast<std::int64_t>(size);
    visit(Box{head.substr(4, 4), at + static_cast<std::int64_t>(head_bytes), next});
    at = next;
  }
}

}  // namespace impipe::io
