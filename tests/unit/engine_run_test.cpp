// Whole runs over folders of small pictures: reports, names, skips and failures.
#include "engine/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>

#include "core/error.hpp"
#include "io/codec.hpp"
#include "io/files/read_picture.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/parser.hpp"

namespace impipe::engine {
namespace {

namespace fs = std::filesystem;
using State = FileReport::State;

class Recorder : public Progress {
 public:
  void begin(std::int64_t files) override { begun = files; }
  bool file(const FileReport& report) override {
    reports.push_back(report);
    bytes.emplace_back(reinterpret_cast<const char*>(report.bytes.data()), report.bytes.size());
    return static_cast<int>(reports.size()) < most;
  }
  void out_of_memory(std::string_view, std::string_view) noexcept override {}
  void note(const std::string& text) override { notes.push_back(text); }
  void detail(const std::string&) override {}
  void tick() override {}

  std::int64_t begun = -1;
  std::vector<FileReport> reports;
  std::vector<std::string> notes, bytes;
  int most = 1 << 30;
};

// A folder of its own for each test, which is the working folder meanwhile.
class Runs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("impipe-run-" + std::to_string(getpid()));
    fs::create_directories(folder_);
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  // A plain PGM of the given codes.
  static void write_pgm(const fs::path& path, int width, int height, int code) {
    fs::create_directories(fs::absolute(path).parent_path());
    std::ofstream file(path, std::ios::binary);
    file << "P5\n"
         << width << " " << height << "\n255\n"
         << std::string(static_cast<size_t>(width * height), static_cast<char>(code));
  }
  static int first_code(const fs::path& path) {
    const HostImage image = io::decode(io::read_picture(path)).image;
    return *image.planes.front().row_as<std::uint8_t>(0);
  }

  RunEnd run(const char* text, RunOptions options) {
    options.threads = 2;
    return engine::run(pipeline::bind(pipeline::parse(text)), options, recorder_);
  }
  std::string usage_error(const char* text, RunOptions options) {
    try {
      run(text, std::move(options));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_EQ(recorder_.begun, -1) << "work had begun";
      return error.what();
    }
    return "no error";
  }

  Recorder recorder_;
  fs::path folder_, before_;
};

TEST_F(Runs, AFolderIsMirroredInOrder) {
  for (int i = 0; i < 9; ++i) write_pgm("in/" + std::to_string(i) + ".pgm", 4, 3, 10 * i);
  const RunEnd end = run("imcomplement", {.inputs = {"in"}, .output = "out"});
  EXPECT_EQ(end.done, 9);
  EXPECT_EQ(end.failed, 0);
  ASSERT_EQ(recorder_.reports.size(), 9u);
  for (int i = 0; i < 9; ++i) {
    const std::string name = std::to_string(i) + ".pgm";
    EXPECT_EQ(recorder_.reports[static_cast<size_t>(i)].input, "in/" + name);
    EXPECT_EQ(first_code("out/" + name), 255 - 10 * i);
  }
}

TEST_F(Runs, FailuresNameTheirStageAndTheOthersAreDone) {
  write_pgm("in/a.pgm", 4, 3, 1);
  write_pgm("in/c.pgm", 2, 2, 1);  // too small for the kernel
  write_pgm("in/z.pgm", 4, 3, 1);
  std::ofstream("in/b.pgm") << "P5\n4 3\n255\nxx";
  const RunEnd end = run("conv2 [1 1 1; 1 1 1; 1 1 1] valid", {.inputs = {"in"}, .output = "out"});
  EXPECT_EQ(end.done, 2);
  EXPECT_EQ(end.failed, 2);
  ASSERT_EQ(recorder_.reports.size(), 4u);
  EXPECT_EQ(recorder_.reports[1].stage, "decode");
  EXPECT_EQ(recorder_.reports[2].stage, "compute");
  EXPECT_EQ(recorder_.reports[2].message,
            "conv2: the image is only 2x2, so that nothing is left of it");
  EXPECT_TRUE(fs::exists("out/a.pgm"));
  EXPECT_FALSE(fs::exists("out/b.pgm"));
}

TEST_F(Runs, WhatMustNotStart) {
  write_pgm("in/a.pgm", 4, 3, 1);
  write_pgm("in/b.pgm", 4, 3, 1);
  const std::vector<std::string> in = {"in"};
  struct Row {
    const char* pipeline;
    RunOptions options;
    const char* message;
  };
  const Row rows[] = {
      {"imcomplement",
       {.inputs = in},
       "the result is an image, and nothing says where it goes: give -o FOLDER, -o FILE.png, -o - "
       "for stdout, or --in-place"},
      {"mean2",
       {.inputs = in, .output = "out"},
       "the pipeline ends in mean2, a measurement: there is no image to write; leave -o out and "
       "rows go to stdout (--csv, --json), or write the numbers with -o '{stem}.npy'"},
      {"phantom 8",
       {.inputs = in, .output = "x.pgm"},
       "the pipeline makes its own image, with phantom, and takes no inputs"},
      {"imcomplement",
       {.inputs = in, .output = "out", .format = "docx"},
       "--format: 'docx' is no known format; there are png, jpg, tif, bmp, webp, exr, pgm, pfm, "
       "npy, jxl, avif, jp2, qoi, tga, hdr, heic, y4m, raw, dpx, fits, zarr, pam"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .output = "out"},
       "the pipeline reads an image ':b': give --with b=PATH, or keep one with `as b`"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .with = {"c=in"}, .output = "out"},
       "--with c: the pipeline reads no image ':c'"},
      {"map 'x * b'",
       {.inputs = in, .with = {"b=in"}, .output = "out"},
       "--with b: the pipeline reads no image ':b'; in an expression 'b' is no image: give another "
       "name"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .with = {"b"}, .output = "out"},
       "--with: 'b' is not NAME=PATH"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .with = {"b=gone"}, .output = "out"},
       "--with b: gone: no such file or folder"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .with = {"b=in", "b=in"}, .output = "out"},
       "--with b: given twice"},
      {"save x.pgm | imcomplement",
       {.inputs = in, .output = "out"},
       "what `save` writes of 'in/a.pgm' and what `save` writes of 'in/b.pgm' would both be "
       "written to 'x.pgm'; save '{stem}_x.pgm' keeps them apart"},
      {"save 'out/{stem}.pgm' | imcomplement",
       {.inputs = in, .output = "out"},
       "the output of 'in/a.pgm' and what `save` writes of 'in/a.pgm' would both be written to "
       "'out/a.pgm'; give them different names"},
      {"save '{dir}/{name}' | imcomplement",
       {.inputs = in, .output = "out"},
       "what `save` writes of 'in/a.pgm' would replace the input 'in/a.pgm'; choose another name "
       "for `save`"},
      {"imlincomb 1 1 :b",
       {.inputs = {"in/a.pgm"}, .with = {"b=in/b.pgm"}, .output = "in/b.pgm"},
       "the output of 'in/a.pgm' would replace 'in/b.pgm' of --with b; choose another -o"},
      {"imlincomb 1 1 :b",
       {.inputs = in, .with = {"b=in/b.pgm"}, .in_place = true},
       "the output of 'in/b.pgm' would replace 'in/b.pgm' of --with b; give -o instead of "
       "--in-place"},
      {"imcomplement",
       {.inputs = in, .in_place = true, .update = true},
       "--in-place and -u exclude each other"},
      {"imcomplement",
       {.inputs = in, .in_place = true, .no_clobber = true},
       "--in-place and --no-clobber exclude each other"},
      {"phantom 8",
       {.in_place = true},
       "--in-place replaces the inputs, and a pipeline that makes its image has none"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(usage_error(row.pipeline, row.options), row.message) << row.pipeline;
  }
  EXPECT_FALSE(fs::exists("out"));
}

// The pipeline fits none of the files: its own fault, said once.
TEST_F(Runs, APipelineThatFitsNoFileIsAUsageError) {
  write_pgm("in/a.pgm", 4, 3, 1);
  write_pgm("in/b.pgm", 4, 3, 1);
  EXPECT_EQ(usage_error("im2bw 0.5 | imadjust", {.inputs = {"in"}, .output = "out"}),
            "pipeline:1:13: imadjust: it is not defined for a logical image; it takes uint8, "
            "uint16, single\n  im2bw 0.5 | imadjust\n              ^^^^^^^^");
}

TEST_F(Runs, MeasurementsAreReportedAndSaved) {
  write_pgm("in/a.pgm", 4, 3, 7);
  run("mean2 | std2", {.inputs = {"in"}});
  EXPECT_EQ(recorder_.reports.at(0).rows[0].columns, (std::vector<std::string>{"mean2", "std2"}));
  EXPECT_EQ(recorder_.reports.at(0).rows[0].values, (std::vector<double>{7, 0}));
  run("imhist", {.inputs = {"in"}, .output = "{stem}.npy"});
  std::ifstream file("a.npy", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("'shape': (256,)"), std::string::npos);
}

TEST_F(Runs, SkipsWhatIsThere) {
  write_pgm("in/a.pgm", 4, 3, 7);
  write_pgm("in/b.pgm", 4, 3, 7);
  write_pgm("out/a.pgm", 1, 1, 0);
  RunEnd end = run("imcomplement", {.inputs = {"in"}, .output = "out", .no_clobber = true});
  EXPECT_EQ(end.skipped, 1);
  EXPECT_EQ(recorder_.reports[0].state, State::skipped);
  EXPECT_EQ(first_code("out/a.pgm"), 0);
  fs::last_write_time("out/b.pgm", fs::last_write_time("in/b.pgm") - std::chrono::hours(1));
  end = run("imcomplement", {.inputs = {"in"}, .output = "out", .update = true});
  EXPECT_EQ(end.done, 1);
  EXPECT_EQ(end.skipped, 1);
}

TEST_F(Runs, ADryRunWritesNothing) {
  write_pgm("in/a.pgm", 4, 3, 7);
  EXPECT_EQ(
      run("imcomplement | save s.pgm", {.inputs = {"in"}, .output = "out", .dry_run = true}).done,
      1);
  EXPECT_FALSE(fs::exists("out"));
  EXPECT_FALSE(fs::exists("s.pgm"));
}

TEST_F(Runs, StdoutGetsTheResultsInOrder) {
  for (int i = 0; i < 5; ++i) write_pgm("in/" + std::to_string(i) + ".pgm", 1, 1, i);
  run("imcomplement", {.inputs = {"in"}, .output = "-"});
  ASSERT_EQ(recorder_.bytes.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    const std::string& bytes = recorder_.bytes[static_cast<size_t>(i)];
    EXPECT_EQ(static_cast<unsigned char>(bytes.back()), 255 - i);
  }
}

TEST_F(Runs, ShardsShareTheFilesAndTheirNumbers) {
  for (int i = 0; i < 12; ++i) write_pgm("in/" + std::to_string(100 + i) + ".pgm", 1, 1, i);
  for (int shard = 1; shard <= 3; ++shard) {
    run("imcomplement",
        {.inputs = {"in"}, .shard_index = shard, .shard_count = 3, .output = "out/{index}.pgm"});
  }
  EXPECT_EQ(recorder_.reports.size(), 12u);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(first_code("out/" + std::to_string(i + 1) + ".pgm"), 255 - i);
  }
}

TEST_F(Runs, PartnersArePairedByName) {
  write_pgm("in/sub/a.pgm", 4, 3, 7);
  write_pgm("in/b.pgm", 4, 3, 7);
  write_pgm("other/sub/a.pnm", 4, 3, 5);
  const RunEnd end =
      run("imlincomb 1 1 :b",
          {.inputs = {"in"}, .recursive = true, .with = {"b=other"}, .output = "out"});
  EXPECT_EQ(end.done, 1);
  EXPECT_EQ(first_code("out/sub/a.pgm"), 12);
  ASSERT_EQ(recorder_.reports.size(), 2u);
  EXPECT_EQ(recorder_.reports[0].message,
            "--with b: there is no partner other/b.pgm, nor one with another known extension");
}

TEST_F(Runs, EqualPixelsHaveEqualHashes) {
  write_pgm("in/a.pgm", 4, 3, 7);
  write_pgm("in/b.pgm", 4, 3, 7);
  write_pgm("in/c.pgm", 3, 4, 7);
  run("imcomplement", {.inputs = {"in"}, .hash = true});
  const auto hash = [&](size_t i) { return recorder_.reports.at(i).rows[0].hash; };
  EXPECT_EQ(hash(0).size(), 16u);
  EXPECT_EQ(hash(0), hash(1));
  EXPECT_NE(hash(0), hash(2));
}

TEST_F(Runs, ClippedValuesAreCounted) {
  write_pgm("in/a.pgm", 4, 3, 200);
  const RunEnd end = run("im2single | immultiply 2", {.inputs = {"in"}, .output = "out"});
  EXPECT_EQ(end.clipped_values, 12);
  EXPECT_EQ(end.clipped_files, 1);
}

TEST_F(Runs, MissingFrames) {
  write_pgm("f.1.pgm", 4, 3, 9);
  write_pgm("f.3.pgm", 4, 3, 9);
  const std::vector<std::string> frames = {"f.1-3@.pgm"};
  EXPECT_EQ(run("mean2", {.inputs = frames}).failed, 1);
  EXPECT_EQ(run("mean2", {.inputs = frames, .missing_frame = MissingFrame::skip}).skipped, 1);
  recorder_.reports.clear();
  EXPECT_EQ(run("mean2", {.inputs = frames, .missing_frame = MissingFrame::black}).done, 3);
  EXPECT_EQ(recorder_.reports[1].rows[0].values, (std::vector<double>{0}));
}

TEST_F(Runs, NothingFoundIsSaid) {
  fs::create_directory("empty");
  EXPECT_TRUE(run("mean2", {.inputs = {"empty"}}).nothing_found);
  EXPECT_EQ(recorder_.notes,
            (std::vector<std::string>{"no picture in the folder 'empty'; -r looks into its "
                                      "folders"}));
}

TEST_F(Runs, AStopLeavesWholeFilesOnly) {
  for (int i = 0; i < 200; ++i) write_pgm("in/" + std::to_string(i) + ".pgm", 64, 64, 3);
  const RunEnd end =
      run("imcomplement",
          {.inputs = {"in"}, .output = "out", .stop = [] { return fs::exists("out/0.pgm"); }});
  EXPECT_TRUE(end.stopped);
  EXPECT_GE(end.done, 1);
  EXPECT_LT(end.done, 200);
  for (const auto& entry : fs::directory_iterator("out")) EXPECT_EQ(first_code(entry.path()), 252);
}

// From before the first header is read until files are done.
TEST_F(Runs, AStopAtAnyTimeEndsTheRun) {
  for (int i = 0; i < 40; ++i) write_pgm("in/" + std::to_string(i) + ".pgm", 8, 8, 3);
  for (const std::string device : {"", "cpu"}) {
    for (const int most : {0, 1, 2, 10, 30, 60, 100}) {
      std::atomic<int> asked{0};
      const RunEnd end = run("imcomplement", {.device = {.device = device},
                                              .inputs = {"in"},
                                              .output = "out",
                                              .threads = 2,
                                              .profile = true,
                                              .stop = [&] { return ++asked > most; }});
      EXPECT_TRUE(end.stopped) << device << most;
      EXPECT_LT(end.done, 40) << device << most;
      EXPECT_EQ(end.failed, 0) << device << most;
    }
  }
}

TEST_F(Runs, AProfileAddsUp) {
  for (int i = 0; i < 4; ++i) write_pgm("in/" + std::to_string(i) + ".pgm", 300, 300, 3);
  const RunEnd end =
      run("imcomplement | mean2 | fliplr", {.inputs = {"in"}, .output = "out", .profile = true});
  ASSERT_TRUE(end.profile);
  EXPECT_EQ(end.profile->files, 4);
  EXPECT_GT(end.profile->times.compute, 0);
  EXPECT_GT(end.profile->times.encode, 0);
  ASSERT_FALSE(end.profile->steps.empty());
  EXPECT_EQ(end.profile->steps[0].runs, 4);
  EXPECT_GE(end.profile->steps[0].bytes, 4 * 300 * 300);
  double steps = 0;
  for (const StepProfile& step : end.profile->steps) steps += step.seconds;
  // Kernels that run at once share the time.
  EXPECT_NEAR(steps, end.profile->devices.at(0).times.busy, 1e-9);
  EXPECT_LE(steps, end.profile->times.wall);
  EXPECT_LE(end.profile->unaccounted(), 0.5 * end.profile->wall);
  EXPECT_GE(end.profile->unaccounted(), 0);
}

}  // namespace
}  // namespace impipe::engine
