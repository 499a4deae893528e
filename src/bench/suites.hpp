// Suites of `impipe-bench`: pipelines with names and the images they run on. What a card is to
// reach stands in docs/benchmarks/bars. A new suite is a file of its own and a line in
// suites.cpp.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/naive/loops.hpp"
#include "core/image.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::bench {

struct SuiteRow {
  std::string name;
  std::string pipeline;
  PixelClass cls = PixelClass::uint8;
  int size = 8192;  // side of the image
  // Pipelines that make images: by the name that the pipeline has for them, "" for the input.
  // {size} stands for the side.
  std::vector<std::pair<std::string, std::string>> images = {};
  // Where a figure of the suite draws the row: on which line, at what place along it.
  std::string series = {};
  double x = 0;
  // A plain loop that computes the same; none where nobody would write one.
  naive::Loop naive = {};
  bool host_only = false;  // the loop is what is measured: no device has a part in it
  bool fuse = true;
  int stack = 1;
  int channels = 0;     // 0: those that --channels says
  std::string content;  // what the image shows, where rows differ in that alone
  // That stand beside the usual kernels of GPUs, unless --variant says which (variants.hpp).
  std::vector<std::string> variants = {};
  int decodes = 0;    // so many JPEGs of 16:9 are decoded on the device, no pipeline
  bool copy = false;  // the plain copy of the image is measured, no pipeline
};

// A row that was measured.
struct BenchRow {
  SuiteRow what;
  engine::BenchmarkResult result;
  std::string error;  // why there is no result
};

// What a suite's figure shows. The vertical axis is logarithmic.
struct Figure {
  enum class Value { time, time_of_image, bandwidth, speedup };
  const char* x = "";  // what a row's x counts; empty: rows stand beside each other by name
  Value value = Value::time;
};

// A figure that a paper's text states, and the variants whose times it compares.
struct Published {
  const char* what;
  const char* figure;
  const char* source;
  const char *slower, *faster;  // variants
};

struct Suite {
  const char* name;
  const char* summary;
  std::vector<SuiteRow> (*rows)();
  // The rows of a size are one operator on several contents: the slowest over the fastest counts.
  bool one_operator = false;
  Figure figure = {};
  // What stands out among the measured rows; a line each.
  std::vector<std::string> (*findings)(const std::vector<BenchRow>&) = nullptr;
  std::span<const Published> published = {};
};

std::span<const Suite> all_suites();
// Throws Error with the nearest name.
const Suite& find_suite(const std::string& name);

// Whether the pipeline has a meaning for an image of that class and so many channels, its operands
// being of the same type.
bool is_defined(const std::string& text, PixelClass cls, int channels);

// The suites, one file each.
std::vector<SuiteRow> primitive_rows();
std::vector<SuiteRow> edt_rows();
std::vector<SuiteRow> geometry_rows();
std::vector<SuiteRow> algorithm_rows();
std::vector<SuiteRow> sweep_rows();
std::vector<SuiteRow> colour_rows();
// Those of the papers (paper_rows.cpp).
std::vector<SuiteRow> toolbox_rows();
std::vector<SuiteRow> pixel_count_rows();
std::vector<SuiteRow> copy_width_rows();
std::vector<SuiteRow> dither_rows();
std::vector<SuiteRow> skeleton_rows();
std::vector<SuiteRow> separable_rows();
std::vector<SuiteRow> apron_rows();
std::vector<SuiteRow> joint_histogram_rows();
std::vector<SuiteRow> chain_rows();
std::vector<SuiteRow> stack_rows();
std::vector<SuiteRow> codec_rows();
std::vector<SuiteRow> jpeg_rows();

}  // namespace impipe::bench
