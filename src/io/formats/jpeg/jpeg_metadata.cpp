// Segments of a JPEG file: metadata taken out of them and put in.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "io/formats/jpeg/jpeg_metadata.hpp"
#include "io/metadata/exif.hpp"
#include "io/metadata/file_metadata.hpp"
#include "io/metadata/photoshop.hpp"
#include "io/metadata/xmp.hpp"

namespace impipe::io {
namespace {

using namespace std::string_view_literals;

constexpr int app1 = 0xe1, app2 = 0xe2, app13 = 0xed, progressive_frame = 0xc2;
constexpr size_t max_body = 65533;  // bytes of a segment, its size left out
constexpr std::string_view exif_name = "Exif\0\0"sv, xmp_name = "http://ns.adobe.com/xap/1.0/\0"sv,
                           more_xmp_name = "http://ns.adobe.com/xmp/extension/\0"sv,
                           icc_name = "ICC_PROFILE\0"sv, photoshop_name = "Photoshop 3.0\0"sv;

// Calls visit(marker, body, whole segment) for the segments in front of the pixels. Returns where
// the first scan's marker is, or the file's end.
template <class Visit>
size_t visit_segments(std::string_view file, Visit visit) {
  for (size_t at = 2; at + 4 <= file.size();) {
    if (byte_at(file, at) != 0xff || byte_at(file, at + 1) == 0xff ||
        byte_at(file, at + 1) < 0xc0) {
      ++at;  // whatever lies between segments, as libjpeg passes over it
      continue;
    }
    const int marker = byte_at(file, at + 1);
    if (marker == start_of_scan) return at;
    if (marker >= 0xd0 && marker <= 0xd9) {
      at += 2;
      continue;
    }
    const auto size = static_cast<size_t>(word_at(file, at + 2)) + 2;
    if (size < 4 || at + size > file.size()) return file.size();
    visit(marker, file.substr(at + 4, size - 4), file.substr(at, size));
    at += size;
  }
  return file.size();
}

// Bytes after the end of the picture that begins its scans at `at`.
std::string_view trailer_of(std::string_view file, size_t at) {
  while (at + 1 < file.size()) {
    const void* found = std::memchr(file.data() + at, 0xff, file.size() - at - 1);
    if (found == nullptr) return {};
    at = static_cast<size_t>(static_cast<const char*>(found) - file.data());
    const int marker = byte_at(file, at + 1);
    if (marker == end_of_image) return file.substr(at + 2);
    const bool has_body = marker >= 0xc0 && marker < 0xff && (marker < 0xd0 || marker > 0xd8);
    at += has_body && at + 4 <= file.size() ? 2 + static_cast<size_t>(word_at(file, at + 2))
          : marker == 0xff                  ? 1
                                            : 2;
  }
  return {};
}

// "APP11 'HDR_RI'": a segment that has no other name.
std::string name_of_segment(int marker, std::string_view body) {
  size_t end = 0;
  while (end < body.size() && end < 24 && body[end] > ' ' && body[end] < '\x7f') ++end;
  const std::string name = "APP" + std::to_string(marker - app0);
  return end < 3 ? name : name + " '" + std::string(body.substr(0, end)) + "'";
}

class Reader {
 public:
  MetadataRead read(std::string_view file) {
    const size_t scans = visit_segments(file, [&](int marker, std::string_view body,
                                                  std::string_view segment) {
      if (marker == comment) {
        if (!out_.takes(body.size(), "a comment")) return;
        out_.metadata.comments.emplace_back(body.substr(0, body.find_last_not_of('\0') + 1));
      } else if (marker == app0) {
        take_jfif(body);
      } else if (marker >= app1 && marker <= app15 && marker != app14) {  // 14 says how to decode
        take_segment(marker, body, segment);
      } else if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
                 marker != 0xcc) {
        take_frame(marker, body);
      }
    });
    join_profile();
    if (!resolution_has_unit()) {
      if (const auto said = exif_resolution(text_of(out_.metadata.exif))) {
        if (said->unit != Resolution::Unit::none) out_.metadata.resolution = said;
      }
    }
    const std::string_view trailer = trailer_of(file, scans);
    if (multi_picture_) {
      lose("further pictures (MPF)");
    } else if (trailer.find_first_not_of("\0\xff\r\n "sv) != trailer.npos) {
      lose("what follows its end (" + std::to_string(trailer.size()) + " bytes)");
    }
    out_.metadata.pieces_of = Format::jpeg;
    return std::move(out_);
  }

 private:
  void lose(const std::string& what) {
    if (std::ranges::find(out_.lost, what) == out_.lost.end()) {
      out_.lost.push_back(what);
    }
  }
  bool resolution_has_unit() const {
    return out_.metadata.resolution && out_.metadata.resolution->unit != Resolution::Unit::none;
  }

  void take_jfif(std::string_view body) {
    if (body.starts_with("JFXX\0"sv)) return lose("a JFIF thumbnail");
    if (!body.starts_with("JFIF\0"sv) || body.size() < 12 || out_.metadata.resolution) return;
    const int unit = byte_at(body, 7), x = word_at(body, 8), y = word_at(body, 10);
    if (x > 0 && y > 0 && unit <= 2 && (unit > 0 || x != y || x > 1)) {  // 1:1 says nothing
      constexpr Resolution::Unit units[] = {Resolution::Unit::none, Resolution::Unit::inch,
                                            Resolution::Unit::centimetre};
      out_.metadata.resolution =
          Resolution{static_cast<double>(x), static_cast<double>(y), units[unit]};
    }
    if (body.size() >= 14 && byte_at(body, 12) > 0 && byte_at(body, 13) > 0) {
      lose("a JFIF thumbnail");
    }
  }

  void take_segment(int marker, std::string_view body, std::string_view segment) {
    Metadata& m = out_.metadata;
    if (!out_.takes(body.size(), name_of_segment(marker, body))) return;
    if (marker == app1 && body.starts_with("Exif\0"sv)) {
      std::string block(body.substr(std::min(exif_name.size(), body.size())));
      if (!is_exif(block)) return lose("EXIF that cannot be read");
      if (!m.exif.empty()) return lose("a second EXIF block");
      m.exif = bytes_of_text(upright_exif(std::move(block)));
    } else if (marker == app1 && body.starts_with(xmp_name)) {
      if (!m.xmp.empty()) return lose("a second XMP packet");
      m.xmp = upright_xmp(std::string(body.substr(xmp_name.size())));
    } else if (marker == app2 && body.starts_with(icc_name) && body.size() > icc_name.size() + 2) {
      profile_parts_ = byte_at(body, icc_name.size() + 1);
      profile_[byte_at(body, icc_name.size())] = body.substr(icc_name.size() + 2);
    } else if (marker == app2 && body.starts_with("MPF\0"sv)) {
      multi_picture_ = true;
    } else if (marker == app13 && body.starts_with(photoshop_name)) {
      const Bytes more = bytes_of_text(body.substr(photoshop_name.size()));
      m.photoshop.insert(m.photoshop.end(), more.begin(), more.end());
    } else {
      const bool more_xmp = marker == app1 && body.starts_with(more_xmp_name);
      m.pieces.push_back(
          {more_xmp ? "extended XMP" : name_of_segment(marker, body), std::string(segment)});
    }
  }

  void take_frame(int marker, std::string_view body) {
    // Precision, height, width, the number of components, then three bytes each.
    if (body.size() < 6 || byte_at(body, 5) < 3) return;
    const auto count = static_cast<size_t>(byte_at(body, 5));
    if (body.size() < 6 + 3 * count) return;
    int across = 1, down = 1;
    for (size_t i = 0; i < count; ++i) {
      across = std::max(across, byte_at(body, 7 + 3 * i) >> 4);
      down = std::max(down, byte_at(body, 7 + 3 * i) & 15);
    }
    const int chroma = byte_at(body, 10);  // the second component
    JpegStorage storage{.progressive = marker == progressive_frame};
    storage.across = std::clamp(across / std::max(chroma >> 4, 1), 1, 4);
    storage.down = std::clamp(down / std::max(chroma & 15, 1), 1, 4);
    if (storage.across == 3) storage.across = 1;
    if (storage.down == 3) storage.down = 1;
    out_.metadata.jpeg = storage;
  }

  void join_profile() {
    std::string profile;
    for (int part = 1; part <= profile_parts_; ++part) {
      if (!profile_.contains(part)) return lose("an ICC profile that is incomplete");
      profile += profile_[part];
    }
    out_.metadata.icc = bytes_of_text(profile);
  }

  MetadataRead out_;
  std::map<int, std::string_view> profile_;
  int profile_parts_ = 0;
  bool multi_picture_ = false;
};

std::string segment_of(int marker, std::string_view body) {
  const size_t size = body.size() + 2;
  return std::string{'\xff', static_cast<char>(marker)} + big(size, 2) + std::string(body);
}

// The five bytes of a JFIF header: the unit and the densities; empty when they do not fit.
std::string density_of(const Resolution& resolution) {
  double x = resolution.x, y = resolution.y;
  int unit = resolution.unit == Resolution::Unit::none ? 0 : 1;
  if (resolution.unit == Resolution::Unit::none) {
    while (std::max(x, y) > 65535) {
      x /= 2;
      y /= 2;
    }
  } else {
    // Whole numbers an inch or a centimetre, whichever says it better.
    const double inch = resolution.unit == Resolution::Unit::inch    ? 1
                        : resolution.unit == Resolution::Unit::metre ? 0.0254
                                                                     : 2.54;
    const double centimetre = inch / 2.54;
    const auto error = [&](double scale) {
      return std::abs(x * scale - std::round(x * scale)) / (x * scale) +
             std::abs(y * scale - std::round(y * scale)) / (y * scale);
    };
    // PNG's whole numbers a metre come from those an inch or a centimetre, rounded.
    const double rounding =
        resolution.unit == Resolution::Unit::metre ? 1.01 / std::min(x, y) : 1e-9;
    const bool in_inches = error(inch) <= rounding || error(inch) <= error(centimetre);
    unit = in_inches ? 1 : 2;
    x *= in_inches ? inch : centimetre;
    y *= in_inches ? inch : centimetre;
  }
  const long long across = std::llround(x), down = std::llround(y);
  if (across < 1 || down < 1 || across > 65535 || down > 65535) return {};
  return {static_cast<char>(unit), static_cast<char>(across >> 8), static_cast<char>(across),
          static_cast<char>(down >> 8), static_cast<char>(down)};
}

std::string size_text(size_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; }

class Writer {
 public:
  Writer(const Metadata& metadata, Lost& lost) : m_(metadata), lost_(lost) {}

  Bytes write(std::string_view file) {
    size_t rest = 2;
    std::string out(file.substr(0, 2));
    visit_segments(file, [&](int marker, std::string_view body, std::string_view segment) {
      if (rest != 2 || marker != app0 || !body.starts_with("JFIF\0"sv)) return;
      rest += segment.size();
      out += segment;
      if (!m_.resolution) return;
      constexpr size_t density_at = 2 + 11;  // in the file
      const std::string density = density_of(*m_.resolution);
      if (density.empty()) return lost_.push_back("resolution");
      out.replace(density_at, density.size(), density);
    });
    add_exif();
    add("XMP", app1, std::string(xmp_name) + m_.xmp, m_.xmp.empty());
    add_profile();
    add_photoshop();
    for (const Piece& piece : m_.pieces) {
      if (m_.pieces_of == Format::jpeg) segments_ += piece.bytes;
    }
    for (const std::string& text : m_.comments) add("a comment", comment, text, false);
    name_pieces(m_.pieces_of == Format::jpeg ? Metadata{} : m_, lost_);
    out += segments_;
    out += file.substr(rest);
    return bytes_of_text(out);
  }

 private:
  void add(const char* name, int marker, const std::string& body, bool nothing) {
    if (nothing) return;
    if (body.size() > max_body) {
      return lost_.push_back(std::string(name) + " (" + size_text(body.size()) +
                             ", of which JPEG holds 64)");
    }
    segments_ += segment_of(marker, body);
  }

  void add_exif() {
    std::string block(text_of(m_.exif));
    if (block.size() + exif_name.size() > max_body && exif_thumbnail(block).side > 0) {
      lost_.push_back("the EXIF thumbnail");
      block = exif_without_thumbnail(std::move(block));
    }
    add("EXIF", app1, std::string(exif_name) + block, block.empty());
  }

  void add_profile() {
    const std::string_view profile = text_of(m_.icc);
    const size_t most = max_body - icc_name.size() - 2;
    const size_t parts = (profile.size() + most - 1) / most;
    if (parts > 255) return lost_.push_back("ICC profile (" + size_text(profile.size()) + ")");
    for (size_t i = 0; i < parts; ++i) {
      std::string body(icc_name);
      body += {static_cast<char>(i + 1), static_cast<char>(parts)};
      body += profile.substr(i * most, most);
      segments_ += segment_of(app2, body);
    }
  }

  // Readers join the resources of several segments.
  void add_photoshop() {
    const std::string_view resources = text_of(m_.photoshop);
    const size_t most = max_body - photoshop_name.size();
    for (size_t at = 0; at < resources.size(); at += most) {
      segments_ +=
          segment_of(app13, std::string(photoshop_name) + std::string(resources.substr(at, most)));
    }
  }

  const Metadata& m_;
  Lost& lost_;
  std::string segments_;
};

}  // namespace

MetadataRead read_jpeg_metadata(const MetadataInput& input) {
  return Reader().read(text_of(input.file));
}

Bytes with_jpeg_metadata(Bytes file, const Metadata& metadata, const PictureOfFile& picture,
                         Lost& lost) {
  const Metadata ready = metadata_of_picture(metadata, Format::jpeg, picture, lost);
  return Writer(ready, lost).write(text_of(file));
}

}  // namespace impipe::io
