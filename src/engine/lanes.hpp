// The devices of a run and the lanes of work on them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/session.hpp"

namespace impipe::engine {

// Sessions of one pipeline, one a device, and for every thread of a batch a queue on each. An image
// goes to the device that has the fewest at that moment, of equals to the one that had the fewest
// so far.
class Lanes {
 public:
  Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
        const SessionOptions& options, int threads);

  // Of the first device: what all devices share, plans and types, is asked there.
  Session& first() const { return *devices_.front()->session; }
  const pipeline::Pipeline& pipeline() const { return first().pipeline(); }
  // "cuda:0, cuda:1"
  std::string names() const;
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

  // Images that each device did, and the seconds of its kernels, as far as they were timed.
  struct Work {
    std::int64_t images = 0;
    double kernels = 0;
  };
  struct Share {
    std::string device;
    Work work;
  };
  // No device: one for which there was no memory, computed on the CPU.
  void add(std::optional<size_t> device, double kernel_seconds);
  std::vector<Share> shares() const;

 private:
  struct OnDevice {
    std::unique_ptr<Session> session;
    std::vector<std::unique_ptr<Queue>> queues;  // one a thread; made when it is first needed
    std::atomic<int> working = 0;                // on images
    std::atomic<std::int64_t> given = 0;         // images so far
    Work work;
  };
  std::vector<std::unique_ptr<OnDevice>> devices_;
  Work left_over_;
  mutable std::mutex mutex_;
};

}  // namespace impipe::engine
