// How often a test repeats what it does: a sanitizer makes everything ten times slower.
#pragma once

#include <cstdlib>

namespace impipe::test {

// Whether this runs in scripts/test.sh --sanitize.
inline bool is_sanitized() { return std::getenv("IMPIPE_SANITIZED") != nullptr; }
inline int rounds(int all) { return is_sanitized() ? (all + 7) / 8 : all; }

}  // namespace impipe::test
