// A thread's temporary memory: taken in order, given back by returning to a mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace impipe::cpu {

// Blocks are kept, so that after the first tiles nothing is allocated. Used by one thread.
class Scratch {
 public:
  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };

  // n uninitialised values at a multiple of 64 bytes, with 64 readable bytes behind them.
  template <class T>
  T* take(std::int64_t n) {
    return reinterpret_cast<T*>(take_bytes(static_cast<std::size_t>(n) * sizeof(T)));
  }

  Mark mark() const { return mark_; }
  void release(Mark mark) { mark_ = mark; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size = 0;
  };
  std::byte* take_bytes(std::size_t bytes);

  std::vector<Block> blocks_;
  Mark mark_;
};

// Gives the memory taken in a scope back at its end.
class ScratchScope {
 public:
  explicit ScratchScope(Scratch& scratch) : scratch_(scratch), mark_(scratch.mark()) {}
  ~ScratchScope() { scratch_.release(mark_); }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Scratch& scratch_;
  Scratch::Mark mark_;
};

}  // namespace impipe::cpu
