// Boxes of a JPEG 2000 file beside its picture, and the comments of its code stream
// (ISO/IEC 15444-1, annexes A and I; those of later parts are named): read, and put into a file
// that OpenJPEG wrote.
#include <algorithm>
#include <cmath>

#include "io/bytes/boxes.hpp"
#include "io/formats/by_module.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/orientation.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t id_bytes = 16;
// What programs put into boxes of kind "uuid".
constexpr std::string_view exif_id = "JpgTiffExif->JP2"sv,
                           adobe_exif_id =
                               "\x05\x37\xcd\xab\x9d\x0c\x44\x31\xa7\x2a\xfa\x56\x1f\x2a\x11\x3e"sv,
                           xmp_id =
                               "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"sv,
                           iptc_id =
                               "\x33\xc7\xa4\xd2\xb8\x1d\x47\x23\xa0\xba\xf1\xa3\xe0\x97\xad\x38"sv,
                           photoshop_id =
                               "\x2c\x4c\x01\x00\x85\x04\x40\xb9\xa0\x3e\x56\x21\x48\xd6\xdf\xeb"sv,
                           map_id =
                               "\xb1\x4b\xf8\xbd\x08\x3d\x4b\x43\xa5\xae\x8c\xd7\xd5\xa6\xce\x03"sv;

bool is_exif_id(std::string_view id) { return id == exif_id || id == adobe_exif_id; }

// Without the name that some put in front of the TIFF structure.
std::string exif_block(std::string content) {
  if (content.starts_with("Exif\0\0"sv)) content.erase(0, 6);
  return content;
}

// Those of numbers that divide each other, and an exponent of ten.
double density(const std::string& box, size_t at, size_t exponent_at) {
  const double divisor = static_cast<double>(big_at(box, at + 2, 2));
  const int exponent = static_cast<std::int8_t>(big_at(box, exponent_at, 1));
  return divisor == 0 ? 0
                      : static_cast<double>(big_at(box, at, 2)) / divisor * std::pow(10, exponent);
}

class Reader {
 public:
  explicit Reader(const ByteSource& source) : source_(source) {}

  MetadataRead read() {
    if (big_at(source_.read_some(0, 4), 0, 4) != 12) {
      take_code_stream({"jp2c", 0, source_.size()});
    } else {
      visit_boxes(source_, 0, source_.size(), [&](const Box& box) { take(box); });
    }
    if (code_streams_ > 1) {
      lose("further code streams (" + std::to_string(code_streams_ - 1) + ")");
    }
    Metadata& m = out_.metadata;
    m.resolution = display_ ? display_ : capture_;
    if (display_ && capture_ && !(*display_ == *capture_)) lose("the resolution of the scan");
    if (!m.resolution && !m.exif.empty()) m.resolution = exif_resolution(text_of(m.exif));
    return std::move(out_);
  }

 private:
  void lose(const std::string& name) { out_.lose(name); }
  bool takes(const Box& box) {
    return out_.takes(static_cast<std::uint64_t>(box.end - box.begin), "box '" + box.kind + "'");
  }

  void take(const Box& box) {
    // How the file is laid out, and empty room.
    static constexpr std::string_view structure[] = {"jP  ", "ftyp", "rreq", "free",
                                                     "ftbl", "jpch", "jplh"};
    if (std::ranges::find(structure, box.kind) != std::end(structure)) return;
    if (box.kind == "jp2h") {
      visit_boxes(source_, box.begin, box.end, [&](const Box& part) {
        if (part.kind == "res ") take_resolution(part);
        if (part.kind == "colr") take_profile(part);
      });
    } else if (box.kind == "jp2c") {
      if (++code_streams_ == 1) take_code_stream(box);
    } else if (box.kind == "uuid") {
      take_uuid(box);
    } else if (box.kind == "xml ") {
      lose("a box of XML");
    } else {
      lose("box '" + box.kind + "'");
    }
  }

  void take_uuid(const Box& box) {
    Metadata& m = out_.metadata;
    const std::string id = source_.read_some(box.begin, id_bytes);
    if (!takes(box)) return;
    std::string content = content_of(source_, {box.kind, box.begin + id_bytes, box.end});
    if (is_exif_id(id)) {
      std::string block = exif_block(std::move(content));
      if (!is_exif(block)) return lose("EXIF that cannot be read");
      if (!m.exif.empty()) return lose("a second EXIF block");
      m.exif = bytes_of_text(upright_exif(std::move(block)));
    } else if (id == xmp_id) {
      if (!m.xmp.empty()) return lose("a second XMP packet");
      m.xmp = upright_xmp(std::move(content));
    } else if (id == iptc_id || id == photoshop_id) {
      const Bytes more =
          bytes_of_text(id == iptc_id ? resources_of_iptc(content) : std::move(content));
      m.photoshop.insert(m.photoshop.end(), more.begin(), more.end());
    } else if (id == map_id) {
      lose("GeoJP2's place on a map");
    } else {
      lose("a box of a kind of its own (uuid)");
    }
  }

  // The first that there is: of a kind, 2 or 3, which says that a profile follows.
  void take_profile(const Box& box) {
    constexpr std::int64_t head_bytes = 3;
    const std::uint64_t kind = big_at(source_.read_some(box.begin, 1), 0, 1);
    if ((kind != 2 && kind != 3) || !out_.metadata.icc.empty()) return;
    if (box.end - box.begin <= head_bytes || !takes(box)) return;
    out_.metadata.icc =
        bytes_of_text(content_of(source_, {box.kind, box.begin + head_bytes, box.end}));
  }

  void take_resolution(const Box& box) {
    visit_boxes(source_, box.begin, box.end, [&](const Box& part) {
      const std::string content = content_of(source_, part);
      // The numbers of rows come before those of columns.
      const Resolution said{density(content, 4, 9), density(content, 0, 8),
                            Resolution::Unit::metre};
      if (!(said.x > 0 && said.y > 0 && said.x < 1e9 && said.y < 1e9)) return;
      (part.kind == "resd" ? display_ : capture_) = said;
    });
  }

  // The comments in its header.
  void take_code_stream(const Box& box) {
    constexpr std::uint64_t comment = 0xff64, start_of_tile = 0xff90;
    for (std::int64_t at = box.begin + 2; at + 4 <= box.end;) {
      const std::string head = source_.read_some(at, 6);
      const std::uint64_t marker = big_at(head, 0, 2), size = big_at(head, 2, 2);
      if (marker == start_of_tile || marker < 0xff00 || size < 2) return;
      const std::int64_t end = at + 2 + static_cast<std::int64_t>(size);
      if (marker == comment) take_comment(big_at(head, 4, 2), {"", at + 6, std::min(end, box.end)});
      at = end;
    }
  }

  void take_comment(std::uint64_t kind, const Box& where) {
    constexpr std::uint64_t latin = 1;
    std::string text = content_of(source_, where);
    if (!out_.takes(text.size(), "a comment")) return;
    if (kind != latin) return lose("a comment that is no text");
    // Which program wrote the file says nothing of the picture.
    for (const char* writer : {"Created by OpenJPEG", "Kakadu-", "Creator: JasPer"}) {
      if (text.starts_with(writer)) return;
    }
    text.erase(text.find_last_not_of('\0') + 1);
    out_.metadata.comments.push_back(std::move(text));
  }

  const ByteSource& source_;
  MetadataRead out_;
  std::optional<Resolution> display_, capture_;
  int code_streams_ = 0;
};

std::string box_of(std::string_view kind, std::string_view content) {
  constexpr std::uint64_t head_bytes = 8, long_head_bytes = 16;
  const std::uint64_t size = content.size() + head_bytes;
  const bool is_long = size > 0xffffffff;
  std::string out = big(is_long ? 1 : size, 4);
  out += kind;
  if (is_long) out += big(content.size() + long_head_bytes, 8);
  out += content;
  return out;
}

std::string uuid_of(std::string_view id, std::string_view content) {
  return content.empty() ? "" : box_of("uuid", std::string(id) += content);
}

// A box of resolution, "resc" of the scan or "resd" to be shown, has each number as a quotient of
// two of 16 bits, times a power of ten.
struct Density {
  std::uint64_t above = 0, below = 1;
  int exponent = 0;
};

Density density_of(double pixels_a_metre) {
  constexpr double most = 65535;
  Density out{0, 1, static_cast<int>(std::floor(std::log10(pixels_a_metre)))};
  double rest = pixels_a_metre / std::pow(10, out.exponent);  // 1 to 10
  double above = 1, below = 0;                                // the fraction before
  // By continued fractions: what is a short quotient is found exactly.
  for (int i = 0; i < 32; ++i) {
    const double whole = std::floor(rest);
    const double next_above = whole * static_cast<double>(out.above) + above;
    const double next_below = whole * static_cast<double>(out.below) + below;
    if (i == 0) {
      out = {static_cast<std::uint64_t>(whole), 1, out.exponent};
    } else if (next_above > most || next_below > most) {
      break;
    } else {
      above = static_cast<double>(out.above);
      below = static_cast<double>(out.below);
      out = {static_cast<std::uint64_t>(next_above), static_cast<std::uint64_t>(next_below),
             out.exponent};
    }
    constexpr double nothing = 1e-9;
    if (rest - whole < nothing) break;
    rest = 1 / (rest - whole);
  }
  return out;
}

std::string resolution_box(const Resolution& resolution) {
  const double scale = resolution.to_metre();
  const Density x = density_of(resolution.x * scale), y = density_of(resolution.y * scale);
  const std::string numbers = big(y.above, 2) + big(y.below, 2) + big(x.above, 2) +
                              big(x.below, 2) + static_cast<char>(y.exponent) +
                              static_cast<char>(x.exponent);
  // Both: some readers know one, some the other.
  return box_of("res ", box_of("resc", numbers) + box_of("resd", numbers));
}

bool has_resolution(const Metadata& m) {
  return m.resolution && m.resolution->unit != Resolution::Unit::none && m.resolution->x > 0 &&
         m.resolution->y > 0;
}

// The header's boxes, with a profile instead of the name of a colour space.
std::string header_with(const ByteSource& source, const Box& header, const Metadata& m) {
  std::string out;
  visit_boxes(source, header.begin, header.end, [&](const Box& box) {
    if (box.kind == "colr" && !m.icc.empty()) {
      const std::string head{2, 0, 0};  // a profile; of no precedence, not approximate
      out += box_of("colr", head + std::string(text_of(m.icc)));
    } else {
      out += box_of(box.kind, content_of(source, box));
    }
  });
  if (has_resolution(m)) out += resolution_box(*m.resolution);
  return out;
}

// The code stream with comments behind the segment of sizes, which is its first.
std::string stream_with(std::string stream, const Metadata& m, Lost& lost) {
  constexpr size_t most = 65531;  // bytes, of a segment with its length and the kind of text
  std::string comments;
  for (const std::string& comment : m.comments) {
    if (comment.size() > most) {
      lost.emplace_back("a comment of more than 65531 bytes");
    } else {
      comments += "\xff\x64" + big(comment.size() + 4, 2) + big(1, 2) + comment;
    }
  }
  constexpr size_t sizes_at = 4;  // behind two markers
  return stream.insert(sizes_at + static_cast<size_t>(big_at(stream, sizes_at, 2)), comments);
}

Bytes with_jp2_metadata(const Bytes& file, const Metadata& m, Lost& lost) {
  const ByteSource source(file);
  const std::string_view resources = text_of(m.photoshop);
  std::string out;
  visit_boxes(source, 0, source.size(), [&](const Box& box) {
    if (box.kind == "jp2h") {
      out += box_of("jp2h", header_with(source, box, m));
    } else if (box.kind == "jp2c") {
      out += uuid_of(exif_id, text_of(m.exif)) + uuid_of(xmp_id, m.xmp);
      // Many know the box of IPTC alone, and few that of Photoshop.
      out += has_only_iptc(resources) ? uuid_of(iptc_id, iptc_of(resources))
                                      : uuid_of(photoshop_id, resources);
      out += box_of("jp2c", stream_with(content_of(source, box), m, lost));
    } else {
      out += box_of(box.kind, content_of(source, box));
    }
  });
  return bytes_of_text(out);
}

// As EXIF or XMP say, else 1.
int jp2_orientation(const ByteSource& source) {
  SaidOrientation said;
  if (big_at(source.read_some(0, 4), 0, 4) != 12) return 1;
  visit_boxes(source, 0, source.size(), [&](const Box& box) {
    if (box.kind != "uuid") return;
    const std::string id = source.read_some(box.begin, id_bytes);
    const Box content{box.kind, box.begin + id_bytes, box.end};
    if (is_exif_id(id)) said.hear_exif(exif_block(content_of(source, content)));
    if (id == xmp_id) said.hear_xmp(content_of(source, content));
  });
  return said.value();
}

ImageInfo read_header(const HeaderInput& input) {
  ImageInfo info = header_by_module(input);
  info.orientation = jp2_orientation(input.source);
  return info;
}

Bytes encode(HostImage& image, const EncodeInput& input, Encoded& out) {
  EncodeOptions stored = input.options;
  stored.metadata = metadata_of_module(input.metadata, Format::jp2, image, out.lost);
  return with_jp2_metadata(encode_with_options(image, input, stored), stored.metadata, out.lost);
}

}  // namespace

const FormatTraits jp2_format{
    .format = Format::jp2,
    .name = "JPEG 2000",
    .extensions = "jp2 j2k j2c jpc jpf jpx",
    .module = "impipe_codec_jp2",
    .library = "libopenjp2",
    .can = {Can::eight, Can::sixteen, Can::alpha, Can::metadata},
    .sniff =
        [](std::string_view head) {
          using namespace std::string_view_literals;
          return head.starts_with("\0\0\0\x0cjP  \r\n\x87\n"sv) ||
                 head.starts_with("\xff\x4f\xff\x51");
        },
    .header = read_header,
    .decode = decode_by_module,
    .encode = encode,
    .read_metadata =
        [](const MetadataInput& input) { return Reader(ByteSource(input.file)).read(); },
    .with_metadata = metadata_encoded,
};

}  // namespace impipe::io
