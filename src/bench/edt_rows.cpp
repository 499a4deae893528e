// The suite `edt`: the distance transform on the nine kinds of pictures of Kong et al. Its time is
// to hardly depend on what they show.
#include "bench/suites.hpp"

namespace impipe::bench {

std::vector<SuiteRow> edt_rows() {
  struct Picture {
    const char *name, *pipeline;
  };
  constexpr Picture pictures[] = {
      {"random", "noise {size} | map 'x > white / 2' class=logical"},
      {"corner", "constant 0 size={size} | map 'col + row < 1' class=logical"},
      {"half", "constant 0 size={size} | map 'col < width / 2' class=logical"},
      {"circle",
       "constant 0 size={size} | map '(col - width / 2) * (col - width / 2) + "
       "(row - height / 2) * (row - height / 2) < width * width / 9' class=logical"},
      {"natural",
       "noise {size} | map '55 * sin(col / 62) * cos(row / 83) + 30 * sin((col + 2 * row) / 211) + "
       "x / white * 31 > 48' class=logical"},
  };
  std::vector<SuiteRow> rows;
  for (const int side : {1024, 4096}) {
    for (const bool inverse : {false, true}) {
      for (const Picture& picture : pictures) {
        // The inverse of a random picture is one.
        if (inverse && picture.name == pictures[0].name) continue;
        rows.push_back(
            {.name = std::string("bwdist ") + (inverse ? "inverse " : "") + picture.name,
             .pipeline = "bwdist",
             .cls = PixelClass::logical,
             .size = side,
             .images = {{"", std::string(picture.pipeline) + (inverse ? " | imcomplement" : "")}},
             .naive = naive::distance()});
      }
    }
  }
  return rows;
}

}  // namespace impipe::bench
