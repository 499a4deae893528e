// Several images of one type and size become one, pixel by pixel: projections of pages, stacks of
// files, windows over time. Or pages become others, as the planes of a volume.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/plane_rows.hpp"

namespace impipe {

class VolumeOperation;

struct ImageReduction {
  enum class Across { pages, files, window, volume };
  enum class Operation { max, min, mean, sum, std, median, clip };
  Across across = Across::pages;  // which images become one
  Operation operation = Operation::mean;
  std::optional<PixelClass> cls;  // of the result; none: the operation's own
  double kappa = 3;               // clip: how many deviations from the centre are kept
  int iterations = 5;             // clip: rounds at most
  bool mean_is_centre = false;    // clip: instead of the median
  int window = 1;                 // pages of a window
  char axis = 0;              // of the pages: the file's axis that they lie along; 0: all of them
  bool or_all_pages = false;  // where the file's axes have no names, instead of an error
  // Instead of all of the above but `across`: the pages are the planes of a volume, which becomes
  // others, or one image.
  std::shared_ptr<const VolumeOperation> volume;

  // Whether each pixel needs its values of all images at once.
  bool is_by_order() const {
    return operation == Operation::median || operation == Operation::clip;
  }
};

ImageType reduced_type(const ImageReduction& reduction, const ImageType& image);

// The reduction of images that are all there, which have one type and size. Alpha is averaged.
// The order of the images decides the last bits of sums of floats; the pool's threads do not.
HostImage reduced(const ImageReduction& reduction, std::span<const HostImage* const> images,
                  ThreadPool& pool);

// A plane from one of its rows and columns on.
struct ShiftedPlane {
  const Plane* plane = nullptr;
  std::int64_t rows = 0, columns = 0;
};
// The median of each pixel of `result`, whose class the planes have, in double, and rounded once.
void median_of(std::vector<ShiftedPlane> planes, Plane& result, ThreadPool& pool);

// The same of images that come one after the other, for operations that are not by order: memory is
// that of some numbers a pixel, however many images there are.
class RunningReduction {
 public:
  explicit RunningReduction(const ImageReduction& reduction);
  ~RunningReduction();
  RunningReduction(RunningReduction&&) noexcept;
  RunningReduction& operator=(RunningReduction&&) noexcept;
  void add(const HostImage& image, ThreadPool& pool);
  // At least one was added.
  HostImage result(ThreadPool& pool) const;
  // Bytes that a pixel of one channel takes.
  static double bytes_a_pixel(const ImageReduction& reduction);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace impipe
