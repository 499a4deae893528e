// What is stored comes first (choose/materialise), for a node's form depends on which of the nodes
// before it are planes. Each stored image then takes the cheapest form that is offered.
#include "backends/jit/choose/choose.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backends/jit/choose/chooser.hpp"
#include "backends/jit/choose/materialise.hpp"
#include "backends/jit/plan/form.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

// Nodes that blocks of points make side by side.
constexpr std::size_t max_co_outputs = 4;

std::string node_name(int n) { return name_of(Operand{false, n}); }

class PlanMaker {
 public:
  explicit PlanMaker(const KernelContext& of)
      : of_(of), count_(of.count()), made_(materialise(of)), planes_(made_.planes) {}

  KernelPlan run() {
    choose_stored();
    for (int n = 0; n < count_; ++n) {
      if (is_whole(n)) continue;
      NodePlan& node = at(n);
      choose_image(n, node);
      if (as<Point>(of_.node(n)) == nullptr) continue;
      node.codes = coded_by(of_, planes_.without(n), {false, n});
      node.rounds = rounded_by(of_, planes_.without(n), n);
    }
    leave_out_packed();
    join_points();
    choose_measures();
    return std::move(plan_);
  }

 private:
  template <class T>
  bool is(int n) const {
    return as<T>(of_.node(n)) != nullptr;
  }
  bool is_whole(int n) const { return made_as_whole(of_.node(n)); }
  NodePlan& at(int n) { return plan_.nodes[static_cast<std::size_t>(n)]; }
  std::optional<NodePlan>& stored_at(int n) { return stored_[static_cast<std::size_t>(n)]; }

  // Points that blocks make packed take no table of what a neighbourhood makes.
  void leave_out_packed() {
    for (int n = 0; n < count_; ++n) {
      const auto* blocks = std::get_if<Blocks>(&at(n).form);
      if (blocks == nullptr) continue;
      for (const int p : blocks->packed_points) {
        if (at(p).codes && !planes_.without(n).has(*at(p).codes)) at(p).codes.reset();
      }
    }
  }

  // The forms of what is stored; and the nodes that nothing reads but kernels of tiles, which make
  // them: they have two passes, or such a node before them.
  void choose_stored() {
    stored_.resize(static_cast<std::size_t>(count_));
    const auto in_tile = [&](int r) {
      const std::optional<NodePlan>& reader = stored_at(r);
      return (reader && std::holds_alternative<TwoPasses>(reader->form)) || in_tiles_.contains(r);
    };
    for (int n = count_ - 1; n >= 0; --n) {
      if (of_.node(n).is_measure || is_whole(n)) continue;
      if (planes_.stored(n)) {
        stored_at(n) = stored_form(n);
      } else if (of_.tuning.fast && two_passes_of(of_, planes_, n) &&
                 std::ranges::all_of(of_.readers_of(n), in_tile)) {
        in_tiles_.insert(n);
      }
    }
  }

  // The kernels that store node n's pixels.
  NodePlan stored_form(int n) const {
    if (made_.chains.contains(n)) {
      Chain chain = chain_of(of_, planes_, n).value();
      const bool alone = chain.inside(n).empty();
      return {StripChain{std::move(chain)},
              alone ? "a chain by itself" : "nothing else reads the values before it",
              {},
              &strip_form};
    }
    Choice choice = cheapest({of_, made_.planes_for(n, planes_), n});
    if (auto* two = std::get_if<TwoPasses>(&choice.offer.form)) {
      if (const auto more = made_.co_outputs.find(n); more != made_.co_outputs.end()) {
        two->beside = more->second;
      }
    }
    std::string reason = choice.reason();
    return {std::move(choice.offer.form), std::move(reason), std::move(choice.costs), choice.row};
  }

  void choose_image(int n, NodePlan& node) {
    const std::vector<int> readers = of_.readers_of(n);
    const std::string reader = readers.empty() ? "" : node_name(readers[0]);
    if (made_.in_chains.contains(n)) {
      node = {MadeOnTheWay{}, "the chain that it is part of makes it"};
    } else if (in_tiles_.contains(n)) {
      node = {MadeOnTheWay{}, "the tiles of " + reader + " make it"};
    } else if (made_.in_groups.contains(n)) {
      node = {MadeInGroups{readers[0]}, "local memory holds what " + reader + " reads around"};
    } else if (const int leader = made_.leader_of(n); leader >= 0) {
      node = {MadeBeside{leader}, "it is made of what " + node_name(leader) + " is made of"};
    } else if (planes_.stored(n)) {
      node = *stored_at(n);
      node.reason = "stored because " + made_.why[static_cast<std::size_t>(n)] + "; " + node.reason;
    } else {
      node = {Inlined{}, readers.size() == 1
                             ? reader + " reads it pixel by pixel"
                             : std::to_string(readers.size()) + " nodes read it pixel by pixel"};
    }
    node.rows = row_pass(n, node.form);
  }

  // Whether blocks of points make node n, for nothing but memory, in one way.
  bool only_leaves(int n) {
    const auto* blocks = std::get_if<Blocks>(&at(n).form);
    return blocks != nullptr && blocks->size.points && of_.output_of(n) >= 0 &&
           of_.readers_of(n).empty();
  }

  // Channels that points mix: the blocks of the last one make the others too, from what they share.
  void join_points() {
    std::map<PixelClass, std::vector<int>> of_class;
    for (int n = 0; n < count_; ++n) {
      if (only_leaves(n)) of_class[of_.node(n).cls].push_back(n);
    }
    for (auto& [cls, nodes] : of_class) {
      if (nodes.size() < 2 || nodes.size() > max_co_outputs) continue;
      const int last = nodes.back();
      nodes.pop_back();
      for (const int n : nodes) {
        at(n) = {MadeBeside{last}, "it is made of what " + node_name(last) + " is made of"};
      }
      auto& blocks = std::get<Blocks>(at(last).form);
      blocks.beside = nodes;
      blocks.reciprocals = false;
      nodes.push_back(last);
      if (of_.tuning.unroll) blocks.whites = whites_of_points(of_, planes_, nodes);
    }
  }

  RowPass row_pass(int n, const Form& form) const {
    if (std::holds_alternative<MadeOnTheWay>(form)) return {};
    if (is<Separable>(n)) {
      if (std::holds_alternative<StripChain>(form) || std::holds_alternative<TwoPasses>(form)) {
        return {};
      }
      if ((passes_in_block(of_, n) && planes_.stored(n) && fits_block(of_, planes_, n)))
        return {RowPass::By::own_window, {}, {}};
      const auto block = of_.tuning.fast ? row_block_of(of_, n) : std::nullopt;
      if (block) return {RowPass::By::blocks, *block, {}};
      return {RowPass::By::pixels, {}, pixel_tile_of(of_, planes_, n)};
    }
    const auto* extremum = as<Extremum>(of_.node(n));
    const bool by_pixels =
        std::holds_alternative<Pixels>(form) || std::holds_alternative<Inlined>(form);
    const auto* pixels = std::get_if<Pixels>(&form);
    if (extremum == nullptr || !by_pixels || (pixels != nullptr && pixels->tile)) return {};
    const Mask& mask = extremum->mask;
    const bool pays = mask.full() && mask.width != 1 && mask.height != 1 && mask.count() > 9;
    const bool small = of_.tuning.fast && fits_block(of_, planes_, n);
    return pays && !small ? RowPass{RowPass::By::pixels, {}, {}} : RowPass{};
  }

  // --- measurements, and what is made as a whole

  // Has the pass of reductions at node n make the image that it measures, where blocks would have
  // stored it for that. It stores it only if it leaves the kernel.
  void make_rows(Reductions& reductions, int n) {
    const Operand image = of_.node(n).images[0];
    if (!reductions.cells || image.external || !fits_cell_rows(of_, planes_, image.index)) return;
    const std::vector<int> readers = of_.readers_of(image.index);
    const bool first = std::ranges::all_of(readers, [&](int r) { return r >= n; });
    if (!first || !std::holds_alternative<Blocks>(at(image.index).form)) return;
    const bool leaves = of_.output_of(image.index) >= 0;
    const bool only_measured = std::ranges::all_of(
        readers, [&](int r) { return std::ranges::count(reductions.nodes, r) > 0; });
    if (!leaves && !only_measured) return;
    reductions.made = image.index;
    if (leaves) {
      at(image.index).form = MadeBeside{n};
      at(image.index).reason = "stored because " +
                               made_.why[static_cast<std::size_t>(image.index)] +
                               "; it is measured as it is made";
    } else {
      at(image.index) = {MadeOnTheWay{}, "it is measured as it is made"};
    }
  }

  void choose_measures() {
    std::set<int> made;  // by the kernels of nodes before them
    const auto on_the_way = [&](const std::vector<int>& nodes, int n, const std::string& reason) {
      for (const int m : nodes) {
        if (m == n) continue;
        at(m) = {MadeOnTheWay{}, reason};
        made.insert(m);
      }
    };
    const auto with = [](std::set<int> nodes, int n) {
      nodes.insert(n);
      return nodes;
    };
    for (int n = 0; n < count_; ++n) {
      const Node& node = of_.node(n);
      if (made.contains(n) || !is_whole(n)) continue;
      std::vector<int> scalars;
      if (is<Reduce>(n)) {
        Reductions reductions = reductions_with(of_, planes_, n);
        if (of_.ends_in_last_group()) scalars = scalars_of(of_, reductions.nodes, made, false);
        reductions.scalars = scalars;
        make_rows(reductions, n);
        on_the_way(reductions.nodes, n, "the pass of " + node_name(n) + " makes it");
        const char* why = reductions.cells ? "cells fix the order of its sums"
                                           : "its sums and extremes have no order";
        at(n) = {std::move(reductions), why};
      } else if (is<Histogram>(n) && !stands_alone(node.primitive)) {
        CountedCodes counted = counted_codes(of_, planes_, n);
        if (counted.one_launch) scalars = scalars_of(of_, {n}, made, true);
        counted.scalars = scalars;
        const char* why =
            counted.slices > 1 ? "one of them fits there" : "so many counters fit there";
        at(n) = {std::move(counted), why};
      } else if (is<Select>(n)) {
        if (of_.ends_in_last_group()) scalars = scalars_of(of_, {n}, made, false);
        at(n) = {Selection{scalars, planes_.has(node.images[0])},
                 "it needs whole measurements or images"};
      } else if (is<Scalar>(n) && !as<Scalar>(node)->body->by_group) {
        scalars = scalars_of(of_, {n}, with(made, n), false);
        std::vector<int> nodes = {n};
        nodes.insert(nodes.end(), scalars.begin(), scalars.end());
        at(n) = {Scalars{std::move(nodes)}, "it computes with measurements alone"};
      } else {
        at(n) = {WholeKernels{}, node.is_measure ? "it needs whole measurements or images"
                                                 : "it needs its image as a whole"};
      }
      on_the_way(scalars, n,
                 is<Scalar>(n) ? "the group of " + node_name(n) + " runs it"
                               : "the last group of " + node_name(n) + " runs it");
    }
  }

  const KernelContext& of_;
  int count_;
  const Materialised made_;
  const Planes& planes_;
  std::vector<std::optional<NodePlan>> stored_;  // one a node
  std::set<int> in_tiles_;
  KernelPlan plan_{std::vector<NodePlan>(of_.spec.nodes.size())};
};

}  // namespace

KernelPlan choose(const KernelSpec& spec, const Tuning& tuning, Dialect dialect) {
  const KernelContext context{spec, dialect, tuning};
  return PlanMaker(context).run();
}

}  // namespace impipe::jit
