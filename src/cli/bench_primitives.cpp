// The suite `primitives`: what each kind of kernel is to reach on one H200, beside a plain copy or
// read of the same bytes. uint8 filters are uint8 in and out.
#include "cli/bench_suites.hpp"

namespace impipe::cli {
namespace {

// 7x7 weights that no row and column make, none of them 0.
constexpr const char* pyramid =
    "[1 2 3 4 3 2 1; 2 3 4 5 4 3 2; 3 4 5 6 5 4 3; "
    "4 5 6 7 6 5 4; 3 4 5 6 5 4 3; 2 3 4 5 4 3 2; 1 2 3 4 3 2 1]/175";

// About half of 11x11 cells, in no order.
constexpr const char* irregular =
    "["
    "1 0 0 1 0 0 1 0 0 0 1; "
    "1 1 0 0 1 0 0 0 0 1 1; "
    "0 1 1 1 1 1 1 0 0 0 1; "
    "0 1 1 0 0 0 0 1 1 1 1; "
    "0 1 0 1 0 0 1 1 0 1 0; "
    "1 1 0 0 1 1 1 0 0 1 1; "
    "1 1 0 1 0 1 1 0 1 0 1; "
    "1 1 1 0 0 1 0 1 1 0 0; "
    "1 0 1 1 0 1 1 1 1 0 1; "
    "0 1 1 0 1 0 0 1 1 0 0; "
    "1 1 0 0 1 0 0 0 1 1 1 "
    "]";

// Ten operators on single pixels.
constexpr const char* ten_points =
    "imadjust 0.1,0.9 | imcomplement | imadd 10 | immultiply 1.1 | imcomplement | imsubtract 5 | "
    "imdivide 1.2 | imadjust 0.2,0.8 | imadd 3 | imcomplement";
constexpr const char* ten_points_single =
    "imadjust 0.1,0.9 | imcomplement | imadd 0.05 | immultiply 1.1 | imcomplement | "
    "imsubtract 0.02 | imdivide 1.2 | imadjust 0.2,0.8 | imadd 0.01 | imcomplement";

// An operation on uint8 and on single; a limit of 0 leaves it out of that class.
struct Operation {
  const char* name;
  std::string bytes, floats;  // pipelines; floats empty: the same
  SuiteBar::Of of;
  double limit_bytes, limit_floats;
  const char* row = "";
};

void add(std::vector<SuiteRow>& rows, const Operation& o, int size) {
  const auto one = [&](PixelClass cls, const std::string& pipeline, double limit) {
    if (limit == 0) return;
    rows.push_back({.name = o.name,
                    .pipeline = pipeline,
                    .cls = cls,
                    .size = size,
                    .bar = {o.of, limit, o.row}});
  };
  one(PixelClass::uint8, o.bytes, o.limit_bytes);
  one(PixelClass::single, o.floats.empty() ? o.bytes : o.floats, o.limit_floats);
}

std::vector<Operation> large_images() {
  constexpr auto copy = SuiteBar::Of::yardstick;
  constexpr auto us = SuiteBar::Of::microseconds;
  const std::string weights = pyramid, mask = irregular;
  return {
      {"imadjust", "imadjust 0.1,0.9", "", copy, 1.1, 1.05},
      {"binarize", "imbinarize 0.5", "", copy, 1.1, 1.05},
      {"imlincomb of 3", "imlincomb 0.5 0.3 0.2 :a :b", "", copy, 1.1, 1.05},
      {"intlut", "intlut :lut", "", copy, 1.1, 0},
      {"ten point stages", ten_points, ten_points_single, SuiteBar::Of::row, 1.3, 1.1, "imadjust"},
      {"transpose", "transpose", "", copy, 1.2, 1.15},
      {"box 3x3", "imfilter fspecial:average,3", "", copy, 1.4, 1.1},
      {"erode 3x3", "imerode square,3", "", copy, 1.2, 1.1},
      {"sobel magnitude", "imgradient sobel | im2uint8", "imgradient sobel", copy, 1.8, 1.1},
      {"prewitt, threshold", "edge prewitt t0.1 nothinning", "", copy, 1.6, 1.3},
      {"7x7 weights", "imfilter " + weights, "conv2 " + weights, us, 185, 190},
      {"gaussian radius 3", "imfilter fspecial:gaussian,7,1.2", "", copy, 3, 1.35},
      {"gaussian radius 8", "imfilter fspecial:gaussian,17,3", "", copy, 5, 1.65},
      {"gaussian radius 16", "imfilter fspecial:gaussian,33,6", "", copy, 9, 2.3},
      {"dilate 5x5", "imdilate square,5", "", copy, 1.3, 1.3},
      {"dilate disk 3", "imdilate disk,3", "", copy, 2.3, 1.35},
      {"dilate irregular 11x11", "imdilate " + mask, "", copy, 6, 4},
      {"dilate 15x15", "imdilate square,15", "", copy, 3.2, 1.8},
      {"dilate 63x63", "imdilate square,63", "", copy, 2.7, 2.6},
      {"median 3x3", "medfilt2 3", "", us, 60, 155},
      {"median 5x5", "medfilt2 5", "", us, 175, 420},
      {"sum, min, max, mean2", "sum | min | max | mean2", "", copy, 1.25, 1.1},
      {"imhist", "imhist", "", copy, 1.3, 0},
  };
}

std::vector<Operation> small_images() {
  constexpr auto copy = SuiteBar::Of::yardstick;
  return {
      {"imadjust", "imadjust 0.1,0.9", "", copy, 1.2, 1.1},
      {"box 3x3", "imfilter fspecial:average,3", "", copy, 1.6, 1.3},
      {"erode 3x3", "imerode square,3", "", copy, 1.6, 1.3},
      {"sobel magnitude", "imgradient sobel | im2uint8", "imgradient sobel", copy, 2.0, 1.3},
      {"prewitt, threshold", "edge prewitt t0.1 nothinning", "", copy, 2.0, 1.3},
      {"dilate disk 3", "imdilate disk,3", "", copy, 2.3, 1.6},
  };
}

}  // namespace

std::vector<SuiteRow> primitive_rows() {
  constexpr int large = 8192, small = 2048;
  constexpr auto us = SuiteBar::Of::microseconds;
  std::vector<SuiteRow> rows;
  for (const Operation& operation : large_images()) add(rows, operation, large);
  for (SuiteRow& row : rows) {
    if (row.name == "intlut") row.images = {{"lut", "gradient 1,256"}};
  }
  rows.push_back({.name = "imhist, constant",
                  .pipeline = "imhist",
                  .bar = {SuiteBar::Of::yardstick, 1.3},
                  .images = {{"", "constant 0.4 size={size}"}}});
  for (const Operation& operation : small_images()) add(rows, operation, small);

  const auto chain = [&](const char* name, const std::string& pipeline, double at_small,
                         double at_large) {
    rows.push_back({.name = name, .pipeline = pipeline, .size = small, .bar = {us, at_small}});
    rows.push_back({.name = name, .pipeline = pipeline, .size = large, .bar = {us, at_large}});
  };
  const std::string begin = "imadjust 0.1,0.9 | conv2 ", end = " | edge prewitt t0.1 nothinning";
  chain("chain in one kernel", begin + "k7" + end, 14.5, 170);
  chain("chain, 7x7 weights", begin + pyramid + end, 25, 290);
  chain("chain with measurements", "imadjust | conv2 k7 | edge prewitt", 40, 400);

  // The primitives without a time to reach, and uint16.
  for (const char* pipeline :
       {"imadjust 0.1,0.9", "transpose", "imfilter fspecial:average,3", "imerode square,3",
        "imfilter fspecial:gaussian,17,3", "imdilate disk,3", "medfilt2 3", "mean2", "imhist"}) {
    rows.push_back({.name = pipeline, .pipeline = pipeline, .cls = PixelClass::uint16});
  }
  rows.push_back({.name = "imbinarize (Otsu)", .pipeline = "imbinarize"});
  rows.push_back(
      {.name = "stretchlim (select)", .pipeline = "stretchlim", .cls = PixelClass::single});
  return rows;
}

}  // namespace impipe::cli
