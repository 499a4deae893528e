// Objects with much memory, which one thread after another uses: pages of the system's are dear.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace impipe::cpu {

template <class T>
class Spares {
 public:
  // One that nobody uses, or a new one of these arguments.
  template <class... Args>
  std::unique_ptr<T> take(Args&&... args) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<T>(std::forward<Args>(args)...);
    std::unique_ptr<T> taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }
  void give(std::unique_ptr<T> used) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(used));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace impipe::cpu
