// A stack of images on a device, and what an executor does with it before and after its steps.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "engine/program/execution.hpp"

namespace impipe::engine {

// While a program runs on it.
struct DeviceStack {
  const Program& program;
  const Plan& plan;
  Queue& queue;
  const ExecuteOptions& options;
  size_t count = 1;                      // images
  std::vector<Outcome> outcomes = {};    // one an image
  std::vector<DeviceValue> values = {};  // one a value of the plan; null when nobody reads it
  std::vector<Size> sizes = {};          // likewise
  std::vector<Planes> alphas = {};       // of the input as the host has them, a plane an image
  std::set<const DevicePlane*> unchanged = {};      // memory that others read
  std::shared_ptr<DeviceMeasure> faults = nullptr;  // of what was decoded there
  DeviceValue carried = {};                         // what the files have besides their pictures

  std::shared_ptr<DevicePlane> upload(const std::vector<Planes>& images) const {
    return count == 1 ? queue.upload(images.front()) : queue.upload_stack(images);
  }
  // Kernels that were launched by `work`, which the activity has under a tag.
  template <class Work>
  std::int64_t launches_of(int tag, const Work& work) const {
    const std::int64_t launches = queue.launches();
    if (options.timed) queue.note_as(tag);
    work();
    if (options.timed) queue.note_as(no_step);
    return queue.launches() - launches;
  }
  double image_bytes(ValueId id) const {
    return static_cast<double>(sizes[id].pixels() * bytes_per_pixel(plan.values[id]));
  }
};

// Decodes the images, all of them coded, and of one form.
void decode(DeviceStack& stack, const std::vector<Material>& materials);
// Whether any image was not decoded. Asked at the end, when it takes no time to wait for: what was
// computed of such a picture means nothing, and so does its error.
bool find_not_decoded(DeviceStack& stack);
// Encodes the results; false where some are not.
bool encode_results(DeviceStack& stack);
// Brings the results to the host after the last step. Throws Error for an image that a check of the
// plan refuses.
void collect_results(DeviceStack& stack);

}  // namespace impipe::engine
