// Suites of `impipe bench`: pipelines with names and the images they run on. What a card is to
// reach stands in docs/benchmarks/bars. A new suite is a file of its own and a line in
// bench_suites.cpp.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"

namespace impipe::cli {

struct SuiteRow {
  std::string name;
  std::string pipeline;
  PixelClass cls = PixelClass::uint8;
  int size = 8192;  // side of the image
  // Pipelines that make images: by the name that the pipeline has for them, "" for the input.
  // {size} stands for the side.
  std::vector<std::pair<std::string, std::string>> images = {};
};

struct Suite {
  const char* name;
  const char* summary;
  std::vector<SuiteRow> (*rows)();
  // The rows of a size are one operator on several contents: the slowest over the fastest counts.
  bool one_operator = false;
};

std::span<const Suite> all_suites();
// Throws Error with the nearest name.
const Suite& find_suite(const std::string& name);

// The suites, one file each.
std::vector<SuiteRow> primitive_rows();
std::vector<SuiteRow> edt_rows();
std::vector<SuiteRow> geometry_rows();
std::vector<SuiteRow> algorithm_rows();

}  // namespace impipe::cli
