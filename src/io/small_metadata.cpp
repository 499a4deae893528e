// What TGA, Radiance HDR and QOI files say beside their pixels.
#include <algorithm>
#include <cstdlib>

#include "io/bytes/byte_source.hpp"
#include "io/headers.hpp"
#include "io/metadata/file_metadata.hpp"

namespace impipe::io {
namespace {

// A text of a field of fixed length, without what fills it up.
std::string field_at(const std::string& area, size_t at, size_t length) {
  const std::string field = at < area.size() ? area.substr(at, length) : "";
  const std::string text = field.substr(0, field.find('\0'));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

// The extension area of TGA 2.0 (Truevision, 1991), by the offsets of its fields.
void read_tga_extension(const std::string& area, MetadataRead& out) {
  constexpr size_t author = 2, comment = 43, date = 367, job = 379, aspect = 474, gamma = 478,
                   corrections = 482, stamp = 486;
  constexpr size_t name_length = 41, line_length = 81;
  if (!field_at(area, author, name_length).empty()) out.lose("its author's name");
  std::string lines;
  for (size_t line = 0; line < 4; ++line) {
    const std::string text = field_at(area, comment + line * line_length, line_length);
    if (!text.empty()) lines += (lines.empty() ? "" : "\n") + text;
  }
  if (!lines.empty()) out.metadata.comments.push_back(lines);
  if (little_at(area, date, 6) != 0) out.lose("its date");
  if (!field_at(area, job, name_length).empty()) out.lose("its job's name");
  const auto width = static_cast<double>(little_at(area, aspect, 2));
  const auto height = static_cast<double>(little_at(area, aspect + 2, 2));
  if (width > 0 && height > 0 && width != height) {
    // The wider the pixels, the fewer.
    out.metadata.resolution = Resolution{height, width, Resolution::Unit::none};
  }
  const std::uint64_t divisor = little_at(area, gamma + 2, 2);
  if (divisor != 0 && little_at(area, gamma, 2) != divisor) out.lose("its gamma");
  if (little_at(area, corrections, 4) != 0) out.lose("its table of colours to be corrected");
  if (little_at(area, stamp, 4) != 0) out.lose("a thumbnail");
}

// A line "NAME=value" of a Radiance header.
void read_hdr_variable(const std::string& line, MetadataRead& out) {
  const size_t equals = line.find('=');
  const std::string name = line.substr(0, equals);
  const bool is_name =
      equals != line.npos && !name.empty() && name.find_first_of(" \t") == name.npos;
  if (!is_name) return out.lose("its history");  // a program and its arguments
  if (name == "FORMAT" || name == "SOFTWARE") return;
  if (name == "PIXASPECT") {
    const double aspect = std::strtod(line.c_str() + equals + 1, nullptr);  // height over width
    if (aspect > 0 && aspect < 1e6 && aspect != 1) {
      out.metadata.resolution = Resolution{aspect, 1, Resolution::Unit::none};
    }
    return;
  }
  out.lose(name);
}

}  // namespace

MetadataRead read_tga_metadata(std::span<const std::byte> file) {
  constexpr std::int64_t head_bytes = 18, footer_bytes = 26, area_bytes = 495;
  const ByteSource source(file);
  MetadataRead out;
  const auto id_bytes = static_cast<std::int64_t>(big_at(source.read_some(0, 1), 0, 1));
  const std::string id = field_at(source.read_some(head_bytes, id_bytes), 0, 255);
  if (!id.empty()) out.metadata.comments.push_back(id);
  const std::string footer = source.read_some(source.size() - footer_bytes, footer_bytes);
  if (footer.size() != footer_bytes || footer.compare(8, 16, "TRUEVISION-XFILE") != 0) return out;
  const auto area = static_cast<std::int64_t>(little_at(footer, 0, 4));
  if (area > 0) read_tga_extension(source.read_some(area, area_bytes), out);
  if (little_at(footer, 4, 4) != 0) out.lose("its developer's area");
  if (tga_header(source).fourth_left_out)
    out.lose("a fourth byte a pixel that it says is no alpha");
  return out;
}

MetadataRead read_hdr_metadata(std::span<const std::byte> file) {
  MetadataRead out;
  const std::string_view text = text_of(file);
  for (size_t at = text.find('\n'); at != text.npos;) {
    const size_t end = std::min(text.find('\n', at + 1), text.size());
    const std::string line(text.substr(at + 1, end - at - 1));
    if (line.empty() || end == text.size()) break;
    if (line.front() == '#') {
      out.metadata.comments.push_back(
          line.substr(std::min(line.find_first_not_of("# "), line.size())));
    } else {
      read_hdr_variable(line, out);
    }
    at = end;
  }
  return out;
}

MetadataRead read_qoi_metadata(std::span<const std::byte> file) {
  constexpr std::int64_t space_at = 13;
  MetadataRead out;
  const bool linear = big_at(ByteSource(file).read_some(space_at, 1), 0, 1) == 1;
  if (linear) out.lose("that its colours are linear");
  return out;
}

}  // namespace impipe::io
