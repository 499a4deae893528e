// regionprops: a row of numbers for each object.
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_regionprops(const Call& call, PlanBuilder& plan) {
  if (!call.value("conn").word.empty()) {  // MATLAB's 'Area', 'all', 'table'
    call.fail("conn", "its table has all columns, there are none to choose");
  }
  const ImageValue image = plan.current();
  const bool objects = image.type.cls == PixelClass::logical;
  const ImageValue labels = objects
                                ? plan.whole(Label{Label::Kind::components, connectivity(call)},
                                             {image}, {}, {.cls = PixelClass::single, .white = 0})
                                : image;
  ObjectTable table{
      .labels = labels.id, .records = {}, .intensities = {}, .origin = call.number("origin")};
  std::optional<ImageValue> beside;
  if (call.has("image")) {
    beside = gray_operand(call, plan, call.value("image").operands.front());
    table.intensities = beside->id;
  }
  // Sums of floats depend on their order: the host has one.
  if (!beside || is_integer(beside->type.cls)) {
    table.records = plan.objects(labels, beside ? &*beside : nullptr).id;
  }
  plan.report_objects("regionprops", table);
  return image;
}

const RegisterOperator regionprops_operator{{
    .name = "regionprops",
    .help = "a row of numbers for each object: area, place, axes, outline, intensities",
    .category = "statistics",
    .parameters = {{.name = "image",
                    .help = "an image (:name) whose intensities in the objects are measured, too",
                    .takes = Takes::operand},
                   connectivity_parameter("8"),
                   {.name = "origin",
                    .help =
                        "number of the first row and column: 1 as in MATLAB, or 0 as imcrop has "
                        "it",
                    .max_numbers = 1,
                    .integer = true,
                    .low = 0,
                    .high = 1,
                    .fallback = "1"}},
    .one_channel = true,
    .details =
        "Objects of a logical image are numbered as bwlabel does, with conn; the values of others\n"
        "are labels (whole numbers, 0 is background). Rows go to stdout in the order of the "
        "labels, behind\n"
        "the file's name; -o '{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file. Of "
        "several\n"
        "tables a column `table` names each row's: regionprops, regionprops_2, or NAME with\n"
        "`regionprops as NAME`.\n"
        "Columns: Label Area Centroid_x Centroid_y BoundingBox_x BoundingBox_y BoundingBox_w\n"
        "BoundingBox_h EquivDiameter MajorAxisLength MinorAxisLength Eccentricity Orientation\n"
        "Perimeter Extent Solidity EulerNumber; with image= MeanIntensity MinIntensity\n"
        "MaxIntensity WeightedCentroid_x WeightedCentroid_y. Boxes begin half a pixel before "
        "their\n"
        "first pixel (origin=0: at its number, so that they are imcrop's rect). Axes are those of\n"
        "the ellipse of equal second moments, a pixel being a square; Orientation in degrees,\n"
        "counter-clockwise. Perimeter: 0.980 even + 1.406 odd - 0.091 corners (Vossepoel and\n"
        "Smeulders 1982) of the outer outlines. Solidity: of the pixels whose centres lie in the\n"
        "hull of the pixels' sides. Measured on the device; in intensities of floats, whose sums\n"
        "have an order, and where labels are no whole numbers up to 4 million on the host.",
    .example = "imbinarize | regionprops",
    .accuracy = "Label, Area, BoundingBox and EulerNumber exact; others 1e-9",
    .not_finite =
        {NotFinite::Rule::other,
         "not 0, as objects are, where components are counted; an image of labels holds none"},
    .matlab = "regionprops('table',BW,A,'all') (labels without a pixel have no row; Solidity is of "
              "exact hulls, about 1 % from MATLAB's on small objects)",
    .lower = lower_regionprops,
}};

}  // namespace
}  // namespace impipe::ops
