// The plan of a kernel: the form in which each of its nodes is made, in which sizes, and why.
// Those who write text read it and decide nothing.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/jit/plan/block_plan.hpp"
#include "backends/jit/plan/measure_plan.hpp"
#include "backends/jit/plan/pixel_tile_plan.hpp"
#include "backends/jit/plan/strip_chain.hpp"
#include "backends/jit/plan/tile_plan.hpp"
#include "backends/jit/program/program.hpp"
#include "backends/jit/program/tuning.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

struct FormRow;

// --- forms of images that are not stored
struct Inlined {};  // made where it is read: a pixel, or a row of its reader's block
// A point: the groups that make neighbourhood `reader` make its pixels, and those around, in local
// memory.
struct MadeInGroups {
  int reader = 0;
};
// Made on the way by the kernels of other nodes, and nowhere else.
struct MadeOnTheWay {};
// Stored by the kernel that stores another node, since both are made of the same, or that measures
// it.
struct MadeBeside {
  int leader = 0;
};

// --- forms of images that are stored
struct Pixels {                   // a work-item makes a pixel
  std::optional<PixelTile> tile;  // what it reads its neighbours from
};
struct StripChain {
  Chain chain;
};
// Kernels of a form that needs no sizes from the plan.
struct FamilyForm {
  const FormRow* row = nullptr;
};
// Besides those: Blocks and TwoPasses.

// --- forms of measurements, and of images that are made as a whole, besides Reductions and
// CountedCodes
struct WholeKernels {};  // those of its primitive
struct Selection {       // its kernels, the last group of which runs scalars
  std::vector<int> scalars;
  bool in_memory = false;  // a plane has the image's pixels
};
struct Scalars {  // a group runs them one after the other
  std::vector<int> nodes;
};

using Form =
    std::variant<Inlined, MadeInGroups, MadeOnTheWay, MadeBeside, Pixels, Blocks, StripChain,
                 TwoPasses, FamilyForm, Reductions, CountedCodes, WholeKernels, Selection, Scalars>;

// The row pass of a node that has two: by a kernel of its own, unless `by` says otherwise.
struct RowPass {
  enum class By { none, blocks, pixels, own_window } by = By::none;
  BlockSize block;                // blocks
  std::optional<PixelTile> tile;  // pixels
};

struct NodePlan {
  Form form;
  std::string reason;  // for the form, in words
  std::vector<FormCost> costs =
      {};                        // of the forms that can make a stored image, the cheapest first
  const FormRow* row = nullptr;  // writes the kernels of a stored image
  RowPass rows;
  // Points: the image of codes that it is a function of, code by code, so that a table can make it.
  std::optional<Operand> codes;
  // Points of blocks of packed bytes: the node whose root it does nothing but round; -1: none.
  int rounds = -1;
};

struct KernelPlan {
  std::vector<NodePlan> nodes;  // one a node of the spec

  const NodePlan& node(int n) const { return nodes[static_cast<std::size_t>(n)]; }
  // The node's form, if it is that one; else null.
  template <class T>
  const T* form(int n) const {
    return std::get_if<T>(&node(n).form);
  }
  // Whether the node's pixels are kept in a plane.
  bool stored(int n) const;
  // Whether points make an operand's pixels in the groups that read around them.
  bool in_groups(const Operand& operand) const {
    return !operand.external && form<MadeInGroups>(operand.index) != nullptr;
  }
};

// One line a node: "n1 stencil: blocks of 4x8, 4 groups a processor; it leaves the kernel".
std::string to_text(const KernelPlan& plan, const KernelSpec& spec);
// A node's form with its sizes: "blocks of 4x8, 4 groups a processor".
std::string describe(const NodePlan& node);

}  // namespace impipe::jit
