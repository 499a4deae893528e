// impipe diff: whether two pictures are the same, within limits.
#include <fmt/format.h>

#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/command.hpp"
#include "cli/json_text.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "engine/batch/file_at_work.hpp"
#include "engine/tools/inspect.hpp"

namespace impipe::cli {
namespace {

struct DiffFlags {
  std::vector<std::string> files;
  engine::DifferenceOptions limits;
  std::string axes;
  bool quiet = false, json = false;
};

// Nothing when there is no memory for it, which the user is told.
std::optional<HostImage> read(const std::string& file, const std::string& axes) {
  const engine::FileAtWork at_work(file.c_str());
  try {
    return engine::decode_file(file, axes);
  } catch (const std::bad_alloc&) {
    say_out_of_memory(file);
    return {};
  }
}

std::string json_of(const engine::Difference& d, const DiffFlags& flags) {
  nlohmann::ordered_json json{{"a", flags.files[0]}, {"b", flags.files[1]}, {"same", d.same}};
  if (!d.unlike.empty()) {
    json["unlike"] = d.unlike;
  } else {
    json.update(
        {{"mean", json_number(d.mean)}, {"rms", json_number(d.rms)}, {"max", json_number(d.max)}});
    if (d.max > 0) json["max_at"] = {{"x", d.max_x}, {"y", d.max_y}, {"channel", d.max_channel}};
    json.update({{"pixels", d.pixels}, {"failing", d.failing}, {"fail", flags.limits.fail}});
  }
  return json_text(json) + "\n";
}

// Prints the difference of two images, and returns the exit code.
int report(const HostImage& a, const HostImage& b, const DiffFlags& flags) {
  const engine::Difference d = engine::compare(a, b, flags.limits);
  std::string out;
  if (flags.json) {
    out = json_of(d, flags);
  } else if (!d.unlike.empty()) {
    out = "not alike: " + d.unlike + "\n";
  } else {
    out = fmt::format("mean {:.6g}  rms {:.6g}  max {:.6g}", d.mean, d.rms, d.max);
    if (d.max > 0) out += fmt::format(" at ({}, {}) channel {}", d.max_x, d.max_y, d.max_channel);
    out += fmt::format(
        "\n{} of {} pixels ({:.4g} %) differ by more than {:g}\n{}\n", d.failing, d.pixels,
        d.pixels > 0 ? 100.0 * static_cast<double>(d.failing) / static_cast<double>(d.pixels) : 0.0,
        flags.limits.fail, d.same ? "same" : "different");
  }
  if (!flags.quiet) write_stdout(out);
  return static_cast<int>(d.same ? ExitCode::ok : ExitCode::file_failed);
}

// As diff and cmp have it: 1 is a difference, 2 that there is nothing to compare.
constexpr ExitCode trouble = ExitCode::usage;

int show_difference(const DiffFlags& flags) {
  if (flags.files.size() != 2) throw Error("diff takes two files: impipe diff A B");
  const std::optional<HostImage> a = read(flags.files[0], flags.axes);
  const std::optional<HostImage> b = a ? read(flags.files[1], flags.axes) : std::nullopt;
  if (!b) return static_cast<int>(trouble);
  try {
    return report(*a, *b, flags);
  } catch (const std::bad_alloc&) {
    say_out_of_memory(flags.files[1]);
    return static_cast<int>(trouble);
  }
}

CLI::Validator from_zero(double most) {
  return CLI::Validator(
      [most](const std::string& text) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        if (is_number && value >= 0 && value <= most) return std::string();
        return "'" + text + "' is no number from 0" +
               (std::isfinite(most) ? fmt::format(" to {:g}", most) : "");
      },
      "");
}

}  // namespace

void add_diff(CommandSet& commands) {
  Command& command = commands.add("diff");
  command.usage = "impipe diff A B";
  command.summary = "Compare two pictures; exit 1 when they differ, 2 when one can't be read";
  command.examples =
      "impipe diff a.png b.png\n"
      "impipe diff a.png b.png --fail 0.004 --failpercent 1 --hardfail 0.1\n";
  auto flags = std::make_shared<DiffFlags>();
  CLI::App* app = command.app;
  command.takes(flags->files);
  option(app, "--fail", flags->limits.fail, "X",
         "A pixel fails when it differs by more than X, a fraction of white (default 1e-6)")
      ->check(from_zero(HUGE_VAL));
  option(app, "--failpercent", flags->limits.fail_percent, "P",
         "So many percent of the pixels may fail (default 0)")
      ->check(from_zero(100));
  option(app, "--hardfail", flags->limits.hard_fail, "X", "No pixel may differ by more than X")
      ->check(from_zero(HUGE_VAL));
  add_axes(app, flags->axes);
  flag(app, "-q,--quiet", flags->quiet, "Print nothing");
  flag(app, "--json", flags->json, "As JSON");
  command.run = [flags] {
    try {
      return show_difference(*flags);
    } catch (const Error& error) {
      throw Error(error.what(), trouble);
    }
  };
}

}  // namespace impipe::cli
