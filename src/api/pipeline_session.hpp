// A session and its pipelines: devices that are open, and what is compiled for them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/thread_pool.hpp"
#include "engine/device/lanes.hpp"
#include "engine/sandbox.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::api {

struct SessionSettings {
  std::string device = "cpu";
  int threads = 0;  // 0: one for each processor
  bool strict = false;
  std::int64_t memory = 0;  // bytes; 0: the default
  std::string sandbox;      // see engine::make_sandbox
};

// Any thread may call any function.
class DeviceSession {
 public:
  // Throws Error for devices that can't be used.
  explicit DeviceSession(const SessionSettings& settings);

  ThreadPool& pool() { return pool_; }
  const std::vector<engine::OpenDevice>& devices() const { return devices_; }
  std::string device_names() const;
  bool is_strict() const { return is_strict_; }
  std::int64_t memory() const { return memory_; }
  const engine::Sandbox& sandbox() const { return sandbox_; }

  // The only device; null: it is the CPU. Throws Error where there are several.
  Device* one_device() const;
  // Until the result goes, the calling thread's state in the drivers is the library's.
  std::vector<std::shared_ptr<void>> as_guest() const;
  // Calls work(queue) with a queue of the only device, in one thread at a time.
  template <class Work>
  auto on_queue(Work work) {
    const std::lock_guard lock(queue_mutex_);
    if (!queue_) queue_ = one_device()->make_queue();
    return work(*queue_);
  }

 private:
  ThreadPool pool_;
  bool is_strict_;
  std::int64_t memory_;
  engine::Sandbox sandbox_;
  std::vector<engine::OpenDevice> devices_;
  std::mutex queue_mutex_;
  std::unique_ptr<Queue> queue_;
};

class BoundPipeline {
 public:
  // Throws Error with the place in the text.
  BoundPipeline(std::shared_ptr<DeviceSession> session, const std::string& text);

  DeviceSession& session() { return *session_; }
  const std::shared_ptr<DeviceSession>& shared_session() const { return session_; }
  engine::Lanes& lanes() { return lanes_; }
  const pipeline::Pipeline& pipeline() const { return lanes_.pipeline(); }
  // What `impipe plan` prints for such images.
  std::string plan_text(const ImageType& input, const std::map<std::string, ImageType>& operands);

 private:
  std::shared_ptr<DeviceSession> session_;
  engine::Lanes lanes_;
};

}  // namespace impipe::api
