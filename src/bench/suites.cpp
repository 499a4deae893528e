// The list of suites.
#include "bench/suites.hpp"

#include <map>

#include "bench/colour_rows.hpp"
#include "bench/sweep_rows.hpp"
#include "cli/bench_flags.hpp"
#include "cli/values.hpp"
#include "pipeline/lower.hpp"

namespace impipe::bench {
namespace {

// Figures that the papers' texts state; those of their drawn curves can't be read.
constexpr Published of_separable[] = {
    {"loops over the taps unrolled, against rolled ones", "2 and more",
     "Podlozhnyuk 2007, page 13, Unrolling Loops", "local+rolled", "local+unrolled"},
    {"shared memory, against the same without it (by textures)",
     "more than 2 on a significant range of radii", "Podlozhnyuk 2007, pages 14 and 15, figure 13",
     "naive+unrolled", "local+unrolled"},
};

constexpr Suite all[] = {
    {"ipt",
     "thirteen toolbox functions, 256x256 to 8192x8192 (after Kong et al. 2010, table 2)",
     toolbox_rows,
     false,
     {.x = "side", .value = Figure::Value::speedup}},
    {"ipt-pixels",
     "pixels of a work-item, 1 to 16 side by side (after Kong et al. 2010, figure 2a)",
     pixel_count_rows,
     false,
     {.x = "pixels of a work-item", .value = Figure::Value::bandwidth}},
    {"ipt-copy",
     "a copy of 1 to 16 bytes a work-item (after Kong et al. 2010, table 1)",
     copy_width_rows,
     false,
     {.x = "bytes of a work-item", .value = Figure::Value::bandwidth}},
    {"edt",
     "bwdist on nine kinds of pictures: worst over best (after Kong et al. 2010, table 3)",
     edt_rows,
     true,
     {.x = "", .value = Figure::Value::time}},
    {"dither",
     "error diffusion, 256x256 to 8192x8192 (after Kong et al. 2010, figure 9)",
     dither_rows,
     false,
     {.x = "side"}},
    {"skeleton",
     "a benchmark of each skeleton class on 32-bit pixels (after Nugteren et al. 2011, figures 7, "
     "8)",
     skeleton_rows,
     false,
     {.x = "pixels", .value = Figure::Value::bandwidth}},
    {"separable",
     "gaussians of radius 1 to 32 on 3072x3072 floats, one kernel and two (after Podlozhnyuk 2007, "
     "figure 13)",
     separable_rows,
     false,
     {.x = "radius"},
     nullptr,
     of_separable},
    {"simt",
     "rows and columns of weights, aligned and not (after Goorts et al. 2010, figure 3)",
     apron_rows,
     false,
     {.x = "weights"}},
    {"jointhist", "joint histograms by content (after Goorts et al. 2010, table I)",
     joint_histogram_rows, true},
    {"chain",
     "one to ten operators on single pixels, fused and not",
     chain_rows,
     false,
     {.x = "operators"}},
    {"stack",
     "1 to 1024 images of 256x256 in a launch; without a GPU one after the other",
     stack_rows,
     false,
     {.x = "images", .value = Figure::Value::time_of_image}},
    {"io", "reading and writing of each format in memory, one thread", codec_rows},
    {"jpeg", "1 to 64 JPEGs of 1920x1080 in memory, decoded by all threads or on the device",
     jpeg_rows},
    {"primitives", "every primitive on 8192x8192 and 2048x2048 images", primitive_rows},
    {"geometry", "windows, other sizes, affine maps, and joint histograms of many kinds of content",
     geometry_rows},
    {"algorithms",
     "dithering, projections, connected pixels and large medians, on contents of many kinds",
     algorithm_rows},
    {"sweep",
     "every operator over its classes, channels, parameters and contents; lists where costs jump",
     sweep_rows,
     false,
     {},
     cliffs_in},
    {"colour",
     "pictures of three channels beside three gray images as a stack; lists where colour costs "
     "more",
     colour_rows,
     false,
     {},
     colour_findings},
};

}  // namespace

std::span<const Suite> all_suites() { return all; }

bool is_defined(const std::string& text, PixelClass cls, int channels) {
  try {
    const pipeline::Pipeline pipeline = cli::pipeline_of(text, {});
    const ImageType type{.cls = cls, .channels = channels, .white = class_max(cls)};
    std::map<std::string, ImageType> operands;
    for (const std::string& name : pipeline.operands) operands[name] = type;
    pipeline::lower(pipeline, type, operands, {.strict = true});
    return true;
  } catch (const Error&) {
    return false;
  }
}

const Suite& find_suite(const std::string& name) {
  std::vector<std::string> names;
  for (const Suite& suite : all) names.emplace_back(suite.name);
  return all[cli::parse_choice("--suite", name, names)];
}

}  // namespace impipe::bench
