// ordfilt2 and medfilt2: a value at a rank of each neighbourhood.
#include <algorithm>

#include "ops/filter/correlate.hpp"
#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

namespace impipe::ops {
namespace {

constexpr int max_domain_cells =
    65535;  // of a domain: what 16-bit counts of a window's values hold
constexpr int longest_domain = 1001;

Mask domain_argument(const Call& call) {
  const Mask mask = element_argument(call, "domain");
  if (std::max(mask.width, mask.height) > longest_domain) {
    call.fail("domain", "a domain has at most " + std::to_string(longest_domain) +
                            " rows and columns, this one is " + std::to_string(mask.height) + "x" +
                            std::to_string(mask.width));
  }
  if (mask.count() > max_domain_cells) {
    call.fail("domain", "a domain has at most " + std::to_string(max_domain_cells) +
                            " cells that are 1, this one has " + std::to_string(mask.count()));
  }
  return mask;
}

// args: the offsets.
ImageValue ranked(const Call& call, PlanBuilder& plan, Rank rank, std::vector<Arg> args = {}) {
  const ImageValue image = plan.current();
  const BorderArgument outside = border_argument(call, "pad", image.type.cls);
  rank.border = outside.border;
  if (outside.border == Border::constant) args.push_back(outside.value);
  return plan.rank(std::move(rank), image, args);
}

const Parameter pad{
    .name = "pad",
    .help =
        "outside the image: zeros, a number, replicate, symmetric or circular; these values take "
        "part in the order",
    .numbers = {.max_count = 1},
    .words = {"zeros", "replicate", "symmetric", "circular"},
    .fallback = "zeros"};

const RegisterOperator ordfilt2_operator{{
    .name = "ordfilt2",
    .help = "the nth smallest value under a mask",
    .parameters = {{.name = "nth",
                    .letter = 'n',
                    .help =
                        "place in ascending order, from 1; beyond the mask's count: the largest",
                    .numbers = {.max_count = 1, .integer = true, .low = 1, .high = 1e6},
                    .required = true},
                   {.name = "domain",
                    .help =
                        "the mask, at most 1001 rows and columns and 65535 cells that are 1: a 0/1 "
                        "matrix, rectangle,m,n or another element, or @file",
                    .takes = Takes::element,
                    .required = true},
                   pad,
                   {.name = "offsets",
                    .help = "added to the values under the mask: a matrix as large as the mask, or "
                            "@file",
                    .takes = Takes::kernel}},
    .details =
        "The cell floor((k-1)/2) of the mask lies on the output pixel; the mask is not turned.\n"
        "Offsets are added to each value, rounded and saturated in the image's class, before "
        "the order\nis found; those outside the mask are not read. The class stays.\n"
        "NaN comes last in the order, behind inf; a result is never -0.",
    .example = "ordfilt2 9 square,3",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::last, "a mean of two is NaN where one of them is"},
    .matlab = "ordfilt2(A,nth,domain,S,pad) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const Mask mask = domain_argument(call);
          const int nth = static_cast<int>(call.number("nth"));
          if (nth > mask.count()) {
            plan.note("ordfilt2: nth " + std::to_string(nth) + " is more than the " +
                      std::to_string(mask.count()) +
                      " values under the mask; the largest is taken");
          }
          Rank rank{.mask = mask, .rank = std::min(nth, mask.count()) - 1};
          if (!call.has("offsets")) return ranked(call, plan, std::move(rank));
          rank.offsets = true;
          const Matrix offsets = heights_argument(call, "offsets", mask);
          std::vector<Arg> args;
          for (const double v : heights_of(offsets, mask, plan.current().type.cls))
            args.push_back(v);
          return ranked(call, plan, std::move(rank), std::move(args));
        },
}};

const RegisterOperator medfilt2_operator{{
    .name = "medfilt2",
    .help = "median of a rectangular neighbourhood",
    .parameters = {{.name = "size",
                    .letter = 'k',
                    .help = "rows,columns of the neighbourhood; one number: a square",
                    .numbers = {.max_count = 2, .integer = true, .low = 1, .high = 255},
                    .fallback = "3,3"},
                   pad},
    .details =
        "The middle value; of an even number of values the mean of the middle two, rounded half\n"
        "away from zero. Zeros outside by default: corners go dark, as in MATLAB.\n"
        "NaN comes last in the order, behind inf: a median is NaN where more than half of the\n"
        "values are, of an even number where either of the middle two is.",
    .example = "medfilt2 k5 symmetric",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::last, "a mean of two is NaN where one of them is"},
    .matlab = "medfilt2(A,[m n],padopt) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const std::vector<double>& size = call.numbers("size");
          const Mask mask =
              rectangle_element(static_cast<int>(size.front()), static_cast<int>(size.back()));
          const int count = mask.count();
          return ranked(call, plan,
                        {.mask = mask, .rank = (count - 1) / 2, .average = count % 2 == 0});
        },
}};

}  // namespace
}  // namespace impipe::ops
