// One NaN for all: which bits an operation's NaN has depends on the processor and the compiler.
#pragma once

#include <vector>

#include "core/image.hpp"

namespace impipe {

// Every NaN of a plane of single becomes 0x7fc00000. A plane that has another one is copied first,
// since others may read its memory.
void make_one_nan(Plane& plane);

// Every NaN becomes 0x7ff8000000000000.
void make_one_nan(std::vector<double>& numbers);

}  // namespace impipe
