// Pinned host memory that the lanes of a device share.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cuda/memory.hpp"

namespace impipe::cuda {

// An event, destroyed when it goes. Its context must be in use, as for PinnedMemory.
class OwnedEvent {
 public:
  explicit OwnedEvent(unsigned flags);
  ~OwnedEvent();
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  Event get() const { return event_; }

 private:
  Event event_ = nullptr;
};

// Pinning costs about 0.34 ms a MB and happens one at a time: a few pieces are pinned once and go
// from lane to lane. A piece that is taken belongs to its lane alone, the device included.
class StagingPool {
  struct Piece {
    PinnedMemory memory;
    OwnedEvent done;  // when the device has done with it
    explicit Piece(std::size_t bytes);
  };

 public:
  static constexpr std::size_t largest = std::size_t{4} << 20;  // bytes
  // Few enough to be pinned in about 10 ms, enough for a bus that takes 55 GB/s from threads that
  // copy 8 GB/s each.
  static constexpr int max_pieces = 8;  // of each size

  // A piece for as long as it lives.
  class Lease {
   public:
    Lease(StagingPool& pool, std::unique_ptr<Piece> piece)
        : pool_(&pool), piece_(std::move(piece)) {}
    Lease(Lease&& from) = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (piece_) pool_->give_back(std::move(piece_));
    }
    std::byte* data() const { return piece_->memory.data(); }
    // The device has the piece until it has done what was given to the stream before.
    void record(Stream stream);
    void wait() const;

   private:
    StagingPool* pool_;
    std::unique_ptr<Piece> piece_;
  };

  explicit StagingPool(std::shared_ptr<const DeviceContext> context);
  ~StagingPool();

  // A piece of at least `bytes`; waits for one. Above `largest`, for a row that is longer, the
  // piece is made for this once. A lane that has a piece must not wait for another: it uses
  // `try_take`.
  Lease take(std::size_t bytes);
  std::optional<Lease> try_take(std::size_t bytes);

 private:
  struct Size {
    std::size_t bytes;
    int made = 0;
    std::deque<std::unique_ptr<Piece>> free;  // the one given back first in front
  };
  Size& size_for(std::size_t bytes) { return bytes <= small_.bytes ? small_ : large_; }
  std::optional<Lease> take_now(Size& size, std::unique_lock<std::mutex>& lock);
  void give_back(std::unique_ptr<Piece> piece);

  std::shared_ptr<const DeviceContext> context_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  Size small_{.bytes = std::size_t{64} << 10, .free = {}};
  Size large_{.bytes = largest, .free = {}};
};

}  // namespace impipe::cuda
