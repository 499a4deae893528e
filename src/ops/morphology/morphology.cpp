// imdilate, imerode and what is made of them: imopen, imclose, imtophat, imbothat, imgradmorph.
#include "ops/images.hpp"
#include "ops/morphology/element.hpp"

IMPIPE_POINT_BODY(morphology_difference, (x, y), (), { return x - y; })
// Of logical images: x and not y.
IMPIPE_POINT_BODY(morphology_and_not, (x, y), (), { return x > y ? real(1) : real(0); })

namespace impipe::ops {
namespace {

// The element is reflected for the dilation, as its definition says.
ImageValue dilate(PlanBuilder& plan, const ImageValue& image, const Mask& element) {
  return plan.extremum({.largest = true, .mask = reflected(element)}, image);
}

ImageValue erode(PlanBuilder& plan, const ImageValue& image, const Mask& element) {
  return plan.extremum({.largest = false, .mask = element}, image);
}

ImageValue open(PlanBuilder& plan, const ImageValue& image, const Mask& element) {
  return dilate(plan, erode(plan, image, element), element);
}

ImageValue close(PlanBuilder& plan, const ImageValue& image, const Mask& element) {
  return erode(plan, dilate(plan, image, element), element);
}

ImageValue difference(PlanBuilder& plan, const ImageValue& x, const ImageValue& y) {
  const bool logical = x.type.cls == PixelClass::logical;
  return plan.point(logical ? bodies::morphology_and_not : bodies::morphology_difference, {x, y},
                    {}, like(x));
}

const Parameter element{
    .name = "se",
    .help = "structuring element: a 0/1 matrix, square,w; rectangle,m,n; disk,r; diamond,r; "
            "octagon,r; line,len,deg; or @file",
    .takes = Takes::element,
    .required = true};

const RegisterOperator imdilate_operator{{
    .name = "imdilate",
    .help = "largest value under a structuring element",
    .category = "morphology",
    .parameters = {element},
    .details = "max over { A(r-(i-o), c-(j-o)) : se(i,j) }, the origin o = floor((k-1)/2).\n"
               "Pixels outside the image and NaN are left out. The class stays.",
    .example = "imdilate disk,3",
    .accuracy = "exact",
    .matlab = "imdilate(A,se) (same; disk,r is MATLAB's strel('disk',r,0))",
    .lower = [](const Call& call, PlanBuilder& plan) {
      return dilate(plan, plan.current(), element_argument(call, "se"));
    },
}};

const RegisterOperator imerode_operator{{
    .name = "imerode",
    .help = "smallest value under a structuring element",
    .category = "morphology",
    .parameters = {element},
    .details = "min over { A(r+i-o, c+j-o) : se(i,j) }, the origin o = floor((k-1)/2).\n"
               "Pixels outside the image and NaN are left out. The class stays.",
    .example = "imerode rectangle,3,5",
    .accuracy = "exact",
    .matlab = "imerode(A,se) (same; disk,r is MATLAB's strel('disk',r,0))",
    .lower = [](const Call& call, PlanBuilder& plan) {
      return erode(plan, plan.current(), element_argument(call, "se"));
    },
}};

const RegisterOperator imopen_operator{{
    .name = "imopen",
    .help = "erosion, then dilation: removes bright parts smaller than the element",
    .category = "morphology",
    .parameters = {element},
    .details = "imdilate(imerode(A)) with the same element.",
    .example = "imopen disk,5",
    .accuracy = "exact",
    .matlab = "imopen(A,se) (same; line elements differ)",
    .lower = [](const Call& call, PlanBuilder& plan) {
      return open(plan, plan.current(), element_argument(call, "se"));
    },
}};

const RegisterOperator imclose_operator{{
    .name = "imclose",
    .help = "dilation, then erosion: fills dark parts smaller than the element",
    .category = "morphology",
    .parameters = {element},
    .details = "imerode(imdilate(A)) with the same element.",
    .example = "imclose diamond,2",
    .accuracy = "exact",
    .matlab = "imclose(A,se) (same; line elements differ)",
    .lower = [](const Call& call, PlanBuilder& plan) {
      return close(plan, plan.current(), element_argument(call, "se"));
    },
}};

const RegisterOperator imtophat_operator{{
    .name = "imtophat",
    .help = "the image minus its opening: bright parts smaller than the element",
    .category = "morphology",
    .parameters = {element},
    .details = "A - imopen(A), saturating; logical: A and not imopen(A).",
    .example = "imtophat disk,15",
    .accuracy = "exact",
    .matlab = "imtophat(A,se) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) {
      const ImageValue image = plan.current();
      return difference(plan, image, open(plan, image, element_argument(call, "se")));
    },
}};

const RegisterOperator imbothat_operator{{
    .name = "imbothat",
    .help = "the closing minus the image: dark parts smaller than the element",
    .category = "morphology",
    .parameters = {element},
    .details = "imclose(A) - A, saturating; logical: imclose(A) and not A.",
    .example = "imbothat rectangle,3,5",
    .accuracy = "exact",
    .matlab = "imbothat(A,se) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) {
      const ImageValue image = plan.current();
      return difference(plan, close(plan, image, element_argument(call, "se")), image);
    },
}};

const RegisterOperator imgradmorph_operator{{
    .name = "imgradmorph",
    .help = "morphological gradient: dilation minus erosion",
    .category = "morphology",
    .parameters = {element},
    .details = "imdilate(A) - imerode(A) with the same element, saturating; logical: and not.",
    .example = "imgradmorph rectangle,3,7",
    .accuracy = "exact",
    .matlab = "imdilate(A,se) - imerode(A,se) (same)",
    .lower = [](const Call& call, PlanBuilder& plan) {
      const ImageValue image = plan.current();
      const Mask se = element_argument(call, "se");
      return difference(plan, dilate(plan, image, se), erode(plan, image, se));
    },
}};

}  // namespace
}  // namespace impipe::ops
