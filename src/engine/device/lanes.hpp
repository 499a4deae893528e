// The devices of a run and the lanes of work on them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/session.hpp"

namespace impipe::engine {

// Sessions of one pipeline, one a device, and for every thread of a batch a queue on each. An image
// goes to the device that has the fewest at that moment, of equals to the one that had the fewest
// so far.
class Lanes {
 public:
  Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
        const SessionOptions& options, int threads);

  Session& session(size_t device) { return *devices_[device]->session; }
  // Of the first device: what all devices share, plans and types, is asked there.
  Session& first() const { return *devices_.front()->session; }
  const pipeline::Pipeline& pipeline() const { return first().pipeline(); }
  // "cuda:0, cuda:1"
  std::string names() const;
  std::vector<DeviceInfo> devices() const;
  std::vector<std::string> take_warnings();

  // The program of every device, each with its kernels; the first one's is returned.
  std::shared_ptr<const Program> program(const ImageType& input,
                                         const std::map<std::string, ImageType>& operands);

  // See Session.
  void check_kernels();

  // A device and the thread's queue on it, until it goes.
  class Turn {
   public:
    ~Turn() { --*images_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Session& session;
    Queue& queue;
    const size_t device;

   private:
    friend class Lanes;
    Turn(Session& s, Queue& q, size_t d, std::atomic<int>& images)
        : session(s), queue(q), device(d), images_(&images) {}
    std::atomic<int>* images_;
  };
  // lane: the thread's number.
  Turn take(int lane);

  // Images that a device did, and the most of its memory that was held.
  struct Share {
    DeviceInfo device;
    std::int64_t images = 0;
    std::int64_t peak_memory = 0;
  };
  // An image more. No device: one for which there was no memory, computed on the CPU.
  void add(std::optional<size_t> device);
  // One a device and, when it had to compute some, the CPU behind them.
  std::vector<Share> shares() const;
  size_t count() const { return devices_.size(); }

 private:
  struct OnDevice {
    std::unique_ptr<Session> session;
    std::vector<std::unique_ptr<Queue>> queues;  // one a thread; made when it is first needed
    std::atomic<int> working = 0;                // on images
    std::atomic<std::int64_t> given = 0;         // images so far
    std::int64_t images = 0;                     // done
  };
  std::vector<std::unique_ptr<OnDevice>> devices_;
  std::int64_t left_over_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace impipe::engine
