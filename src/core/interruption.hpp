// Ends long work of the host early: loops of a thread pool between their parts, others where they
// check.
#pragma once

#include <functional>

namespace impipe {

// While it exists, loops that this thread starts, and check_interruption in it and in them, throw
// Error once stop() is true. stop is called from several threads; null: never.
class Interruptible {
 public:
  explicit Interruptible(const std::function<bool()>* stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // That of this thread.
  static const std::function<bool()>* current();

 private:
  const std::function<bool()>* before_;
};

void check_interruption();

}  // namespace impipe
