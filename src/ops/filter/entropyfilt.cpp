// entropyfilt: the entropy of the values under a mask.
#include <cmath>

#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

IMPIPE_POINT_BODY(entropy_code, (x), (scale), { return x * scale; })

namespace impipe::ops {
namespace {

// 2^32 c log2(c), so that sums of them are exact in any order.
std::vector<Arg> entropy_table(int cells) {
  std::vector<Arg> out{0.0};
  for (int c = 1; c <= cells; ++c) {
    out.emplace_back(std::round(std::ldexp(c * std::log2(static_cast<double>(c)), 32)));
  }
  return out;
}

ImageValue lower_entropyfilt(const Call& call, PlanBuilder& plan) {
  ImageValue image = plan.current();
  need_white(call, image);
  const ValueId alpha = image.alpha;
  const bool codes = image.type.cls == PixelClass::logical ||
                     (image.type.cls == PixelClass::uint8 && image.type.white == 255);
  if (!codes) {
    image = plan.point(bodies::entropy_code, {image}, {255 / image.type.white},
                       {.cls = PixelClass::uint8, .white = 255});
  }
  const Mask mask = element_argument(call, "domain");
  constexpr int most = 65535;
  const int cells = mask.count();
  if (cells > most) {
    call.fail("domain", "a domain has at most " + std::to_string(most) +
                            " cells that are 1, this one has " + std::to_string(cells));
  }
  return plan
      .rank({.mask = mask, .border = Border::symmetric, .entropy = true}, image,
            entropy_table(cells))
      .with_alpha(alpha);
}

const RegisterOperator entropyfilt_operator{{
    .name = "entropyfilt",
    .help = "entropy of the values under a mask, in bits",
    .parameters = {{.name = "domain",
                    .help = "the mask: a 0/1 matrix, rectangle,m,n or another element, or @file",
                    .takes = Takes::element,
                    .fallback = "square,9"}},
    .details =
        "-sum p log2 p over the 256 codes of im2uint8 (logical: 2), p being their parts of the\n"
        "cells of the domain that are 1, its cell floor((k-1)/2) on the output pixel, mirrored\n"
        "outside the image (edge included). The result is single and has no white.",
    .example = "entropyfilt | mat2gray",
    .accuracy = "1e-6 of the largest value",
    .not_finite = {NotFinite::Rule::zero, "Inf as white"},
    .matlab = "entropyfilt(A,nhood) (there in double)",
    .lower = lower_entropyfilt,
}};

}  // namespace
}  // namespace impipe::ops
