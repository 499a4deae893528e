// Changes values in the text of XMP packets.
#include "io/metadata/xmp.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "io/metadata/exif.hpp"
#include "io/metadata/thumbnail.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::io {
namespace {

// Calls change(begin, count) for each value of a property. It returns where to go on.
template <class Change>
void for_values(std::string& packet, std::string_view name, Change change) {
  for (size_t from = 0;;) {
    const auto [begin, end] = xmp_value(packet, name, from);
    const size_t stop = begin == packet.npos ? begin : packet.find(end, begin);
    if (stop == packet.npos) return;
    from = change(begin, stop - begin);
  }
}

// A whole number becomes another; anything else stays.
void replace_number(std::string& packet, std::string_view name, std::int64_t value) {
  const std::string text = std::to_string(value);
  for_values(packet, name, [&](size_t begin, size_t count) {
    size_t first = begin, last = begin + count;
    while (first < last && std::isspace(static_cast<unsigned char>(packet[first])) != 0) ++first;
    while (last > first && std::isspace(static_cast<unsigned char>(packet[last - 1])) != 0) --last;
    const std::string_view old = std::string_view(packet).substr(first, last - first);
    if (old.empty() || old.find_first_not_of("0123456789") != old.npos) return begin + count;
    packet.replace(first, last - first, text);
    return first + text.size();
  });
}

// A property's text in the packet, whole.
struct Extent {
  size_t begin = std::string_view::npos, end = 0;
  bool empty() const { return begin == std::string_view::npos; }
};

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
}

// Of the tag that begins at `at`: behind its '>'.
size_t end_of_tag(std::string_view packet, size_t at) {
  for (char quote = 0; at < packet.size(); ++at) {
    const char c = packet[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return packet.npos;
}

// The last end tag of a property in a packet, looked for once: where many elements have none, a
// search for each of them would take minutes.
class LastEnd {
 public:
  LastEnd(std::string_view packet, std::string_view property)
      : packet_(packet), tag_("</" + std::string(property)) {}
  bool is_behind(size_t at) {
    if (!found_) found_ = packet_.rfind(tag_);
    return *found_ != packet_.npos && *found_ >= at;
  }

 private:
  std::string_view packet_;
  std::string tag_;
  std::optional<size_t> found_;
};

// The element of the name [at + 1, name_end), which begins at `at`.
Extent element_at(std::string_view packet, size_t at, size_t name_end, LastEnd& last) {
  const size_t open_end = end_of_tag(packet, name_end);
  if (open_end == packet.npos) return {};
  if (packet[open_end - 2] == '/') return {at, open_end};
  if (!last.is_behind(open_end)) return {};
  const std::string close = "</" + std::string(packet.substr(at + 1, name_end - at - 1));
  const size_t closing = packet.find(close, open_end);
  const size_t end = closing == packet.npos ? closing : end_of_tag(packet, closing);
  return end == packet.npos ? Extent{} : Extent{at, end};
}

// The first one from `from` on; see xmp_without.
Extent property_in(std::string_view packet, std::string_view property, size_t from = 0) {
  LastEnd last(packet, property);
  for (size_t at = packet.find(property, from); at != packet.npos;
       at = packet.find(property, at + 1)) {
    size_t end = at + property.size();
    if (property.ends_with(':')) {
      while (end < packet.size() && is_in_name(packet[end])) ++end;
    } else if (end < packet.size() && is_in_name(packet[end])) {
      continue;
    }
    const char before = at == 0 ? '\0' : packet[at - 1];
    if (before == '<') {
      if (const Extent found = element_at(packet, at - 1, end, last); !found.empty()) return found;
    } else if (std::isspace(static_cast<unsigned char>(before)) != 0) {
      const size_t equals = packet.find_first_not_of(" \t\r\n", end);
      if (equals == packet.npos || packet[equals] != '=') continue;
      const size_t quote = packet.find_first_of("\"'", equals);
      if (quote == packet.npos) continue;
      const size_t close = packet.find(packet[quote], quote + 1);
      if (close != packet.npos) return {at, close + 1};
    }
  }
  return {};
}

std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    const unsigned word = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (size_t k = 0; k < 4; ++k) {
      out += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

constexpr const char* area_names[] = {"stArea:x", "stArea:y", "stArea:w", "stArea:h"};

// The middle and the sides of a rectangle, as parts of the picture's sides.
std::optional<std::vector<double>> rectangle_of(std::string_view area) {
  std::vector<double> out;
  for (const char* name : area_names) {
    const size_t begin = xmp_value(area, name, 0).begin;
    double value = 0;
    if (begin == area.npos) return {};
    const auto [end, error] =
        std::from_chars(area.data() + begin, area.data() + area.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return {};
    out.push_back(value);
  }
  const auto [begin, end] = xmp_value(area, "stArea:unit", 0);
  if (begin == area.npos || !area.substr(begin).starts_with("normalized")) return {};
  return out;
}

// The area that the rectangle covers in the result; nothing where it is not all to be seen.
std::optional<std::string> moved_area(std::string area, const PixelChange& change) {
  auto values = rectangle_of(area);
  if (!values) return {};
  const auto sides = [](Size size) {
    return std::pair{static_cast<double>(size.width), static_cast<double>(size.height)};
  };
  std::vector<double>& v = *values;
  const auto [width, height] = sides(change.before);
  const auto [new_width, new_height] = sides(change.after);
  v = {v[0] * width - 0.5, v[1] * height - 0.5, v[2] * width, v[3] * height};
  if (!follow_area(v, change)) return {};
  v = {(v[0] + 0.5) / new_width, (v[1] + 0.5) / new_height, v[2] / new_width, v[3] / new_height};
  for (size_t i = 0; i < 4; ++i) {
    constexpr double little = 1e-6;
    const double middle = v[i % 2], half = v[2 + i % 2] / 2;
    if (middle - half < -little || middle + half > 1 + little) return {};
    const std::string text = short_text(static_cast<float>(v[i]));
    for_values(area, area_names[i], [&](size_t begin, size_t count) {
      area.replace(begin, count, text);
      return begin + text.size();
    });
  }
  return area;
}

}  // namespace

XmpValue xmp_value(std::string_view packet, std::string_view name, size_t from) {
  constexpr const char* spaces = " \t\r\n\v\f";
  for (size_t at = packet.find(name, from); at != packet.npos; at = packet.find(name, at)) {
    at += name.size();
    size_t begin = packet.find_first_not_of(spaces, at);
    const bool attribute = begin != packet.npos && packet[begin] == '=';
    if (attribute) begin = packet.find_first_not_of(spaces, begin + 1);
    if (begin == packet.npos) break;
    const char quote = packet[begin];
    if (attribute && (quote == '"' || quote == '\'')) return {begin + 1, quote};
    if (!attribute && quote == '>') return {begin + 1, '<'};
  }
  return {};
}

std::string upright_xmp(std::string packet) {
  replace_number(packet, "tiff:Orientation", 1);
  return packet;
}

std::string xmp_without(std::string packet, std::string_view property) {
  for (Extent found = property_in(packet, property); !found.empty();
       found = property_in(packet, property, found.begin)) {
    packet.erase(found.begin, found.end - found.begin);
  }
  return packet;
}

std::optional<std::string> xmp_of_moved(std::string packet, const PixelChange& change) {
  const Extent regions = property_in(packet, "mwg-rs:Regions");
  if (regions.empty()) return packet;
  const std::string_view text = std::string_view(packet).substr(0, regions.end);
  std::string out = packet.substr(0, regions.begin);
  size_t done = regions.begin;
  for (Extent area; !(area = property_in(text, "mwg-rs:Area", done)).empty(); done = area.end) {
    const auto moved =
        moved_area(std::string(text.substr(area.begin, area.end - area.begin)), change);
    if (!moved) return {};
    out.append(text.substr(done, area.begin - done)).append(*moved);
  }
  if (done == regions.begin) return {};
  return out.append(packet, done);
}

bool has_xmp_thumbnail(std::string_view packet) { return packet.find("GImg:image") != packet.npos; }

std::string xmp_of_picture(std::string packet, Size size, std::string_view thumbnail) {
  for (const char* name : {"tiff:ImageWidth", "exif:PixelXDimension"}) {
    replace_number(packet, name, size.width);
  }
  for (const char* name : {"tiff:ImageLength", "exif:PixelYDimension"}) {
    replace_number(packet, name, size.height);
  }
  const Extent applied = property_in(packet, "mwg-rs:AppliedToDimensions");
  if (!applied.empty()) {
    std::string dimensions = packet.substr(applied.begin, applied.end - applied.begin);
    replace_number(dimensions, "stDim:w", size.width);
    replace_number(dimensions, "stDim:h", size.height);
    packet.replace(applied.begin, applied.end - applied.begin, dimensions);
  }
  if (!has_xmp_thumbnail(packet)) return packet;
  const Size small = jpeg_size(thumbnail);
  replace_number(packet, "GImg:width", small.width);
  replace_number(packet, "GImg:height", small.height);
  const std::string image = base64(thumbnail);
  for_values(packet, "GImg:image", [&](size_t begin, size_t count) {
    packet.replace(begin, count, image);
    return begin + image.size();
  });
  return packet;
}

}  // namespace impipe::io
