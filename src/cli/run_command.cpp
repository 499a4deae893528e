// impipe run: the main job.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/compare_run.hpp"
#include "cli/pipeline_argument.hpp"
#include "cli/profile_report.hpp"
#include "cli/run_reporter.hpp"
#include "cli/run_summary.hpp"
#include "cli/serve/client.hpp"
#include "cli/serve/server.hpp"
#include "cli/shell_hints.hpp"
#include "cli/signals.hpp"
#include "cli/standard_output.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "engine/run.hpp"

namespace impipe::cli {
namespace {

// A page draws the beginning; a trace has all, within reason.
constexpr std::size_t slices_of_page = 20'000, slices_of_trace = 2'000'000;

// What the flags say, as text where a value is more than that.
struct RunFlags {
  std::vector<std::string> arguments;
  std::string pipeline_file, sandbox, gpu_memory;
  engine::RunOptions run;
  std::string missing_frame = "error", shard_by = "order", codec = "auto", shard, subsampling,
              pages, max_pixels, memory, cls, progress = "auto", profile, frames, timeout, channels,
              parts, idle;
  int threads = 0;
  bool no_fuse = false, no_header = false, no_sync = false, verbose = false, quiet = false;
  bool json = false, csv = false, markdown = false, via = false;
  std::string compare, fps, matrix, compression, ngff, tiff;
  std::string errors, trace, summary;
};

void add_flags(CLI::App* app, RunFlags& f) {
  engine::RunOptions& run = f.run;
  app->option_defaults()->group("Pipeline");
  option(app, "-f,--file", f.pipeline_file, "FILE", "Read the pipeline from a file");
  option(app, "--with", run.with, "NAME=PATH",
         "A second input: a file for all, or a folder paired by relative path")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);  // what follows the value is an input
  add_sandbox(app, f.sandbox);
  flag(app, "--strict", run.session.strict,
       "An implicit rgb2gray is an error, and what would be left out of a result");
  flag(app, "--no-fuse", f.no_fuse, "Run each operator on its own; results are the same");

  app->option_defaults()->group("Inputs");
  flag(app, "-r,--recursive", run.recursive, "Take folders with all that is below them");
  option(app, "--watch", run.watch, "DIR",
         "Do what is in a folder and what comes into it, each file when it is whole")
      ->check(not_empty());
  option(app, "--idle", f.idle, "SECONDS", "End a watch when nothing has come for so long");
  option(app, "--files-from", run.files_from, "LIST", "Take the names in a list; - is stdin");
  flag(app, "-0,--null", run.nul_separated, "Names in the list end in NUL");
  option(app, "--pages", f.pages, "LIST",
         "Of files of several pages take these, each once, such as 1,3-5");
  option(app, "--missingfile", f.missing_frame, "error|skip|black", "For frames that do not exist");
  option(app, "--frames", f.frames, "LIST",
         "Take these of the numbered inputs, such as 1-100x2,120")
      ->check(not_empty());
  option(app, "--parts", f.parts, "NAME,...",
         "Of EXRs of several parts process these, and keep the others as they are")
      ->excludes(app->get_option("--pages"));
  option(app, "--channels", f.channels, "NAME,...|all",
         "Of EXRs, make the picture of these channels, each as it is stored")
      ->check(not_empty());
  add_axes(app, run.axes);
  option(
      app, "--window", run.window, "file|C,W",
      "Of DICOM and NIfTI, make 8-bit pictures of the numbers: by the file's own window, or by one "
      "of this centre and width")
      ->check(not_empty());
  flag(app, "--shrink-on-load", run.shrink_on_load,
       "Read JPEGs at 1/2, 1/4 or 1/8 where the pipeline begins with a larger imresize: faster, "
       "other pixels");
  option(
      app, "--codec", f.codec, "auto|cpu|device|fast|opencv",
      "Where JPEG, PNG, TIFF and EXR are decoded and encoded: by the processor, or on the GPU or "
      "OpenCL device that computes (auto: on a GPU). Pixels are the same, and JPEG files; others "
      "may be some percent larger or smaller. fast would allow one level of difference: nothing is "
      "faster within it, so it is auto. opencv: PNG, JPEG, TIFF and WebP are decoded by OpenCV, as "
      "a second opinion. Its variable is IMPIPE_JPEG_CODEC")
      ->envname("IMPIPE_JPEG_CODEC")  // IMPIPE_CODEC is the folder of the modules
      ->group("Running");
  option(app, "--shard", f.shard, "I/N", "Do the I-th of N parts of the files")->check(not_empty());
  option(app, "--shard-by", f.shard_by, "order|bytes|name|chunks",
         "Parts of as many files (default), of as many bytes, by each file's name alone, or of the "
         "chunks of each file, which go into one .zarr");
  option(app, "--max-pixels", f.max_pixels, "N",
         "Refuse larger pictures and results (default 1073M)");

  app->option_defaults()->group("Outputs");
  option(app, "-o,--output", run.output, "PATH",
         "Folder (out/ in any case), file, template such as 'out/{stem}.png', or - for stdout");
  flag(app, "--in-place", run.in_place, "Replace the inputs, keeping their rights and links");
  option(app, "--format", run.format, "EXT",
         "Write this format; y4m and raw hold pictures one behind the other, on stdout npy and ppm "
         "too");
  option(app, "--fps", f.fps, "RATE", "Of Y4M: 25, 30000/1001 (default: as before, else 25)")
      ->check(not_empty());
  option(app, "--matrix", f.matrix, "601|709|2020",
         "Which Y Cb Cr a Y4M has: ITU-R BT.601 (default), 709 or 2020; it does not say itself");
  option(app, "-d,--depth", f.cls, "CLASS",
         "Write this class: logical, uint8, uint16, single, half (EXR)");
  option(app, "--quality", run.quality, "Q",
         "Of JPEG and HEIF, 1 to 100 (default 95); writes WebP, AVIF and JPEG XL with loss")
      ->check(in_range(1, 100));
  flag(app, "--lossless", run.lossless, "Write without loss, whatever IMPIPE_QUALITY says");
  option(app, "--compression", f.compression, "fast|default|small|g4",
         "Smaller files or less time, of what is written without loss, and of AVIF and HEIF "
         "(default: TIFF and EXR as in the input; with this always compressed); g4: logical images "
         "as TIFFs by fax codes of group 4");
  option(
      app, "--subsampling", f.subsampling, "444|422|420",
      "Samples of colour in a JPEG or HEIF (default: as in a JPEG that it is made from, else 420)");
  option(app, "--ngff", f.ngff, "0.4|0.5",
         "Which OME-Zarr is written (default: as in the input, else 0.4, which is of Zarr 2)");
  option(app, "--chunk", run.chunk, "PIXELS",
         "The sides of a Zarr's chunks (default: as in the input, else 512), and of the tiles of "
         "--tiff")
      ->check(in_range(16, 65536));
  option(app, "--tiff", f.tiff, "strips|tiles|pyramid|cog",
         "How TIFFs are stored: in tiles of --chunk, with smaller images in SubIFDs, or as a "
         "cloud-optimized GeoTIFF");
  flag(app, "--strip", run.strip, "Leave metadata out");
  flag(app, "-n,--dry-run", run.dry_run, "Compute, but write nothing");
  flag(app, "-u,--update", run.update,
       "Skip outputs and saves that this pipeline made of these inputs, and that are newer");
  flag(app, "--no-clobber", run.no_clobber, "Skip outputs and saves that exist");
  flag(app, "--no-sync", f.no_sync,
       "Do not wait until results are on the disk: a power cut may empty them, and originals");
  flag(app, "--hash", run.hash, "Print a hash of each result's pixels");
  flag(app, "--no-header", f.no_header, "Print no header line above measurements");

  flag(app, "--json", f.json, "Print measurements and hashes as JSON, an object a line");
  flag(app, "--csv", f.csv, "Print them as comma-separated values");

  app->option_defaults()->group("Running");
  option(app, "-j,--threads", f.threads, "N", "Threads (default: all cores)");
  option(app, "--memory", f.memory, "SIZE", "Memory for pictures in flight (default: half)");
  option(app, "--scratch", run.scratch, "DIR",
         "Where decoded images wait that memory does not hold (default: the system's folder)");
  option(app, "--backend", run.device.backend, "NAME", "auto, or a backend of impipe devices");
  option(
      app, "--device", run.device.device, "ID",
      "A device of impipe devices, several (cuda:0,cuda:1), all, a backend's first (cuda), or auto")
      ->transform(auto_as_none);
  option(app, "--gpu-mem", f.gpu_memory, "SIZE", "Use at most so much of a GPU's memory");
  flag(app, "--via", f.via,
       "Let a server do the run that keeps a card open: see impipe serve. Its variable is "
       "IMPIPE_SERVE")
      ->envname("IMPIPE_SERVE");
  flag(app, "--fail-fast", run.fail_fast, "Stop at the first failure");
  option(app, "--retries", run.retries, "N",
         "Do a file up to N times more that failed for a reason that may pass, after a pause")
      ->check(in_range(0, 1000));
  option(app, "--timeout", f.timeout, "SECONDS", "Fail a file that takes longer, and go on");
  option(app, "--errors", f.errors, "FILE", "Write failures to a file, as JSON lines");
  option(app, "--summary", f.summary, "FILE", "Write what the run did to a file, as JSON");

  app->option_defaults()->group("Reports");
  option(app, "--progress", f.progress, "auto|lines|json|openjd|none",
         "How to show progress on stderr; openjd: Open Job Description's lines, on stdout");
  app->add_flag("--profile{text}", f.profile,
                "Say where the time went: --profile, =json, or =html:FILE for a page")
      ->envname("IMPIPE_PROFILE");
  option(app, "--compare", f.compare, "LIST",
         "Write nothing, and print how fast devices are: cpu:1,cpu,cuda:0; also --json, --csv");
  flag(app, "--markdown", f.markdown, "Print the table of --compare as Markdown");
  option(app, "--trace", f.trace, "FILE", "Write what went on when, for ui.perfetto.dev");
  option(app, "--dump-kernels", run.dump_kernels, "DIR", "Write the text of a GPU's kernels");
  flag(app, "-v,--verbose", f.verbose, "Say more");
  flag(app, "-q,--quiet", f.quiet, "Say nothing but failures");
}

// The file of --profile=html:FILE; empty for the other forms.
std::string profile_page_of(const std::string& profile) {
  constexpr std::string_view html = "html:";
  if (profile.rfind(html, 0) != 0) return "";
  if (profile.size() == html.size()) throw Error("--profile=html: no file is named: html:FILE");
  return profile.substr(html.size());
}

void write_file(const char* flag, const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text << std::flush)) {
    throw Error(fmt::format("{} {}: {}", flag, path, std::strerror(errno)), ExitCode::file_failed);
  }
}

void write_profile(const RunFlags& f, engine::Profile profile) {
  const std::string page = profile_page_of(f.profile);
  if (f.profile == "json") {
    std::fputs(profile_json(profile).c_str(), stderr);
  } else if (!page.empty()) {
    std::fputs(profile_line(profile).c_str(), stderr);
  } else if (!f.profile.empty()) {
    std::fputs(profile_text(profile).c_str(), stderr);
  }
  if (!f.trace.empty()) write_file("--trace", f.trace, profile_trace(profile));
  if (page.empty()) return;
  if (profile.slices.size() > slices_of_page) {
    profile.slices.resize(slices_of_page);
    profile.slices_cut = true;
  }
  write_file("--profile", page, profile_page(profile));
}

void read_codec(const std::string& text, engine::RunOptions& run) {
  constexpr std::array codecs = {engine::CodecPlace::automatic, engine::CodecPlace::cpu,
                                 engine::CodecPlace::device, engine::CodecPlace::automatic,
                                 engine::CodecPlace::cpu};
  const int choice = parse_choice("--codec", text, {"auto", "cpu", "device", "fast", "opencv"});
  run.codec_place = codecs.at(static_cast<size_t>(choice));
  run.fast_codec = choice == 3;
  run.by_opencv = choice == 4;
}

void read_class(const std::string& text, engine::RunOptions& run) {
  if (text.empty()) return;
  constexpr std::array kinds = {PixelClass::logical, PixelClass::uint8, PixelClass::uint16,
                                PixelClass::single, PixelClass::single};
  const std::vector<std::string> words = {"logical", "uint8", "uint16", "single", "half"};
  const int kind = parse_choice("-d", text, words);
  run.cls = kinds[static_cast<size_t>(kind)];
  run.half = words[static_cast<size_t>(kind)] == "half";
}

// How TIFFs are stored, by --tiff and --chunk.
void read_tiff_storage(const std::string& text, engine::RunOptions& run) {
  if (text.empty()) return;
  run.tiff_storage = static_cast<io::TiffStorage>(
      1 + parse_choice("--tiff", text, {"strips", "tiles", "pyramid", "cog"}));
  if (run.chunk % 16 == 0) return;
  throw Error(fmt::format("--chunk {}: the sides of a TIFF's tiles are multiples of 16", run.chunk),
              ExitCode::usage);
}

engine::RunOptions options_of(RunFlags& f) {
  engine::RunOptions run = f.run;
  run.missing_frame = static_cast<engine::MissingFrame>(
      parse_choice("--missingfile", f.missing_frame, {"error", "skip", "black"}));
  if (!f.shard.empty()) {
    const Shard shard = parse_shard(f.shard);
    run.shard_index = shard.index;
    run.shard_count = shard.count;
  }
  run.shard_by = static_cast<engine::ShardBy>(
      parse_choice("--shard-by", f.shard_by, {"order", "bytes", "name", "chunks"}));
  if (!f.channels.empty()) run.channels = parse_names("--channels", f.channels);
  if (!f.parts.empty()) run.parts = parse_names("--parts", f.parts);
  if (!f.frames.empty()) run.frames = parse_frames(f.frames);
  if (!f.timeout.empty()) run.timeout = parse_seconds("--timeout", f.timeout);
  if (!f.idle.empty()) run.idle = parse_seconds("--idle", f.idle);
  if (!f.pages.empty()) run.pages = parse_pages(f.pages);
  if (!f.max_pixels.empty()) run.max_pixels = parse_amount("--max-pixels", f.max_pixels, 1000);
  if (!f.memory.empty()) run.memory = parse_amount("--memory", f.memory, 1024);
  if (!f.gpu_memory.empty()) {
    run.gpu_memory = run.session.gpu_memory = parse_amount("--gpu-mem", f.gpu_memory, 1024);
  }
  if (!f.pipeline_file.empty()) run.other_files.push_back({"-f", f.pipeline_file});
  if (!run.files_from.empty()) run.other_files.push_back({"--files-from", run.files_from});
  if (!f.errors.empty()) run.other_files.push_back({"--errors", f.errors, true});
  if (!f.summary.empty()) run.other_files.push_back({"--summary", f.summary, true});
  read_class(f.cls, run);
  if (!f.subsampling.empty()) {
    constexpr std::array<int, 2> kinds[] = {{1, 1}, {2, 1}, {2, 2}};
    run.subsampling = kinds[parse_choice("--subsampling", f.subsampling, {"444", "422", "420"})];
  }
  if (!f.ngff.empty()) run.zarr_version = 2 + parse_choice("--ngff", f.ngff, {"0.4", "0.5"});
  read_tiff_storage(f.tiff, run);
  if (!f.compression.empty()) {
    run.compression = static_cast<io::Compression>(
        1 + parse_choice("--compression", f.compression, {"fast", "default", "small", "g4"}));
  }
  if (!f.fps.empty()) run.frame_rate = parse_frame_rate("--fps", f.fps);
  if (!f.matrix.empty()) {
    constexpr std::array matrices = {601, 709, 2020};
    run.matrix =
        matrices[static_cast<size_t>(parse_choice("--matrix", f.matrix, {"601", "709", "2020"}))];
  }
  read_codec(f.codec, run);
  run.threads = parse_threads(f.threads);
  run.session.fuse = !f.no_fuse;
  run.sync = !f.no_sync;
  const std::string page = profile_page_of(f.profile);
  if (!page.empty()) run.other_files.push_back({"--profile", page, true});
  if (!f.trace.empty()) run.other_files.push_back({"--trace", f.trace, true});
  run.profile = !f.profile.empty() || !f.trace.empty();
  run.profile_slices = !f.trace.empty() ? slices_of_trace : !page.empty() ? slices_of_page : 0;
  run.stop = [] { return stop_signal() != 0; };
  return run;
}

// Lines at the end: warnings of many files, clipping, failures.
void summarise(const engine::RunEnd& end, const engine::RunOptions& options, RunReporter& reporter,
               double seconds) {
  reporter.clear_line();
  reporter.tell_counts();
  if (end.clipped_files > 0) {
    reporter.note(fmt::format("{} values in {} {} were outside 0 to white and were clipped",
                              grouped(end.clipped_values), grouped(end.clipped_files),
                              end.clipped_files == 1 ? "file" : "files"));
  }
  const std::int64_t files = reporter.files_of(end);
  if (files < 2 && options.watch.empty() && end.frames == 0) return;
  const std::int64_t number = end.frames > 0 ? end.frames : end.done;
  const std::string done = fmt::format(
      "{} {}", grouped(number),
      end.frames > 0 ? (number == 1 ? "frame" : "frames") : (number == 1 ? "file" : "files"));
  if (end.stopped || options.dry_run || end.joined_unwritten) {
    // Other words tell that.
  } else if (end.done > 0 && !options.output.empty() && options.output != "-") {
    reporter.note(fmt::format("{} in {:.1f} s -> {}", done, seconds, options.output));
  } else if (end.done > 0 && options.in_place) {
    reporter.note(fmt::format("{} in {:.1f} s, in place", done, seconds));
  }
  if (end.failed > 0 && !end.result_failed && (files > 1 || !options.watch.empty())) {
    reporter.note(fmt::format("{} of {} files failed", grouped(end.failed), grouped(files)));
  }
  reporter.detail(fmt::format("{} files done, {} skipped, {} failed in {:.2f} s", grouped(end.done),
                              grouped(end.skipped), grouped(end.failed), seconds));
}

// The table of --compare.
int run_comparison(const RunFlags& f, const pipeline::Pipeline& pipeline,
                   const engine::RunOptions& options) {
  if (f.json + f.csv + f.markdown > 1) {
    throw Error("--json, --markdown and --csv exclude each other");
  }
  if (options.in_place || !options.output.empty()) {
    throw Error("--compare writes nothing: leave -o and --in-place out");
  }
  constexpr int runs = 5;
  const std::vector<ComparedRow> rows = compare_runs(pipeline, options, f.compare, runs);
  const TableForm form = f.json       ? TableForm::json
                         : f.csv      ? TableForm::csv
                         : f.markdown ? TableForm::markdown
                                      : TableForm::text;
  write_stdout((form == TableForm::csv ? comparison_csv_head() : "") + comparison_text(rows, form));
  const auto missing = [](const ComparedRow& row) { return !row.error.empty(); };
  const auto differs = [](const ComparedRow& row) { return !row.same_bits; };
  if (std::any_of(rows.begin(), rows.end(), missing)) return static_cast<int>(ExitCode::backend);
  return std::any_of(rows.begin(), rows.end(), differs) ? static_cast<int>(ExitCode::file_failed)
                                                        : 0;
}

// Whatever ends a run with another code than that of failed files. Throws Error.
void check_end(const engine::RunEnd& end, const RunReporter& reporter) {
  if (const int signal = stop_signal(); signal != 0) {
    const std::string done = reporter.has_begun()
                                 ? fmt::format("{} of {} files are done", grouped(end.done),
                                               grouped(reporter.files_of(end)))
                                 : "no file is done";
    throw Error(fmt::format("stopped by {}: {}", signal == 2 ? "SIGINT" : "SIGTERM", done),
                static_cast<ExitCode>(128 + signal));
  }
  if (!reporter.output_failure().empty()) {
    throw Error(reporter.output_failure(), ExitCode::file_failed);
  }
  if (end.error) throw *end.error;
  if (end.nothing_found) throw Error("no argument matched any picture", ExitCode::nothing_found);
}

int run_files(const RunFlags& f, pipeline::Pipeline pipeline, const engine::RunOptions& options,
              const ReporterOptions& reporting) {
  RunReporter reporter(reporting);
  RunSummary summary{.pipeline = pipeline.text, .started = engine::utc_now(), .error = {}};
  engine::RunEnd end;
  const auto seconds = [&] {
    const auto all = std::chrono::steady_clock::now() - options.start;
    return std::chrono::duration<double>(all).count() - end.measuring;
  };
  // Only of a run that has begun: before, its name could be that of a file that the run reads.
  const auto write_summary = [&](ExitCode code, const char* error) {
    if (f.summary.empty() || !reporter.has_begun()) return;
    summary.error = error;
    summary.seconds = seconds();
    summary.exit_code = static_cast<int>(code);
    write_file("--summary", f.summary, summary_json(summary, options, end, reporter));
  };
  ExitCode code = ExitCode::ok;
  try {
    end = engine::run(std::move(pipeline), options, reporter);
    let_running_work_end(false);
    reporter.open_errors();
    summarise(end, options, reporter, seconds());
    reporter.end(end, seconds());
    if (end.profile) write_profile(f, *end.profile);
    check_end(end, reporter);
    if (end.failed > 0) code = ExitCode::file_failed;
  } catch (const Error& error) {
    write_summary(error.code(), error.what());
    throw;
  }
  write_summary(code, "");
  return static_cast<int>(code);
}

// `--with a=a/ b=b/`: the second stands among the inputs, and is no file.
void check_operands(const engine::RunOptions& options) {
  for (const std::string& input : options.inputs) {
    const std::size_t equals = input.find('=');
    std::error_code error;
    if (options.with.empty() || equals == 0 || equals == input.npos) continue;
    const bool is_name = std::all_of(input.begin(), input.begin() + static_cast<long>(equals),
                                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (!is_name || std::filesystem::exists(input, error)) continue;
    throw Error("'" + input + "' is no file; each second input has a --with of its own: --with " +
                input);
  }
}

// A run that may take hours says at its start that the folder of its summary is not there. One that
// the run makes lies below -o.
void check_folders(const engine::RunOptions& options) {
  const std::string made = std::filesystem::path(options.output).lexically_normal().string();
  for (const engine::RunOptions::OtherFile& file : options.other_files) {
    const std::filesystem::path path = std::filesystem::path(file.path).lexically_normal();
    std::error_code error;
    if (!file.written || !path.has_parent_path() ||
        std::filesystem::is_directory(path.parent_path(), error) ||
        (!made.empty() && path.string().starts_with(made))) {
      continue;
    }
    throw Error(file.option + " " + file.path + ": No such file or directory");
  }
}

int run_pipeline(RunFlags& f) {
  f.run.sandbox = engine::make_sandbox(f.sandbox);
  pipeline::Pipeline pipeline = take_pipeline(f.arguments, f.pipeline_file, f.run.sandbox);
  f.run.inputs = f.arguments;
  engine::RunOptions options = options_of(f);
  check_operands(options);
  check_folders(options);
  const std::vector<std::string> modes = {"auto", "lines", "json", "openjd", "none"};
  ReporterOptions reporting{
      .progress = static_cast<ProgressMode>(parse_choice("--progress", f.progress, modes)),
      .rows = f.json  ? RowForm::json
              : f.csv ? RowForm::csv
                      : RowForm::tabs,
      .header = !f.no_header,
      .verbose = f.verbose && !f.quiet,
      .quiet = f.quiet,
      .errors_file = f.errors,
      .totals = !f.summary.empty(),
      .watched = options.watch};
  if (!f.profile.empty() && profile_page_of(f.profile).empty()) {
    parse_choice("--profile", f.profile, {"text", "json", "html:FILE"});
  }
  if (options.watch.empty() && !f.idle.empty()) {
    throw Error("--idle ends a --watch, and there is none");
  }
  if (!options.watch.empty() && !f.compare.empty()) {
    throw Error("--watch and --compare exclude each other");
  }
  if (!pipeline.has_source() && options.inputs.empty() && options.files_from.empty() &&
      options.watch.empty()) {
    throw Error(
        "no input given: impipe PIPELINE INPUT... -o OUTPUT; inputs are files, folders, "
        "globs, frame ranges and - for stdin" +
        hint_of_pipe("'" + pipeline.text + "'"));
  }
  if (options.output == "-" && reporting.progress == ProgressMode::openjd) {
    throw Error("--progress openjd has stdout, and no picture may go there: give -o FOLDER");
  }
  if (options.output == "-" && !options.dry_run && stdout_is_terminal()) {
    throw Error("-o -: stdout is a terminal, which shows no pictures; give -o FILE or a pipe");
  }
  if (!f.compare.empty()) return run_comparison(f, pipeline, options);
  if (f.markdown) throw Error("--markdown is a form of --compare");
  if (f.json && f.csv) throw Error("--json and --csv exclude each other");
  options.process_ends = true;
  return run_files(f, std::move(pipeline), options, reporting);
}

// Why no server does the run; empty where it may. It does one after the other, each to its end.
std::string why_local(const RunFlags& f) {
  if (!f.run.watch.empty()) return "--watch goes on for long";
  return f.compare.empty() ? "" : "--compare opens its own devices";
}

// With --progress openjd whatever ends the run is told on stdout too.
int run_and_tell(RunFlags& f) {
  try {
    return run_pipeline(f);
  } catch (const Error& error) {
    if (f.progress == "openjd") write_stdout(openjd_failure(error.what()));
    throw;
  }
}

}  // namespace

void add_run(CommandSet& commands) {
  Command& command = commands.add("run");
  command.usage = "impipe [run] PIPELINE INPUT... -o OUTPUT";
  command.summary = "Run a pipeline over files";
  command.examples =
      "impipe 'imadjust | conv2 k7 | edge prewitt' photos/ -o edges/\n"
      "impipe 'imgaussfilt 2' in.1-100#.exr -o 'out/{stem}.exr'\n"
      "impipe 'mean2 | std2' *.png > statistics.tsv\n"
      "impipe 'imlincomb 0.5 0.5 :b' a/ --with b=b/ -o mixed/\n"
      "impipe 'imresize 0.5' --watch incoming/ -r -u -o half/\n"
      "ffmpeg -i in.mp4 -f yuv4mpegpipe - | impipe 'imgaussfilt 2' - -o - | ffmpeg -i - out.mp4\n";
  command.notes =
      "Frames: in.1-100#.exr is in.0001.exr to in.0100.exr; @ stands for numbers without zeros in\n"
      "front, ####, @@@@ and %04d for four digits, 1-100x2 for every other one. Without a list\n"
      "(in.####.exr) they are the frames of --frames, or all that there are; in -o out.####.exr "
      "the\nnumber of the input's frame. A file of that very name comes first.\n"
      "Templates: {dir} folder, {stem} name without extension, {name} with it, {ext} of the "
      "result,\n"
      "{index:05} place in the run from 1, {frame:04} number of the frame, {page:03} of the page "
      "or frame,\n{z:02} {t} {c} its place along these axes (TIFF, Zarr, NPY, FITS, NIfTI, DICOM), "
      "{{ a brace.\nResults stay below what -o begins with: in 'out/{dir}' that of ../a "
      "is a.\n"
      "Streams: frames of a Y4M (.y4m, or ffmpeg's yuv4mpegpipe on stdin) are pages, read as they "
      "come.\n"
      "-o - and -o NAME.y4m write such a stream, of pictures too; --format raw writes samples "
      "alone,\n"
      "rows of rgb24 or gray (16 bits: rgb48le, gray16le) as ffmpeg's rawvideo reads them.\n"
      "Measurements: columns have the operator's name, or NAME of `mean2 as NAME`, with a number "
      "where\n"
      "it is taken (mean2.2). JSON has \"NaN\", \"Infinity\" and \"-Infinity\".\n";
  auto flags = std::make_shared<RunFlags>();
  command.takes(flags->arguments);
  add_flags(command.app, *flags);
  command.run = [flags, &command] {
    if (flags->via && !serve::is_server()) {
      if (const auto code = serve::run_by_server(command.line, flags->quiet, why_local(*flags))) {
        return *code;
      }
    }
    return run_and_tell(*flags);
  };
}

}  // namespace impipe::cli
