// The header of a GIF: its blocks are walked, none of them unpacked.
#include <algorithm>

#include "io/headers.hpp"

namespace impipe::io {
namespace {

// What of the pictures in the file decides the type of all.
struct Frames {
  int count = 0;
  bool alpha = false;
};

// Behind the sub-blocks that begin at `at`; the file's end if they are cut short.
std::int64_t behind_blocks(const ByteSource& source, std::int64_t at) {
  for (;;) {
    const std::string length = source.read_some(at, 1);
    if (length.empty() || length[0] == '\0') return at + 1;
    at += 1 + static_cast<unsigned char>(length[0]);
  }
}

std::int64_t colour_bytes(std::uint64_t flags) {
  return (flags & 0x80) != 0 ? std::int64_t{3} << ((flags & 7) + 1) : 0;
}

Frames walk(const ByteSource& source, std::int64_t at, Size screen) {
  constexpr std::uint64_t extension = 0x21, picture = 0x2c, trailer = 0x3b, control = 0xf9;
  Frames frames;
  while (at < source.size()) {
    const std::string block = source.read_some(at, 10);
    const std::uint64_t kind = big_at(block, 0, 1);
    if (kind == extension) {
      if (big_at(block, 1, 1) == control && block.size() >= 4) {
        const std::uint64_t flags = big_at(block, 3, 1);
        const std::uint64_t disposal = flags >> 2 & 7;
        // What is cleared behind a picture is clear.
        frames.alpha = frames.alpha || (flags & 1) != 0 || disposal == 2;
      }
      at = behind_blocks(source, at + 2);
    } else if (kind == picture && block.size() == 10) {
      const Size size{static_cast<std::int64_t>(little_at(block, 5, 2)),
                      static_cast<std::int64_t>(little_at(block, 7, 2))};
      const bool covers =
          little_at(block, 1, 4) == 0 && size.width >= screen.width && size.height >= screen.height;
      if (frames.count++ == 0 && !covers) frames.alpha = true;
      at = behind_blocks(source, at + 11 + colour_bytes(big_at(block, 9, 1)));
    } else if (kind == trailer) {
      return frames;
    } else {
      fail("damaged GIF: no block at byte " + std::to_string(at));
    }
  }
  // Many a file has no trailer, but none ends within a block.
  if (at > source.size()) fail("truncated GIF: it ends at byte " + std::to_string(source.size()));
  return frames;
}

}  // namespace

ImageInfo gif_header(const ByteSource& source) {
  const std::string head = source.read(0, 13);
  ImageInfo info{.format = Format::gif};
  info.stored = {static_cast<std::int64_t>(little_at(head, 6, 2)),
                 static_cast<std::int64_t>(little_at(head, 8, 2))};
  const Frames frames = walk(source, 13 + colour_bytes(big_at(head, 10, 1)), info.stored);
  if (frames.count == 0) fail("truncated GIF: no image in it");
  info.type = {.cls = PixelClass::uint8, .channels = 3, .alpha = frames.alpha, .white = 255};
  info.pages = frames.count;
  info.detail = frames.count > 1 ? "8-bit palette, animated" : "8-bit palette";
  return info;
}

}  // namespace impipe::io
