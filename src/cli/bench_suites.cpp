// The list of suites.
#include "cli/bench_suites.hpp"

#include "cli/values.hpp"

namespace impipe::cli {
namespace {

constexpr Suite all[] = {
    {"primitives", "every primitive on 8192x8192 and 2048x2048 images", primitive_rows},
    {"edt", "bwdist on nine kinds of pictures: worst over best", edt_rows, true},
    {"geometry", "windows, other sizes, affine maps, and joint histograms of many kinds of content",
     geometry_rows},
    {"algorithms",
     "dithering, projections, connected pixels and large medians, on contents of many kinds",
     algorithm_rows},
};

}  // namespace

std::span<const Suite> all_suites() { return all; }

const Suite& find_suite(const std::string& name) {
  std::vector<std::string> names;
  for (const Suite& suite : all) names.emplace_back(suite.name);
  return all[parse_choice("--suite", name, names)];
}

}  // namespace impipe::cli
