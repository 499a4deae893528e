// Reads no more of a description than which program wrote it, and what of it follows the pixels.
#include "io/metadata/descriptions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace impipe::io {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Descriptions that hold as a whole or not at all.
struct Kind {
  const char* name;
  bool (*is_one)(std::string_view text);
  // What it is bound to: the places of pixels, the size, the part of the scene that one covers, the
  // type of samples, the channels, the pages of its file.
  bool places, size, scale, samples, channels, pages;
};
constexpr Kind kinds[] = {
    {"OME-XML", [](std::string_view t) { return has(t, "<OME") && has(t, "SizeX"); }, true, true,
     true, true, true, true},
    {"tifffile's description",
     [](std::string_view t) {
       return (t.starts_with("{\"") && has(t, "\"shape\":")) || t.starts_with("shape=(");
     },
     false, true, false, false, true, false},
    {"MetaMorph's description",
     [](std::string_view t) { return t.starts_with("<MetaData>") && has(t, "pixel-size-x"); }, true,
     true, true, true, true, false},
    {"Aperio's description", [](std::string_view t) { return t.starts_with("Aperio"); }, true, true,
     true, false, false, false},
};

bool is_stale(const Kind& kind, const DescriptionChange& change) {
  const PixelChange& pixels = change.pixels;
  return (kind.places && pixels.moved()) || (kind.size && pixels.resized()) ||
         (kind.scale && pixels.scaled()) || (kind.samples && change.samples) ||
         (kind.channels && change.channels) || (kind.pages && pixels.pages);
}

// An attribute's value in a text of XML, between double quotes.
struct Attribute {
  size_t at = 0, count = 0;
};
std::optional<Attribute> attribute_of(std::string_view tag, const std::string& name) {
  const std::string begin = " " + name + "=\"";
  const size_t at = tag.find(begin), value = at + begin.size();
  const size_t end = at == tag.npos ? at : tag.find('"', value);
  if (end == tag.npos) return {};
  return Attribute{value, end - value};
}
double number_in(std::string_view tag, const Attribute& attribute) {
  double value = 0;
  const char* begin = tag.data() + attribute.at;
  std::from_chars(begin, begin + attribute.count, value);
  return value;
}
void set_number(std::string& tag, const std::string& name, double value) {
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const Attribute old = *attribute_of(tag, name);
  tag.replace(old.at, old.count, text.data(), static_cast<size_t>(end - text.data()));
}

// The element Pixels with the sizes of the result; nothing where it is not what it should be.
std::optional<std::string> moved_pixels(std::string tag, const PixelChange& change) {
  const auto width = attribute_of(tag, "SizeX"), height = attribute_of(tag, "SizeY");
  if (!width || !height || number_in(tag, *width) != static_cast<double>(change.before.width) ||
      number_in(tag, *height) != static_cast<double>(change.before.height)) {
    return {};
  }
  set_number(tag, "SizeX", static_cast<double>(change.after.width));
  set_number(tag, "SizeY", static_cast<double>(change.after.height));
  const auto x = attribute_of(tag, "PhysicalSizeX"), y = attribute_of(tag, "PhysicalSizeY");
  if (!x && !y) return tag;
  const auto unit_x = attribute_of(tag, "PhysicalSizeXUnit"),
             unit_y = attribute_of(tag, "PhysicalSizeYUnit");
  const auto unit = [&](const std::optional<Attribute>& of) {
    return of ? std::string_view(tag).substr(of->at, of->count) : std::string_view();
  };
  if (!x || !y || unit(unit_x) != unit(unit_y)) return {};
  const auto lengths = change.pixel_lengths({number_in(tag, *x), number_in(tag, *y)});
  if (!lengths) return {};
  set_number(tag, "PhysicalSizeX", lengths->x);
  set_number(tag, "PhysicalSizeY", lengths->y);
  return tag;
}

// OME-XML of one image after an affine map of its pixels, which stay rectangles in the scene.
// Nothing where it says where something lies: regions, and the stage's places of planes.
std::optional<std::string> moved_ome(std::string_view text, const PixelChange& change) {
  const bool is_known = change.place && !change.read_turned;
  const size_t begin = text.find("<Pixels "), end = text.find('>', std::min(begin, text.size()));
  if (!is_known || end == text.npos || has(text.substr(end), "<Pixels ")) return {};
  if (has(text, "<ROI") || has(text, "Position")) return {};
  const auto tag = moved_pixels(std::string(text.substr(begin, end - begin)), change);
  if (!tag) return {};
  return std::string(text.substr(0, begin)) + *tag + std::string(text.substr(end));
}

// tifffile's shape with the size of the result; nothing where the file's is not in it.
std::optional<std::string> resized_shape(std::string_view text, const PixelChange& change) {
  const size_t open = text.find_first_of("[(", text.find("shape"));
  const size_t close = text.find_first_of("])", std::min(open, text.size()));
  if (close == text.npos || change.read_turned) return {};
  std::vector<std::string> sizes;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(text.find(',', at), close);
    sizes.emplace_back(text.substr(at, end - at));
    std::erase(sizes.back(), ' ');
    at = end + 1;
  }
  const std::string before[] = {std::to_string(change.before.height),
                                std::to_string(change.before.width)};
  const auto found = std::ranges::find_end(sizes, before);
  if (found.empty()) return {};
  found.front() = std::to_string(change.after.height);
  *(found.begin() + 1) = std::to_string(change.after.width);
  std::string out(text.substr(0, open + 1));
  for (size_t i = 0; i < sizes.size(); ++i) out += (i > 0 ? ", " : "") + sizes[i];
  return out + std::string(text.substr(close));
}

// Without the lines that begin with one of these words; whether there were any.
bool erase_lines(std::string& text, std::initializer_list<std::string_view> words) {
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const auto line = std::string_view(text).substr(at, end - at);
    if (std::ranges::any_of(words, [&](std::string_view word) { return line.starts_with(word); })) {
      text.erase(at, end - at);
      any = true;
    } else {
      at = end;
    }
  }
  return any;
}

std::string imagej_description(std::string text, const DescriptionChange& change,
                               std::vector<std::string>& lost) {
  if (change.channels) {
    lost.emplace_back("ImageJ's description");
    return {};
  }
  if (change.samples && erase_lines(text, {"min=", "max=", "cf=", "c0=", "c1=", "vunit="})) {
    lost.emplace_back("ImageJ's range and calibration of values");
  }
  if (change.pixels.moved() && erase_lines(text, {"xorigin=", "yorigin="})) {
    lost.emplace_back("ImageJ's origin");
  }
  // The resolution in the file's own fields is in this unit, and follows the pixels.
  const bool follows =
      change.keeps_scale && (change.pixels.is_straight() || !has(text, "\nyunit="));
  if (change.pixels.scaled() && !follows && erase_lines(text, {"unit=", "yunit="})) {
    lost.emplace_back("ImageJ's scale");
  }
  return text;
}

}  // namespace

bool is_of_imagej(std::string_view description) { return description.starts_with("ImageJ="); }

std::string name_of_description(std::string_view description) {
  if (is_of_imagej(description)) return "ImageJ's description";
  const auto is_one = [&](const Kind& kind) { return kind.is_one(description); };
  const auto* const kind = std::ranges::find_if(kinds, is_one);
  return kind == std::end(kinds) ? "" : kind->name;
}

std::string description_of(std::string_view text, const DescriptionChange& change,
                           std::vector<std::string>& lost) {
  if (is_of_imagej(text)) return imagej_description(std::string(text), change, lost);
  for (const Kind& kind : kinds) {
    if (!kind.is_one(text) || !is_stale(kind, change)) continue;
    if (&kind == &kinds[0] && !change.samples && !change.channels && !change.pixels.pages) {
      if (auto moved = moved_ome(text, change.pixels)) return std::move(*moved);
    }
    if (&kind == &kinds[1] && !change.channels) {
      if (auto resized = resized_shape(text, change.pixels)) return std::move(*resized);
    }
    lost.emplace_back(kind.name);
    return {};
  }
  return std::string(text);
}

std::string gdal_without_statistics(std::string text) {
  constexpr std::string_view begin = "<Item name=\"STATISTICS_", end = "</Item>";
  for (size_t at = text.find(begin); at != text.npos; at = text.find(begin, at)) {
    const size_t close = text.find(end, at);
    if (close == text.npos) break;
    text.erase(at, close + end.size() - at);
  }
  return text;
}

}  // namespace impipe::io
