// impipe formats: the picture formats, and what each can hold.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/standard_output.hpp"
#include "engine/tools/format_report.hpp"

namespace impipe::cli {
namespace {

std::string others_of(const engine::FormatReport& format) {
  std::vector<std::string> out;
  if (!format.writes) out.emplace_back("only read");
  if (format.alpha) out.emplace_back("alpha");
  if (format.any_channels) out.emplace_back("any channels");
  if (format.metadata) out.emplace_back("metadata");
  if (format.reads_pages) out.emplace_back(format.writes_pages ? "pages" : "pages (in)");
  if (format.lossy) out.emplace_back("with loss");
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string text_of(const std::vector<engine::FormatReport>& formats) {
  std::string out;
  for (const engine::FormatReport& format : formats) {
    const std::string line =
        fmt::format("{:<13} {:<25} {:<28} {}", format.name,
                    fmt::format("{}", fmt::join(format.extensions, " ")),
                    fmt::format("{}", fmt::join(format.classes, " ")), others_of(format));
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out +
         "\n--codec opencv reads PNG, JPEG, TIFF and WebP through OpenCV, as a second opinion. It "
         "refuses\n1-bit pixels, gray with alpha, TIFFs with alpha or an orientation, and further "
         "pages, and does not\nnotice that a JPEG is cut short.\n";
}

std::string json_of(const std::vector<engine::FormatReport>& formats) {
  auto json = nlohmann::ordered_json::array();
  for (const engine::FormatReport& format : formats) {
    json.push_back({{"name", format.name},
                    {"extensions", format.extensions},
                    {"classes", format.classes},
                    {"writes", format.writes},
                    {"alpha", format.alpha},
                    {"any_channels", format.any_channels},
                    {"metadata", format.metadata},
                    {"reads_pages", format.reads_pages},
                    {"writes_pages", format.writes_pages},
                    {"lossy", format.lossy},
                    {"library", format.library}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

void add_formats(CommandSet& commands) {
  Command& command = commands.add("formats");
  command.usage = "impipe formats";
  command.summary = "List the picture formats and what each can hold";
  auto as_json = std::make_shared<bool>(false);
  flag(command.app, "--json", *as_json, "As JSON");
  command.run = [as_json] {
    const std::vector<engine::FormatReport> formats = engine::report_formats();
    write_stdout(*as_json ? json_of(formats) : text_of(formats));
    return 0;
  };
}

}  // namespace impipe::cli
