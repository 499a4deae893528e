#include "cli/bench_flags.hpp"

#include <algorithm>
#include <fstream>

#include "cli/bench_variants.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::cli {
namespace {

constexpr int usual_size = 2048;

std::string with_size(std::string text, int size) {
  constexpr std::string_view field = "{size}";
  for (size_t at; (at = text.find(field)) != std::string::npos;) {
    text.replace(at, field.size(), std::to_string(size));
  }
  return text;
}

// The rows of a suite that --class, --match and --size leave. Rows that it has at several sizes are
// one at a size that was asked for.
void add_suite(const Suite& suite, const BenchFlags& flags, std::vector<WantedRow>& rows) {
  const bool has_class = !flags.cls.empty();
  const PixelClass cls = has_class ? parse_class("--class", flags.cls) : PixelClass::uint8;
  const auto first = static_cast<std::ptrdiff_t>(rows.size());
  std::vector<SuiteRow> resized;
  for (SuiteRow& row : suite.rows()) {
    if (has_class && row.cls != cls) continue;
    if (row.name.find(flags.match) == std::string::npos) continue;
    if (flags.channels > 0 && row.channels > 0 && row.channels != flags.channels) continue;
    if (flags.size == 0 || flags.size == row.size) {
      rows.push_back({&suite, std::move(row)});
      continue;
    }
    row.size = flags.size;
    const std::string_view along = suite.figure.x;
    if (along == "side") row.x = row.size;
    if (along == "pixels") row.x = static_cast<double>(row.size) * row.size;
    resized.push_back(std::move(row));
  }
  for (SuiteRow& row : resized) {
    const auto same = [&](const WantedRow& known) {
      return known.row.name == row.name && known.row.cls == row.cls && known.row.size == row.size &&
             known.row.channels == row.channels;
    };
    if (std::none_of(rows.begin() + first, rows.end(), same)) {
      rows.push_back({&suite, std::move(row)});
    }
  }
}

std::vector<WantedRow> all_rows(const BenchFlags& flags) {
  std::vector<WantedRow> rows;
  if (flags.suite.empty()) {
    for (const std::string& text : flags.pipelines) {
      rows.push_back({nullptr,
                      {.name = text,
                       .pipeline = text,
                       .cls = parse_class("--class", flags.cls.empty() ? "uint8" : flags.cls),
                       .size = flags.size > 0 ? flags.size : usual_size}});
    }
    return rows;
  }
  if (flags.suite == every_suite) {
    for (const Suite& suite : all_suites()) {
      if (suite.findings == nullptr) add_suite(suite, flags, rows);
    }
  } else {
    add_suite(find_suite(flags.suite), flags, rows);
  }
  if (rows.empty()) {
    throw Error("the suite " + flags.suite + " has no such row; see impipe bench --suite " +
                flags.suite + " without --class and --match");
  }
  return rows;
}

}  // namespace

pipeline::Pipeline pipeline_of(const std::string& text, const engine::Sandbox& sandbox) {
  std::vector<std::string> argument = {text};
  return take_pipeline(argument, "", sandbox);
}

std::vector<WantedRow> rows_of(const BenchFlags& flags) {
  std::vector<WantedRow> rows = all_rows(flags);
  if (flags.variant.empty()) return rows;
  const std::vector<std::string> variants = parse_variants(flags.variant);
  for (WantedRow& row : rows) row.row.variants = variants;
  return rows;
}

engine::BenchmarkOptions options_of(const SuiteRow& row, const BenchFlags& flags) {
  const int stack = row.stack > 1 ? row.stack : flags.stack;
  engine::BenchmarkOptions options{
      .session = {.fuse = row.fuse && !flags.no_fuse, .strict = false},
      .size = {row.size, row.size},
      .cls = row.cls,
      .channels = row.channels > 0 ? row.channels : std::max(1, flags.channels),
      .input = flags.input,
      .sources = {},
      .max_pixels = flags.max_pixels.empty() ? pipeline::default_max_pixels
                                             : parse_amount("--max-pixels", flags.max_pixels, 1000),
      .stack = stack,
      .wall = flags.suite.empty() && stack == 1,
      .repeat = flags.repeat,
      .in_cache = flags.in_cache};
  for (const auto& [name, text] : row.images) {
    options.sources.emplace(name, pipeline_of(with_size(text, row.size), {}));
  }
  return options;
}

TableForm form_of(const BenchFlags& flags) {
  if (flags.json + flags.markdown + flags.csv > 1) {
    throw Error("--json, --markdown and --csv exclude each other");
  }
  return flags.json       ? TableForm::json
         : flags.markdown ? TableForm::markdown
         : flags.csv      ? TableForm::csv
                          : TableForm::text;
}

nlohmann::ordered_json read_older(const BenchFlags& flags) {
  if (flags.against.empty()) return {};
  std::ifstream file(flags.against);
  if (!file) {
    throw Error("--against: " + flags.against + ": it cannot be read", ExitCode::file_failed);
  }
  auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    throw Error("--against: " + flags.against + " is no JSON", ExitCode::file_failed);
  }
  return json;
}

void tell_changes(const nlohmann::ordered_json& before, const nlohmann::ordered_json& now,
                  TableForm form) {
  std::string text = changes_text(before, now);
  if (form == TableForm::text) return write_stdout(text);
  text.pop_back();
  write_stderr(text);
}

void write_report(const std::string& flag, const std::string& path, const std::string& text) {
  if (!path.empty() && !(std::ofstream(path) << text << std::flush)) {
    throw Error(flag + ": " + path + " can't be written", ExitCode::file_failed);
  }
}

}  // namespace impipe::cli
