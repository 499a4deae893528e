// Rows, then columns in one kernel: a group makes the row pass of its tile in local memory and
// reads the column pass there. Separable filters, and rectangles of extrema that are not small.
#pragma once

#include "backends/jit/block.hpp"

namespace impipe::jit {

// The node with two passes that node n is made of, itself or with points after it, when one kernel
// can make both passes; -1 when none can.
int two_passes_of(const Builder& to, const IsStored& stored, int n);

// The kernel store_NAME that makes node n, of which `inner` has two passes, and stores it.
void write_tile_kernel(Builder& to, const IsStored& stored, int n, int inner);

}  // namespace impipe::jit
