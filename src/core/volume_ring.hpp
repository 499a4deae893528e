// Filters of volumes by kernels: images are made of each plane that comes and held as a ring, and
// those of neighbouring planes become a plane of the result.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan.hpp"
#include "core/volume_planes.hpp"

namespace impipe {

struct PlaneRing {
  std::vector<Plan> of_plane;  // each makes one of the images that are held of a plane
  Plan of_ring;  // a plane of the result, of held images: its input and operands in their order
  struct Held {
    std::int64_t plane = 0;
    std::size_t image = 0;  // which plan of `of_plane` has made it
  };
  std::vector<std::vector<Held>> sources;  // what `of_ring` reads, for each plane of the result
};

// Products with these weights are added by fma into 0, along rows, then columns, then planes, and
// divided by `divisor` at the end; voxels outside the volume are those at its border.
PlaneRing weighted_ring(const ImageType& type, const PerAxis<std::vector<float>>& weights,
                        float divisor, std::int64_t planes);
// The mean of a cuboid of integers, whose sums are below 2^24.
PlaneRing integer_mean_ring(const ImageType& type, const PerAxis<int>& size, std::int64_t planes);
// The median of a cuboid of an odd number of planes; voxels outside the volume are mirrored.
PlaneRing median_ring(const ImageType& type, const PerAxis<int>& window, Size size,
                      std::int64_t planes);
// Extrema under an element that reaches plane 0.
PlaneRing extremum_ring(const ImageType& type, const Element3& element, bool largest,
                        std::int64_t planes);

}  // namespace impipe
