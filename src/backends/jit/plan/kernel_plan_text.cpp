// A kernel's plan in words.
#include "backends/jit/plan/form.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

std::string node_name(int n) { return name_of(Operand{false, n}); }

// "8x16 packed, 4 groups at once"; pixels of a work-item, groups of a processor.
std::string block_text(const BlockSize& size) {
  std::string text = std::to_string(size.px) + "x" + std::to_string(size.py);
  if (size.packed) text += " packed";
  if (size.tile) text += " from local memory";
  return size.points ? text : text + ", " + std::to_string(size.groups) + " groups at once";
}

std::string list_of(const std::vector<int>& nodes) {
  std::string text;
  for (const int n : nodes) text += (text.empty() ? "" : ", ") + node_name(n);
  return text;
}

// A form with its sizes.
struct FormText {
  std::string operator()(const Inlined&) const { return "inlined"; }
  std::string operator()(const MadeInGroups& form) const {
    return "in local memory of the groups of " + node_name(form.reader);
  }
  std::string operator()(const MadeOnTheWay&) const { return "on the way"; }
  std::string operator()(const MadeBeside& form) const {
    return "beside " + node_name(form.leader);
  }
  std::string operator()(const Pixels& pixels) const {
    if (!pixels.tile) return "pixels";
    return "pixels from local memory, " + std::to_string(pixels.tile->columns) + "x" +
           std::to_string(pixels.tile->rows);
  }
  std::string operator()(const FamilyForm& form) const { return std::string(form.row->name); }
  std::string operator()(const Blocks& blocks) const {
    std::string text = "blocks of " + block_text(blocks.size);
    if (blocks.means) text += " for means";
    if (blocks.low) text += "; of " + block_text(*blocks.low) + " for small images";
    if (blocks.weighted) text += "; of " + block_text(*blocks.weighted) + " for other weights";
    if (!blocks.packed_points.empty()) {
      text += "; packed " +
              list_of(std::vector<int>(blocks.packed_points.begin(), blocks.packed_points.end()));
    }
    if (blocks.reciprocals) text += "; quotients by reciprocals first";
    if (!blocks.beside.empty()) text += "; of " + list_of(blocks.beside) + " beside it";
    if (!blocks.whites.empty()) text += "; without quotients where white is 1";
    return text;
  }
  std::string operator()(const StripChain& form) const {
    const Chain& chain = form.chain;
    return "chain of " + std::to_string(chain.values.size()) + " values, rows " +
           std::to_string(chain.up) + " above and " + std::to_string(chain.down) + " below, " +
           (chain.dense ? "5" : "4") + " groups at once";
  }
  std::string operator()(const TwoPasses& two) const {
    return "both passes of " + list_of(two.inners) + " in tiles of " +
           std::to_string(two.size.width()) + "x" + std::to_string(two.size.height()) +
           (two.together ? ", one for each" : "") +
           (two.beside.empty() ? "" : "; of " + list_of(two.beside) + " beside it");
  }
  std::string operator()(const Reductions& reductions) const {
    return std::string(reductions.cells ? "cells of 32x32" : "a stream") + " for " +
           list_of(reductions.nodes) + (reductions.made < 0 ? "" : ", whose rows are made for it") +
           ending(reductions.scalars);
  }
  std::string operator()(const CountedCodes& counted) const {
    static constexpr const char* ways[] = {
        "counters in local memory", "counters of a table's bins in local memory",
        "counters in global memory", "16-bit counters in local memory",
        "tagged counters in local memory"};
    return ways[static_cast<int>(counted.way)] +
           (counted.slices > 1 ? " in " + std::to_string(counted.slices) + " slices" : "") +
           std::string(counted.pairs ? " of pairs that are made here" : "") +
           std::string(counted.bins_apart ? ", then bins" : "") + ending(counted.scalars);
  }
  std::string operator()(const WholeKernels&) const { return "kernels of its own"; }
  std::string operator()(const Selection& selection) const {
    return "kernels of its own" + ending(selection.scalars);
  }
  std::string operator()(const Scalars& scalars) const {
    return "one group for " + list_of(scalars.nodes);
  }

  static std::string ending(const std::vector<int>& scalars) {
    return scalars.empty() ? "" : ", which end with " + list_of(scalars);
  }
};

}  // namespace

bool KernelPlan::stored(int n) const {
  const Form& f = node(n).form;
  return !std::holds_alternative<Inlined>(f) && !std::holds_alternative<MadeInGroups>(f) &&
         !std::holds_alternative<MadeOnTheWay>(f);
}

double bytes_moved(const KernelContext& context, int n) {
  double bytes = bytes_of(context.node(n).cls);
  for (const Operand& image : pixel_images(context.node(n))) bytes += bytes_of(context.cls(image));
  return bytes;
}

std::string describe(const NodePlan& node) {
  std::string text = std::visit(FormText{}, node.form);
  switch (node.rows.by) {
    case RowPass::By::none: break;
    case RowPass::By::blocks:
      text += "; its row pass in blocks of " + block_text(node.rows.block);
      break;
    case RowPass::By::pixels: text += "; its row pass in pixels"; break;
    case RowPass::By::own_window: text += "; both passes from one window"; break;
  }
  const bool inlined = std::holds_alternative<Inlined>(node.form);
  const bool made_here =
      std::holds_alternative<Blocks>(node.form) || std::holds_alternative<TwoPasses>(node.form);
  if (inlined && node.codes) {
    text += "; a table of " + name_of(*node.codes) + "'s codes in blocks";
  } else if (made_here && node.codes && !node.codes->external) {
    text += "; a table of " + name_of(*node.codes) + "'s codes";
  }
  if (node.rounds >= 0) text += "; rounds the root of " + node_name(node.rounds);
  return text;
}

std::string to_text(const KernelPlan& plan, const KernelSpec& spec) {
  std::string text;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const NodePlan& node = plan.nodes[n];
    text += node_name(static_cast<int>(n)) + " " + std::string(name_of(spec.nodes[n].primitive)) +
            ": " + describe(node) + "; " + node.reason + "\n";
  }
  return text;
}

}  // namespace impipe::jit
