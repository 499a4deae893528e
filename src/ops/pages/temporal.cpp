// temporal: each page from those around it.
#include "ops/pages/reduction.hpp"

namespace impipe::ops {
namespace {

const RegisterOperator temporal_operator{{
    .name = "temporal",
    .help = "each page from a window of the pages around it",
    .parameters = {{.name = "operation",
                    .help = "of a pixel's values in the window",
                    .words = {"median", "mean", "max", "min"},
                    .required = true},
                   {.name = "n",
                    .letter = 'n',
                    .help = "pages of the window",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1000},
                    .fallback = "5"},
                   axis_of_pages()},
    .details =
        R"(Page z is made of the pages z - a to z - a + n - 1, a = floor((n - 1) / 2); the first and the last
page stand for those that are not there. As many pages as before; class and white stay, rounded once
as project does. Pages follow each other along t, or along the only axis of a file that has one; axis=z and axis=c
  go along these (see project). Pages of files without axes follow each other as they lie. Pages must be equal in size, class and channels. n pages are held at a time.
An image kept with `as`, and a number of `as`, are of one page: they end here. On the host.)",
    .example = "temporal median n=5",
    .accuracy = "exact; mean of single 1e-6 relative",
    .not_finite = order_of_nan,
    .matlab = "movmedian(V, n, 3, 'Endpoints', …) with replicated pages",
    .reduction =
        [](const Call& call) {
          ImageReduction out = reduction_of(call, ImageReduction::Across::window);
          out.window = static_cast<int>(call.number("n"));
          out.or_all_pages = !call.given("axis");
          if (out.or_all_pages) out.axis = 't';
          return out;
        },
}};

}  // namespace
}  // namespace impipe::ops
