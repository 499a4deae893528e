// bwlabeln, regionprops3 and bwdist3: what stands in the volume that a file's pages are.
#include "core/volume_distance.hpp"
#include "core/volume_objects.hpp"
#include "ops/colour/channels.hpp"
#include "ops/images.hpp"
#include "ops/volume/volume.hpp"

// A value as it is.
IMPIPE_POINT_BODY(voxel_value, (x), (), { return x; })

namespace impipe::ops {
namespace {

Parameter connectivity3() {
  return {.name = "conn",
          .letter = 'c',
          .help = "neighbours: 6 (faces), 18 (faces and edges) or 26 (and corners)",
          .numbers = {.max_count = 1, .integer = true, .low = 6, .high = 26},
          .fallback = "26"};
}

int connectivity3_of(const Call& call) {
  const int conn = static_cast<int>(call.number("conn"));
  if (conn != 6 && conn != 18 && conn != 26) call.fail("conn", "conn is 6, 18 or 26");
  return conn;
}

const RegisterOperator bwlabeln_operator{{
    .name = "bwlabeln",
    .help = "numbers the connected components of the volume that the pages of a file are",
    .parameters = {connectivity3(), axis_of_planes()},
    .one_channel = true,
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; as many pages as before.
0 on the background; components of the voxels that are not 0 are 1, 2, ... in the order of their first
voxels down the columns, from left to right, page after page. The result is single and has no white:
save it as .npy or float TIFF. More than 16777216 components, which single can't tell apart, are an
error.
The runs of voxels of all pages are held, not the pages. On the host.)",
    .example = "imbinarize | bwlabeln conn=6",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwlabeln(V,conn), labelmatrix(bwconncomp(V,conn)) (same)",
    .reduction =
        [](const Call& call) { return of_volume(call, label_volume(connectivity3_of(call))); },
}};

// With intensities they are the second channel; see object_table_volume.
ImageValue with_intensities(const Call& call, PlanBuilder& plan) {
  plan.drop_alpha();
  const ImageValue image = plan.current();
  if (!call.has("image")) return image;
  const ImageValue beside = gray_operand(call, plan, call.value("image").operands.front());
  const double white = image.type.cls == PixelClass::logical ? 1 : 0;
  const auto as_single = [&](const ImageValue& of) {
    return plan.point(bodies::voxel_value, {of}, {}, {.cls = PixelClass::single, .white = white});
  };
  return joined_channels(plan, {as_single(image), as_single(beside)});
}

const RegisterOperator regionprops3_operator{{
    .name = "regionprops3",
    .help = "a row of numbers for each object of a volume: how many voxels, place, box",
    .parameters = {{.name = "image",
                    .help = "an image of each page (:name) whose intensities in the objects are "
                            "measured, too",
                    .takes = Takes::operand},
                   connectivity3(),
                   {.name = "origin",
                    .help = "number of the first row, column and plane: 1 as in MATLAB, or 0",
                    .numbers = {.max_count = 1, .integer = true, .low = 0, .high = 1},
                    .fallback = "1"},
                   axis_of_planes()},
    .one_channel = true,
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; one table of all of them.
Objects of a logical volume are numbered as bwlabeln does, with conn; the values of others are labels (0
and below are background). Rows go to stdout in the order of the labels, behind the file's name; -o
'{stem}.csv', '.tsv', '.json' or '.npy' writes them to a file. No stage can follow.
Columns: Label Volume Centroid_x Centroid_y Centroid_z BoundingBox_x BoundingBox_y BoundingBox_z
BoundingBox_w BoundingBox_h BoundingBox_d EquivDiameter, which is (6 Volume / pi)^(1/3); with image=
MeanIntensity MinIntensity MaxIntensity. Boxes begin half a voxel before their first voxel (origin=0: at
its number). On the host.)",
    .example = "as g | imbinarize | regionprops3 image=:g",
    .accuracy = "Label, Volume and BoundingBox exact; others 1e-9",
    .not_finite = {NotFinite::Rule::other,
                   "not 0, as objects are, where components are counted; labels hold none"},
    .matlab =
        "regionprops3(V,I,'Volume','Centroid','BoundingBox','EquivDiameter','MeanIntensity',…)",
    .lower = with_intensities,
    .reduction =
        [](const Call& call) {
          return of_volume(call, object_table_volume(connectivity3_of(call), call.number("origin"),
                                                     call.has("image")));
        },
}};

const RegisterOperator bwdist3_operator{{
    .name = "bwdist3",
    .help = "distance of each voxel from the nearest one that is not 0",
    .parameters = {{.name = "spacing",
                    .help = "size of a voxel: of rows,columns,planes; one number: of all three",
                    .numbers = {.max_count = 3, .low = 1e-6, .high = 1e6},
                    .fallback = "1"},
                   axis_of_planes()},
    .one_channel = true,
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; as many pages as before.
Exact Euclidean distances between the centres of voxels, in the unit of spacing: by lower envelopes of
parabolas along each axis (Felzenszwalb and Huttenlocher 2012), in double. Inf where all voxels are 0.
The result is single and has no white: save it as .npy or float TIFF.
All pages are held, 8 bytes a voxel. On the host.)",
    .example = "imbinarize | bwdist3 spacing=1,1,2.5",
    .accuracy = "exact; with a spacing 1e-6 relative",
    .not_finite = {NotFinite::Rule::object},
    .matlab = "bwdist(V) (same; MATLAB's has no spacing)",
    .reduction =
        [](const Call& call) {
          return of_volume(call, distance_volume(per_axis<double>(call, "spacing")));
        },
}};

}  // namespace
}  // namespace impipe::ops
