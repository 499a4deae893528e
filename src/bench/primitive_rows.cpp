// The suite `primitives`: every kind of kernel beside a plain copy or read of the same bytes. uint8
// filters are uint8 in and out.
#include "bench/suites.hpp"

namespace impipe::bench {
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

// An operation on uint8 and on single.
struct Operation {
  const char* name;
  std::string bytes, floats = "";  // pipelines; floats empty: the same
  bool only_bytes = false;
};

void add(std::vector<SuiteRow>& rows, const Operation& o, int size) {
  const auto one = [&](PixelClass cls, const std::string& pipeline) {
    rows.push_back({.name = o.name, .pipeline = pipeline, .cls = cls, .size = size});
  };
  one(PixelClass::uint8, o.bytes);
  if (!o.only_bytes) one(PixelClass::single, o.floats.empty() ? o.bytes : o.floats);
}

std::vector<Operation> large_images() {
  const std::string weights = pyramid, mask = irregular;
  return {
      {"imadjust", "imadjust 0.1,0.9"},
      {"binarize", "imbinarize 0.5"},
      {"imlincomb of 3", "imlincomb 0.5 0.3 0.2 :a :b"},
      {"intlut", "intlut :lut", "", true},
      {"ten point stages", ten_points, ten_points_single},
      {"transpose", "transpose"},
      {"box 3x3", "imfilter fspecial:average,3"},
      {"erode 3x3", "imerode square,3"},
      {"sobel magnitude", "imgradient sobel | im2uint8", "imgradient sobel"},
      {"prewitt, threshold", "edge prewitt t0.1 nothinning"},
      {"7x7 weights", "imfilter " + weights, "conv2 " + weights},
      {"gaussian radius 3", "imfilter fspecial:gaussian,7,1.2"},
      {"gaussian radius 8", "imfilter fspecial:gaussian,17,3"},
      {"gaussian radius 16", "imfilter fspecial:gaussian,33,6"},
      {"dilate 5x5", "imdilate square,5"},
      {"dilate disk 3", "imdilate disk,3"},
      {"dilate irregular 11x11", "imdilate " + mask},
      {"dilate 15x15", "imdilate square,15"},
      {"dilate 63x63", "imdilate square,63"},
      {"median 3x3", "medfilt2 3"},
      {"median 5x5", "medfilt2 5"},
      {"sum, min, max, mean2", "sum | min | max | mean2"},
      {"imhist", "imhist", "", true},
  };
}

std::vector<Operation> small_images() {
  return {
      {"imadjust", "imadjust 0.1,0.9"},
      {"box 3x3", "imfilter fspecial:average,3"},
      {"erode 3x3", "imerode square,3"},
      {"sobel magnitude", "imgradient sobel | im2uint8", "imgradient sobel"},
      {"prewitt, threshold", "edge prewitt t0.1 nothinning"},
      {"dilate disk 3", "imdilate disk,3"},
  };
}

}  // namespace

std::vector<SuiteRow> primitive_rows() {
  constexpr int large = 8192, small = 2048;
  std::vector<SuiteRow> rows;
  for (const Operation& operation : large_images()) add(rows, operation, large);
  for (SuiteRow& row : rows) {
    if (row.name == "intlut") row.images = {{"lut", "gradient 1,256"}};
  }
  rows.push_back({.name = "imhist, constant",
                  .pipeline = "imhist",
                  .images = {{"", "constant 0.4 size={size}"}}});
  for (const Operation& operation : small_images()) add(rows, operation, small);

  const auto chain = [&](const char* name, const std::string& pipeline) {
    rows.push_back({.name = name, .pipeline = pipeline, .size = small});
    rows.push_back({.name = name, .pipeline = pipeline, .size = large});
  };
  const std::string begin = "imadjust 0.1,0.9 | conv2 ", end = " | edge prewitt t0.1 nothinning";
  chain("chain in one kernel", begin + "k7" + end);
  chain("chain, 7x7 weights", begin + pyramid + end);
  chain("chain with measurements", "imadjust | conv2 k7 | edge prewitt");

  // uint16, and measurements.
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

}  // namespace impipe::bench
