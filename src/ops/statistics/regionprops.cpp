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
    std::erase_if(names, [](const std::string& name) { return name.find('_') != name.npos; });
    return names;
  }();
  std::vector<std::string_view> words(std::begin(places), std::end(places));
  words.insert(words.end(), columns.begin() + 1, columns.end());  // without Label
  return words;
}

// The columns of the properties, behind Label.
std::vector<std::string> chosen(const Call& call, bool intensities) {
  const std::vector<std::string>& properties = call.value("properties").list;
  std::vector<std::string> all = object_columns(intensities), out{"Label"};
  std::ranges::copy(shape_columns(), std::back_inserter(all));
  for (auto property = properties.begin(); property != properties.end(); ++property) {
    if (std::find(properties.begin(), property, *property) != property) {
      call.fail("properties", *property + " is given twice");
    }
    const std::size_t before = out.size();
    std::ranges::copy_if(all, std::back_inserter(out), [&](const std::string& column) {
      return column == *property || column.starts_with(*property + "_");
    });
    if (out.size() == before) {
      call.fail("properties", *property + " is measured on a second image: give image=:name");
    }
  }
  return out;
}

ImageValue lower_regionprops(const Call& call, PlanBuilder& plan) {
  if (const std::string& word = call.value("conn").word; !word.empty()) {
    std::vector<std::string> known;
    for (const std::string_view property : property_words()) known.emplace_back(property);
    call.fail("conn", "there is no property '" + word + "'" + did_you_mean(word, known));
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
  if (call.has("properties")) table.columns = chosen(call, call.has("image"));
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
                    .max_numbers = 1,
                    .integer = true,
                    .low = 0,
                    .high = 1,
                    .fallback = "1"}},
    .one_channel = true,
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
Measured on the device; on the host are filled holes, Feret's diameters, intensities of floats, whose sums
have an order, and labels that are no whole numbers up to 4 million.)",
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
