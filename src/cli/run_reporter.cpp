// Rows of measurements, failures, and the line that shows how far the run is.
#include "cli/run_reporter.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "cli/json_text.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/report_columns.hpp"
#include "core/text.hpp"
#include "engine/device/device_speed.hpp"

namespace impipe::cli {
namespace {

using Json = nlohmann::ordered_json;
using State = engine::FileReport::State;

constexpr auto redraw_interval = std::chrono::milliseconds(100);

using Row = engine::FileReport::Row;
using Array = Row::Array;

bool fits_a_row(const Array& array) { return array.channels * array.values <= max_in_a_row; }

// The cells of a row by the names of their columns; a cell without a value is empty.
using Cells = std::vector<std::pair<std::string, std::string>>;

// Whether a row has any value: that of a picture without objects may have none.
bool has_values(const Row& row) {
  return !row.values.empty() || !row.objects.empty() || !row.hash.empty() ||
         std::any_of(row.arrays.begin(), row.arrays.end(),
                     [](const Array& array) { return !array.numbers.empty(); });
}

void add_array(Cells& cells, const Array& array) {
  if (!fits_a_row(array)) return;
  for (int c = 0; c < array.channels; ++c) {
    for (std::int64_t e = 0; e < array.values; ++e) {
      const auto at = static_cast<size_t>(c * array.values + e);
      cells.emplace_back(column_name(array.name, array.channels, c, array.values, e),
                         array.numbers.empty() ? "" : number_text(array.numbers[at]));
    }
  }
}

Cells cells_of(const Row& row) {
  Cells cells;
  for (size_t i = 0; i < row.columns.size(); ++i) {
    cells.emplace_back(row.columns[i], i < row.values.size() ? number_text(row.values[i]) : "");
  }
  for (const Array& array : row.arrays) add_array(cells, array);
  if (!row.hash.empty()) cells.emplace_back("hash", row.hash);
  if (cells.empty()) return cells;
  if (!row.table.empty()) cells.emplace(cells.begin(), "table", row.table);
  if (row.page > 0) cells.emplace(cells.begin(), "page", std::to_string(row.page));
  return cells;
}

// A table's row has a line for each object, where it has any.
template <class Line>
void for_each_line(const Row& row, const Line& line) {
  const std::size_t columns = row.columns.size() - row.values.size();
  std::span<const double> left = row.objects;
  do {
    line(left.first(std::min(columns, left.size())));
    left = left.subspan(std::min(columns, left.size()));
  } while (!left.empty());
}

// [values] or, of several channels, [channels][values]; a matrix is a list of its rows.
Json array_value(const Array& array) {
  const auto channel = [&](std::int64_t c) {
    const auto values =
        std::span(array.numbers)
            .subspan(static_cast<size_t>(c * array.values), static_cast<size_t>(array.values));
    if (array.columns <= 1) return json_numbers(values);
    Json rows = Json::array();
    const auto columns = static_cast<size_t>(array.columns);
    for (size_t at = 0; at < values.size(); at += columns) {
      rows.push_back(json_numbers(values.subspan(at, columns)));
    }
    return rows;
  };
  if (array.channels == 1) return channel(0);
  Json all = Json::array();
  for (int c = 0; c < array.channels; ++c) all.push_back(channel(c));
  return all;
}

// As RFC 4180 has it.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Bytes of a file; 0 where there is none.
std::int64_t size_of(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = path.empty() ? 0 : std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

// One line of Open Job Description: what is told may be of several.
std::string openjd_line(const char* kind, std::string text) {
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return fmt::format("openjd_{}: {}\n", kind, printable(text));
}

// The beginning of what is said of metadata and the like that did not go into a result.
constexpr std::string_view without = "the result is without ";

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

std::string openjd_failure(const std::string& message) { return openjd_line("fail", message); }

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
  totals_.files = files;
  has_begun_ = true;
  start_ = std::chrono::steady_clock::now();
  if (options_.progress == ProgressMode::json) {
    say(json_text(is_watch() ? Json{{"event", "begin"}, {"watch", options_.watched}}
                             : Json{{"event", "begin"}, {"files", files}}));
  } else if (options_.progress == ProgressMode::openjd) {
    write_stdout(openjd_line("status", is_watch()
                                           ? "watching " + options_.watched
                                           : grouped(files) + (files == 1 ? " file" : " files")));
    tell_openjd_progress();
  } else if (is_watch()) {
    note("watching '" + options_.watched + "'");
  }
}

bool RunReporter::file(const engine::FileReport& report) {
  report.frame > 0 ? ++frames_ : ++ended_;
  tell_warnings(report);
  if (options_.totals && report.state == State::done) {
    if (report.frame == 0) totals_.bytes_read += size_of(report.input);
    totals_.bytes_written += report.joined > 0 || !report.bytes.empty()
                                 ? report.joined + static_cast<std::int64_t>(report.bytes.size())
                             : report.frames > 0 ? 0
                                                 : size_of(report.output);
  }
  if (report.state == State::failed) {
    ++failed_;
    ++totals_.failures[report.stage];
    tell_failure(report);
  } else {
    try {
      if (!report.bytes.empty() && options_.progress == ProgressMode::openjd) {
        throw Error("--progress openjd has stdout, and no picture may go there");
      }
      if (!report.bytes.empty()) write_stdout(report.bytes);
      if (report.state == State::done) write_rows(report);
    } catch (const Error& error) {
      output_failure_ = error.what();
      return false;
    }
  }
  if (report.frame == 0) tell_end(report);
  try {
    tell_openjd_progress();
  } catch (const Error& error) {
    output_failure_ = error.what();
    return false;
  }
  draw();
  return true;
}

void RunReporter::out_of_memory(std::string_view input, std::string_view stage) noexcept {
  clear_line();
  say_out_of_memory(input, stage);
}

void RunReporter::tell_openjd_progress() {
  if (options_.progress != ProgressMode::openjd || is_watch()) return;
  const double part =
      totals_.files == 0 ? 1.0 : static_cast<double>(ended_) / static_cast<double>(totals_.files);
  const std::string text = fmt::format("{:.1f}", std::floor(1000 * part) / 10);
  if (text == openjd_progress_) return;
  openjd_progress_ = text;
  write_stdout(openjd_line("progress", text));
}

void RunReporter::tell_openjd_end(const engine::RunEnd& end, double seconds) {
  if (!has_begun_) return;
  write_stdout(openjd_line(
      "status",
      fmt::format("{} of {} files done, {} skipped, {} failed in {:.1f} s", grouped(end.done),
                  grouped(files_of(end)), grouped(end.skipped), grouped(end.failed), seconds)));
  if (end.failed == 0) return;
  const std::string others =
      end.failed > 1 ? fmt::format("{} files failed; the first: ", grouped(end.failed)) : "";
  write_stdout(openjd_failure(others + first_failure_));
}

void RunReporter::end(const engine::RunEnd& end, double seconds) {
  if (options_.progress == ProgressMode::openjd) return tell_openjd_end(end, seconds);
  if (options_.progress != ProgressMode::json) return;
  say(json_text(Json{{"event", "end"},
                     {"done", end.done},
                     {"skipped", end.skipped},
                     {"failed", end.failed},
                     {"stopped", end.stopped},
                     {"seconds", seconds}}));
}

void RunReporter::tell_warnings(const engine::FileReport& report) {
  const std::string file = printable(report.input.string()) + ": ";
  std::set<std::string> kinds;  // that this file is the first of
  const auto is_first = [&](const std::string& warning) {
    if (warnings_.add(warning, report.index)) kinds.insert(kind_of(warning));
    return kinds.contains(kind_of(warning));
  };
  std::vector<std::string> lost, more_lost;
  for (const std::string& one : report.lost) {
    if (report.state != State::done) break;
    (is_first(std::string(without) + one) ? lost : more_lost).push_back(printable(one));
  }
  if (!lost.empty()) note(fmt::format("{}{}{}", file, without, fmt::join(lost, ", ")));
  if (!more_lost.empty()) detail(fmt::format("{}{}{}", file, without, fmt::join(more_lost, ", ")));
  for (const std::string& text : report.notes) {
    is_first(text) ? note(file + printable(text)) : detail(file + printable(text));
  }
}

void RunReporter::tell_counts() {
  // Files of one camera lose the same: those have one line.
  std::map<std::int64_t, std::vector<std::string>, std::greater<>> lost;
  std::vector<std::string> lines;
  for (const auto& [kind, files] : warnings()) {
    if (files < 2) continue;
    if (kind.starts_with(without)) {
      lost[files].push_back(printable(kind.substr(without.size())));
    } else {
      lines.push_back(fmt::format("{} files: {}", grouped(files), printable(kind)));
    }
  }
  for (const auto& [files, kinds] : lost) {
    lines.push_back(fmt::format("{} files: {}{}", grouped(files), without, fmt::join(kinds, ", ")));
  }
  for (const std::string& line : lines) note(line + (options_.verbose ? "" : " (-v names each)"));
}

void RunReporter::tell_failure(const engine::FileReport& report) {
  clear_line();
  const std::string input = report.input.string();
  const std::string told = printable(input) + ": " + report.stage + ": " + report.message +
                           (report.tries > 1 ? fmt::format(" (tried {} times)", report.tries) : "");
  if (first_failure_.empty()) first_failure_ = told;
  say("impipe: " + told);
  if (!errors_.is_open()) return;
  errors_ << json_text(Json{{"file", input},
                            {"output", report.output.string()},
                            {"stage", report.stage},
                            {"message", report.message},
                            {"tries", report.tries},
                            {"time", engine::utc_now()}})
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
    if (report.frames > 0) json["frames"] = report.frames;
    if (report.state == State::failed) {
      json["stage"] = report.stage;
      json["message"] = report.message;
    }
    if (report.tries > 1) json["tries"] = report.tries;
    if (report.clipped > 0) json["clipped"] = report.clipped;
    if (!report.lost.empty()) json["lost"] = report.lost;
    if (!report.notes.empty()) json["notes"] = report.notes;
    say(json_text(json));
  } else if (options_.progress == ProgressMode::lines && report.state != State::failed) {
    std::string line =
        is_watch() ? fmt::format("[{}] ", ended_) : fmt::format("[{}/{}] ", ended_, totals_.files);
    line += printable(report.input.string());
    if (!report.output.empty()) line += " -> " + printable(report.output.string());
    if (report.state == State::skipped) line += " (skipped)";
    say(line);
  } else if (options_.verbose && report.state == State::skipped) {
    detail(report.output.string() + " is there already: skipped");
  }
  if (report.tries > 1 && report.state == State::done) {
    detail(fmt::format("{}: done at try {}", printable(report.input.string()), report.tries));
  }
  if (options_.verbose && report.clipped > 0) {
    detail(report.output.string() + ": " + grouped(report.clipped) + " values were clipped");
  }
}

void RunReporter::kinds(const std::vector<Row>& kinds) {
  std::set<std::string> too_long;
  for (const Row& kind : kinds) {
    for (auto& [name, value] : cells_of(kind)) {
      if (!places_.emplace(name, header_.size()).second) continue;
      header_.push_back(name);
      has_header_ = false;  // in a watch: other files than before have come
    }
    for (const Array& array : kind.arrays) {
      if (options_.rows == RowForm::json || fits_a_row(array)) continue;
      if (!too_long.insert(array.name).second) continue;
      note(fmt::format("{}: its {} numbers a file are too many for a row: {}--json prints them",
                       array.name, grouped(array.channels * array.values),
                       array.may_be_saved ? "-o '{stem}.npy' saves them, " : ""));
    }
  }
  // Which rows they are stands in front, whichever file was the first to have several.
  const auto place_of = [](const std::string& name) {
    return name == "page" ? 0 : name == "table" ? 1 : 2;
  };
  std::ranges::stable_sort(header_, {}, place_of);
  for (size_t i = 0; i < header_.size(); ++i) places_[header_[i]] = i;
}

void RunReporter::write_json(const engine::FileReport& report, const Row& row,
                             const Write& write) const {
  if (!has_values(row)) return;
  bool is_first = true;
  for_each_line(row, [&](std::span<const double> object) {
    Json json{{"file", report.input.string()}};
    if (!row.table.empty()) json["table"] = row.table;
    size_t column = 0;
    for (const double value : row.values) json[row.columns[column++]] = json_number(value);
    for (const double value : object) json[row.columns[column++]] = json_number(value);
    if (std::exchange(is_first, false)) {
      for (const Array& array : row.arrays) json[array.name] = array_value(array);
    }
    if (!row.hash.empty()) json["hash"] = row.hash;
    if (row.page > 0) json["page"] = row.page;
    write(json_text(json) + "\n");
  });
}

std::string RunReporter::line_of(const std::string& first,
                                 const std::vector<std::string>& cells) const {
  const bool csv = options_.rows == RowForm::csv;
  // CSV has the name byte for byte, except on a terminal.
  std::string line = csv && !stdout_is_terminal() ? first : printable_cell(first);
  if (csv) line = csv_cell(line);
  for (const std::string& cell : cells) line += (csv ? "," : "\t") + cell;
  return line + "\n";
}

void RunReporter::write_lines(const engine::FileReport& report, const Row& row,
                              const Write& write) {
  const Cells cells = cells_of(row);
  if (cells.empty()) return;
  std::vector<std::string> line(header_.size());
  // Columns that only a file has that was another one when they were settled are left out.
  const auto set = [&](const std::string& name, std::string value) {
    const auto place = places_.find(name);
    if (place != places_.end()) line[place->second] = std::move(value);
  };
  for (const auto& [name, value] : cells) set(name, value);
  if (options_.header && !std::exchange(has_header_, true)) write(line_of("file", header_));
  if (!has_values(row)) return;
  const std::string file = report.input.string();
  for_each_line(row, [&](std::span<const double> object) {
    for (size_t i = 0; i < object.size(); ++i) {
      set(row.columns[row.values.size() + i], number_text(object[i]));
    }
    write(line_of(file, line));
    Cells arrays;  // of several lines the first has them
    for (const Array& array : row.arrays) add_array(arrays, array);
    for (const auto& [name, value] : arrays) set(name, "");
  });
}

// Lines of many objects are written together.
void RunReporter::write_rows(const engine::FileReport& report) {
  constexpr size_t at_once = 1 << 18;
  std::string text;
  const auto flush = [&] {
    if (text.empty()) return;
    clear_line();
    write_stdout(text);
    text.clear();
  };
  const Write write = [&](const std::string& line) {
    text += line;
    if (text.size() >= at_once) flush();
  };
  for (const Row& row : report.rows) {
    options_.rows == RowForm::json ? write_json(report, row, write)
                                   : write_lines(report, row, write);
  }
  flush();
}

void RunReporter::note(const std::string& text) {
  if (options_.quiet || (is_watch() && !notes_.insert(text).second)) return;
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
  if (!draws_ || (totals_.files < 2 && !is_watch() && frames_ == 0)) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_drawn_ < redraw_interval) return;
  last_drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(ended_) / seconds : 0;
  std::string line =
      is_watch() ? fmt::format("{} of {} files that came", grouped(ended_), grouped(totals_.files))
                 : fmt::format("{} of {} files, {:.1f} files/s", grouped(ended_),
                               grouped(totals_.files), rate);
  if (frames_ > 0) {
    line = fmt::format("{} frames, {:.1f} frames/s", grouped(frames_),
                       static_cast<double>(frames_) / std::max(seconds, 1e-9));
  }
  if (failed_ > 0) line += fmt::format(", {} failed", grouped(failed_));
  if (rate > 0 && !is_watch() && frames_ == 0) {
    line += fmt::format(", {:.0f} s left", static_cast<double>(totals_.files - ended_) / rate);
  }
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace impipe::cli
