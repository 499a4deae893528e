// Operators on volumes: the pages of a file are the planes of one volume, and come one after the
// other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/image_reduction.hpp"

namespace impipe {

class ThreadPool;

// Numbers in the order rows, columns, planes.
template <class T>
using PerAxis = std::array<T, 3>;

// The work on one volume, of which one thread at a time calls the functions. Results do not depend
// on the pool's threads.
class VolumeWork {
 public:
  virtual ~VolumeWork() = default;
  // The next plane: all have one type and size.
  virtual void add(HostImage plane, ThreadPool& pool) = 0;
  // Whether the next plane of the result depends on no plane that is still to come.
  virtual bool has_next() const = 0;
  virtual HostImage next(ThreadPool& pool) = 0;
  // The rows of VolumeOperation::columns, one behind the other, when all planes have been added.
  virtual std::vector<double> table() const { return {}; }
};

struct PlaneRing;  // core/volume_ring.hpp

class VolumeOperation {
 public:
  virtual ~VolumeOperation() = default;
  virtual ImageType type(const ImageType& of) const { return of; }
  // Of a plane of the result, and how many there are.
  virtual Size size(Size of, std::int64_t /*planes*/) const { return of; }
  virtual std::int64_t planes(std::int64_t of) const { return of; }
  // Whether a plane of another size is one of the volume's, stretched.
  virtual bool stretches() const { return true; }
  // A warning where the result leaves planes out; empty: it has all of them.
  virtual std::string left_out(std::int64_t /*planes*/) const { return ""; }
  // The names of the columns of a table, where the operation makes one instead of planes.
  virtual std::vector<std::string> columns() const { return {}; }
  // Bytes of memory between the planes that come and those that are made.
  virtual double bytes(const ImageType& type, Size size, std::int64_t planes) const = 0;
  // What is held of the volume, for `plan`.
  virtual std::string held() const = 0;
  // What kernels of a device do instead of `begin`, to the same bits, one after the other; none
  // where the host does it.
  virtual std::vector<PlaneRing> rings(const ImageType& type, Size size, std::int64_t planes) const;
  // planes: of a volume of this type and size; all of them will be added.
  virtual std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                            std::int64_t planes) const = 0;
};
using Volume = std::shared_ptr<const VolumeOperation>;

// How many images a reduction of pages makes of so many.
inline std::int64_t images_made(const ImageReduction& reduction, std::int64_t of) {
  const bool is_one = reduction.across == ImageReduction::Across::pages ||
                      (reduction.volume && !reduction.volume->columns().empty());
  return is_one ? 1 : reduction.volume ? reduction.volume->planes(of) : of;
}

// Weighted means; voxels outside the volume are those at its border.
Volume gaussian_volume(PerAxis<double> sigma);
Volume box_volume(PerAxis<int> size);
// Voxels outside the volume are mirrored, edges included.
Volume median_volume(PerAxis<int> size);

// A structuring element: voxels (x, y, plane) from the origin.
struct Element3 {
  struct Run {  // of voxels along a row
    int plane = 0, row = 0, begin = 0, end = 0;
    bool operator==(const Run&) const = default;
  };
  std::vector<Run> runs;
};
// x^2 + y^2 + z^2 <= radius^2.
Element3 sphere_element(double radius);
// The origin is floor((side - 1) / 2) of each side.
Element3 cuboid_element(PerAxis<int> sides);

// Dilations (with the reflected element) and erosions, one after the other. What is outside the
// volume and NaN are left out.
enum class Morphology3 { dilate, erode };
Volume morphology_volume(const Element3& element, std::vector<Morphology3> steps);

}  // namespace impipe
