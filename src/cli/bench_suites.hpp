// Suites of `impipe bench`: pipelines with names, the images they run on and the times they are to
// reach. A new suite is a file of its own and a line in bench_suites.cpp.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/image.hpp"

namespace impipe::cli {

// What a row's time is at most.
struct SuiteBar {
  enum class Of {
    none,
    yardstick,  // times a copy (or read) kernel of the same bytes
    microseconds,
    row,  // times the row `name` of the same class and size
  };
  Of of = Of::none;
  double limit = 0;
  const char* name = "";
};

struct SuiteRow {
  std::string name;
  std::string pipeline;
  PixelClass cls = PixelClass::uint8;
  int size = 8192;  // side of the image
  SuiteBar bar = {};
  // Pipelines that make images: by the name that the pipeline has for them, "" for the input.
  // {size} stands for the side.
  std::vector<std::pair<std::string, std::string>> images = {};
};

struct Suite {
  const char* name;
  const char* summary;
  std::vector<SuiteRow> (*rows)();
  // What the slowest row of a size may take, times its fastest; 0: rows are of different things.
  double most_spread = 0;
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
