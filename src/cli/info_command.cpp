// impipe info: what is in a picture file.
#include <fmt/format.h>

#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/command.hpp"
#include "cli/json_text.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/tools/inspect.hpp"

namespace impipe::cli {
namespace {

struct InfoFlags {
  std::vector<std::string> files;
  std::string axes;
  bool json = false;
};

// " mm"; nothing where there is no unit.
std::string unit_text(const io::MeasuredAxis& axis) {
  return axis.unit.empty() ? "" : " " + io::symbol_of(axis.unit);
}

std::string line_of(const std::string& file, const engine::FileFacts& facts) {
  std::string line = fmt::format("{}: {}, {}, {}", printable(file), facts.format,
                                 to_string(facts.size), to_string(facts.type));
  if (!facts.detail.empty()) line += ", " + printable(facts.detail);
  if (facts.orientation != 1) line += fmt::format(", orientation {}", facts.orientation);
  const io::MeasuredAxis* x = io::axis_named(facts.measured, "x");
  const io::MeasuredAxis* y = io::axis_named(facts.measured, "y");
  if (x != nullptr && y != nullptr) {
    const std::string other = x->unit == y->unit ? "" : unit_text(*x);
    line += fmt::format(", pixels of {}{} x {}{}", x->scale, other, y->scale, unit_text(*y));
  }
  if (facts.pages != 1) line += fmt::format(", {} pages", facts.pages);
  const char* before = " (";
  for (const io::PageAxis& axis : facts.axes) {
    line += fmt::format("{}{} {}", std::exchange(before, ", "), axis.letter, axis.count);
    const io::MeasuredAxis* one = io::axis_named(facts.measured, {&axis.letter, 1});
    const bool is_said = one != nullptr && (one->scale != 1 || !one->unit.empty());
    if (is_said) line += fmt::format(" by {}{}", one->scale, unit_text(*one));
  }
  if (!facts.axes.empty()) line += ")";
  return line + "\n";
}

std::string json_of(const std::string& file, const engine::FileFacts& facts) {
  nlohmann::ordered_json axes = nlohmann::ordered_json::object();
  for (const io::PageAxis& axis : facts.axes) axes[std::string(1, axis.letter)] = axis.count;
  nlohmann::ordered_json measured = nlohmann::ordered_json::object();
  for (const io::MeasuredAxis& axis : facts.measured) {
    measured[axis.name] = {{"scale", axis.scale}, {"unit", axis.unit}, {"first", axis.translation}};
  }
  const nlohmann::ordered_json json{{"file", file},
                                    {"format", facts.format},
                                    {"width", facts.size.width},
                                    {"height", facts.size.height},
                                    {"class", name_of(facts.type.cls)},
                                    {"channels", facts.type.channels},
                                    {"alpha", facts.type.alpha},
                                    {"white", facts.type.white},
                                    {"orientation", facts.orientation},
                                    {"pages", facts.pages},
                                    {"axes", axes},
                                    {"measured", measured},
                                    {"detail", facts.detail}};
  return json_text(json) + "\n";
}

int show_info(const InfoFlags& flags) {
  if (flags.files.empty()) throw Error("no file given: impipe info FILE...");
  bool failed = false;
  for (const std::string& file : flags.files) {
    const engine::FileAtWork at_work(file.c_str());
    try {
      const engine::FileFacts facts = engine::inspect(file, flags.axes);
      write_stdout(flags.json ? json_of(file, facts) : line_of(file, facts));
    } catch (const Error& error) {
      if (std::string_view(error.what()).starts_with("stdout: ")) throw;
      write_stderr("impipe: " + printable(file) + ": " + error.what());
      failed = true;
    } catch (const std::bad_alloc&) {
      say_out_of_memory(file);
      failed = true;
    }
  }
  return static_cast<int>(failed ? ExitCode::file_failed : ExitCode::ok);
}

}  // namespace

void add_info(CommandSet& commands) {
  Command& command = commands.add("info");
  command.usage = "impipe info FILE...";
  command.summary = "Say what is in a picture file";
  auto flags = std::make_shared<InfoFlags>();
  command.takes(flags->files);
  add_axes(command.app, flags->axes);
  flag(command.app, "--json", flags->json, "As JSON lines");
  command.run = [flags] { return show_info(*flags); };
}

}  // namespace impipe::cli
