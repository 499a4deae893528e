// Extensions of a GIF beside its frames: comments, profiles, XMP, and those of other programs.
#include <algorithm>

#include "io/formats/gif/gif_blocks.hpp"
#include "io/formats/gif/gif_metadata.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

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

}  // namespace

MetadataRead read_gif_metadata(std::span<const std::byte> file) {
  return Reader(ByteSource(file)).read();
}

}  // namespace impipe::io
