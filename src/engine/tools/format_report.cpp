// Reads the table of formats out for the user.
#include "engine/tools/format_report.hpp"

#include <sstream>

#include "io/codec.hpp"

namespace impipe::engine {

std::vector<FormatReport> report_formats() {
  std::vector<FormatReport> out;
  for (const io::FormatTraits& format : io::all_formats()) {
    FormatReport report{.name = std::string(format.name),
                        .extensions = {},
                        .classes = {},
                        .writes = format.writes(),
                        .alpha = format.alpha,
                        .any_channels = format.any_channels,
                        .metadata = format.metadata,
                        .reads_pages = format.pages != io::Pages::one,
                        .writes_pages = format.writes_pages,
                        .lossy = format.lossy,
                        .library = std::string(format.library)};
    std::istringstream extensions{std::string(format.extensions)};
    for (std::string one; extensions >> one;) report.extensions.push_back(one);
    if (format.one_bit) report.classes.emplace_back("logical");
    if (format.eight) report.classes.emplace_back("uint8");
    if (format.sixteen) report.classes.emplace_back("uint16");
    if (format.floats) report.classes.emplace_back("single");
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace impipe::engine
