// Image kernels in which a work-item makes a block of pixels: wide loads, neighbourhoods held in
// registers, wide stores. Same results as one pixel a work-item.
#pragma once

#include <functional>

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// Whether a node's pixels are kept in a plane (of the kernel's name for it).
using IsStored = std::function<bool(int node)>;

// The same where node n, which is stored, is made. `stored` has to live as long.
IsStored others_than(const IsStored& stored, int n);

// Whether node n can be made so: points around at most one neighbourhood, small enough.
bool fits_block(const Builder& to, const IsStored& stored, int n);

// The kernel store_NAME that makes node n and stores it.
void write_block_kernel(Builder& to, const IsStored& stored, int n);

// Whether a block makes both passes of separable node n from one window: they reach one pixel.
bool passes_in_block(const Builder& to, int n);

bool fits_block_rows(const Builder& to, int n);
// The kernel that makes the row pass of separable node n in the plane nN_rows.
void write_block_rows(Builder& to, const IsStored& stored, int n);

}  // namespace impipe::jit
