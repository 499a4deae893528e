// Decides which measurements share kernels, and how histograms are counted. No text is written
// here.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

// How a measurement reads its image.
struct MeasuredImage {
  bool in_memory = false;        // a plane has its pixels
  std::optional<Operand> codes;  // else the plane of bytes, if any, that they are a function of
};
MeasuredImage measured_image(const KernelContext& of, const Planes& planes, const Operand& image);

// Whether measurement `reader` goes over a plane of node n's pixels, though they need none:
// `planes` are those of the nodes before it.
bool measures_plane(const KernelContext& of, const Planes& planes, int n, int reader);

// Reductions of one image that share a pass over it.
struct Reductions {
  std::vector<int> nodes;    // in their order
  bool cells = false;        // sums by cells of 32x32 pixels; else a stream in any order
  std::vector<int> scalars;  // that the last group of the pass runs
  MeasuredImage image;
  int made = -1;  // the node whose pixels the pass makes; -1: it reads them
};
// The reductions that are made with node n, itself first: of the same image, from nothing that is
// made in this kernel, and by the same method.
Reductions reductions_with(const KernelContext& of, const Planes& planes, int n);
// Whether a pass over cells can make the pixels of node n: a small neighbourhood in one plane,
// which a work-item goes down row by row.
bool fits_cell_rows(const KernelContext& of, const Planes& planes, int n);

struct CountedCodes {
  enum class Way {
    local,      // copies of the counters in a group's local memory
    table,      // the same of bins, which a table gives for each code
    global,     // counters in global memory
    two_bytes,  // 65,536 counters of 16 bits in local memory, or slices of them
    tagged,     // slices of the counters in local memory, without atomic additions to them
  };
  Way way = Way::local;
  int slices = 1;      // two_bytes: groups count the codes of one of so many slices
  bool pairs = false;  // two_bytes: the codes are made here, of two planes of bytes
  // Counted are the codes of the plane that these are a function of, if there is one.
  MeasuredImage image;
  bool bins_apart = false;   // codes are counted, and kernels of their own make bins of that
  bool one_launch = false;   // the last group of the pass ends it
  std::vector<int> scalars;  // that this group runs
};
CountedCodes counted_codes(const KernelContext& of, const Planes& planes, int n);

// Of an integer class.
inline int count_of_codes(PixelClass cls) { return static_cast<int>(class_max(cls)) + 1; }

// Counters of 16 bits, two in each word. Rows of 256 words begin 267 words apart, which spreads
// them over the banks.
inline constexpr int two_byte_codes = 65536;
inline constexpr int two_byte_rows = two_byte_codes / 512;
inline constexpr int two_byte_pitch = 267;
// Rows of one of `slices`.
constexpr int two_byte_rows_of(int slices) { return (two_byte_rows + slices - 1) / slices; }

// The scalar nodes that need nothing but the measurements `made` and what comes from outside, less
// those that are `known` to be run elsewhere. groups: those too that all of a group run.
std::vector<int> scalars_of(const KernelContext& of, std::vector<int> made,
                            const std::set<int>& known, bool groups);

}  // namespace impipe::jit
