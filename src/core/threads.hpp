// Starting threads where the system may refuse them: a limit of processes, no memory for a stack.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace impipe {

// Threads that run body(0), body(1), …: `count` of them, or as many as the system lets start, which
// may be none. The caller joins them; each has a copy of `body`, which must not
// throw.
std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body);

}  // namespace impipe
