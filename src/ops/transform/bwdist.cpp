// bwdist: how far every pixel is from the nearest one that is set.
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

using Metric = Distance::Metric;

Metric metric_named(std::string_view name) {
  if (name == "cityblock") return Metric::cityblock;
  if (name == "chessboard") return Metric::chessboard;
  if (name == "quasi-euclidean") return Metric::quasi_euclidean;
  return Metric::euclidean;
}

const RegisterOperator bwdist_operator{{
    .name = "bwdist",
    .help = "distance of every pixel to the nearest one that is not 0",
    .parameters = {{.name = "metric",
                    .help = "euclidean, cityblock |dx| + |dy|, chessboard max(|dx|, |dy|), or "
                            "quasi-euclidean max + (sqrt 2 - 1) min",
                    .words = {"euclidean", "cityblock", "chessboard", "quasi-euclidean"},
                    .fallback = "euclidean"},
                   {.name = "out",
                    .help = "distance, in pixels, or index: the nearest pixel's number, from 1 "
                            "down the columns",
                    .words = {"distance", "index"},
                    .fallback = "distance"}},
    .one_channel = true,
    .details =
        "0 on pixels that are not 0; infinite (index 0) when there is none. euclidean is the root\n"
        "of the exact squared distance, rounded to single. The result is single and has no white:\n"
        "mat2gray makes a picture of it.\n"
        "index: of several nearest pixels, one in the leftmost of their columns, there the one\n"
        "nearest in row, the upper of two. single holds indices exactly up to 16777216.",
    .example = "imbinarize | bwdist | mat2gray 0 100",
    .accuracy = "exact, rounded to single",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwdist(BW,method) (same; [~,IDX] may name another of several nearest pixels)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          return plan.whole(
              Distance{metric_named(call.word("metric")), call.word("out") == "index"},
              {plan.current()}, {}, single_result);
        },
}};

}  // namespace
}  // namespace impipe::ops
