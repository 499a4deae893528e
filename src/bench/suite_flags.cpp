#include "bench/suite_flags.hpp"

#include <algorithm>

#include "bench/variants.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace impipe::bench {
namespace {

std::string with_size(std::string text, int size) {
  constexpr std::string_view field = "{size}";
  for (size_t at; (at = text.find(field)) != std::string::npos;) {
    text.replace(at, field.size(), std::to_string(size));
  }
  return text;
}

// The rows of a suite that --class, --match and --size leave. Rows that it has at several sizes are
// one at a size that was asked for.
void add_suite(const Suite& suite, const SuiteFlags& flags, std::vector<WantedRow>& rows) {
  const bool has_class = !flags.cls.empty();
  const PixelClass cls = has_class ? cli::parse_class("--class", flags.cls) : PixelClass::uint8;
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

std::vector<WantedRow> all_rows(const SuiteFlags& flags) {
  std::vector<WantedRow> rows;
  if (flags.suite.empty()) {
    const engine::BenchmarkOptions options = cli::options_of(flags);
    for (const std::string& text : flags.pipelines) {
      rows.push_back({nullptr,
                      {.name = text,
                       .pipeline = text,
                       .cls = options.cls,
                       .size = static_cast<int>(options.size.width)}});
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
    throw Error("the suite " + flags.suite + " has no such row; see impipe-bench --suite " +
                flags.suite + " without --class and --match");
  }
  return rows;
}

}  // namespace

std::vector<WantedRow> rows_of(const SuiteFlags& flags) {
  std::vector<WantedRow> rows = all_rows(flags);
  if (flags.variant.empty()) return rows;
  const std::vector<std::string> variants = parse_variants(flags.variant);
  for (WantedRow& row : rows) row.row.variants = variants;
  return rows;
}

engine::BenchmarkOptions options_of(const SuiteRow& row, const SuiteFlags& flags) {
  engine::BenchmarkOptions options = cli::options_of(flags);
  options.session.fuse = row.fuse && !flags.no_fuse;
  options.size = {row.size, row.size};
  options.cls = row.cls;
  if (row.channels > 0) options.channels = row.channels;
  if (row.stack > 1) options.stack = row.stack;
  options.wall = flags.suite.empty() && options.stack == 1;
  for (const auto& [name, text] : row.images) {
    options.sources.emplace(name, cli::pipeline_of(with_size(text, row.size), {}));
  }
  return options;
}

}  // namespace impipe::bench
