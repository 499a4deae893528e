// imdilate3, imerode3, imopen3 and imclose3: morphology of the volume that a file's pages are.
#include <cmath>

#include "core/text.hpp"
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

constexpr double longest_element = 255;

double side_of(const Call& call, double side) {
  if (!(side >= 1 && side <= longest_element && side == std::floor(side))) {
    call.fail("se", "cuboid,rows,columns,planes takes whole numbers from 1 to 255, not " +
                        number_text(side));
  }
  return side;
}

Element3 element_of(const Call& call) {
  const ParameterValue& se = call.value("se");
  const std::size_t count = se.numbers.size();
  if (se.word == "sphere" || se.word == "ball") {
    if (count != 1 || !(se.numbers[0] >= 0 && se.numbers[0] <= longest_element / 2)) {
      call.fail("se", "a sphere is written sphere,radius, with a radius from 0 to 127");
    }
    return sphere_element(se.numbers[0]);
  }
  if (se.word == "cuboid" || se.word == "box") {
    if (count < 1 || count > 3) {
      call.fail("se", "a cuboid is written cuboid,rows,columns,planes");
    }
    PerAxis<int> sides;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      sides[axis] = static_cast<int>(side_of(call, se.numbers[axis < count ? axis : 0]));
    }
    return cuboid_element(sides);
  }
  call.fail("se", "elements of volumes are sphere,radius and cuboid,rows,columns,planes");
}

constexpr std::string_view common =
    "Pages are the planes of one volume and must be equal in size, class and channels; as many "
    "pages as before.\n"
    "sphere,r: x^2 + y^2 + z^2 <= r^2; cuboid,m,n,p: rows,columns,planes (cuboid,m: of all three; "
    "cuboid,m,n: m planes),\n"
    "the origin floor((k - 1) / 2); ball and box are other names. Voxels outside the volume and "
    "NaN "
    "are left\n"
    "out. The class stays. Each channel by itself; alpha stays. As many planes as the element has "
    "are held\n"
    "for each of its dilations and erosions, not the volume. With an alpha on the host.";

Operator morphology(std::string_view name, std::string_view help, std::string_view example,
                    std::string_view matlab, ImageReduction (*reduction)(const Call&)) {
  return {
      .name = name,
      .help = help,
      .parameters = {{.name = "se",
                      .help = "structuring element: sphere,radius or cuboid,rows,columns,planes",
                      .takes = Takes::element,
                      .required = true},
                     axis_of_planes()},
      .details = common,
      .example = example,
      .accuracy = "exact",
      .not_finite = {NotFinite::Rule::left_out, "Inf is a value like others"},
      .matlab = matlab,
      .reduction = reduction};
}

template <Morphology3... steps>
ImageReduction reduction_of(const Call& call) {
  return of_volume(call, morphology_volume(element_of(call), {steps...}));
}

constexpr Morphology3 dilate = Morphology3::dilate, erode = Morphology3::erode;

const RegisterOperator imdilate3_operator{morphology(
    "imdilate3", "largest value under a structuring element of voxels", "imdilate3 sphere,2",
    "imdilate(V,strel('sphere',r)) (same), strel('cuboid',[m n p])", reduction_of<dilate>)};
const RegisterOperator imerode3_operator{morphology(
    "imerode3", "smallest value under a structuring element of voxels", "imerode3 cuboid,3,3,3",
    "imerode(V,strel('sphere',r)) (same)", reduction_of<erode>)};
const RegisterOperator imopen3_operator{morphology(
    "imopen3", "erosion and then dilation of a volume: bright specks go", "imopen3 sphere,1",
    "imopen(V,strel('sphere',r)) (same)", reduction_of<erode, dilate>)};
const RegisterOperator imclose3_operator{morphology(
    "imclose3", "dilation and then erosion of a volume: dark specks go", "imclose3 sphere,1",
    "imclose(V,strel('sphere',r)) (same)", reduction_of<dilate, erode>)};

}  // namespace
}  // namespace impipe::ops
