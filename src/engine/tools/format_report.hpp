// What the picture formats can hold, for the user.
#pragma once

#include <string>
#include <vector>

namespace impipe::engine {

struct FormatReport {
  std::string name;                     // "JPEG XL"
  std::vector<std::string> extensions;  // the usual one first
  std::vector<std::string> classes;     // "uint8"
  bool writes = true;
  bool alpha = false, any_channels = false, metadata = false;
  bool reads_pages = false, writes_pages = false;
  bool lossy = false;   // always
  std::string library;  // empty for the program itself
};
std::vector<FormatReport> report_formats();

}  // namespace impipe::engine
