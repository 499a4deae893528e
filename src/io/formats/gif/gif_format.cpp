// The header of a GIF: its blocks are walked, none of them unpacked.
#include "io/formats/by_module.hpp"
#include "io/formats/gif/gif_blocks.hpp"
#include "io/formats/gif/gif_metadata.hpp"

namespace impipe::io {
namespace {

// What of the pictures in the file decides the type of all.
struct Frames {
  int count = 0;
  bool alpha = false;
};

Frames frames_of(const ByteSource& source, Size screen) {
  constexpr std::uint64_t control = 0xf9;
  Frames frames;
  visit_gif_blocks(source, [&](std::uint64_t kind, const std::string& block, std::int64_t) {
    if (kind == gif_extension) {
      if (big_at(block, 1, 1) != control || block.size() < 4) return;
      const std::uint64_t flags = big_at(block, 3, 1);
      const std::uint64_t disposal = flags >> 2 & 7;
      // What is cleared behind a picture is clear.
      frames.alpha = frames.alpha || (flags & 1) != 0 || disposal == 2;
      return;
    }
    const Size size{static_cast<std::int64_t>(little_at(block, 5, 2)),
                    static_cast<std::int64_t>(little_at(block, 7, 2))};
    const bool covers =
        little_at(block, 1, 4) == 0 && size.width >= screen.width && size.height >= screen.height;
    if (frames.count++ == 0 && !covers) frames.alpha = true;
  });
  return frames;
}

ImageInfo gif_header(const ByteSource& source) {
  const std::string head = source.read(0, gif_head_bytes);
  ImageInfo info{.format = Format::gif};
  info.stored = {static_cast<std::int64_t>(little_at(head, 6, 2)),
                 static_cast<std::int64_t>(little_at(head, 8, 2))};
  const Frames frames = frames_of(source, info.stored);
  if (frames.count == 0) fail("truncated GIF: no image in it");
  info.type = {.cls = PixelClass::uint8, .channels = 3, .alpha = frames.alpha, .white = 255};
  info.pages = frames.count;
  info.detail = frames.count > 1 ? "8-bit palette, animated" : "8-bit palette";
  return info;
}

}  // namespace

const FormatTraits gif_format{
    .format = Format::gif,
    .name = "GIF",
    .extensions = "gif",
    .module = "impipe_codec_gif",
    .library = "giflib",
    .eight = true,
    .alpha = true,
    .metadata = true,
    .pages = Pages::frames,
    .headers_alike = true,
    .sniff =
        [](std::string_view head) {
          return head.starts_with("GIF87a") || head.starts_with("GIF89a");
        },
    .header = [](const HeaderInput& input) { return gif_header(input.source); },
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata = [](std::span<const std::byte> file, const ImageInfo&,
                        std::span<const int>) { return read_gif_metadata(file); },
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
