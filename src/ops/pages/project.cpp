// project: one image of the pages of a file.
#include "ops/pages/reduction.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator project_operator{{
    .name = "project",
    .help = "one image of all pages of a file, pixel by pixel",
    .parameters = {{.name = "operation",
                    .help = "of a pixel's values in all pages",
                    .words = {"max", "min", "mean", "sum", "std", "median"},
                    .required = true},
                   class_of_result(),
                   axis_of_pages()},
    .details = R"(Stages before it run on each page, stages after it on the one image.
axis=z takes the pages that differ in z alone, one image for each place along the other axes (of OME-TIFF
  and ImageJ's TIFFs, NIfTI, DICOM, Zarr, and NPY with --axes); without it all pages become one.
Pages must be equal in size, class and channels. max, min, mean and median keep class and white:
  mean and median are rounded once, ties up (logical: >= 0.5); of an even number of pages the
  median is the mean of the two middle values.
sum is single without a white; std, with n - 1 (one page: 0), is single.
Sums are exact for integers, in double and in the order of the pages for single. Alpha is averaged.
An image kept with `as`, and a number of `as`, are of one page: they end here.
On the host, whatever computes the stages before and after; memory is that of some numbers a pixel,
  but for median, whose pages are held, or wait in the --scratch folder. A file of one page is a
  stack of one.)",
    .example = "project max",
    .accuracy = "exact; std, and mean and sum of single, 1e-6 relative",
    .not_finite = order_of_nan,
    .matlab = "max(V, [], 3), min, mean, median(V, 3), sum, std(double(V), 0, 3)",
    .reduction = [](const Call& call) { return reduction_of(call, ImageReduction::Across::pages); },
}};

}  // namespace
}  // namespace impipe::ops
