// The devices of a run and the lanes of work on them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/device/session.hpp"

namespace impipe::engine {

// Sessions of one pipeline, one a device, and on each as many queues as threads of a batch work on
// it at the same time. An image goes to the device that has the fewest at that moment, of equals to
// the one that had the fewest so far, and there to the queue that was used last: it has the memory
// that such an image takes.
class Lanes {
 public:
  Lanes(const pipeline::Pipeline& pipeline, std::vector<OpenDevice> devices,
        const SessionOptions& options);

  // The codecs that a session needs for the results of its programs; empty: none.
  using CodecsOf = std::function<std::vector<CodecKernel*>(
      Session&, const std::vector<std::shared_ptr<const Program>>&)>;
  // Opens another device while these work; when it is there with the kernels of the images that are
  // known then and of those codecs, later images go to it alone. take_details reports
  // it. For `wait` seconds most threads had better have no work.
  void open_later(std::function<OpenDevice()> open, const SessionOptions& options,
                  CodecsOf codecs_of, double wait = 0);
  // It is no longer needed, if it is not there yet.
  void stop_opening() { is_over_ = true; }
  bool is_opening() const {
    return opening_.valid() &&
           opening_.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
  }
  // So many of `threads` had better have no work now: with all of them busy a device takes longer
  // to be opened.
  int idle_threads(int threads) const {
    if (!is_opening()) return 0;
    return std::chrono::steady_clock::now() < wait_until_ ? threads - 1 : std::max(1, threads / 8);
  }

  Session& session(size_t device) { return *on(device).session; }
  // Of the first device, or the later one: what all devices share, plans and types, is asked there.
  Session& first() const {
    const OnDevice* later = is_there_.load();
    return later != nullptr ? *later->session : *devices_.front()->session;
  }
  const pipeline::Pipeline& pipeline() const { return first().pipeline(); }
  // "cuda:0, cuda:1"
  std::string names() const;
  std::vector<DeviceInfo> devices() const;
  bool has_gpu() const noexcept;
  std::vector<std::string> take_warnings();
  // What -v should tell, since the last call.
  std::vector<std::string> take_details();

  // The program of every device, each with its kernels; the first one's is returned.
  std::shared_ptr<const Program> program(const ImageType& input,
                                         const std::map<std::string, ImageType>& operands,
                                         const std::optional<DisplayWindow>& display = {});

  // See Session.
  void check_kernels();
  // Whether a kernel is being compiled, or a device opened.
  bool is_compiling() const;

  // A device and the thread's queue on it, until it goes.
  class Turn {
   public:
    ~Turn() { lanes_.give_back(device, queue); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Session& session;
    Queue& queue;
    const size_t device;

   private:
    friend class Lanes;
    Turn(Lanes& lanes, Session& s, Queue& q, size_t d)
        : session(s), queue(q), device(d), lanes_(lanes) {}
    Lanes& lanes_;
  };
  Turn take();

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
  size_t count() const { return devices_.size() + (is_there_.load() != nullptr ? 1 : 0); }

 private:
  struct OnDevice {
    std::unique_ptr<Session> session;
    std::vector<std::unique_ptr<Queue>> queues;  // made when they are first needed
    std::vector<Queue*> free;                    // of these; the one used last at the end
    int working = 0;                             // on images
    std::int64_t given = 0;                      // images so far
    std::int64_t images = 0;                     // done
  };
  void give_back(size_t device, Queue& queue) noexcept;
  OnDevice& on(size_t device) const {
    return device < devices_.size() ? *devices_[device] : *is_there_.load();
  }
  // Those that are there, one after the other; takes no memory.
  template <class Visit>
  void visit_all(Visit visit) const {
    for (const auto& on : devices_) visit(*on);
    if (OnDevice* later = is_there_.load(); later != nullptr) visit(*later);
  }
  std::string join(const std::function<OpenDevice()>& open, const SessionOptions& options,
                   const CodecsOf& codecs_of);

  std::vector<std::unique_ptr<OnDevice>> devices_;
  std::unique_ptr<OnDevice> later_;
  std::atomic<OnDevice*> is_there_ = nullptr;  // later_, once it can work
  std::atomic<bool> is_over_ = false;
  // Of the images that are known; of those that differ in the display window alone the first, since
  // their kernels are the same.
  struct Known {
    ImageType input;
    std::map<std::string, ImageType> operands;
    std::optional<DisplayWindow> display;
  };
  std::vector<Known> types_;
  std::vector<std::string> details_;
  std::int64_t left_over_ = 0;
  mutable std::mutex mutex_;
  std::chrono::steady_clock::time_point wait_until_;
  std::future<void> opening_;  // ends before all else does
};

}  // namespace impipe::engine
