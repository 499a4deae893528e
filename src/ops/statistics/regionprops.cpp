// regionprops: a row of numbers for each object.
#include <algorithm>

#include "core/object_shape.hpp"
#include "core/object_table.hpp"
#include "core/text.hpp"
#include "ops/images.hpp"
#include "ops/morphology/connectivity.hpp"

namespace impipe::ops {
namespace {

// Properties of several columns.
constexpr std::string_view places[] = {"Centroid", "BoundingBox", "WeightedCentroid"};

std::vector<std::string_view> property_words() {
  // As long as the program runs: parameters have views of them.
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> names = object_columns(true);
    std::ranges::copy(shape_columns(), std::back_inserter(names));
    return names;
  }();
  std::vector<std::string_view> words(std::begin(places), std::end(places));
  words.insert(words.end(), columns.begin(), columns.end());
  return words;
}

// The columns of the properties, behind Label: all that devices measure where none is named.
std::vector<std::string> chosen_properties(const Call& call, bool intensities) {
  if (!call.has("properties")) return object_columns(intensities);
  const std::vector<std::string>& properties = call.value("properties").list;
  std::vector<std::string> all = object_columns(intensities), out{"Label"};
  std::ranges::copy(shape_columns(), std::back_inserter(all));
  for (const std::string& property : properties) {
    if (property == "Label") continue;  // is there always
    const std::size_t before = out.size();
    for (const std::string& column : all) {
      if (column != property && !column.starts_with(property + "_")) continue;
      if (std::ranges::count(out, column) > 0) {
        call.fail("properties", property + " is given twice");
      }
      out.push_back(column);
    }
    if (out.size() == before) {
      call.fail("properties", property + " is measured on a second image: give image=:name");
    }
  }
  return out;
}

// The columns of the properties, behind Label, and those of the percentiles.
std::vector<std::string> chosen(const Call& call, bool intensities) {
  std::vector<std::string> out = chosen_properties(call, intensities);
  for (const double percent : call.numbers("percentiles")) {
    const std::string column = percentile_column(percent);
    if (!intensities) {
      call.fail("percentiles", "they are those of a second image: give image=:name");
    }
    if (std::ranges::count(out, column) > 0) {
      call.fail("percentiles", number_text(percent) + " is given twice");
    }
    out.push_back(column);
  }
  return out;
}

// The sides of a pixel, which outlines of several directions have no one length for.
ObjectScale scale_of(const Call& call, const std::vector<std::string>& columns) {
  const std::vector<double>& spacing = call.numbers("spacing");
  ObjectScale scale{call.number("origin"), spacing.back(), spacing.front()};
  for (const std::string_view outline : {"Perimeter", "Circularity"}) {
    if (scale.is_square() || std::ranges::count(columns, outline) == 0) continue;
    call.fail("spacing", std::string(outline) +
                             " is not defined for unequal sides; choose others by properties=");
  }
  return scale;
}

ImageValue lower_regionprops(const Call& call, PlanBuilder& plan) {
  if (const std::string& word = call.value("conn").word; !word.empty()) {
    std::vector<std::string> known;
    for (const std::string_view property : property_words()) known.emplace_back(property);
    call.fail("conn", "there is no property '" + word + "'" + did_you_mean(word, known));
  }
  const ImageValue image = plan.current();
  const bool objects = image.type.cls == PixelClass::logical;
  const ImageValue labels = objects ? plan.whole(Label{Label::Kind::components, connectivity(call)},
                                                 {image}, {}, single_result)
                                    : image;
  ObjectTable table{.labels = labels.id, .records = {}, .intensities = {}};
  std::optional<ImageValue> beside;
  if (call.has("image")) {
    beside = gray_operand(call, plan, call.value("image").operands.front());
    table.intensities = beside->id;
  }
  const std::vector<std::string> columns = chosen(call, call.has("image"));
  table.scale = scale_of(call, columns);
  if (call.has("properties") || call.has("percentiles")) table.columns = columns;
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
    .parameters = {{.name = "properties",
                    .help = "the columns behind Label, with commas; all but those of hulls, filled "
                            "holes and Feret's diameters",
                    .words = property_words(),
                    .lists_words = true},
                   {.name = "image",
                    .help = "an image (:name) whose intensities in the objects are measured, too",
                    .takes = Takes::operand},
                   connectivity_parameter("8"),
                   {.name = "origin",
                    .help =
                        "number of the first row and column: 1 as in MATLAB, or 0 as imcrop has "
                        "it",
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1},
                    .fallback = "1"},
                   {.name = "percentiles",
                    .help = "of the intensities, from 0 to 100: a column Percentile50 for 50",
                    .numbers = {.max_count = 20, .low = 0, .high = 100}},
                   {.name = "spacing",
                    .help = "height,width of a pixel in some unit of length; one number: both",
                    .numbers = {.max_count = 2, .low = 1e-12, .high = 1e12},
                    .fallback = "1"}},
    .one_channel = true,
    .table = true,
    .details =
        R"(Objects of a logical image are numbered as bwlabel does, with conn; the values of others are labels
(whole numbers, 0 is background). Rows go to stdout in the order of the labels, behind the file's name;
-o '{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file. Of several tables a column `table`
names each row's: regionprops, regionprops.2, or NAME with `regionprops as NAME`.
Without properties= the columns are Label Area Centroid_x Centroid_y BoundingBox_x BoundingBox_y
BoundingBox_w BoundingBox_h EquivDiameter MajorAxisLength MinorAxisLength Eccentricity Orientation
Perimeter Extent Solidity EulerNumber; with image= MeanIntensity MinIntensity MaxIntensity
WeightedCentroid_x WeightedCentroid_y. Boxes begin half a pixel before their first pixel (origin=0: at
its number, so that they are imcrop's rect). Axes are those of the ellipse of equal second moments, a
pixel being a square; Orientation in degrees, counter-clockwise. Perimeter: 0.980 even + 1.406 odd -
0.091 corners (Vossepoel and Smeulders 1982) of the outer outlines. Solidity: of the pixels whose centres
lie in the hull of the pixels' sides.
properties=A,B,.. chooses the columns behind Label and their order; Centroid, BoundingBox and
WeightedCentroid are all of theirs. Only it has ConvexArea (pixels of Solidity's hull), FilledArea (with
the object's holes, 4-connected), Circularity (4 pi Area / Perimeter^2; Inf for one pixel) and, of the
hull of the pixels' corners, MaxFeretDiameter (largest distance of two vertices), MinFeretDiameter
(smallest width at right angles to a side), MaxFeretAngle and MinFeretAngle: of the line that is measured
in degrees, above -90 to 90, counter-clockwise; the smallest of equal lines.
percentiles=5,50,95 adds Percentile5 and so on, of the values of image=, with linear interpolation
between the two that are nearest (NumPy's percentile). spacing= is scikit-image's, height before width:
lengths, areas and centroids are in its unit, moments and angles those of the scaled pixels; BoundingBox
stays in pixels, and Perimeter and Circularity are an error for unequal sides.
Measured on the device; on the host are percentiles, filled holes, Feret's diameters, intensities of
floats, whose sums have an order, and labels that are no whole numbers up to 4 million.)",
    .example = "imbinarize | regionprops",
    .accuracy =
        "Label, Area, BoundingBox, EulerNumber, ConvexArea and FilledArea exact; others 1e-9",
    .not_finite =
        {NotFinite::Rule::other,
         "not 0, as objects are, where components are counted; an image of labels holds none"},
    .matlab =
        "regionprops('table',BW,A,properties) (labels without a pixel have no row; Solidity is of "
        "exact hulls, about 1 % from MATLAB's on small objects)",
    .lower = lower_regionprops,
}};

}  // namespace
}  // namespace impipe::ops
