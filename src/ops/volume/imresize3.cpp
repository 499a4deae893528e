// imresize3: the volume that a file's pages are, at another size.
#include "core/volume_resize.hpp"
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

ImageReduction resize_of(const Call& call) {
  if (call.given("scale") == call.given("size")) {
    call.fail("it needs either a scale or size=rows,columns,planes");
  }
  PerAxis<std::int64_t> sizes{};
  PerAxis<double> scales{};
  if (call.given("size")) {
    sizes = per_axis<std::int64_t>(call, "size");
  } else {
    scales = per_axis<double>(call, "scale");
  }
  const bool nearest = call.word("method") == "nearest";
  return of_volume(
      call,
      resize_volume(sizes, scales, nearest ? Resample::Method::nearest : Resample::Method::bilinear,
                    !nearest && call.word("antialiasing") == "on"));
}

const RegisterOperator imresize3_operator{{
    .name = "imresize3",
    .help = "the volume that the pages of a file are, at another size",
    .parameters =
        {{.name = "scale",
          .help = "factor of all three sizes, or of rows,columns,planes",
          .numbers = {.max_count = 3, .low = 0.0001, .high = 100}},
         {.name = "size",
          .help = "rows,columns,planes of the result instead of a scale",
          .numbers = {.max_count = 3, .min_count = 3, .integer = true, .low = 1, .high = 1e6},
          .takes_row = true},
         {.name = "method",
          .help = "between voxels: linear or nearest",
          .words = {"linear", "nearest"},
          .fallback = "linear"},
         {.name = "antialiasing",
          .help = "whether the kernel of linear is stretched where the volume becomes smaller",
          .words = {"on", "off"},
          .fallback = "on"},
         axis_of_planes()},
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; the result has as many
pages as planes. Along each axis as imresize bilinear does: output k lies at (k + 1/2) / scale - 1/2,
weights are divided by their sum, the volume is mirrored at its border, edges included; a scale rounds
sizes up. In float32 along columns, rows and planes, without rounding between them, cast once. nearest:
the voxel at floor(place + 1/2). The class stays. Alpha is resized, too; colours that it hides take part.
Those planes are held between which a plane of the result lies. On the host.)",
    .example = "imresize3 scale=0.5,0.5,1",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white; nearest exact",
    .not_finite = {NotFinite::Rule::spread,
                   "weights that are 0 read nothing; nearest moves values"},
    .matlab = "imresize3(V,[r c p],'linear') (same; MATLAB's default is cubic)",
    .reduction = resize_of,
}};

}  // namespace
}  // namespace impipe::ops
