// Reductions of one image that share a pass over it.
#pragma once

#include <string>
#include <vector>

#include "backends/jit/builder.hpp"

namespace impipe::jit {

// The reductions that are made with node n, itself first: of the same image, from nothing that is
// made in this kernel, and by the same method.
std::vector<int> reductions_with(const Builder& to, int n);

// The kernels that make them.
void write_reductions(Builder& to, const std::vector<int>& nodes);

// The totals of a wave's work-items (or of the first $end of them) in its first, by exchanged
// registers.
struct WaveJoin {
  std::string type, total;
  std::string both;       // of `total` and `other`
  std::string from, end;  // the steps: powers of two
  std::string test;       // whether a work-item joins what stands `step` further; empty: all do
};
std::string joined_in_wave(const WaveJoin& join);

// By cells of 32x32 pixels; nodes that are no sums or folds (the extrema) join in.
bool goes_by_cells(const Builder& to, int n);
void write_cells(Builder& to, const std::vector<int>& nodes);

}  // namespace impipe::jit
