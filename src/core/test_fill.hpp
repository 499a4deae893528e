// For tests: what was never written shows where memory begins with a pattern.
#pragma once

#include <cstdlib>
#include <cstring>

namespace impipe {

// Fills memory whose contents nobody relies on with the byte IMPIPE_TEST_FILL, if that is set.
inline void fill_for_test(void* memory, std::size_t bytes) {
  static const char* const wanted = std::getenv("IMPIPE_TEST_FILL");
  if (wanted != nullptr) std::memset(memory, std::atoi(wanted), bytes);
}

}  // namespace impipe
