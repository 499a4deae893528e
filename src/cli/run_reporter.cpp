// Rows of measurements, failures, and the line that shows how far the run is.
#include "cli/run_reporter.hpp"

#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;
using State = engine::FileReport::State;

constexpr auto redraw_interval = std::chrono::milliseconds(100);

// File names may hold any byte; invalid UTF-8 is replaced.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char* word_of(State state) {
  switch (state) {
    case State::done: return "done";
    case State::skipped: return "skipped";
    case State::failed: return "failed";
  }
  return "?";
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::int64_t at = static_cast<std::int64_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

RunReporter::RunReporter(const ReporterOptions& options) : options_(options) {
  draws_ = options.progress == ProgressMode::automatic && !options.quiet && stderr_is_terminal();
}

void RunReporter::open_errors() {
  if (options_.errors_file.empty() || errors_.is_open()) return;
  errors_.open(options_.errors_file, std::ios::binary);
  if (!errors_) throw Error("--errors " + options_.errors_file + ": " + std::strerror(errno));
}

void RunReporter::begin(std::int64_t files) {
  open_errors();
  let_running_work_end(true);  // from here on there are results that could be half done
  files_ = files;
  start_ = std::chrono::steady_clock::now();
  if (options_.progress == ProgressMode::json) {
    say(dump(Json{{"event", "begin"}, {"files", files}}));
  }
}

bool RunReporter::file(const engine::FileReport& report) {
  ++ended_;
  if (!report.lost.empty() && report.state == State::done) {
    note(printable(report.input.string()) + ": the result is without " +
         printable(fmt::format("{}", fmt::join(report.lost, ", "))));
  }
  if (report.state == State::failed) {
    ++failed_;
    tell_failure(report);
  } else {
    try {
      if (!report.bytes.empty()) write_stdout(report.bytes);
      if (report.state == State::done) {
        for (const engine::FileReport::Row& row : report.rows) write_row(report, row);
      }
    } catch (const Error& error) {
      output_failure_ = error.what();
      return false;
    }
  }
  tell_end(report);
  draw();
  return true;
}

void RunReporter::out_of_memory(std::string_view input, std::string_view stage) noexcept {
  clear_line();
  say_out_of_memory(input, stage);
}

void RunReporter::tell_failure(const engine::FileReport& report) {
  clear_line();
  const std::string input = report.input.string();
  say("impipe: " + printable(input) + ": " + report.stage + ": " + report.message);
  if (!errors_.is_open()) return;
  errors_ << dump(Json{{"file", input}, {"stage", report.stage}, {"message", report.message}})
          << std::endl;  // at once: somebody may be reading along
  if (!errors_) {
    say("impipe: --errors " + options_.errors_file + ": cannot write: " + std::strerror(errno));
    errors_.close();
  }
}

void RunReporter::tell_end(const engine::FileReport& report) {
  if (options_.progress == ProgressMode::json) {
    Json json{{"event", "file"},
              {"file", report.input.string()},
              {"state", word_of(report.state)},
              {"index", report.index}};
    if (!report.output.empty()) json["output"] = report.output.string();
    if (report.state == State::failed) {
      json["stage"] = report.stage;
      json["message"] = report.message;
    }
    if (report.clipped > 0) json["clipped"] = report.clipped;
    if (!report.lost.empty()) json["lost"] = report.lost;
    say(dump(json));
  } else if (options_.progress == ProgressMode::lines && report.state != State::failed) {
    std::string line = fmt::format("[{}/{}] {}", ended_, files_, printable(report.input.string()));
    if (!report.output.empty()) line += " -> " + printable(report.output.string());
    if (report.state == State::skipped) line += " (skipped)";
    say(line);
  } else if (options_.verbose && report.state == State::skipped) {
    detail(report.output.string() + " is there already: skipped");
  }
  if (options_.verbose && report.clipped > 0) {
    detail(report.output.string() + ": " + grouped(report.clipped) + " values were clipped");
  }
}

void RunReporter::write_row(const engine::FileReport& report, const engine::FileReport::Row& row) {
  std::vector<std::string> columns = row.columns;
  if (!row.hash.empty()) columns.push_back("hash");
  if (columns.empty()) return;
  if (row.page > 0) columns.insert(columns.begin(), "page");
  clear_line();
  std::string text;
  // Images of another kind may have other columns, as one for each channel.
  if (options_.header && columns != header_) {
    text = "file";
    for (const std::string& column : columns) text += "\t" + column;
    text += "\n";
    header_ = columns;
  }
  if (!row.values.empty() || !row.hash.empty()) {
    text += printable_cell(report.input.string());
    if (row.page > 0) text += "\t" + std::to_string(row.page);
    for (const double value : row.values) text += "\t" + number_text(value);
    if (!row.hash.empty()) text += "\t" + row.hash;
    text += "\n";
  }
  write_stdout(text);
}

void RunReporter::note(const std::string& text) {
  if (options_.quiet) return;
  clear_line();
  say("impipe: " + text);
}

void RunReporter::detail(const std::string& text) {
  if (options_.verbose) note(text);
}

void RunReporter::say(const std::string& line) {
  clear_line();
  write_stderr(line);
}

void RunReporter::tick() { draw(); }

void RunReporter::clear_line() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void RunReporter::draw() {
  if (!draws_ || files_ < 2) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < redraw_interval) return;
  last_drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(ended_) / seconds : 0;
  std::string line =
      fmt::format("{} of {} files, {:.1f} files/s", grouped(ended_), grouped(files_), rate);
  if (failed_ > 0) line += fmt::format(", {} failed", grouped(failed_));
  if (rate > 0) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(files_ - ended_) / rate);
  }
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace impipe::cli
