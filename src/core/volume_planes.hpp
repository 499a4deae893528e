// What the operators on volumes have in common: which planes a plane of the result depends on, and
// work that treats each channel by itself.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/volume.hpp"

namespace impipe {

// Which voxels along one axis the outputs are made of. `window` is set where output k is made of
// `window` neighbours from k - before on, those outside being replaced by the voxels at the border.
struct AxisTaps {
  std::int64_t window = 0, before = 0;
  std::vector<std::vector<std::int64_t>> sources;  // one list an output
  std::vector<std::vector<float>> weights;         // as `sources`; empty: sums

  std::int64_t outputs() const { return static_cast<std::int64_t>(sources.size()); }
};
enum class Outside { replicate, symmetric };
// Where the voxel lies that is read for one of a line of `count`, or outside of it.
std::int64_t voxel_read(std::int64_t at, std::int64_t count, Outside outside);
AxisTaps window_taps(std::int64_t voxels, int window, Outside outside);

// Makes every -0 of a plane of single 0, as extrema and ranked values are.
void without_negative_zeros(Plane& plane, ThreadPool& pool);

// When the planes of a result can be made, and how long those of the volume are needed.
class PlaneSchedule {
 public:
  explicit PlaneSchedule(const AxisTaps& planes);
  void add() { ++come_; }
  bool has_next() const { return next_ < std::ssize(last_) && last_[index(next_)] < come_; }
  std::int64_t next() const { return next_; }
  void advance() { ++next_; }
  // The first plane that those of the result from next() on need.
  std::int64_t first_needed() const { return first_[index(next_)]; }

 private:
  static std::size_t index(std::int64_t plane) { return static_cast<std::size_t>(plane); }

  std::vector<std::int64_t> last_, first_;
  std::int64_t come_ = 0, next_ = 0;
};

// The planes of one channel, as VolumeWork has them of an image.
class ChannelWork {
 public:
  virtual ~ChannelWork() = default;
  virtual void add(const Plane& plane, ThreadPool& pool) = 0;
  virtual bool has_next() const = 0;
  virtual Plane next(ThreadPool& pool) = 0;
};
// All channels make as many planes.
enum class Alpha { stays, is_made };  // the latter as a channel
using BeginChannel = std::function<std::unique_ptr<ChannelWork>(PixelClass)>;
std::unique_ptr<VolumeWork> channelwise(const ImageType& type, BeginChannel begin,
                                        Alpha alpha = Alpha::stays);

}  // namespace impipe
