// Chunks of a PNG file: metadata taken out of them and put in.
#include <algorithm>
#include <cmath>
#include <utility>

#include "io/bytes/byte_source.hpp"
#include "io/formats/png/png_metadata.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/orientation.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/xmp.hpp"
#include "io/module/codec_module.hpp"
#include "io/module/module.hpp"

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

constexpr size_t after_header = 33;  // the signature and IHDR
constexpr std::string_view xmp_keyword = "XML:com.adobe.xmp", raw_profile = "Raw profile type ";

std::string inflated(std::string_view packed, std::uint64_t most) {
  return codec_module(main_module).inflate(packed, static_cast<std::int64_t>(most));
}

// Calls visit(kind, data, whole chunk) for the chunks after IHDR.
template <class Visit>
void visit_chunks(std::string_view file, Visit visit) {
  constexpr size_t frame = 12;  // bytes of a chunk beside its data
  for (size_t at = after_header; at + frame <= file.size();) {
    const std::uint64_t length = big_at(file, at, 4);
    if (length > file.size() - at - frame) return;
    const std::string_view kind = file.substr(at + 4, 4);
    visit(kind, file.substr(at + 8, length), file.substr(at, length + frame));
    if (kind == "IEND") return;
    at += length + frame;
  }
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  MetadataRead read() {
    visit_chunks(file_, [&](std::string_view kind, std::string_view data, std::string_view chunk) {
      if (kind == "tEXt" || kind == "zTXt" || kind == "iTXt") return take_text(kind, data, chunk);
      if (kind == "iCCP") return take_profile(data);
      if (kind == "eXIf") return take_exif(data);
      if (kind == "PLTE") palette_ = data;
      take_other(kind, data, chunk);
    });
    Metadata& m = out_.metadata;
    if (m.exif.empty() && !older_exif_.empty()) take_exif(older_exif_);
    if (m.icc.empty()) m.icc = bytes_of_text(older_icc_);
    if (!m.resolution) {
      const auto said = exif_resolution(text_of(m.exif));
      if (said && said->unit != Resolution::Unit::none) m.resolution = said;
    }
    m.pieces_of = Format::png;
    return std::move(out_);
  }

 private:
  void take_exif(std::string_view block) {
    if (block.starts_with("Exif\0\0"sv)) block.remove_prefix(6);
    if (!out_.takes(block.size(), "EXIF")) return;
    if (!is_exif(block)) return out_.lost.push_back("EXIF that cannot be read");
    if (!out_.metadata.exif.empty()) {
      return out_.lost.push_back("a second EXIF block");
    }
    out_.metadata.exif = bytes_of_text(upright_exif(std::string(block)));
  }

  // Counts what was inflated; what is too long takes all room, so that many of them take no longer
  // than one.
  bool takes_inflated(const std::string& text, const std::string& name) {
    const bool fits = out_.takes(text.size(), name);
    if (!fits) out_.room = 0;
    return fits;
  }

  void take_text(std::string_view kind, std::string_view data, std::string_view chunk) {
    PngText text = png_text(kind, data, out_.room);
    Metadata& m = out_.metadata;
    if (text.keyword.empty()) return out_.lost.push_back("a text that cannot be read");
    const std::string name = "text '" + text.keyword + "'";
    if (!(text.packed ? takes_inflated(text.text, name) : out_.takes(text.text.size(), name))) {
      return;
    }
    if (text.keyword == xmp_keyword) {
      if (m.xmp.empty()) m.xmp = upright_xmp(std::move(text.text));
    } else if (text.keyword.starts_with(raw_profile)) {
      take_raw_profile(text, chunk);
    } else if (text.keyword == "Comment" && text.plain) {
      m.comments.push_back(std::move(text.text));
    } else {
      m.pieces.push_back({name, std::string(chunk)});
    }
  }

  // ImageMagick's way: hexadecimal digits.
  void take_raw_profile(const PngText& text, std::string_view chunk) {
    const std::string kind = text.keyword.substr(raw_profile.size());
    std::string bytes = raw_profile_bytes(text.text);
    Metadata& m = out_.metadata;
    if ((kind == "exif" || kind == "APP1") && bytes.starts_with("Exif\0\0"sv)) {
      if (older_exif_.empty()) older_exif_ = std::move(bytes);
    } else if (kind == "APP1" && bytes.starts_with("http://ns.adobe.com/xap/1.0/\0"sv)) {
      if (m.xmp.empty()) m.xmp = upright_xmp(bytes.substr(29));
    } else if (kind == "exif" && is_exif(bytes)) {
      if (older_exif_.empty()) older_exif_ = std::move(bytes);
    } else if (kind == "xmp") {
      if (m.xmp.empty()) m.xmp = upright_xmp(std::move(bytes));
    } else if ((kind == "iptc" || kind == "8bim") && bytes.starts_with("8BIM")) {
      if (m.photoshop.empty()) m.photoshop = bytes_of_text(bytes);
    } else if (kind == "iptc" && bytes.starts_with("\x1c")) {
      if (m.photoshop.empty()) m.photoshop = bytes_of_text(resources_of_iptc(bytes));
    } else if (kind == "icc" || kind == "icm") {
      older_icc_ = std::move(bytes);
    } else {
      m.pieces.push_back({"text '" + text.keyword + "'", std::string(chunk)});
    }
  }

  void take_profile(std::string_view data) {
    const size_t end = data.find('\0');
    std::string profile;
    if (end != data.npos && end + 2 <= data.size())
      profile = inflated(data.substr(end + 2), out_.room);
    if (profile.empty()) return out_.lost.push_back("an ICC profile that cannot be read");
    if (!takes_inflated(profile, "ICC profile")) return;
    out_.metadata.icc = bytes_of_text(profile);
    if (end > 0) out_.metadata.icc_name = data.substr(0, end);
  }

  // Bytes of a chunk that has always as many; 0 for others.
  size_t bytes_of_kind(std::string_view kind) const {
    static constexpr std::pair<std::string_view, size_t> known[] = {
        {"gAMA", 4}, {"cHRM", 32}, {"sRGB", 1}, {"cICP", 4}, {"mDCV", 24}, {"mDCv", 24},
        {"cLLI", 8}, {"cLLi", 8},  {"tIME", 7}, {"oFFs", 9}, {"pHYs", 9}};
    if (kind == "bKGD") return file_[25] == 3 ? 1 : (file_[25] & 2) != 0 ? 6 : 2;
    for (const auto& [name, bytes] : known) {
      if (kind == name) return bytes;
    }
    return 0;
  }

  void take_other(std::string_view kind, std::string_view data, std::string_view chunk) {
    const std::string bytes(data.substr(0, 64));
    if (const size_t wanted = bytes_of_kind(kind); wanted > 0 && data.size() != wanted) {
      return out_.lost.push_back("chunk " + std::string(kind) + " that cannot be read");
    }
    const auto keep = [&](std::string name) {
      if (!out_.takes(chunk.size(), "chunk " + std::string(kind))) return;
      out_.metadata.pieces.push_back({std::move(name), std::string(chunk)});
    };
    if (kind == "pHYs") {
      out_.metadata.resolution = Resolution{
          static_cast<double>(big_at(bytes, 0, 4)), static_cast<double>(big_at(bytes, 4, 4)),
          bytes[8] == 1 ? Resolution::Unit::metre : Resolution::Unit::none};
      if (!(out_.metadata.resolution->x > 0 && out_.metadata.resolution->y > 0)) {
        out_.metadata.resolution.reset();
      }
    } else if (kind == "gAMA") {
      // What is meant where nothing is said needs no word.
      constexpr std::uint64_t srgb = 45455;
      keep(big_at(bytes, 0, 4) == srgb ? "" : "gamma");
    } else if (kind == "cHRM") {
      constexpr std::uint64_t srgb[] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
      bool usual = true;
      for (size_t i = 0; i < 8; ++i) usual = usual && big_at(bytes, 4 * i, 4) == srgb[i];
      keep(usual ? "" : "primary colours");
    } else if (kind == "sRGB") {
      keep("");
    } else if (kind == "cICP" || kind == "mDCV" || kind == "cLLI" || kind == "mDCv" ||
               kind == "cLLi") {
      keep("colour space (" + std::string(kind) + ")");
    } else if (kind == "tIME") {
      keep("time of change");
    } else if (kind == "oFFs" || kind == "pCAL" || kind == "sCAL") {
      keep("calibration (" + std::string(kind) + ")");
    } else if (kind == "bKGD") {
      keep_background(bytes);
    } else if (!is_storage(kind)) {
      // The fourth letter says whether a chunk may be copied when pixels change.
      if ((kind[3] & 0x20) != 0) return keep("chunk " + std::string(kind));
      out_.lost.push_back("chunk " + std::string(kind));
    }
  }

  // What says how pixels were stored, and animations, which pages are for.
  static bool is_storage(std::string_view kind) {
    constexpr std::string_view storage[] = {"PLTE", "tRNS", "sBIT", "hIST", "sPLT",
                                            "IDAT", "IEND", "acTL", "fcTL", "fdAT"};
    return std::ranges::find(storage, kind) != std::end(storage) || (kind[0] & 0x20) == 0;
  }

  // As red, green and blue of 16 bits.
  void keep_background(const std::string& data) {
    const int depth = file_[24], kind = file_[25];
    const std::uint64_t top = (std::uint64_t{1} << (kind == 3 ? 8 : depth)) - 1;
    std::string rgb;
    for (size_t c = 0; c < 3; ++c) {
      const std::uint64_t value = kind == 3 ? big_at(palette_, 3 * big_at(data, 0, 1) + c, 1)
                                            : big_at(data, (kind & 2) != 0 ? 2 * c : 0, 2);
      rgb += big(value * 65535 / top, 2);
    }
    out_.metadata.pieces.push_back({"background colour", std::string(4, '\0') + "bKGD" + rgb});
  }

  std::string_view file_, palette_;
  MetadataRead out_;
  std::string older_exif_, older_icc_;
};

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  return ~crc;
}

std::string chunk_of(std::string_view kind, std::string_view data) {
  const std::string body = std::string(kind) + std::string(data);
  return big(data.size(), 4) + body + big(crc_of(body), 4);
}

std::string raw_profile_text(std::string_view kind, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string size = std::to_string(bytes.size());
  size.insert(0, size.size() < 8 ? 8 - size.size() : 0, ' ');
  std::string text = "\n" + std::string(kind) + "\n" + size + "\n";
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {digits[byte >> 4], digits[byte & 15]};
    if (i % 36 == 35) text += '\n';
  }
  return text + "\n";
}

bool is_utf8_beyond_ascii(std::string_view text) {
  bool beyond = false;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const size_t more = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    if (byte >= 0x80 && (byte < 0xc2 || byte > 0xf4)) return false;
    for (size_t k = 1; k <= more; ++k) {
      if (i + k >= text.size() || (text[i + k] & 0xc0) != 0x80) return false;
    }
    beyond = beyond || more > 0;
    i += 1 + more;
  }
  return beyond;
}

class Writer {
 public:
  Writer(std::string_view file, const Metadata& metadata, Lost& lost)
      : file_(file), m_(metadata), lost_(lost), own_(metadata.pieces_of == Format::png) {}

  Bytes write() {
    if (!m_.icc.empty()) {
      out_ += chunk_of("iCCP", m_.icc_name + std::string(2, '\0') +
                                   codec_module(main_module).deflate(text_of(m_.icc)));
    }
    if (own_) add_pieces();
    add_resolution();
    if (!m_.exif.empty()) out_ += chunk_of("eXIf", text_of(m_.exif));
    if (!m_.xmp.empty()) {
      out_ += chunk_of("iTXt", std::string(xmp_keyword) + std::string(5, '\0') + m_.xmp);
    }
    if (!m_.photoshop.empty()) {
      out_ += chunk_of(
          "zTXt",
          std::string(raw_profile) + "iptc" + std::string(2, '\0') +
              codec_module(main_module).deflate(raw_profile_text("iptc", text_of(m_.photoshop))));
    }
    for (const std::string& text : m_.comments) add_comment(text);
    if (!own_) name_pieces(m_, lost_);
    return bytes_of_text(std::string(file_.substr(0, after_header)) + out_ +
                         std::string(file_.substr(after_header)));
  }

 private:
  void add_pieces() {
    for (const Piece& piece : m_.pieces) {
      const std::string_view kind = std::string_view(piece.bytes).substr(4, 4);
      if (kind == "bKGD") {
        add_background(piece);
      } else if (kind != "sRGB" || m_.icc.empty()) {  // a file has one of the two
        out_ += piece.bytes;
      }
    }
  }

  void add_background(const Piece& piece) {
    const int depth = file_[24], kind = file_[25];
    std::string data;
    const std::string rgb = piece.bytes.substr(8);
    const bool colour = (kind & 2) != 0;
    const bool gray = rgb.substr(0, 2) == rgb.substr(2, 2) && rgb.substr(0, 2) == rgb.substr(4, 2);
    if (!colour && !gray) return lost_.push_back(piece.name);
    const std::uint64_t top = (std::uint64_t{1} << depth) - 1;
    for (size_t c = 0; c < (colour ? 3u : 1u); ++c) {
      data += big((big_at(rgb, 2 * c, 2) * top + 32767) / 65535, 2);
    }
    out_ += chunk_of("bKGD", data);
  }

  void add_resolution() {
    if (!m_.resolution) return;
    const Resolution& r = *m_.resolution;
    const bool has_unit = r.unit != Resolution::Unit::none;
    if (!has_unit && r.x == r.y && !own_) return;
    const double scale = r.to_metre();
    const double most = 2147483647;
    const double x = std::round(r.x * scale), y = std::round(r.y * scale);
    if (x < 1 || y < 1 || x > most || y > most) return lost_.push_back("resolution");
    out_ +=
        chunk_of("pHYs", big(static_cast<std::uint64_t>(x), 4) +
                             big(static_cast<std::uint64_t>(y), 4) + (has_unit ? '\x01' : '\0'));
  }

  void add_comment(const std::string& text) {
    if (text.find('\0') != text.npos) return lost_.push_back("a comment that is no text");
    if (is_utf8_beyond_ascii(text)) {
      out_ += chunk_of("iTXt", "Comment" + std::string(5, '\0') + text);
    } else {
      out_ += chunk_of("tEXt", "Comment" + std::string(1, '\0') + text);
    }
  }

  std::string_view file_;
  const Metadata& m_;
  Lost& lost_;
  bool own_;  // the pieces are those of a PNG
  std::string out_;
};

}  // namespace

PngText png_text(std::string_view kind, std::string_view data, std::uint64_t most) {
  const size_t end = data.find('\0');
  if (end == data.npos) return {};
  PngText out{.keyword = std::string(data.substr(0, end)), .text = {}};
  std::string_view rest = data.substr(end + 1);
  out.packed = kind == "zTXt";
  if (out.packed) rest.remove_prefix(std::min<size_t>(1, rest.size()));
  if (kind == "iTXt") {
    if (rest.size() < 2) return {};
    out.packed = rest[0] == 1;
    rest.remove_prefix(2);
    for (int n = 0; n < 2; ++n) {
      const size_t stop = rest.find('\0');
      if (stop == rest.npos) return {};
      out.plain = out.plain && stop == 0;
      rest.remove_prefix(stop + 1);
    }
  }
  out.text = out.packed ? inflated(rest, most) : std::string(rest.substr(0, most + 1));
  if (out.packed && out.text.empty() && rest.size() > 8) out.keyword.clear();
  return out;
}

MetadataRead read_png_metadata(const MetadataInput& input) {
  return Reader(text_of(input.file)).read();
}

Bytes with_png_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                        Lost& lost) {
  const Metadata ready = metadata_of_picture(metadata, Format::png, picture, lost);
  return Writer(text_of(file), ready, lost).write();
}

}  // namespace impipe::io
