// The suite `algorithms`: where the algorithm matters as much as the kernel, on contents that it
// could depend on: dithering, projections, connected pixels, large medians, joined extremes.
#include "bench/suites.hpp"

namespace impipe::bench {
namespace {

// A corridor of one pixel from the corner to the centre: every second ring of pixels, each cut
// below its first corner and joined there with the next ring but one.
std::string spiral(const std::string& corridor, const std::string& wall) {
  const std::string ring = "min(min(col, row), min(width - 1 - col, height - 1 - row))";
  return "constant 0 size={size} | map '" + ring + " - 2 * floor(" + ring +
         " / 2) == (col == " + ring + " && row == col + 1 ? 1 : 0) ? " + corridor + " : " + wall +
         "'";
}

}  // namespace

std::vector<SuiteRow> algorithm_rows() {
  constexpr int small = 2048, usual = 4096, large = 8192;
  std::vector<SuiteRow> rows;
  const auto row = [&](const char* name, const char* pipeline, int size,
                       const std::string& input = "", PixelClass cls = PixelClass::uint8) {
    rows.push_back({.name = name, .pipeline = pipeline, .cls = cls, .size = size});
    if (!input.empty()) rows.back().images = {{"", input}};
  };
  row("dither", "dither", small);
  row("dither", "dither", large);
  row("radon, 320 angles", "radon 0.3:0.5:159.8", 512);
  row("radon, 320 angles in fours", "radon 0:0.5625:179.6", 512);
  row("iradon of 320 angles", "iradon 0.5625", 320);
  row("regional maxima, natural", "imregionalmax", small);
  row("regional maxima, spiral", "imregionalmax", small, spiral("200", "20"));
  const auto label = [&](const char* name, const std::string& input) {
    row(name, "bwlabel", usual, input, PixelClass::logical);
  };
  label("bwlabel, random", "noise {size} | im2bw 0.5");
  label(
      "bwlabel, blobs",
      "constant 0 size={size} | map 'sin(col / 9) * sin(row / 11) + 0.6 * sin((col + row) / 37) + "
      "0.3 * cos((col - 2 * row) / 5) > 0.2' class=logical");
  label("bwlabel, spiral", spiral("1", "0") + " | im2bw 0.001");
  row("strict maxima", "imregionalmax strict", large);
  row("strict maxima", "imregionalmax strict", large, "", PixelClass::single);
  row("imgradmorph 7x3", "imgradmorph rectangle,3,7", large);
  row("imgradmorph 7x3", "imgradmorph rectangle,3,7", large, "", PixelClass::single);
  for (const auto& [content, input] :
       {std::pair<std::string, std::string>{"natural", ""},
        {"checkerboard", "checkerboard size={size} side=16"},
        {"salt and pepper", "noise {size} | map 'x < 13 ? 0 : (x > 242 ? 255 : 128)'"},
        {"noise", "noise {size}"}}) {
    row(("median 15x15, " + content).c_str(), "medfilt2 15", large, input);
    row(("median 31x31, " + content).c_str(), "medfilt2 31", large, input);
  }
  row("edge canny", "edge canny", small);
  row("imfill of grays", "imfill", small);
  row("imreconstruct of grays", "as a | imerode disk,3 | imreconstruct :a", small);
  return rows;
}

}  // namespace impipe::bench
