// block: an image of the means, medians or other values of blocks.
#include <algorithm>
#include <array>

#include "core/page_operation.hpp"
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

ImageReduction block_of(const Call& call) {
  // In the order of BlockValue.
  static constexpr std::array<std::string_view, 6> operations = {"mean",   "max", "min",
                                                                 "median", "sum", "std"};
  const auto found = std::ranges::find(operations, call.word("operation"));
  const std::vector<double>& size = call.numbers("size");
  return of_volume(block_pages(static_cast<BlockValue>(found - operations.begin()),
                               static_cast<std::int64_t>(size.front()),
                               static_cast<std::int64_t>(size.back())));
}

const RegisterOperator block_operator{{
    .name = "block",
    .help = "one pixel of each block of pixels: their mean, median, largest value and others",
    .parameters = {{.name = "operation",
                    .help = "of the values in a block",
                    .words = {"mean", "max", "min", "median", "std", "sum"},
                    .required = true},
                   {.name = "size",
                    .letter = 'k',
                    .help = "rows,columns of a block; one number: a square",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 1e6},
                    .required = true}},
    .details =
        R"(ceil(H / rows) x ceil(W / columns) pixels. Blocks begin at the upper left; those that the image's
border cuts have the pixels that there are. mean, max, min and median keep class and white and are
rounded once, ties up (logical: >= 0.5); of an even number of values the median is the mean of the two
middle ones. sum is single without a white; std, with n - 1 (one value: 0), is single and keeps the
white. Sums are exact for integers and in double for single. Alpha is averaged; colours that it hides
take part. On the host, page by page; pages of a file must be equal in size, class and channels. An image
kept with `as` ends here.)",
    .example = "block median 8",
    .accuracy = "exact; std, and mean and sum of single, 1e-6 relative",
    .not_finite = {NotFinite::Rule::last, "mean, sum and std by the formula"},
    .matlab = "blockproc(A,[m n],@(b) mean(b.data,'all')) (same without padding)",
    .reduction = block_of,
}};

}  // namespace
}  // namespace impipe::ops
