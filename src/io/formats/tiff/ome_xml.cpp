#include "io/formats/tiff/ome_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace impipe::io {
namespace {

// OME's name of the type of samples; empty: it has none.
std::string type_of(const TiffLayout& l) {
  if (l.numbers == tiff_float) return l.bits == 32 ? "float" : l.bits == 64 ? "double" : "";
  if (l.bits == 1) return "bit";
  if (l.bits != 8 && l.bits != 16 && l.bits != 32) return "";
  return fmt::format("{}int{}", l.numbers == tiff_signed ? "" : "u", l.bits);
}

// As characters between tags. Control characters, which XML has none of, are left out.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (code >= 0x20 || c == '\n' || c == '\t') {
      out += c;
    }
  }
  return out;
}

// Length along an axis, or time, as attributes of Pixels.
std::string measure_of(const MeasuredAxis& axis) {
  const std::string symbol = symbol_of(axis.unit);
  if (symbol == axis.unit) return "";
  const bool is_length = metres_of(axis.unit) > 0;
  if (axis.name == "t") {
    return is_length
               ? ""
               : fmt::format(R"( TimeIncrement="{}" TimeIncrementUnit="{}")", axis.scale, symbol);
  }
  if (!is_length) return "";
  const auto letter = static_cast<char>(axis.name.front() - 'a' + 'A');
  return fmt::format(R"( PhysicalSize{0}="{1}" PhysicalSize{0}Unit="{2}")", letter, axis.scale,
                     symbol);
}

}  // namespace

std::string ome_xml(const TiffLayout& layout, const FileAxes& file, std::string_view description) {
  const std::vector<PageAxis>& pages = file.pages;
  std::string order = "XY", sizes;
  for (auto axis = pages.rbegin(); axis != pages.rend(); ++axis) {
    order += static_cast<char>(axis->letter - 'a' + 'A');
  }
  int channels = 1, planes = 1;
  for (const PageAxis& axis : pages) planes *= axis.count;
  for (const char letter : std::string_view("ZCT")) {
    const auto is_it = [&](const PageAxis& axis) { return axis.letter == letter - 'A' + 'a'; };
    const auto axis = std::ranges::find_if(pages, is_it);
    if (axis == pages.end()) order += letter;
    std::uint64_t count = axis == pages.end() ? 1 : static_cast<std::uint64_t>(axis->count);
    if (letter == 'C') channels = static_cast<int>(std::exchange(count, count * layout.samples));
    sizes += fmt::format(R"( Size{}="{}")", letter, count);
  }
  const std::string type = type_of(layout);
  if (type.empty() || order.size() != 5) return "";  // another letter, or the type
  std::string out = fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">)"
      R"(<Image ID="Image:0">{}<Pixels ID="Pixels:0" DimensionOrder="{}" Type="{}" SizeX="{}" SizeY="{}"{})",
      description.empty() ? "" : "<Description>" + escaped(description) + "</Description>", order,
      type, layout.size.width, layout.size.height, sizes);
  for (const MeasuredAxis& axis : file.measured) out += measure_of(axis);
  out += ">";
  const bool has_names = std::ssize(file.channel_names) == channels;
  for (int channel = 0; channel < channels; ++channel) {
    const std::string name =
        has_names ? fmt::format(R"( Name="{}")", file.channel_names[static_cast<size_t>(channel)])
                  : "";
    out += fmt::format(R"(<Channel ID="Channel:0:{}" SamplesPerPixel="{}"{}/>)", channel,
                       layout.samples, name);
  }
  return out + fmt::format(R"(<TiffData IFD="0" PlaneCount="{}"/></Pixels></Image></OME>)", planes);
}

}  // namespace impipe::io
