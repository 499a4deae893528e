// imdilate, imerode and what is made of them: imopen, imclose, imtophat, imbothat, imgradmorph.
#include <algorithm>

#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

IMPIPE_POINT_BODY(morphology_difference, (x, y), (), { return x - y; })
// Of logical images: x and not y.
IMPIPE_POINT_BODY(morphology_and_not, (x, y), (), { return x > y ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// A structuring element; heights: of all cells, empty when it is flat.
struct Element {
  Mask mask;
  Matrix heights;
};

Element element_of(const Call& call, const PlanBuilder& plan) {
  Element out{.mask = element_argument(call, "se"), .heights = {}};
  if (!call.has("heights")) return out;
  if (plan.current().type.cls == PixelClass::logical) {
    call.fail("heights", "a logical image takes a flat element only");
  }
  out.heights = heights_argument(call, "heights", out.mask);
  return out;
}

// The largest of the values plus the heights, or the smallest of them less the heights.
ImageValue extremum(PlanBuilder& plan, const ImageValue& image, bool largest, Mask mask,
                    Matrix heights) {
  if (heights.values.empty()) {
    return plan.extremum({.largest = largest, .mask = std::move(mask)}, image);
  }
  for (double& height : heights.values) height = largest ? height : -height;
  std::vector<Arg> args;
  for (const double v : heights_of(heights, mask, image.type.cls)) args.push_back(v);
  args.push_back(largest ? -unlimited : unlimited);  // what is outside takes no part
  return plan.stencil({.taps = std::move(mask),
                       .combine = largest ? Combine::largest : Combine::smallest,
                       .border = Border::constant},
                      image, args, like(image));
}

// The element is reflected for the dilation, as its definition says.
ImageValue dilate(PlanBuilder& plan, const ImageValue& image, const Element& element) {
  Matrix heights = element.heights;
  std::reverse(heights.values.begin(), heights.values.end());
  return extremum(plan, image, true, reflected(element.mask), std::move(heights));
}

ImageValue erode(PlanBuilder& plan, const ImageValue& image, const Element& element) {
  return extremum(plan, image, false, element.mask, element.heights);
}

ImageValue open(PlanBuilder& plan, const ImageValue& image, const Element& element) {
  return dilate(plan, erode(plan, image, element), element);
}

ImageValue close(PlanBuilder& plan, const ImageValue& image, const Element& element) {
  return erode(plan, dilate(plan, image, element), element);
}

ImageValue difference(PlanBuilder& plan, const ImageValue& x, const ImageValue& y) {
  const bool logical = x.type.cls == PixelClass::logical;
  return plan.point(logical ? bodies::morphology_and_not : bodies::morphology_difference, {x, y},
                    {}, like(x));
}

const Parameter element{
    .name = "se",
    .help =
        "structuring element: a 0/1 matrix, square,w; rectangle,m,n; disk,r; diamond,r; "
        "octagon,r; line,len,deg; pair,down,right; periodicline,n,down,right; or @file",
    .takes = Takes::element,
    .required = true};

const Parameter heights{
    .name = "heights",
    .help = "of the element's cells, in the image's units: a matrix as large as it, or @file",
    .takes = Takes::kernel};

constexpr NotFinite nan_left_out{NotFinite::Rule::left_out,
                                 "Inf is a value like others, differences of it by IEEE 754"};

const RegisterOperator imdilate_operator{{
    .name = "imdilate",
    .help = "largest value under a structuring element",
    .parameters = {element, heights},
    .details =
        "max over { A(r-(i-o), c-(j-o)) : se(i,j) }, the origin o = floor((k-1)/2).\n"
        "Pixels outside the image and NaN are left out. With heights: of A + height, rounded and\n"
        "saturated in the class. The class stays.",
    .example = "imdilate disk,3",
    .accuracy = "exact",
    .not_finite = nan_left_out,
    .matlab =
        "imdilate(A,se) (same; disk,r is MATLAB's strel('disk',r,0), disk,r,4 its strel('disk',r))",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return dilate(plan, plan.current(), element_of(call, plan)); },
}};

const RegisterOperator imerode_operator{{
    .name = "imerode",
    .help = "smallest value under a structuring element",
    .parameters = {element, heights},
    .details =
        "min over { A(r+i-o, c+j-o) : se(i,j) }, the origin o = floor((k-1)/2).\n"
        "Pixels outside the image and NaN are left out. With heights: of A - height, rounded and\n"
        "saturated in the class. The class stays.",
    .example = "imerode rectangle,3,5",
    .accuracy = "exact",
    .not_finite = nan_left_out,
    .matlab =
        "imerode(A,se) (same; disk,r is MATLAB's strel('disk',r,0), disk,r,4 its strel('disk',r))",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return erode(plan, plan.current(), element_of(call, plan)); },
}};

const RegisterOperator imopen_operator{{
    .name = "imopen",
    .help = "erosion, then dilation: removes bright parts smaller than the element",
    .parameters = {element, heights},
    .details = "imdilate(imerode(A)) with the same element.",
    .example = "imopen disk,5",
    .accuracy = "exact",
    .not_finite = nan_left_out,
    .matlab = "imopen(A,se) (same; line elements differ)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return open(plan, plan.current(), element_of(call, plan)); },
}};

const RegisterOperator imclose_operator{{
    .name = "imclose",
    .help = "dilation, then erosion: fills dark parts smaller than the element",
    .parameters = {element, heights},
    .details = "imerode(imdilate(A)) with the same element.",
    .example = "imclose diamond,2",
    .accuracy = "exact",
    .not_finite = nan_left_out,
    .matlab = "imclose(A,se) (same; line elements differ)",
    .lower = [](const Call& call,
                PlanBuilder& plan) { return close(plan, plan.current(), element_of(call, plan)); },
}};

const RegisterOperator imtophat_operator{{
    .name = "imtophat",
    .help = "the image minus its opening: bright parts smaller than the element",
    .parameters = {element, heights},
    .details = "A - imopen(A), saturating; logical: A and not imopen(A).",
    .example = "imtophat disk,15",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "NaN is left out of windows and stays NaN in its own pixel; Inf is a value like "
                   "others, differences of it by IEEE 754"},
    .matlab = "imtophat(A,se) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          return difference(plan, image, open(plan, image, element_of(call, plan)));
        },
}};

const RegisterOperator imbothat_operator{{
    .name = "imbothat",
    .help = "the closing minus the image: dark parts smaller than the element",
    .parameters = {element, heights},
    .details = "imclose(A) - A, saturating; logical: imclose(A) and not A.",
    .example = "imbothat rectangle,3,5",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::other,
                   "NaN is left out of windows and stays NaN in its own pixel; Inf is a value like "
                   "others, differences of it by IEEE 754"},
    .matlab = "imbothat(A,se) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          return difference(plan, close(plan, image, element_of(call, plan)), image);
        },
}};

const RegisterOperator imgradmorph_operator{{
    .name = "imgradmorph",
    .help = "morphological gradient: dilation minus erosion",
    .parameters = {element, heights},
    .details = "imdilate(A) - imerode(A) with the same element, saturating; logical: and not.",
    .example = "imgradmorph rectangle,3,7",
    .accuracy = "exact",
    .not_finite = nan_left_out,
    .matlab = "imdilate(A,se) - imerode(A,se) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          const ImageValue image = plan.current();
          const Element se = element_of(call, plan);
          return difference(plan, dilate(plan, image, se), erode(plan, image, se));
        },
}};

}  // namespace
}  // namespace impipe::ops
