// An image is planes, and a launch goes over images and channels alike, so colour should cost what
// three gray images in one launch cost. Operators that mix the channels first cost less.
#include "bench/colour_rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bench/suites.hpp"

namespace impipe::bench {
namespace {

constexpr int planes = 3;
constexpr double most = 1.15;

struct Work {
  const char* pipeline;
  int size = 4096;
};

// The rows of the other suites, and what lies beside them.
constexpr Work all[] = {
    {"imadjust"},
    {"imadjust 0.1,0.9"},
    {"imcomplement"},
    {"imlincomb 0.5 0.3 0.2 :a :b"},
    {"imadjust 0.1,0.9 | imcomplement | imadd 0.05 | immultiply 1.1 | imcomplement"},
    {"im2single"},
    {"transpose"},
    {"fliplr"},
    {"imfilter fspecial:average,3"},
    {"imfilter fspecial:average,15"},
    {"imfilter fspecial:disk,3"},
    {"imfilter fspecial:gaussian,7,1.2"},
    {"imfilter fspecial:gaussian,17,3"},
    {"imfilter fspecial:gaussian,33,6"},
    {"imgaussfilt 1"},
    {"imgaussfilt 5"},
    {"imfilter fspecial:unsharp"},
    {"imgradient sobel"},
    {"edge prewitt t0.1 nothinning"},
    {"edge canny", 2048},
    {"imerode square,3"},
    {"imdilate square,5"},
    {"imdilate square,15"},
    {"imdilate square,63"},
    {"imdilate disk,3"},
    {"imdilate disk,5"},
    {"imdilate disk,15"},
    {"imopen disk,5"},
    {"imtophat disk,15"},
    {"imgradmorph rectangle,3,7"},
    {"medfilt2 3"},
    {"medfilt2 5"},
    {"medfilt2 7"},
    {"medfilt2 15"},
    {"medfilt2 31", 2048},
    {"imregionalmax strict"},
    {"imregionalmax", 2048},
    {"imfill", 2048},
    {"as a | imerode disk,3 | imreconstruct :a", 2048},
    {"imhist"},
    {"mean2"},
    {"std2"},
    {"stats"},
    {"stretchlim"},
    {"histeq"},
    {"dither", 2048},
    {"imresize 0.5"},
    {"imresize 0.5 bilinear"},
    {"imresize 2"},
    {"imresize 2 nearest"},
    {"imwarp rotate=30"},
    {"imcrop size=4000"},
    {"impad 16 symmetric"},
    {"imadjust | conv2 k7 | edge prewitt"},
    {"imgaussfilt 1 | medfilt2 3 | imadjust"},
    {"medfilt2 15 | imtophat disk,15 | imadjust", 2048},
};

}  // namespace

std::vector<SuiteRow> colour_rows() {
  std::vector<SuiteRow> rows;
  for (const Work& work : all) {
    for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
      const std::string name = work.pipeline;
      if (!is_defined(name, cls, 1) || !is_defined(name, cls, planes)) continue;
      rows.push_back({.name = name + " of 3 images",
                      .pipeline = name,
                      .cls = cls,
                      .size = work.size,
                      .stack = planes,
                      .channels = 1});
      rows.push_back({.name = name + " of colour",
                      .pipeline = name,
                      .cls = cls,
                      .size = work.size,
                      .channels = planes});
    }
  }
  return rows;
}

std::vector<std::string> colour_findings(const std::vector<BenchRow>& rows) {
  std::map<std::tuple<std::string, PixelClass, int>, double> images;  // seconds of the stack
  for (const BenchRow& row : rows) {
    const SuiteRow& what = row.what;
    if (row.error.empty() && what.channels == 1) {
      images[{what.pipeline, what.cls, what.size}] = row.result.device;
    }
  }
  std::vector<std::pair<double, std::string>> found;
  for (const BenchRow& row : rows) {
    const SuiteRow& what = row.what;
    const auto gray = images.find({what.pipeline, what.cls, what.size});
    if (!row.error.empty() || what.channels != planes || gray == images.end()) continue;
    const double ratio = row.result.device / gray->second;
    if (ratio <= most) continue;
    found.emplace_back(
        ratio, fmt::format("{} {}: {:.1f} us, 3 images {:.1f} us, {:.2f} where {:.2f} is allowed",
                           what.name, name_of(what.cls), 1e6 * row.result.device,
                           1e6 * gray->second, ratio, most));
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> lines;
  for (auto& [ratio, line] : found) lines.push_back(std::move(line));
  return lines;
}

}  // namespace impipe::bench
