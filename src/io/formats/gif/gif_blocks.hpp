// The blocks of a GIF, walked without unpacking any.
#pragma once

#include <cstdint>
#include <string>

#include "io/bytes/byte_source.hpp"

namespace impipe::io {

inline constexpr std::uint64_t gif_extension = 0x21, gif_picture = 0x2c, gif_trailer = 0x3b;
inline constexpr std::int64_t gif_head_bytes = 13;

// Of the palette that these flags announce.
inline std::int64_t gif_palette_bytes(std::uint64_t flags) {
  return (flags & 0x80) != 0 ? std::int64_t{3} << ((flags & 7) + 1) : 0;
}

// Behind the sub-blocks that begin at `at`; the file's end if they are cut short.
inline std::int64_t behind_gif_blocks(const ByteSource& source, std::int64_t at) {
  for (;;) {
    const std::string length = source.read_some(at, 1);
    if (length.empty() || length[0] == '\0') return at + 1;
    at += 1 + static_cast<unsigned char>(length[0]);
  }
}

// Calls visit(kind, its first ten bytes, where it is) for each extension and picture.
template <class Visit>
void visit_gif_blocks(const ByteSource& source, Visit visit) {
  const std::string head = source.read(0, gif_head_bytes);
  std::int64_t at = gif_head_bytes + gif_palette_bytes(big_at(head, 10, 1));
  while (at < source.size()) {
    const std::string block = source.read_some(at, 10);
    const std::uint64_t kind = big_at(block, 0, 1);
    if (kind == gif_trailer) return;
    // Some writers end sub-blocks twice.
    if (kind == 0) {
      ++at;
      continue;
    }
    if (kind == gif_extension) {
      visit(kind, block, at);
      at = behind_gif_blocks(source, at + 2);
    } else if (kind == gif_picture && block.size() == 10) {
      visit(kind, block, at);
      at = behind_gif_blocks(source, at + 11 + gif_palette_bytes(big_at(block, 9, 1)));
    } else {
      fail("damaged GIF: no block at byte " + std::to_string(at));
    }
  }
  // Many a file has no trailer, but none ends within a block.
  if (at > source.size()) fail("truncated GIF: it ends at byte " + std::to_string(source.size()));
}

}  // namespace impipe::io
