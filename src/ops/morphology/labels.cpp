// bwlabel, bwareaopen, imfill and imreconstruct: what is connected.
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"

IMPIPE_POINT_BODY(white_or_nothing, (x), (white), { return x != real(0) ? white : real(0); })

namespace impipe::ops {
namespace {

ImageValue of_whites(PlanBuilder& plan, const ImageValue& logical, const ImageValue& other) {
  if (other.type.cls == PixelClass::logical) return logical;
  return plan.point(bodies::white_or_nothing, {logical}, {other.type.white}, like(other));
}

ImageValue lower_reconstruct(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  ImageValue marker = plan.current();
  ImageValue mask = gray_operand(call, plan, call.value("mask").operands.front());
  // A logical one beside another class has its lowest and highest values.
  if (marker.type.cls == PixelClass::logical && mask.type.white != 0) {
    marker = of_whites(plan, marker, mask);
  } else if (mask.type.cls == PixelClass::logical && marker.type.white != 0) {
    mask = of_whites(plan, mask, marker);
  }
  if (mask.type.cls != marker.type.cls || mask.type.white != marker.type.white) {
    call.fail("mask",
              "the marker is " + to_string(marker.type) + ", the mask is " + to_string(mask.type));
  }
  return plan.whole(Label{Label::Kind::reconstruct, connectivity(call)}, {marker, mask}, {},
                    like(marker));
}

const RegisterOperator imreconstruct_operator{{
    .name = "imreconstruct",
    .help = "morphological reconstruction: the parts of a mask that a marker reaches",
    .parameters = {{.name = "mask",
                    .help = "the image (:name) under which the current one spreads",
                    .takes = Takes::operand,
                    .required = true},
                   connectivity_parameter("8")},
    .one_channel = true,
    .details =
        "The limit of repeated dilation by the neighbours, each time cut down to the mask:\n"
        "every pixel gets the largest value that reaches it from a pixel of the marker along\n"
        "a way that nowhere falls below it in the mask. Marker values above the mask count\n"
        "as the mask's. Logical: the components of the mask that the marker touches. One of the\n"
        "two may be logical beside another class: its 1s are then white.",
    .example = "as a | imerode disk,3 | imreconstruct :a",
    .accuracy = "exact",
    .not_finite = nan_smallest,
    .matlab = "imreconstruct(marker,mask,conn) (there a marker above the mask is an error)",
    .lower = lower_reconstruct,
}};

const RegisterOperator imfill_operator{{
    .name = "imfill",
    .help = "fill holes: what the border can't reach",
    .parameters = {{.name = "what", .help = "holes", .words = {"holes"}, .fallback = "holes"},
                   connectivity_parameter("4")},
    .one_channel = true,
    .details =
        "Logical: background that is not connected with the image's border becomes 1. Other\n"
        "classes: every pixel rises to the least height from which there is a way to the\n"
        "border that nowhere rises. conn is that of the background or way.",
    .example = "imbinarize | imfill holes",
    .accuracy = "exact",
    .not_finite = nan_smallest,
    .matlab = "imfill(A,conn,'holes') (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          const ImageValue image = plan.current();
          return plan.whole(Label{Label::Kind::holes, connectivity(call)}, {image}, {},
                            like(image));
        },
}};

ImageValue lower_bwlabel(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  return plan.whole(Label{Label::Kind::components, connectivity(call)}, {plan.current()}, {},
                    single_result);
}

const RegisterOperator bwlabel_operator{{
    .name = "bwlabel",
    .help = "numbers the connected components of the pixels that are not 0",
    .parameters = {connectivity_parameter("8")},
    .one_channel = true,
    .details =
        "0 on the background; components are 1, 2, ... in the order of their first pixels down\n"
        "the columns, from left to right. The result is single and has no white: save it as\n"
        ".npy or float TIFF, or make a picture of it with mat2gray. More than 16777216\n"
        "components, which single can't tell apart, are an error.",
    .example = "imbinarize | bwlabel | mat2gray",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwlabel(BW,conn) (numbers of labelmatrix(bwconncomp(BW,conn)), down the columns; "
              "Octave's bwlabel numbers some branched objects otherwise)",
    .lower = lower_bwlabel,
}};

// 6, 18 and 26 neighbours are a volume's: the binder makes such a stage bwlabeln.
Parameter connectivity_of_any() {
  Parameter out = connectivity_parameter("8");
  out.help =
      "neighbours: 4 (sides) or 8 (sides and corners); or the 3x3 matrix of them; of a volume 6, "
      "18 "
      "or 26";
  out.numbers.high = 26;
  return out;
}

const RegisterOperator bwconncomp_operator{{
    .name = "bwconncomp",
    .help = "numbers the connected components: bwlabel by another name",
    .parameters = {connectivity_of_any()},
    .one_channel = true,
    .details =
        "bwlabel; `bwconncomp | max` prints how many there are. conn=6, 18 or 26: bwlabeln,\n"
        "of the volume that the pages of a file are.",
    .example = "imbinarize | bwconncomp | mat2gray",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "labelmatrix(bwconncomp(BW,conn)) (same)",
    .lower = lower_bwlabel,
}};

const RegisterOperator bwareaopen_operator{{
    .name = "bwareaopen",
    .help = "removes connected components of fewer than so many pixels",
    .parameters = {{.name = "least",
                    .letter = 'n',
                    .help = "pixels that a component must have to stay",
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1e12},
                    .required = true},
                   connectivity_parameter("8")},
    .one_channel = true,
    .details = "Components of the pixels that are not 0; the result is logical.",
    .example = "imbinarize | bwareaopen 50",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwareaopen(BW,P,conn) (same)",
    .lower =
        [](const Call& call, PlanBuilder& plan) {
          plan.drop_alpha();
          return plan.whole(Label{Label::Kind::large, connectivity(call)}, {plan.current()},
                            {call.number("least")}, logical_result);
        },
}};

}  // namespace
}  // namespace impipe::ops
