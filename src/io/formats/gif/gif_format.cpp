// GIF: its blocks are walked for its header and for what stands beside its frames: comments,
// profiles, XMP, and extensions of other programs. None of its pictures is unpacked.
#include <algorithm>

#include "io/formats/by_module.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

constexpr std::uint64_t gif_extension = 0x21, gif_picture = 0x2c, gif_trailer = 0x3b;
constexpr std::int64_t gif_head_bytes = 13;

// Of the palette that these flags announce.
std::int64_t gif_palette_bytes(std::uint64_t flags) {
  return (flags & 0x80) != 0 ? std::int64_t{3} << ((flags & 7) + 1) : 0;
}

// Behind the sub-blocks that begin at `at`; the file's end if they are cut short.
std::int64_t behind_gif_blocks(const ByteSource& source, std::int64_t at) {
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
      fail("damaged GIF: no block at byte ", at);
    }
  }
  // Many a file has no trailer, but none ends within a block.
  if (at > source.size()) fail("truncated GIF: it ends at byte ", source.size());
}

constexpr std::uint64_t comment = 0xfe, application = 0xff, plain_text = 0x01, control = 0xf9;
constexpr size_t name_bytes = 11;  // an application's, its code included

// The content of the sub-blocks that begin at `at`; of much more than `most` bytes the beginning.
std::string joined(const ByteSource& source, std::int64_t at, std::uint64_t most) {
  std::string out;
  while (out.size() <= most) {
    const std::uint64_t length = big_at(source.read_some(at, 1), 0, 1);
    if (length == 0) return out;
    out += source.read_some(at + 1, static_cast<std::int64_t>(length));
    at += 1 + static_cast<std::int64_t>(length);
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const ByteSource& source) : source_(source) {}

  MetadataRead read() {
    visit_gif_blocks(source_, [&](std::uint64_t kind, const std::string& block, std::int64_t at) {
      if (kind == gif_extension) take(big_at(block, 1, 1), at + 2);
    });
    // Pixels are (number + 15) / 64 times as wide as high.
    constexpr double square = 49;
    const double aspect = static_cast<double>(big_at(source_.read_some(12, 1), 0, 1));
    if (aspect > 0 && aspect != square) {
      out_.metadata.resolution = Resolution{64, aspect + 15, Resolution::Unit::none};
    }
    return std::move(out_);
  }

 private:
  void lose(const std::string& name) { out_.lose(name); }

  void take(std::uint64_t label, std::int64_t at) {
    if (label == comment) {
      std::string text = joined(source_, at, out_.room);
      if (out_.takes(text.size(), "a comment")) out_.metadata.comments.push_back(std::move(text));
    } else if (label == plain_text) {
      lose("a text drawn over its frames");
    } else if (label == application) {
      take_application(at);
    } else if (label != control) {
      lose("an extension of kind " + std::to_string(label));
    }
  }

  void take_application(std::int64_t at) {
    Metadata& m = out_.metadata;
    const std::string head = source_.read_some(at, 1 + name_bytes);
    if (big_at(head, 0, 1) != name_bytes || head.size() < 1 + name_bytes) {
      return lose("an application's block");
    }
    const std::string name = head.substr(1);
    const std::int64_t data = at + 1 + static_cast<std::int64_t>(name_bytes);
    // How often the frames are repeated, which is lost with their times.
    if (name == "NETSCAPE2.0" || name == "ANIMEXTS1.0") return;
    if (name == "XMP DataXMP" && m.xmp.empty()) {
      // The packet itself, whose bytes pass for sub-blocks, and a magic tail that ends any of them.
      constexpr std::int64_t tail = 258;  // bytes, with the one that ends the blocks
      const std::int64_t end = behind_gif_blocks(source_, data);
      if (!out_.takes(static_cast<std::uint64_t>(end - data), "XMP")) return;
      m.xmp = upright_xmp(source_.read_some(data, end - data - tail));
      if (m.xmp.empty()) lose("XMP that cannot be read");
    } else if (name == "ICCRGBG1012" && m.icc.empty()) {
      const std::string profile = joined(source_, data, out_.room);
      if (out_.takes(profile.size(), "ICC profile")) m.icc = bytes_of_text(profile);
    } else {
      lose("block of '" + name.substr(0, name.find_last_not_of('\0') + 1) + "'");
    }
  }

  const ByteSource& source_;
  MetadataRead out_;
};

// What of the pictures in the file decides the type of all.
struct Frames {
  int count = 0;
  bool alpha = false;
};

Frames frames_of(const ByteSource& source, Size screen) {
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
    const Size size = size_of(little_at(block, 5, 2), little_at(block, 7, 2));
    const bool covers =
        little_at(block, 1, 4) == 0 && size.width >= screen.width && size.height >= screen.height;
    if (frames.count++ == 0 && !covers) frames.alpha = true;
  });
  return frames;
}

ImageInfo read_header(const HeaderInput& input) {
  const ByteSource& source = input.source;
  const std::string head = source.read(0, gif_head_bytes);
  ImageInfo info;
  info.stored = size_of(little_at(head, 6, 2), little_at(head, 8, 2));
  const Frames frames = frames_of(source, info.stored);
  if (frames.count == 0) fail("truncated GIF: no image in it");
  info.type = type_of(PixelClass::uint8, 3, frames.alpha);
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
    .can = {Can::eight, Can::alpha, Can::metadata},
    .pages = Pages::like_frames,
    .sniff =
        [](std::string_view head) {
          return head.starts_with("GIF87a") || head.starts_with("GIF89a");
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode = not_encoded,
    .read_metadata =
        [](const MetadataInput& input) { return Reader(ByteSource(input.file)).read(); },
    .with_metadata = lose_metadata,
};

}  // namespace impipe::io
