// What `impipe run` says: results on stdout, everything else on stderr.
#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/warning_kinds.hpp"
#include "engine/progress.hpp"
#include "engine/run.hpp"

namespace impipe::cli {

// How rows of measurements are printed: with tabs, with commas, or as an object a line.
enum class RowForm { tabs, csv, json };

// openjd: the lines of Open Job Description, on stdout, where its runtimes look for them.
enum class ProgressMode { automatic, lines, json, openjd, none };

// A line that tells a runtime of Open Job Description why the task failed.
std::string openjd_failure(const std::string& message);

struct ReporterOptions {
  ProgressMode progress = ProgressMode::automatic;
  RowForm rows = RowForm::tabs;
  bool header = true;
  bool verbose = false;
  bool quiet = false;
  std::string errors_file;  // empty: none
  bool totals = false;      // are wanted: they cost two looks at the disk a file
  std::string watched;      // the folder of a run that ends when somebody ends it; empty: none
};

// What a run's reports add up to.
struct RunTotals {
  std::int64_t files = 0;                          // that the run was to do
  std::int64_t bytes_read = 0, bytes_written = 0;  // of files that were done, as they stand on disk
  std::map<std::string, std::int64_t> failures;    // by stage
};

class RunReporter : public engine::Progress {
 public:
  explicit RunReporter(const ReporterOptions& options);

  void kinds(const std::vector<engine::FileReport::Row>& kinds) override;
  void begin(std::int64_t files) override;
  void more(std::int64_t files) override { totals_.files += files; }
  bool file(const engine::FileReport& report) override;
  void out_of_memory(std::string_view input, std::string_view stage) noexcept override;
  void note(const std::string& text) override;
  void detail(const std::string& text) override;
  void tick() override;

  // Empties the errors file, or makes it; `begin` does so, and nothing before: it could be a file
  // that the run reads. Throws Error (usage) when it cannot be made.
  void open_errors();
  // Takes away the line that shows the progress.
  void clear_line();
  // That the run was about.
  std::int64_t files_of(const engine::RunEnd& end) const {
    return end.stacked > 0 ? end.stacked : totals_.files;
  }
  bool has_begun() const { return has_begun_; }
  const RunTotals& totals() const { return totals_; }
  // Of warnings that more than one file had: how many.
  void tell_counts();
  // How many files had which warnings.
  const std::map<std::string, std::int64_t>& warnings() const { return warnings_.files(); }
  // The last lines of --progress json and openjd.
  void end(const engine::RunEnd& end, double seconds);
  // Why results could not be written, when `file` has returned false.
  const std::string& output_failure() const { return output_failure_; }

 private:
  // The first warning of a kind; the others are counted, and told with -v.
  void tell_warnings(const engine::FileReport& report);
  void tell_failure(const engine::FileReport& report);
  void tell_end(const engine::FileReport& report);
  // How far the run is, when that has changed by a tenth of a percent.
  void tell_openjd_progress();
  void tell_openjd_end(const engine::RunEnd& end, double seconds);
  void write_rows(const engine::FileReport& report);
  // Takes a line of text to be written.
  using Write = std::function<void(const std::string&)>;
  void write_json(const engine::FileReport& report, const engine::FileReport::Row& row,
                  const Write& write) const;
  void write_lines(const engine::FileReport& report, const engine::FileReport::Row& row,
                   const Write& write);
  // The cells of a line of the table: `first`, and one a column of header_.
  std::string line_of(const std::string& first, const std::vector<std::string>& cells) const;
  void say(const std::string& line);
  void draw();
  bool is_watch() const { return !options_.watched.empty(); }

  ReporterOptions options_;
  std::ofstream errors_;
  bool draws_ = false;
  bool drawn_ = false;
  RunTotals totals_;
  bool has_begun_ = false;
  std::int64_t ended_ = 0, failed_ = 0;             // files
  std::int64_t frames_ = 0;                         // of streams, so far
  std::vector<std::string> header_;                 // the columns of the table: what any file has
  std::unordered_map<std::string, size_t> places_;  // of those columns, by name
  bool has_header_ = false;                         // it is written
  std::chrono::steady_clock::time_point start_, last_drawn_;
  WarningKinds warnings_;
  std::set<std::string> notes_;  // of a watch: each is told once
  std::string output_failure_;
  std::string first_failure_, openjd_progress_;  // the last that was told
};

// "12,345"
std::string grouped(std::int64_t number);

}  // namespace impipe::cli
