// The command line as a whole: commands, unknown words, and what is said about them.
#include "cli/app.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/run_reporter.hpp"
#include "core/error.hpp"

namespace impipe::cli {
namespace {

std::string message(const std::vector<std::string>& arguments, ExitCode code = ExitCode::usage) {
  try {
    run_app(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, WrongUseIsExplained) {
  struct Row {
    std::vector<std::string> arguments;
    const char* message;
  };
  const Row rows[] = {
      {{"plna", "imadjust"}, "there is no command or operator 'plna'; did you mean 'impipe plan'?"},
      {{"edge", "x", "--foramt", "png"}, "unknown option '--foramt'; did you mean '--format'?"},
      {{"plan", "edge", "--clas=uint8"}, "unknown option '--clas'; did you mean '--class'?"},
      {{"edge", "x", "-Z"}, "unknown option '-Z'; see impipe run --help"},
      {{"edge"},
       "no input given: impipe PIPELINE INPUT... -o OUTPUT; inputs are files, folders, globs, "
       "frame ranges and - for stdin"},
      {{"/", "-o", "x"},
       "the pipeline comes first, but '/' is a folder: impipe PIPELINE / -o OUTPUT"},
      {{"plan"}, "no pipeline given: impipe PIPELINE INPUT... -o OUTPUT"},
      {{"plan", "edge", "a.png", "b.png"}, "plan takes one input, whose kind counts"},
      {{"diff", "a"}, "diff takes two files: impipe diff A B"},
      {{"info"}, "no file given: impipe info FILE..."},
      {{"bench"}, "no pipeline given: impipe bench PIPELINE..."},
      {{"cache"}, "cache takes one of path, list, clear, warm PIPELINE"},
      {{"cache", "warn"}, "cache: 'warn' is none of path, list, clear, warm; did you mean 'warm'?"},
      {{"completions", "bsh"},
       "completions: 'bsh' is none of bash, zsh, fish; did you mean 'bash'?"},
      {{"ops", "imajust"},
       "no operator has 'imajust' in its name or description; did you mean 'imadjust'?"},
      {{"ops", "zebra", "quagga"},
       "no operator has 'zebra quagga' in its name or description; impipe ops lists them"},
      {{"help", "quagga"},
       "no operator has 'quagga' in its name or description; impipe ops lists them"},
      {{"edge", "x", "--jobs", "4"}, "unknown option '--jobs'; -j N does that"},
      {{"edge", "x", "--gpu"},
       "unknown option '--gpu'; --device cuda or --device opencl does that"},
      {{"edge", "x", "--output-format=png"},
       "unknown option '--output-format'; --format EXT does that"},
      {{"edge", "x", "--num_workers", "4"}, "unknown option '--num_workers'; -j N does that"},
      {{"edge", "x", "--imresize", "50%"},
       "unknown option '--imresize'; imresize is an operator, a word of the pipeline"},
      {{"edge", "x", "--resize", "50%"},
       "unknown option '--resize'; in the pipeline `imresize` makes another size"},
      {{"ops", "--jobs", "4"}, "unknown option '--jobs'; see impipe ops --help"},
      {{"edge", "x", "--quality", "101"},
       "--quality: Value 101 not in range 1 to 100; see impipe run --help"},
      {{"-f", "/nowhere.txt", "x"}, "-f /nowhere.txt: No such file or directory"},
  };
  for (const Row& row : rows) EXPECT_EQ(message(row.arguments), row.message) << row.arguments[0];
}

TEST(CommandLine, AMistypedOperatorIsNotTakenForACommand) {
  EXPECT_EQ(message({"edgee", "x", "-o", "y"}),
            "pipeline:1:1: unknown operator 'edgee'; did you mean 'edge'?\n  edgee\n  ^^^^^");
}

TEST(CommandLine, EveryFlagHasAVariable) {
  EXPECT_EQ(variable_of("-o,--output"), "IMPIPE_OUTPUT");
  EXPECT_EQ(variable_of("--max-pixels"), "IMPIPE_MAX_PIXELS");
  CommandSet commands;
  add_commands(commands);
  for (const auto& command : commands.all()) {
    for (const CLI::Option* option : command->app->get_options()) {
      if (option->get_lnames().empty() || option->get_lnames()[0] == "help") continue;
      if (option->get_group().empty()) continue;  // the program's own
      // IMPIPE_CODEC is the folder of the codec modules; IMPIPE_SERVE=1 reads as what it does.
      const std::string flag = "--" + option->get_lnames()[0];
      EXPECT_EQ(option->get_envname(), variable_of(flag == "--codec" ? "--jpeg-codec"
                                                   : flag == "--via" ? "--serve"
                                                                     : flag));
      EXPECT_FALSE(option->get_description().empty());
    }
  }
}

TEST(Reporter, FailuresAreWrittenAsJsonLines) {
  const auto path =
      std::filesystem::temp_directory_path() / ("impipe-errors-" + std::to_string(getpid()));
  {
    RunReporter reporter({.progress = ProgressMode::none, .errors_file = path.string()});
    reporter.open_errors();
    engine::FileReport report;
    report.state = engine::FileReport::State::failed;
    report.input = "in/\"a\".png";
    report.output = "out/a.png";
    report.stage = "decode";
    report.message = "empty file";
    testing::internal::CaptureStderr();
    EXPECT_TRUE(reporter.file(report));
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "impipe: in/\"a\".png: decode: empty file\n");
  }
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const size_t time = line.find(R"(,"time":"20)");
  EXPECT_EQ(line.substr(0, time), R"({"file":"in/\"a\".png","output":"out/a.png",)"
                                  R"("stage":"decode","message":"empty file","tries":1)");
  EXPECT_EQ(line.size() - time, std::string(R"(,"time":"2026-11-23T15:38:34Z"})").size());
  std::filesystem::remove(path);
}

TEST(Reporter, RowsOfAllKindsAreOneTable) {
  using Row = engine::FileReport::Row;
  RunReporter reporter({.progress = ProgressMode::none});
  engine::FileReport report;
  testing::internal::CaptureStdout();
  reporter.kinds({Row{.columns = {"mean2"}, .values = {}, .hash = {}},
                  Row{.columns = {"mean2_r", "mean2_g"}, .values = {}, .hash = {}},
                  Row{.page = 1, .columns = {"mean2"}, .values = {}, .hash = "hash"}});
  report.input = "a\tb.png";
  report.rows = {{.columns = {"mean2"}, .values = {0.1}, .hash = {}}};
  reporter.file(report);
  report.input = "c.png";
  report.rows = {{.columns = {"mean2_r", "mean2_g"}, .values = {1, 2.5}, .hash = {}}};
  reporter.file(report);
  report.rows = {{.page = 2, .columns = {"mean2"}, .values = {4}, .hash = "5a"}};
  reporter.file(report);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "file\tpage\tmean2\tmean2_r\tmean2_g\thash\na\\tb.png\t\t0.1\t\t\t\n"
            "c.png\t\t\t1\t2.5\t\nc.png\t2\t4\t\t\t5a\n");
}

TEST(Reporter, ATableWithoutObjectsIsItsHeader) {
  using Row = engine::FileReport::Row;
  RunReporter reporter({.progress = ProgressMode::none});
  engine::FileReport report;
  testing::internal::CaptureStdout();
  reporter.kinds({Row{.columns = {"label", "area"}, .values = {}, .hash = {}}});
  report.input = "c.png";
  report.rows = {{.columns = {"label", "area"}, .values = {}, .hash = {}}};
  reporter.file(report);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "file\tlabel\tarea\n");
}

TEST(Numbers, AreGrouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

}  // namespace
}  // namespace impipe::cli
