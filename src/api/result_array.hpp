// Results in the memory where they were computed, for other libraries of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/image_run.hpp"

namespace impipe::api {

// Images of one type and size, one after the other in one array. Any thread.
class ResultArray {
 public:
  // Shares the images' memory where it is that of one image; else it is a copy. Throws Error.
  ResultArray(std::shared_ptr<DeviceSession> session,
              const std::vector<const RunResult::Image*>& images);
  ~ResultArray();
  ResultArray(const ResultArray&) = delete;
  ResultArray& operator=(const ResultArray&) = delete;

  // "cuda:0", "cpu"
  const std::string& device() const { return device_; }
  // Steps are positive. on_device where the memory is not the host's.
  const impipe_image& description() const { return description_; }
  // To the host's memory, as api::copy_to.
  void copy_to(const impipe_image& to) const;
  // Another library has the address now: work that it gives the device may go on when it lets go.
  void share() const { is_shared_ = true; }

 private:
  void hold_planes(const std::vector<const RunResult::Image*>& images);
  void hold_there(const std::vector<const RunResult::Image*>& images);

  std::shared_ptr<DeviceSession> session_;
  std::string device_;
  ImageType type_;
  std::string page_axes_;
  Planes planes_;                       // of all images, an alpha last
  std::shared_ptr<DevicePlane> there_;  // or these
  impipe_image description_{};
  mutable std::atomic<bool> is_shared_ = false;
};

// A DLManagedTensor or DLManagedTensorVersioned of DLPack 1.0, which keeps the array's memory until
// its deleter is called. Any thread may do that, and no function of Python's is in it. shape,
// steps: of `axes` axes, in items.
void* dlpack_tensor(std::shared_ptr<const ResultArray> array, int axes, const std::int64_t* shape,
                    const std::int64_t* steps, bool is_versioned);

}  // namespace impipe::api
