// The list of foreign picture formats.
#include "io/unread_formats.hpp"

#include <algorithm>
#include <iterator>

#include "io/formats.hpp"

namespace impipe::io {
namespace {

constexpr std::string_view unread[] = {
    "cin", "psd",  "psb", "xcf", "ico", "cur", "svg",  "pcx", "sgi", "rgb", "xpm", "xbm",  "dds",
    "ktx", "ktx2", "dcm", "crw", "nrw", "sr2", "x3f",  "3fr", "iiq", "mng", "jng", "apng", "jxr",
    "wdp", "hdp",  "eps", "ai",  "emf", "wmf", "flif", "bpg", "jls", "nii", "mrc"};

}  // namespace

std::string unread_extension(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == name.npos || format_of_extension(name)) return {};
  std::string lower(name.substr(dot + 1));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool known = std::find(std::begin(unread), std::end(unread), lower) != std::end(unread);
  return known ? lower : std::string();
}

std::string written_extensions() {
  std::string out;
  for (const FormatTraits& format : all_formats()) {
    if (!format.writes()) continue;
    if (!out.empty()) out += ", ";
    out += format.extensions.substr(0, format.extensions.find(' '));
  }
  return out;
}

}  // namespace impipe::io
