// Suites after the measurements of published work, with plain loops beside them: what each measures
// is in the list of suites (suites.cpp), the papers are in README.md.
#include <cmath>

#include <fmt/format.h>

#include "bench/codec_loops.hpp"
#include "bench/suites.hpp"

namespace impipe::bench {
namespace {

// The middle row of fspecial('gaussian', 2 radius + 1, sigma), of sum 1.
std::vector<float> gaussian(int radius, double sigma) {
  std::vector<double> weights;
  double sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-i * i / (2 * sigma * sigma)));
    sum += weights.back();
  }
  std::vector<float> out;
  for (const double w : weights) out.push_back(static_cast<float>(w / sum));
  return out;
}

naive::Window outer_product(const std::vector<float>& weights) {
  const int side = static_cast<int>(weights.size());
  naive::Window window{.rows = side, .columns = side, .weights = {}};
  for (const float a : weights) {
    for (const float b : weights) window.weights.push_back(a * b);
  }
  return window;
}

std::vector<double> whole_degrees(int count) {
  std::vector<double> degrees;
  for (int d = 0; d < count; ++d) degrees.push_back(d);
  return degrees;
}

// A matrix of one row or column as pipeline text.
std::string matrix(const std::vector<float>& weights, bool column) {
  std::string text;
  for (const float w : weights) {
    text += (text.empty() ? "[" : column ? ";" : " ") + fmt::format("{:.9g}", w);
  }
  return text + "]";
}

constexpr int counts_of_item[] = {1, 2, 4, 8, 16};  // pixels, or bytes
constexpr int sides[] = {256, 512, 1024, 2048, 4096, 8192};
constexpr const char* blobs =
    "noise {size} | map '55 * sin(col / 62) * cos(row / 83) + 30 * sin((col + 2 * row) / 211) + "
    "x / white * 31 > 48' class=logical";

}  // namespace

// MATLAB's toolbox functions that Kong et al. took, each category's.
std::vector<SuiteRow> toolbox_rows() {
  constexpr int max_projected = 1024;  // a loop over more takes minutes
  const std::vector<SuiteRow> functions = {
      {.name = "intlut",
       .pipeline = "intlut :lut",
       .images = {{"lut", "gradient 1,256"}},
       .naive = naive::table("lut")},
      {.name = "imadjust", .pipeline = "imadjust 0.2,0.8", .naive = naive::adjust(0.2, 0.8)},
      {.name = "imlincomb",
       .pipeline = "imlincomb 0.6 0.3 :b",
       .naive = naive::weighted_sum(0.6, 0.3, "b")},
      {.name = "edge", .pipeline = "edge sobel t0.1", .naive = naive::sobel_edges(0.1)},
      {.name = "imregionalmax", .pipeline = "imregionalmax", .naive = naive::regional_maxima()},
      {.name = "ordfilt2", .pipeline = "ordfilt2 5 square,3", .naive = naive::rank(3, 5)},
      {.name = "conv2",
       .pipeline = "conv2 k7",
       .naive = naive::convolve_to_single(outer_product(gaussian(3, 7.0 / 6)))},
      {.name = "mean2", .pipeline = "mean2", .naive = naive::mean()},
      {.name = "imdilate",
       .pipeline = "imdilate square,5",
       .naive = naive::extremum({.rows = 5, .columns = 5, .weights = {}}, naive::Extreme::most)},
      {.name = "imerode",
       .pipeline = "imerode square,5",
       .naive = naive::extremum({.rows = 5, .columns = 5, .weights = {}}, naive::Extreme::least)},
      {.name = "bwdist",
       .pipeline = "bwdist",
       .cls = PixelClass::logical,
       .images = {{"", blobs}},
       .naive = naive::distance()},
      {.name = "radon", .pipeline = "radon 0:179", .naive = naive::projections(whole_degrees(180))},
      {.name = "dither", .pipeline = "dither", .naive = naive::diffuse()}};
  std::vector<SuiteRow> rows;
  for (SuiteRow row : functions) {
    row.series = row.name;
    for (const int side : sides) {
      if (row.name == "radon" && side > max_projected) continue;
      row.size = side;
      row.x = side;
      rows.push_back(row);
    }
  }
  return rows;
}

// As many pixels a work-item as the variant says, beside as many as the device's numbers say.
std::vector<SuiteRow> pixel_count_rows() {
  const std::vector<SuiteRow> functions = {
      {.name = "intlut", .pipeline = "intlut :lut", .images = {{"lut", "gradient 1,256"}}},
      {.name = "imadjust", .pipeline = "imadjust 0.2,0.8"},
      {.name = "imlincomb", .pipeline = "imlincomb 0.6 0.3 :b"}};
  std::vector<SuiteRow> rows;
  for (SuiteRow row : functions) {
    row.series = row.name;
    for (const int pixels : counts_of_item) {
      row.name = fmt::format("{}, {} a work-item", row.series, pixels);
      row.size = 4096;
      row.x = pixels;
      row.variants = {fmt::format("pixels={}", pixels)};
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<SuiteRow> copy_width_rows() {
  std::vector<SuiteRow> rows;
  for (const int bytes : counts_of_item) {
    rows.push_back(
        {.name = fmt::format("copy, {} {} a work-item", bytes, bytes == 1 ? "byte" : "bytes"),
         .size = 4096,
         .series = "copy",
         .x = static_cast<double>(bytes),
         .variants = {fmt::format("width={}", bytes)},
         .copy = true});
  }
  return rows;
}

std::vector<SuiteRow> dither_rows() {
  std::vector<SuiteRow> rows;
  for (const int side : sides) {
    rows.push_back({.name = "dither",
                    .pipeline = "dither",
                    .size = side,
                    .series = "dither",
                    .x = static_cast<double>(side),
                    .naive = naive::diffuse()});
  }
  return rows;
}

// Pixel to pixel, neighbourhood to pixel, reduction to a scalar and to a vector.
std::vector<SuiteRow> skeleton_rows() {
  const naive::Window wide{.rows = 3, .columns = 7, .weights = {}};
  const std::vector<std::string> of_windows = {"naive", "local"};
  std::vector<SuiteRow> benchmarks = {
      {.name = "binarize", .pipeline = "im2bw 0.5", .naive = naive::threshold(0.5)},
      {.name = "adjust", .pipeline = "imadjust 0.2,0.8", .naive = naive::adjust(0.2, 0.8)},
      {.name = "weighted sum",
       .pipeline = "imlincomb 0.6 0.3 :b",
       .naive = naive::weighted_sum(0.6, 0.3, "b")},
      {.name = "erode 7x3",
       .pipeline = "imerode rectangle,3,7",
       .naive = naive::extremum(wide, naive::Extreme::least),
       .variants = of_windows},
      {.name = "gradient 7x3",
       .pipeline = "imgradmorph rectangle,3,7",
       .naive = naive::extremum(wide, naive::Extreme::difference)},
      {.name = "median 3x3",
       .pipeline = "ordfilt2 5 square,3",
       .naive = naive::rank(3, 5),
       .variants = of_windows},
      {.name = "maximum", .pipeline = "max", .naive = naive::most()},
      {.name = "sum", .pipeline = "sum", .naive = naive::sum()},
      {.name = "mean", .pipeline = "mean2", .naive = naive::mean()}};
  for (const int side : {3, 5, 7}) {
    const std::vector<float> weights = gaussian(side / 2, side / 6.0);
    SuiteRow row{.name = fmt::format("convolve {0}x{0}", side),
                 .pipeline = fmt::format("imfilter fspecial:gaussian,{},{:.9g}", side, side / 6.0),
                 .naive = naive::correlate(outer_product(weights)),
                 .variants = of_windows};
    benchmarks.push_back(std::move(row));
  }
  std::vector<SuiteRow> rows;
  for (SuiteRow row : benchmarks) {
    row.cls = PixelClass::single;
    row.series = row.name;
    if (row.variants.empty()) row.variants = {"naive"};
    for (const int side : {512, 1024, 2048, 4096}) {
      row.size = side;
      row.x = static_cast<double>(side) * side;
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<SuiteRow> separable_rows() {
  constexpr int side = 3072;
  std::vector<SuiteRow> rows;
  for (const int radius : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    const double sigma = radius / 2.0;
    const std::vector<float> weights = gaussian(radius, sigma);
    SuiteRow row{.name = fmt::format("radius {}, one filter", radius),
                 .pipeline = fmt::format("imfilter fspecial:gaussian,{},{}", 2 * radius + 1, sigma),
                 .cls = PixelClass::single,
                 .size = side,
                 .series = "one filter",
                 .x = static_cast<double>(radius),
                 .naive = naive::separable(weights),
                 .variants = {"local+unrolled", "local+rolled", "naive+unrolled"}};
    rows.push_back(row);
    row.variants.clear();
    row.name = fmt::format("radius {}, rows then columns", radius);
    row.pipeline = "imfilter " + matrix(weights, false) + " | imfilter " + matrix(weights, true);
    row.series = "two kernels";
    row.naive = {};
    row.fuse = false;
    rows.push_back(std::move(row));
  }
  return rows;
}

// A row of weights from an image whose first column is at a multiple of 128 bytes, one pixel
// beyond, and a column of weights.
std::vector<SuiteRow> apron_rows() {
  constexpr int side = 4096;
  std::vector<SuiteRow> rows;
  for (const int count : {3, 5, 9, 17, 33}) {
    const std::vector<float> weights = gaussian(count / 2, count / 4.0);
    const naive::Loop along = naive::correlate({.rows = 1, .columns = count, .weights = weights});
    const auto add = [&](const char* series, const std::string& pipeline, const naive::Loop& loop,
                         const std::vector<std::string>& variants) {
      rows.push_back({.name = fmt::format("{} weights, {}", count, series),
                      .pipeline = pipeline,
                      .cls = PixelClass::single,
                      .size = side,
                      .series = series,
                      .x = static_cast<double>(count),
                      .naive = loop,
                      .variants = variants});
    };
    const std::string row = "imfilter " + matrix(weights, false);
    add("along rows", row, along, {"naive", "local", "aligned", "conflicts"});
    add("one pixel off", fmt::format("imcrop 1,0,{0},{1} | ", side - 1, side) + row, {}, {});
    add("along columns", "imfilter " + matrix(weights, true),
        naive::correlate({.rows = count, .columns = 1, .weights = weights}), {"naive", "local"});
  }
  return rows;
}

std::vector<SuiteRow> joint_histogram_rows() {
  std::vector<SuiteRow> rows;
  const auto add = [&](const char* content, const std::string& first, const std::string& second) {
    for (const int side : {512, 2048, 4096}) {
      SuiteRow row{.name = content,
                   .pipeline = "jointhist :b",
                   .size = side,
                   .series = content,
                   .x = static_cast<double>(side),
                   .naive = naive::joint_histogram("b"),
                   .variants = {"atomic", "tagged"}};
      if (!first.empty()) row.images = {{"", first}, {"b", second}};
      rows.push_back(std::move(row));
    }
  };
  add("natural", "", "");
  add("random", "noise size={size}", "noise size={size} seed=2");
  add("gradients", "gradient size={size}", "gradient size={size} vertical");
  add("constant", "constant 0.3 size={size}", "constant 0.7 size={size}");
  add("checkerboards", "checkerboard size={size} side=1", "checkerboard size={size} side=2");
  return rows;
}

std::vector<SuiteRow> chain_rows() {
  constexpr const char* stages[] = {
      "imadjust 0.1,0.9", "imcomplement", "imadd 10",         "immultiply 1.1", "imcomplement",
      "imsubtract 5",     "imdivide 1.2", "imadjust 0.2,0.8", "imadd 3",        "imcomplement"};
  std::vector<SuiteRow> rows;
  std::string pipeline;
  int count = 0;
  for (const char* stage : stages) {
    pipeline += (pipeline.empty() ? "" : " | ") + std::string(stage);
    ++count;
    for (const bool fuse : {true, false}) {
      rows.push_back({.name = fmt::format("{} operators{}", count, fuse ? "" : ", --no-fuse"),
                      .pipeline = pipeline,
                      .size = 4096,
                      .series = fuse ? "fused" : "not fused",
                      .x = static_cast<double>(count),
                      .fuse = fuse});
    }
  }
  return rows;
}

std::vector<SuiteRow> stack_rows() {
  std::vector<SuiteRow> rows;
  for (const char* pipeline : {"imadjust 0.1,0.9", "imadjust | conv2 k7 | edge prewitt"}) {
    for (int images = 1; images <= 1024; images *= 4) {
      rows.push_back({.name = fmt::format("{} of `{}`", images, pipeline),
                      .pipeline = pipeline,
                      .size = 256,
                      .series = pipeline,
                      .x = static_cast<double>(images),
                      .stack = images});
    }
  }
  return rows;
}

std::vector<SuiteRow> codec_rows() {
  std::vector<SuiteRow> rows;
  for (const char* format : {"png", "jpg", "tif", "bmp", "webp", "pgm", "npy", "exr", "pfm"}) {
    const std::string name = format;
    const bool floats = name == "exr" || name == "pfm";
    for (const bool reads : {true, false}) {
      rows.push_back({.name = (reads ? "read " : "write ") + name,
                      .pipeline = "",
                      .cls = floats ? PixelClass::single : PixelClass::uint8,
                      .size = 2048,
                      .series = reads ? "read" : "write",
                      .naive = reads ? decode_loop(name) : encode_loop(name),
                      .host_only = true});
    }
  }
  return rows;
}

std::vector<SuiteRow> jpeg_rows() {
  std::vector<SuiteRow> rows;
  for (const int count : {1, 16, 64}) {
    rows.push_back({.name = fmt::format("read {} jpg together", count),
                    .pipeline = "",
                    .size = 1920,
                    .series = "decode",
                    .x = static_cast<double>(count),
                    .decodes = count});
  }
  return rows;
}

}  // namespace impipe::bench
