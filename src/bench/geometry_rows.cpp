// The suite "geometry": windows, resampling and joint histograms, these on contents of many kinds.
#include "bench/suites.hpp"

namespace impipe::bench {

std::vector<SuiteRow> geometry_rows() {
  constexpr int large = 8192, usual = 4096;
  std::vector<SuiteRow> rows;
  const auto joint = [&](const char* content, const std::string& first, const std::string& second) {
    rows.push_back({.name = std::string("joint histogram, ") + content,
                    .pipeline = "jointhist :b",
                    .size = usual});
    if (!first.empty()) rows.back().images = {{"", first}, {"b", second}};
  };
  joint("natural", "", "");
  joint("random", "noise size={size}", "noise size={size} seed=2");
  joint("gradients", "gradient size={size}", "gradient size={size} vertical");
  joint("constant", "constant 0.3 size={size}", "constant 0.7 size={size}");
  joint("checkerboards", "checkerboard size={size} side=1", "checkerboard size={size} side=2");
  // One pixel in sixteen is another.
  joint("specks", "noise size={size} | map 'x > 239 ? x : 80'",
        "noise size={size} seed=2 | map 'x > 239 ? x : 90'");
  rows.push_back(
      {.name = "joint histogram, 64 bins", .pipeline = "jointhist :b 64", .size = usual});
  rows.push_back({.name = "imresize 0.5", .pipeline = "imresize 0.5", .size = large});
  rows.push_back(
      {.name = "imresize 0.5 bilinear", .pipeline = "imresize 0.5 bilinear", .size = large});
  rows.push_back({.name = "imresize 2", .pipeline = "imresize 2", .size = usual});
  rows.push_back({.name = "imresize 2 nearest", .pipeline = "imresize 2 nearest", .size = usual});
  rows.push_back({.name = "imwarp", .pipeline = "imwarp rotate=30", .size = large});
  rows.push_back({.name = "imcrop", .pipeline = "imcrop size=8000", .size = large});
  rows.push_back({.name = "impad", .pipeline = "impad 16 symmetric", .size = large});
  rows.push_back({.name = "histeq", .pipeline = "histeq", .size = large});
  return rows;
}

}  // namespace impipe::bench
