// Times the forms that kernels of GPUs can take, next to what was estimated for them.
#pragma once

#include "bench/suite_flags.hpp"

namespace impipe::bench {

// Draws --forms rows of a suite, by --seed, whose images several forms can make, and prints one
// line for each row and form, with tabs: row, class, channels, size, form, whether it is the chosen
// one, estimated microseconds for 2048x2048, measured microseconds. Throws Error.
int time_forms(const SuiteFlags& flags);

}  // namespace impipe::bench
