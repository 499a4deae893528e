// What decisions ask about the points that make what a kernel reads. No text is written here.
#pragma once

#include <optional>

#include "backends/jit/program/kernel_context.hpp"

namespace impipe::jit {

// Whether points make an operand's pixels in the kernel that reads them.
bool made_here(const KernelContext& of, const Planes& planes, const Operand& operand);
// Whether a point's pixel is its image's.
bool passes_on(const KernelContext& of, int n);
// Whether a point makes its pixel of its image's, in floats, by so few sums and products that it is
// made wherever it is read: of bytes a table of all codes in local memory takes longer, of others
// a plane.
bool takes_few_steps(const KernelContext& of, int n);
// Whether nothing but points of planes makes them.
bool only_points(const KernelContext& of, const Planes& planes, const Operand& operand);
// Whether the points that make an operand take so long that a plane of their pixels costs less than
// to make those around a group's again: powers, quotients and sums of channels in double, quotients
// of all channels of which one is made.
bool take_long(const KernelContext& of, const Planes& planes, const Operand& made);

// A group's pixels in local memory, with those around them.
struct PointTile {
  PointTile(int element_bytes, Size of_group, const Footprint& f);
  int bytes;   // of an element: 1 and 2 as the class has it, or a number
  int px = 4;  // pixels that a work-item makes at a time
  Size group;
  Footprint reach;          // around the group's pixels
  int halo = 0;             // columns to their left and right
  int width = 0, rows = 0;  // of the tile
  // With the tables that the points take.
  std::int64_t local_bytes(const KernelContext& of, const Planes& planes,
                           const Operand& operand) const;
};

// The image of bytes whose values alone decide an operand's pixels, if a lookup table pays: always
// over a stored plane; over a neighbourhood where the points use double, powers or many steps; over
// points of several images where they take long. Nothing for others.
std::optional<Operand> coded_by(const KernelContext& of, const Planes& planes,
                                const Operand& operand);

// What a point's own pixel takes: a power; that, or quotients in double.
bool raises_powers(const KernelContext& of, int n);
bool takes_long(const KernelContext& of, int n);
// Whether a point's own pixel takes a quotient or a power.
bool divides_or_raises(const KernelContext& of, int n);

// Local memory that a table of all codes takes; how many the points take that make an operand.
constexpr std::int64_t table_bytes = 1024;
int tables_of(const KernelContext& of, const Planes& planes, const Operand& operand);

// The rule for places outside the image of a node that moves pixels: blocks reach beyond the
// result's end.
Border rule_of_move(const Node& node);
// Whether a block of moving node n can be made of such points of planes as do not depend on their
// places.
bool can_be_moved(const KernelContext& of, const Planes& planes, int n);

}  // namespace impipe::jit
