#include "core/interruption.hpp"

#include <utility>

#include "core/error.hpp"

namespace impipe {
namespace {

thread_local const std::function<bool()>* stop_of_thread = nullptr;

}  // namespace

Interruptible::Interruptible(const std::function<bool()>* stop)
    : before_(std::exchange(stop_of_thread, stop)) {}

Interruptible::~Interruptible() { stop_of_thread = before_; }

const std::function<bool()>* Interruptible::current() { return stop_of_thread; }

void check_interruption() {
  if (stop_of_thread != nullptr && (*stop_of_thread)()) {
    throw Error("stopped", ExitCode::file_failed);
  }
}

}  // namespace impipe
