// Starts as many threads as the system gives.
#include "core/threads.hpp"

#include <new>
#include <system_error>

namespace impipe {

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  try {
    threads.reserve(static_cast<size_t>(count > 0 ? count : 0));
    for (int i = 0; i < count; ++i) threads.emplace_back([body, i] { body(i); });
  } catch (const std::system_error&) {  // EAGAIN
  } catch (const std::bad_alloc&) {
  }
  return threads;
}

}  // namespace impipe
