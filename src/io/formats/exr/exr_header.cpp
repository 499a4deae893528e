// Reads the headers of EXR files.
#include "io/formats/exr/exr_header.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

namespace impipe::io {
namespace {

constexpr int max_attributes = 1 << 14;  // of a part
constexpr std::int64_t max_channel_bytes = 1 << 20;
constexpr size_t max_parts = 4096;

std::array<int, 4> box_at(const std::string& text) {
  std::array<int, 4> box{};
  for (size_t i = 0; i < 4; ++i) {
    box[i] = static_cast<std::int32_t>(little_at(text, 4 * i, 4));
  }
  return box;
}

std::vector<ExrChannel> channels_in(const std::string& text) {
  std::vector<ExrChannel> channels;
  for (size_t at = 0; at < text.size() && text[at] != '\0';) {
    ExrChannel channel;
    channel.name = text.substr(at, text.find('\0', at) - at);
    at += channel.name.size() + 1;
    if (at + 16 > text.size()) fail("damaged EXR: its list of channels is cut off");
    const std::uint64_t type = little_at(text, at, 4);
    channel.x_sampling = little_at(text, at + 8, 4);
    channel.y_sampling = little_at(text, at + 12, 4);
    if (type > 2) fail("damaged EXR: channel ", channel.name, " is of no known type");
    channel.type = static_cast<ExrType>(type);
    at += 16;
    channels.push_back(std::move(channel));
  }
  return channels;
}

// Reads one text that ends in 0, and goes past it.
std::string text_at(const ByteSource& source, std::int64_t& at) {
  const std::string text = source.read_some(at, 256);
  const size_t end = text.find('\0');
  if (end == text.npos) {
    if (text.size() < 256) fail("truncated: the header ends at byte ", source.size());
    fail("damaged EXR: no name ends after byte ", at);
  }
  at += static_cast<std::int64_t>(end) + 1;
  return text.substr(0, end);
}

// Takes note of what an attribute says of the pixels.
void take(ExrPart& part, const ExrAttribute& attribute) {
  const std::string& name = attribute.name;
  const std::string& value = attribute.value;
  static constexpr std::pair<std::string_view, size_t> needed[] = {
      {"dataWindow", 16},      {"displayWindow", 16},      {"compression", 1},
      {"pixelAspectRatio", 4}, {"dwaCompressionLevel", 4}, {"tiles", 9},
      {"chunkCount", 4}};
  for (const auto& [attribute_name, bytes] : needed) {
    if (name == attribute_name && value.size() < bytes) {
      fail("damaged EXR: its ", name, " is cut off");
    }
  }
  if (name == "channels") {
    part.channels = channels_in(value);
    part.has_channels = true;
  } else if (name == "dataWindow") {
    part.data_window = box_at(value);
    part.has_data_window = true;
  } else if (name == "displayWindow") {
    part.display_window = box_at(value);
  } else if (name == "compression") {
    part.compression = little_at(value, 0, 1);
  } else if (name == "lineOrder") {
    part.line_order = little_at(value, 0, 1);
  } else if (name == "pixelAspectRatio") {
    part.pixel_aspect = exr_float(value);
  } else if (name == "dwaCompressionLevel") {
    part.dwa_level = exr_float(value);
  } else if (name == "tiles") {
    const std::uint64_t kind = little_at(value, 8, 1);
    part.tiles = {static_cast<std::uint32_t>(little_at(value, 0, 4)),
                  static_cast<std::uint32_t>(little_at(value, 4, 4)), static_cast<int>(kind & 15),
                  static_cast<int>(kind >> 4)};
  } else if (name == "name") {
    part.name = value;
  } else if (name == "type") {
    part.type = value;
  } else if (name == "chunkCount") {
    part.chunk_count = static_cast<std::int32_t>(little_at(value, 0, 4));
  }
}

// The part whose header begins at `at`, which then is the first byte after it; nothing for the
// empty header that ends a list of them.
std::optional<ExrPart> part_at(const ByteSource& source, std::int64_t& at) {
  ExrPart part;
  for (int count = 0; count < max_attributes; ++count) {
    std::string name = text_at(source, at);
    if (name.empty()) return count == 0 ? std::nullopt : std::optional(std::move(part));
    std::string type = text_at(source, at);
    const auto bytes = static_cast<std::int64_t>(little_at(source.read(at, 4), 0, 4));
    at += 4;
    if (bytes > source.size() - at) fail("truncated: the header ends at byte ", source.size());
    if (name == "channels" && bytes > max_channel_bytes) {
      fail("damaged EXR: its list of channels is too long");
    }
    part.attributes.push_back({std::move(name), std::move(type), source.read(at, bytes)});
    take(part, part.attributes.back());
    at += bytes;
  }
  fail("damaged EXR: its header has no end");
}

// What a header has to say, the more so in a file of several parts.
void check_part(const ExrPart& part, size_t number, bool several) {
  const std::string which = several ? "part " + std::to_string(number) : "it";
  if (several && part.name.empty()) fail("damaged EXR: ", which, " has no name");
  if (several) {
    constexpr std::string_view types[] = {"scanlineimage", "tiledimage", "deepscanline",
                                          "deeptile"};
    if (std::ranges::find(types, part.type) == std::end(types)) {
      fail("EXR with ", which, " (", part.name, ") of the type '", part.type, "' is not supported");
    }
  }
  if (!part.has_channels || part.channels.empty()) fail("damaged EXR: ", which, " has no channels");
  if (!part.has_data_window) {
    fail("damaged EXR: ", several ? "the header of " + which : "its header", " has no data window");
  }
  if (part.compression >= std::size(exr_compressions)) {
    // OpenEXR 3.4 and 3.5; libraries before read none of them.
    static constexpr const char* newer[] = {"HTJ2K256", "HTJ2K32", "LJ2K", "ZSTD"};
    const std::uint64_t kind = part.compression - std::size(exr_compressions);
    fail("EXR with compression ", part.compression,
         kind < std::size(newer) ? std::string(" (") + newer[kind] + ")" : "", " is not supported");
  }
}

}  // namespace

float exr_float(const std::string& value) {
  const auto bits = static_cast<std::uint32_t>(little_at(value, 0, 4));
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

bool is_exr_structure(const std::string& name) {
  constexpr std::string_view names[] = {
      "channels", "compression", "dataWindow", "displayWindow", "dwaCompressionLevel", "lineOrder",
      "name",     "type",        "chunkCount", "tiles",         "pixelAspectRatio"};
  return std::ranges::find(names, name) != std::end(names);
}

ExrHeaders read_exr_headers(const ByteSource& source) {
  const auto flags = static_cast<std::uint32_t>(little_at(source.read(4, 4), 0, 4));
  ExrHeaders out;
  out.several = (flags & parts_flag) != 0;
  out.end = 8;
  do {
    std::optional<ExrPart> part = part_at(source, out.end);
    if (!part) break;
    out.parts.push_back(std::move(*part));
    if (out.parts.size() > max_parts) fail("damaged EXR: its parts have no end");
  } while (out.several);
  if (out.parts.empty()) fail("damaged EXR: its header is empty");
  std::set<std::string> names;
  for (size_t i = 0; i < out.parts.size(); ++i) {
    ExrPart& part = out.parts[i];
    check_part(part, i + 1, out.several);
    if (!names.insert(part.name).second) {
      fail("damaged EXR: two of its parts are called ", part.name);
    }
    const bool one_is_tiled = !out.several && (flags & tiled_flag) != 0;
    part.is_deep = (!out.several && (flags & deep_flag) != 0) || part.type.starts_with("deep");
    const bool is_tiled = one_is_tiled || part.type == "tiledimage" || part.type == "deeptile";
    if (is_tiled && (part.tiles.width == 0 || part.tiles.height == 0)) {
      fail("damaged EXR: its tiles have no size");
    }
    if (!is_tiled) part.tiles = {};
  }
  return out;
}

}  // namespace impipe::io
