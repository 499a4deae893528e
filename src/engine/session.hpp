// A session: one pipeline on one device, with the kernels and programs made so far.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/backend.hpp"
#include "engine/executor.hpp"
#include "engine/program.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

struct DeviceChoice {
  std::string backend = "auto";  // or a backend's name
  std::string device;            // "cuda:1", "1"; empty: the backend's first usable one
};

// A device that was opened, and why it was this one ("auto: the CPU, …").
struct OpenDevice {
  std::unique_ptr<Device> device;
  std::string why;
};
// Throws Error: usage for unknown names, backend when what was asked for can't be used.
OpenDevice open_device(const DeviceChoice& choice, ThreadPool& pool);

// The devices of all backends that were compiled in.
std::vector<DeviceInfo> all_devices();

struct SessionOptions {
  bool fuse = true;
  bool strict = false;  // an implicit rgb2gray is an error
};

// Any thread may call any function.
class Session {
 public:
  Session(pipeline::Pipeline pipeline, OpenDevice device, SessionOptions options);

  const pipeline::Pipeline& pipeline() const { return pipeline_; }
  const DeviceInfo& device() const { return device_.device->info(); }
  const std::string& why() const { return device_.why; }

  // The program for images of this type, with its kernels; made at most once a type.
  std::shared_ptr<const Program> program(const ImageType& input,
                                         const std::map<std::string, ImageType>& operands);

  std::unique_ptr<Queue> make_queue() { return device_.device->make_queue(); }
  std::shared_ptr<const Kernel> kernel(const KernelSpec& spec);

 private:
  pipeline::Pipeline pipeline_;
  OpenDevice device_;
  SessionOptions options_;
  std::mutex programs_mutex_, kernels_mutex_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;          // by the types' text
  std::unordered_map<std::string, std::shared_ptr<const Kernel>> kernels_;  // by KernelSpec::key
};

}  // namespace impipe::engine
