// A lane of work on a CUDA device: a stream and its clock.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/cuda/kernel.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/staging.hpp"
#include "backends/jit/runtime/queue.hpp"
#include "core/backend.hpp"

namespace impipe::cuda {

class CudaQueue final : public jit::GpuQueue {
 public:
  CudaQueue(std::shared_ptr<const DeviceContext> context, std::shared_ptr<jit::MemoryPool> memory,
            std::shared_ptr<StagingPool> staging, std::shared_ptr<jit::PageLocks> locks,
            ThreadPool& pool);
  ~CudaQueue() override;

  std::shared_ptr<DevicePlane> upload_stack(std::span<const Planes> images) override;
  std::vector<Planes> download_stack(const DevicePlane& images) override;
  std::shared_ptr<DevicePlane> upload_rows(const Planes& image, std::int64_t begin,
                                           std::int64_t end) override;
  void download_rows(const DevicePlane& image, std::int64_t first, const Planes& to,
                     std::int64_t begin, std::int64_t end) override;
  std::vector<double> download(const DeviceMeasure& measure) override;
  using GpuQueue::download;
  void run(const Kernel& kernel, const Launch& launch) override;
  void begin_notes() override;
  std::vector<Activity> take_notes() override;
  void wait() override;
  void wait_for_stream(std::uint64_t stream) override;
  double time() override;
  // By a graph of the launches, started as one.
  std::vector<double> time_of(const std::function<void()>& give, int times) override;
  // See Device.
  double measure_copy();
  LinkSpeed measure_link();

 private:
  // Work between two marks.
  struct Noted {
    Activity::Kind kind;
    int tag;
    double bytes, copied;
    std::size_t begin, end;  // places in events_
    double host_end;         // on the steady clock, when the host has a part after `end`; or 0
  };
  // A point in the stream's work that `take_notes` tells the time of: its place in events_.
  std::size_t mark();
  // What was given since `begin`.
  void note(Activity::Kind kind, std::size_t begin, double bytes = 0, double copied = 0);
  double seconds_between(const OwnedEvent& start, const OwnedEvent& end) const;
  // Of planes that the device reaches: it copies their rows itself. send: from row `begin` on, to
  // image number `place` of a stack.
  void send(const Planes& image, std::int64_t begin, const jit::PooledPlane& to, std::size_t place);
  void fetch(const jit::PooledPlane& from, std::int64_t first, const Planes& to, std::int64_t begin,
             std::int64_t end);
  // Of others, through pinned memory.
  void send_copies(std::span<const Planes> images, const jit::PooledPlane& to);
  void fetch_copies(const jit::PooledPlane& from, Planes& to);
  std::unique_ptr<Queue> make_beside() override;
  void copy_in(DevicePointer to, std::span<const std::span<const std::byte>> parts);
  void clear(std::uint64_t handle, std::int64_t bytes) override;
  std::uint64_t handle_at(std::uint64_t memory, std::int64_t offset) const override;
  std::int64_t part_alignment() const override { return jit::row_alignment; }
  std::shared_ptr<const std::uint64_t> part_of(std::uint64_t memory, std::int64_t offset,
                                               std::int64_t bytes) const override;
  void copy(const jit::PooledPlane& from, const jit::PooledPlane& to, std::int64_t first) override;
  jit::MemoryBlock filled(std::span<const std::span<const std::byte>> parts) override;
  bool copies_at_once() const override { return !recording_; }  // a graph copies when it runs
  // Calls copy_row(y) for each row, on several threads when that pays.
  template <class CopyRow>
  void for_rows(std::int64_t first, std::int64_t count, std::int64_t row_bytes, CopyRow copy_row);

  std::shared_ptr<const DeviceContext> context_;
  std::shared_ptr<StagingPool> staging_;
  ThreadPool& pool_;
  Stream stream_ = nullptr;
  std::optional<OwnedEvent> start_, now_;
  std::deque<OwnedEvent> events_;  // of marks; they are used again
  std::size_t marks_ = 0;
  std::vector<Noted> noted_;
  std::optional<double> origin_;  // of start_, on the host's steady clock
  // While a graph is recorded: what its copies read when it runs.
  bool recording_ = false;
  std::list<std::vector<std::byte>> recorded_;
};

}  // namespace impipe::cuda
