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

// Planes of one result come from a ring of images that the device holds, as many as the window is
// high. Null where the host does this: on the CPU, and what kernels do not make.
std::unique_ptr<VolumeOnDevice> volume_on_device(Lanes& lanes, const VolumeOperation& operation,
                                                 const ImageType& type, Size size,
                                                 std::int64_t planes);

}  // namespace impipe::engine
