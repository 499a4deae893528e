// Reads no more of a description than which program wrote it, and lines of ImageJ's.
#include "io/metadata/descriptions.hpp"

#include <algorithm>
#include <iterator>

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
  if (change.pixels.scaled() && erase_lines(text, {"unit=", "yunit="})) {
    lost.emplace_back("ImageJ's scale");
  }
  return text;
}

}  // namespace

bool is_of_imagej(std::string_view description) { return description.starts_with("ImageJ="); }

std::string description_of(std::string_view text, const DescriptionChange& change,
                           std::vector<std::string>& lost) {
  if (is_of_imagej(text)) return imagej_description(std::string(text), change, lost);
  for (const Kind& kind : kinds) {
    if (!kind.is_one(text) || !is_stale(kind, change)) continue;
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
