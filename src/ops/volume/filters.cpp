// imgaussfilt3, imboxfilt3 and medfilt3: filters of the volume that a file's pages are.
#include "ops/volume/volume.hpp"

namespace impipe::ops {
namespace {

constexpr double most_voxels = 65535;  // of a median's window

Parameter size_of_window() {
  return {.name = "size",
          .letter = 'k',
          .help = "rows,columns,planes of the window; one number: of all three",
          .numbers = {.max_count = 3, .integer = true, .low = 1, .high = 255},
          .fallback = "3"};
}

const RegisterOperator imgaussfilt3_operator{{
    .name = "imgaussfilt3",
    .help = "gaussian blur of the volume that the pages of a file are",
    .parameters = {{.name = "sigma",
                    .letter = 's',
                    .help = "standard deviation, in voxels; three: along rows,columns,planes",
                    .numbers = {.max_count = 3, .low = 0.01, .high = 60},
                    .fallback = "0.5"},
                   axis_of_planes()},
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; as many pages as before.
Gaussian weights over 2 ceil(2 sigma) + 1 voxels, normalised, along the columns, rows and planes, in
float32 without rounding between them; voxels outside the volume are those at its border. The class
stays. Each channel by itself; alpha stays, and colours that it hides take part.
As many planes as the window has are held, not the volume. With an alpha on the host.)",
    .example = "imgaussfilt3 1.4",
    .accuracy = "integer classes: 1 at rounding ties; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, ""},
    .matlab = "imgaussfilt3(V,sigma) (same)",
    .reduction =
        [](const Call& call) {
          return of_volume(call, gaussian_volume(per_axis<double>(call, "sigma")));
        },
}};

const RegisterOperator imboxfilt3_operator{{
    .name = "imboxfilt3",
    .help = "mean of a cuboid of voxels; the class stays",
    .parameters = {size_of_window(), axis_of_planes()},
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; as many pages as before.
The window of voxel p is p - a to p - a + size - 1 in each direction, a = floor((size - 1) / 2); voxels
outside the volume are those at its border. Sums of integers are exact, and the mean is rounded once,
ties up (logical: >= 0.5). Each channel by itself; alpha stays, and colours that it hides take part.
As many planes as the window has are held, not the volume. On the host with an alpha, and where the
window's sum of integers may be 2^24 or more.)",
    .example = "imboxfilt3 5,5,3",
    .accuracy = "exact; single 1e-6 of white",
    .not_finite = {NotFinite::Rule::spread, ""},
    .matlab = "imboxfilt3(V,size) (same; there sizes are odd)",
    .reduction =
        [](const Call& call) { return of_volume(call, box_volume(per_axis<int>(call, "size"))); },
}};

const RegisterOperator medfilt3_operator{{
    .name = "medfilt3",
    .help = "median of a cuboid of voxels",
    .parameters = {size_of_window(), axis_of_planes()},
    .details =
        R"(Pages are the planes of one volume and must be equal in size, class and channels; as many pages as before.
The window of voxel p is p - a to p - a + size - 1 in each direction, a = floor((size - 1) / 2), at most
65535 voxels; the volume is mirrored at its border, edges included. Of an even number of voxels the
median is the mean of the two middle values, rounded once, ties up (logical: >= 0.5). Each channel by
itself; alpha stays.
As many planes as the window has are held, not the volume. On the host with an alpha, and for windows
of an even number of planes or of more than 9.)",
    .example = "medfilt3 3",
    .accuracy = "exact",
    .not_finite = {NotFinite::Rule::last, "an even median is NaN where either middle value is"},
    .matlab = "medfilt3(V,[m n p]) (same; there sizes are odd)",
    .reduction =
        [](const Call& call) {
          const PerAxis<int> size = per_axis<int>(call, "size");
          if (static_cast<double>(size[0]) * size[1] * size[2] > most_voxels) {
            call.fail("size", "a window has at most 65535 voxels");
          }
          return of_volume(call, median_volume(size));
        },
}};

}  // namespace
}  // namespace impipe::ops
