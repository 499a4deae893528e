// Filters of volumes by the kernels of a device.
#pragma once

#include <memory>

#include "core/volume.hpp"
#include "engine/device/lanes.hpp"

namespace impipe::engine {

class VolumeOnDevice : public VolumeWork {
 public:
  // The same with planes in the device's memory, which is read only.
  virtual void add_there(const std::shared_ptr<DevicePlane>& plane) = 0;
  virtual std::shared_ptr<DevicePlane> next_there() = 0;
};

struct VolumePlanes {
  ImageType type;
  Size size;
  std::int64_t count = 0;
  bool stay = false;      // results are taken by next_there
  bool together = false;  // all of them are to be one stack
};

// Planes of the result come from a ring of images that the device holds: as many as the window is
// high, and those that one launch makes. They have one NaN. Null where the host does this: on the
// CPU, what kernels do not make, and, with a warning, where the device has no memory for it.
std::unique_ptr<VolumeOnDevice> volume_on_device(Lanes& lanes, const VolumeOperation& operation,
                                                 const VolumePlanes& planes);

}  // namespace impipe::engine
