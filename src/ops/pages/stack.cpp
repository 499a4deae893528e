// stack: one image of all files of a run.
#include "ops/pages/reduction.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator stack_operator{{
    .name = "stack",
    .help = "one image of all files of the run, pixel by pixel",
    .parameters = {{.name = "operation",
                    .help = "of a pixel's values in all files; clip: the mean without outliers",
                    .words = {"mean", "median", "max", "min", "sum", "std", "clip"},
                    .required = true},
                   class_of_result(),
                   {.name = "kappa",
                    .letter = 'k',
                    .help = "clip: how many deviations from the centre are kept",
                    .numbers = {.max_count = 1, .low = 0},
                    .fallback = "3"},
                   {.name = "iterations",
                    .letter = 'n',
                    .help = "clip: rounds at most",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1000},
                    .fallback = "5"},
                   {.name = "centre",
                    .help = "clip: what the deviations are from",
                    .words = {"median", "mean"},
                    .fallback = "median"}},
    .details =
        R"(Stages before it run on each file, stages after it on the one image; -o names one file.
All files must be equal in size, class and channels where they are stacked. Of files of several
  pages, page k of the result is made of page k of every file. A file named twice counts twice.
mean, median, max, min, sum and std are those of project.
clip, for each pixel and channel, in double: values that are no finite numbers are left out; then, up to
  `iterations` times, until nothing changes: c = the median (or mean) and s = the population
  deviation of the values that are left; those with c - kappa s <= x <= c + kappa s stay. The result
  is the mean of what is left: astropy.stats.sigma_clip. (At kappa 3 nothing can be left out of
  ten files or fewer when the centre is the mean.)
The result has the metadata of the first file. A file that fails leaves no result.
On the host. mean, sum, std, max and min take the memory of some numbers a pixel, however many files
  there are. For median and clip each file is read once: NPYs, FITS and upright TIFFs some rows of
  all files at a time, where no stage comes before; other files wait, decoded, in the --scratch folder.)",
    .example = "stack clip kappa=3",
    .accuracy = "exact; std, and mean, sum and clip of single, 1e-6 relative",
    .not_finite = {NotFinite::Rule::other,
                   "clip leaves NaN and Inf out; the others are as those of project"},
    .matlab = "median(cat(4, A, B, C), 4) and so on",
    .reduction =
        [](const Call& call) {
          ImageReduction out = reduction_of(call, ImageReduction::Across::files);
          out.kappa = call.number("kappa");
          out.iterations = static_cast<int>(call.number("iterations"));
          out.mean_is_centre = call.word("centre") == "mean";
          return out;
        },
}};

}  // namespace
}  // namespace impipe::ops
