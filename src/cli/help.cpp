// Writes the help and version texts.
#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/operator.hpp"
#include "engine/device/session.hpp"

namespace impipe::cli {
namespace {

// The column in which explanations start, unless a flag is longer.
constexpr size_t help_column = 30;

std::string flag_text(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name + ", ";
  if (option.get_snames().empty()) text = "    ";
  text += "--" + option.get_lnames().front();
  if (option.get_type_size() > 0 && !option.get_type_name().empty()) {
    text += " " + option.get_type_name();
  }
  return text;
}

}  // namespace

std::string main_help() {
  return fmt::format(
      R"(impipe runs pipelines of MATLAB-style image operators over files and folders.

  impipe 'imadjust | conv2 k7 | edge prewitt' photos/ -o edges/    a folder
  impipe 'medfilt2 5' scan.tif -o clean.tif                         one file
  impipe 'mean2 | std2' photos/                                     measurements, on stdout
  impipe 'imlincomb 1 -1 :b' a/ --with b=b/ -o differences/         two inputs
  impipe 'phantom 512 | edge' -o phantom.png                        no input

  impipe PIPELINE INPUT... -o OUTPUT   the main job; its flags: impipe run --help
  impipe plan PIPELINE [INPUT]         what would be done: stages, types, steps
  impipe ops [NAME|WORD...]            the operators, or those that do something: ops blur
  impipe help NAME                     a command's flags, or an operator's parameters
  impipe devices                       what can be computed on
  impipe formats                       the picture formats, and what each can hold
  impipe bench PIPELINE...             how fast it is here
  impipe export PIPELINE DIR --to X    the kernels as source in opencl or cuda, for other programs
  impipe diff A B                      compares two pictures
  impipe info FILE...                  what is in a file
  impipe cache {:<23} the compiled kernels
  impipe serve                         keeps a card open for shell loops: impipe --via PIPELINE ...
  impipe completions bash|zsh|fish     completion scripts
  impipe --version [--verbose]

Inputs are files, folders (-r: with all below), globs, frame ranges (in.1-100#.exr), pipes and -
(stdin). What follows -- is no option, whatever it begins with.
Every flag has an environment variable: --max-pixels is IMPIPE_MAX_PIXELS.
Exit: 0 done, 1 some file failed, 2 usage, 3 nothing found, 4 no such device, 130/143 signals.
)",
      fmt::format("{}", fmt::join(cache_actions(), "|")));
}

std::string command_help(const Command& command) {
  std::string out = command.summary + ".\n\n  " + command.usage + "\n";
  if (!command.examples.empty()) {
    out += "\nExamples:\n";
    for (size_t at = 0; at < command.examples.size();) {
      const size_t end = std::min(command.examples.find('\n', at), command.examples.size());
      out += "  " + command.examples.substr(at, end - at) + "\n";
      at = end + 1;
    }
  }
  if (!command.notes.empty()) out += "\n" + command.notes;
  for (const std::string& group : command.app->get_groups()) {
    const std::vector<CLI::Option*> options =
        command.app->get_options([&](const CLI::Option* option) {
          return option->get_group() == group && !option->get_lnames().empty();
        });
    if (group.empty() || options.empty()) continue;  // without a group: the program's own
    out += "\n" + group + ":\n";
    for (const CLI::Option* option : options) {
      std::string text = flag_text(*option);
      if (text.size() > help_column) text += "\n" + std::string(help_column + 2, ' ');
      fmt::format_to(std::back_inserter(out), "  {:<{}} {}\n", text, help_column,
                     option->get_description());
    }
  }
  return out;
}

std::string version_text(bool verbose) {
  std::string out = "impipe " IMPIPE_VERSION "\n";
  if (!verbose) return out;
  fmt::format_to(std::back_inserter(out), "{} operators\ncompiler: {}\n", catalogue().size(),
                 __VERSION__);
  for (const DeviceInfo& device : engine::all_devices()) {
    fmt::format_to(std::back_inserter(out), "device: {}, {}{}\n", device.id, device.name,
                   device.usable ? "" : " (not usable: " + device.why_not + ")");
  }
  return out;
}

}  // namespace impipe::cli
