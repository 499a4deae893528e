// Reads the table of formats out for the user.
#include "engine/tools/format_report.hpp"

#include <sstream>

#include "io/codec.hpp"

namespace impipe::engine {

using io::Can;

std::vector<FormatReport> report_formats() {
  std::vector<FormatReport> out;
  for (const io::FormatTraits& format : io::all_formats()) {
    FormatReport report{.name = std::string(format.name),
                        .extensions = {},
                        .classes = {},
                        .writes = format.writes(),
                        .alpha = format.can[Can::alpha],
                        .any_channels = format.can[Can::any_channels],
                        .metadata = format.can[Can::metadata],
                        .reads_pages = format.pages != io::Pages::one,
                        .writes_pages = format.can[Can::write_pages],
                        .lossy = format.lossy,
                        .library = std::string(format.library)};
    std::istringstream extensions{std::string(format.extensions)};
    for (std::string one; extensions >> one;) report.extensions.push_back(one);
    if (format.can[Can::one_bit]) report.classes.emplace_back("logical");
    if (format.can[Can::eight]) report.classes.emplace_back("uint8");
    if (format.can[Can::sixteen]) report.classes.emplace_back("uint16");
    if (format.can[Can::floats]) report.classes.emplace_back("single");
    out.push_back(std::move(report));
  }
  return out;
}

}  // namespace impipe::engine
