// Chooses the forms of a kernel's nodes.
//
// What is stored comes first, for a node's form depends on which of the nodes before it are planes.
// Chains go from the last node to the first, as each takes the nodes before it that nothing else
// reads. Then the points that groups make in local memory, from the first to the last, since a
// block has room for those of one neighbourhood. Each asks what is stored so far: `planes`, one
// pass over the nodes, in which a node depends on earlier ones only.
#include "backends/jit/plan/kernel_plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backends/jit/plan/image_plan.hpp"
#include "backends/jit/program/code_curve.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

// Rows of windows of which a chain holds several.
constexpr int max_chained = 3;
// Rows of sums in order that a tile makes one after the other: 9 pay, 25 take 1.2 times as long.
constexpr int max_in_order = 16;
// Nodes that blocks of points make side by side.
constexpr std::size_t max_beside = 4;

std::string node_name(int n) { return name_of(Operand{false, n}); }

// Whether it is a point of more images than a block keeps windows of: channels that are mixed.
bool joins_neighbourhoods(const Node& node) {
  return as<Point>(node) != nullptr && node.images.size() > 2;
}

// Whether the extrema that it is made of have windows of their own, as a dilation and an erosion
// do, which registers do not hold together.
bool mixes_wide_windows(const KernelContext& of, const Node& node) {
  constexpr int max_side = 5;
  if (as<Point>(node) == nullptr) return false;
  std::vector<const Mask*> masks;
  bool lines = true;
  for (const Operand& image : pixel_images(node)) {
    const auto* extremum = image.external ? nullptr : as<Extremum>(of.node(image.index));
    if (extremum == nullptr) continue;
    masks.push_back(&extremum->mask);
    lines = lines && is_line_of_bytes(of.node(image.index));
  }
  if (masks.size() < 2 || lines) return false;
  const Mask &a = *masks[0], &b = *masks[1];
  const bool shared = a.full() && b.full() && a.footprint() == b.footprint();
  return !shared && std::max({a.width, a.height, b.width, b.height}) > max_side;
}

// Whether n is the last extremum that a point is made of.
bool is_last_extremum(const KernelContext& of, const Node& point, int n) {
  int last = -1;
  for (const Operand& image : pixel_images(point)) {
    if (!image.external && as<Extremum>(of.node(image.index)) != nullptr) last = image.index;
  }
  return n == last;
}

// Whether what lies outside the image comes from its other side.
bool is_circular(const Node& node) {
  const PrimitiveFacts facts = facts_of(node);
  return facts.reads_around && facts.border == Border::circular;
}

// Whether kernels of a primitive's own make a node, an image as a whole or a measurement.
bool made_as_whole(const Node& node) {
  const PrimitiveFacts facts = facts_of(node);
  return facts.whole_image || facts.measures || as<Scalar>(node) != nullptr;
}

// What is chosen before the forms, in sets of nodes.
struct Chosen {
  std::set<int> chains;        // stored by a chain's kernel
  std::set<int> in_chains;     // inner values of chains, in registers
  std::set<int> chain_planes;  // stored values that a chain reads
  std::set<int> in_groups;     // points in local memory
  std::set<int> in_turn;       // made by a tile one after the other, for a point that mixes them
  std::set<int> on_the_way;    // points of bytes that such tiles make as they read them
  std::set<int> tiles_of_several;          // stored by such tiles
  std::map<int, std::vector<int>> beside;  // what those store too, for each
};

class Chooser {
 public:
  explicit Chooser(const KernelContext& of)
      : of_(of), count_(of.count()), planes_(of.spec.nodes.size()) {}

  KernelPlan run() {
    if (of_.tuning.fast) {
      choose_forked_chains();
      choose_in_turn();
      choose_chains();
      choose_in_groups();
    }
    planes_ = planes(chosen_);
    choose_tiled();
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

  // --- what is stored

  // Whether all that is made of node n is one point, of its codes: others read it on the way there.
  bool is_looked_up(const Planes& planes, int n) const {
    const Planes others = planes.without(n);
    for (int m = count_ - 1; m > n; --m) {
      if (!is<Point>(m) || coded_by(of_, others, {false, m}) != Operand{false, n}) continue;
      std::set<int> on_the_way = {n}, made = {n, m};
      for (int p = m; p > n; --p) {
        if (!made.contains(p)) continue;
        if (p != m) on_the_way.insert(p);
        for (const Operand& image : pixel_images(of_.node(p))) made.insert(image.index);
      }
      return std::ranges::all_of(on_the_way, [&](int p) {
        const std::vector<int> readers = of_.readers_of(p);
        return of_.output_of(p) < 0 &&
               std::ranges::all_of(readers, [&](int r) { return made.contains(r); });
      });
    }
    return false;
  }

  // Why a node's pixels go through memory - it is an output, or read more than once a pixel - given
  // which of those before it do; empty where they do not.
  std::string why_stored(const Chosen& chosen, const Planes& planes, int n) const {
    if (chosen.in_chains.contains(n) || chosen.in_groups.contains(n) ||
        chosen.in_turn.contains(n) || chosen.on_the_way.contains(n)) {
      return "";
    }
    if (of_.output_of(n) >= 0) return "it leaves the kernel";
    if (chosen.chain_planes.contains(n)) return "a chain reads its plane";
    if (takes_van_herk(planes, n)) return "its passes store what they make";
    if (fits_mask_runs(of_, n)) return "sliding window over runs of mask rows";
    if (fits_rank_histogram(of_, n)) return "its window slides from pixel to pixel";
    const auto* turned = as<Permute>(of_.node(n));
    if (of_.tuning.fast && turned != nullptr && turned->transpose) return "rows become columns";
    if (of_.tuning.fast && framed_tile_of(of_, planes, n) && !fits_block(of_, planes, n)) {
      return "its groups keep what they read in local memory";
    }
    const std::vector<int> readers = of_.readers_of(n);
    for (const int r : readers) {
      const Node& reader = of_.node(r);
      if (of_.tuning.fast && keeps_plane_for(planes, r)) {
        return node_name(r) + " takes pixels from other places";
      }
      // Measurements go over pixels one by one, neighbourhoods over blocks (decisions/0003).
      if (of_.tuning.fast && reader.is_measure &&
          (measures_plane(of_, planes, n, r) || mixes_in_turn(chosen, n))) {
        return node_name(r) + " measures pixel by pixel";
      }
      if (reads_again(reader)) return node_name(r) + " reads a pixel more than once";
      if (of_.tuning.fast && both_fill_kernels(planes, n, r)) {
        return node_name(r) + " is too expensive to fuse";
      }
      // Beside the plane of the others the last one is made where it is read.
      if (of_.tuning.fast && is<Extremum>(n) && mixes_wide_windows(of_, reader) &&
          !is_last_extremum(of_, reader, n)) {
        return node_name(r) + " mixes windows that registers do not hold together";
      }
      if (joins_neighbourhoods(reader) &&
          (reads_again(of_.node(n)) || is_point_around(planes, n))) {
        return node_name(r) + " mixes several neighbourhoods";
      }
    }
    if (readers.size() > 1 && reads_again(of_.node(n)) && !is_looked_up(planes, n)) {
      return "it would be made more than once";
    }
    return "";
  }

  // Whether neighbourhood n and point r, which reads it, each compute so much that blocks of one
  // after blocks of the other take less than both together: powers, or quotients in double.
  bool both_fill_kernels(const Planes& planes, int n, int r) const {
    constexpr int few_ranked = 9, short_passes = 32;
    if (!is<Point>(r) || !takes_long(of_, r) || is_curve_of_codes(of_, r) ||
        coded_by(of_, planes, {false, r})) {
      return false;
    }
    const Node& node = of_.node(n);
    if (const auto* stencil = as<Stencil>(node)) return rolls_rows(*stencil) || is_long(*stencil);
    if (!raises_powers(of_, r)) return false;
    if (const auto* rank = as<Rank>(node)) return rank->mask.count() > few_ranked;
    const auto* passes = as<Separable>(node);
    return passes != nullptr && !passes->any_order &&
           passes->row.count() + passes->column.count() > short_passes;
  }

  // Whether node n is a point of what a neighbourhood makes in the kernel, but for those that tiles
  // make, one after the other.
  bool is_point_around(const Planes& planes, int n) const {
    if (!is<Point>(n)) return false;
    const auto images = pixel_images(of_.node(n));
    return std::ranges::any_of(images, [&](const Operand& image) {
      if (planes.has(image)) return false;
      const Node& node = of_.node(image.index);
      return (reads_again(node) && !Passes::of(node)) || is_point_around(planes, image.index);
    });
  }

  // Whether what node n reads is made by a tile one after the other.
  bool mixes_in_turn(const Chosen& chosen, int n) const {
    const std::vector<Operand>& images = of_.node(n).images;
    return std::any_of(images.begin(), images.end(), [&](const Operand& image) {
      return !image.external && chosen.in_turn.contains(image.index);
    });
  }

  Planes planes(const Chosen& chosen) const {
    Planes planes(of_.spec.nodes.size());
    for (int n = 0; n < count_; ++n) {
      planes.set(n, !of_.node(n).is_measure && !why_stored(chosen, planes, n).empty());
    }
    return planes;
  }

  // Whether node r, which reads a node that is in no plane yet, sends pixels to other places and
  // needs a plane for it.
  bool keeps_plane_for(const Planes& planes, int r) const {
    if (!is<Permute>(r) && !is<Window>(r)) return false;
    return !moves(of_.node(r)) || !can_be_moved(of_, planes, r);
  }

  // Whether node n takes kernels of its own for the extrema of a large rectangle.
  bool takes_van_herk(const Planes& planes, int n) const {
    if (!of_.tuning.fast || !is_rectangle(of_, n)) return false;
    const Mask& mask = as<Extremum>(of_.node(n))->mask;
    if (mask.width == 1 || mask.height == 1) return true;
    if (two_passes_of(of_, planes, n)) return false;
    // One of its passes would go pixel by pixel.
    return !is_flat_rectangle(of_, n) || (!fits_block(of_, planes, n) && !fits_mask_runs(of_, n));
  }

  // What points make of separables: them, in the order in which they are read, and the points
  // before the last one.
  struct Mixed {
    std::vector<int> separables, points;
    bool has(int n) const {
      return std::ranges::count(separables, n) > 0 || std::ranges::count(points, n) > 0;
    }
  };
  // Adds those before point n; whether there are any.
  bool add_mixed(int n, Mixed& mixed) const {
    bool found = false;
    for (const Operand& image : of_.node(n).images) {
      if (image.external) continue;
      if (mixed.has(image.index)) {
        found = true;
      } else if (is<Separable>(image.index)) {
        mixed.separables.push_back(image.index);
        found = true;
      } else if (is<Point>(image.index) && add_mixed(image.index, mixed)) {
        mixed.points.push_back(image.index);
        found = true;
      }
    }
    return found;
  }

  // Whether nothing reads node n but point r and the points before it.
  bool read_by_mixed(int n, int r, const Mixed& mixed) const {
    const std::vector<int> readers = of_.readers_of(n);
    return of_.output_of(n) < 0 && std::all_of(readers.begin(), readers.end(), [&](int reader) {
             return reader == r || std::ranges::count(mixed.points, reader) > 0;
           });
  }

  // What is chosen where a tile makes separables one after the other for point r; nothing where it
  // can't be one tile.
  std::optional<Chosen> with_in_turn(int r) const {
    Mixed mixed;
    if (chosen_.chains.contains(r) || chosen_.in_chains.contains(r)) return {};
    if (!is<Point>(r) || of_.node(r).images.size() < 2 || !add_mixed(r, mixed)) return {};
    Chosen with = chosen_;
    // Those that others read too are planes, and beside sums of what is made on the way all others.
    const bool on_the_way =
        std::ranges::any_of(mixed.separables, [&](int n) { return !points_on_the_way(n).empty(); });
    std::erase_if(mixed.separables, [&](int n) {
      return !read_by_mixed(n, r, mixed) || chosen_.in_turn.contains(n) ||
             (on_the_way && !sums_bytes(n) && points_on_the_way(n).empty());
    });
    for (const int n : mixed.separables) {
      with.in_turn.insert(n);
      const std::vector<int> points = points_on_the_way(n);
      with.on_the_way.insert(points.begin(), points.end());
    }
    for (const int n : mixed.points) {
      if (read_by_mixed(n, r, mixed)) continue;
      // What reads it elsewhere comes later.
      const std::vector<int> readers = of_.readers_of(n);
      if (of_.output_of(n) >= 0 || std::ranges::any_of(readers, [&](int reader) {
            return reader < r && std::ranges::count(mixed.points, reader) == 0;
          })) {
        return {};
      }
      with.beside[r].push_back(n);
    }
    // Blocks keep windows of two planes, and mix no more than one point does.
    const bool many = joins_neighbourhoods(of_.node(r)) && mixed.points.empty();
    if (!many && with.on_the_way == chosen_.on_the_way) return {};
    const Planes others = planes(with);
    const std::optional<int> root = stored_from(others, r);
    if (mixed.separables.size() < 2 || !root) return {};
    if (with.beside.contains(r) && *root != r) return {};
    const std::optional<TwoPasses> two = tiled(with, others, *root);
    if (!two || two->inners != mixed.separables) return {};
    // Long columns of floats in order are faster by themselves.
    const Passes passes = *Passes::of(of_.node(mixed.separables[0]));
    if (!passes.any_order && passes.column.height > max_in_order) return {};
    // A chain holds a window of each.
    const bool small = passes.column.height <= max_chained;
    if (small && many && chain_of(of_, planes_of_chains(), *root)) return {};
    with.tiles_of_several.insert(*root);
    return with;
  }

  // Which nodes a tile makes one after the other: channels of one filter that a point mixes, sums
  // of bytes and of what points make of these.
  void choose_in_turn() {
    for (int r = 0; r < count_; ++r) {
      if (std::optional<Chosen> with = with_in_turn(r)) chosen_ = std::move(*with);
    }
  }

  // The points that the row pass of separable node n can compute as it loads a plane: nothing else
  // reads them, and the plane has bytes or the point takes few steps.
  std::vector<int> points_on_the_way(int n) const {
    std::vector<int> points;
    Operand image = of_.node(n).images[0];
    for (; !image.external && is<Point>(image.index);) {
      const std::vector<int> readers = of_.readers_of(image.index);
      const bool shared = std::any_of(readers.begin(), readers.end(),
                                      [&](int r) { return !is<Separable>(r) && !is<Point>(r); });
      const auto images = pixel_images(of_.node(image.index));
      if (shared || of_.output_of(image.index) >= 0 || images.size() != 1) return {};
      points.push_back(image.index);
      image = images[0];
    }
    const bool made = bytes_of(of_.cls(image)) == 1 ||
                      (points.size() == 1 && takes_few_steps(of_, points.front()));
    return made ? points : std::vector<int>{};
  }
  bool sums_bytes(int n) const { return bytes_of(of_.cls(of_.node(n).images[0])) == 1; }

  // The stored node that nothing but node n's readers leads to; nothing where there are several, or
  // where pixels are measured.
  std::optional<int> stored_from(const Planes& planes, int n) const {
    while (!planes.stored(n)) {
      const std::vector<int> readers = of_.readers_of(n);
      if (readers.size() != 1 || of_.node(readers[0]).is_measure) return std::nullopt;
      n = readers[0];
    }
    return n;
  }

  // What chains take for planes: what leaves the kernel, and what they can't make or others read.
  Planes planes_of_chains() const {
    Planes kept(of_.spec.nodes.size());
    for (int n = 0; n < count_; ++n) {
      const std::vector<int> readers = of_.readers_of(n);
      kept.set(n, of_.output_of(n) >= 0 || !can_be_chained(n) || chosen_.chain_planes.contains(n) ||
                      chosen_.tiles_of_several.contains(n) || leader_of(n) >= 0 ||
                      std::set<int>(readers.begin(), readers.end()).size() != 1);
    }
    return kept;
  }

  // Whether node n is one that chains make of others.
  bool can_be_chained(int n) const { return is<Point>(n) || is<Stencil>(n) || is<Separable>(n); }

  // Whether a chain has nodes that several of its nodes read and neighbourhoods have made, and
  // nothing else reads what it makes on the way to node n.
  bool is_forked(const Chain& chain, int n) const {
    const std::vector<int> nodes = chain.inside(n);
    const std::set<int> inside(nodes.begin(), nodes.end());
    bool forked = false;
    for (const int m : inside) {
      const std::vector<int> all = of_.readers_of(m);
      const std::set<int> readers(all.begin(), all.end());
      if (std::ranges::any_of(readers, [&](int r) { return r != n && !inside.contains(r); })) {
        return false;
      }
      // Strips are long texts, in which divisions of doubles are calls.
      if (is<Point>(m) && in_double(of_, m)) return false;
      const bool around = reads_again(of_.node(m)) || depends_on_neighbours(inside, m);
      forked = forked || (readers.size() > 1 && around);
    }
    return forked && chain.nested();
  }
  // Whether a neighbourhood among these nodes is before node n.
  bool depends_on_neighbours(const std::set<int>& nodes, int n) const {
    const std::vector<Operand>& images = of_.node(n).images;
    return std::any_of(images.begin(), images.end(), [&](const Operand& image) {
      return !image.external && nodes.contains(image.index) &&
             (reads_again(of_.node(image.index)) || depends_on_neighbours(nodes, image.index));
    });
  }

  // Which results are made by chains that fork on the way and come together again: tiles would
  // store what lies between.
  void choose_forked_chains() {
    Planes kept(of_.spec.nodes.size());
    for (int n = 0; n < count_; ++n) kept.set(n, of_.output_of(n) >= 0 || !can_be_chained(n));
    for (int n = count_ - 1; n >= 0; --n) {
      if (of_.output_of(n) < 0 || !is<Point>(n)) continue;
      const std::optional<Chain> chain = chain_of(of_, kept, n);
      if (chain && is_forked(*chain, n)) add_chain(*chain, n);
    }
  }

  void add_chain(const Chain& chain, int n) {
    const std::vector<int> inside = chain.inside(n), read = chain.planes();
    chosen_.chains.insert(n);
    chosen_.in_chains.insert(inside.begin(), inside.end());
    chosen_.chain_planes.insert(read.begin(), read.end());
  }

  // Which nodes are made by chains, and with them those before them that nothing else reads.
  void choose_chains() {
    Planes stored = planes(chosen_), kept = planes_of_chains();
    for (int n = count_ - 1; n >= 0; --n) {
      if (!stored.stored(n) || chosen_.tiles_of_several.contains(n) || leader_of(n) >= 0 ||
          chosen_.chains.contains(n)) {
        continue;
      }
      const std::optional<Chain> chain = chain_of(of_, kept, n);
      if (!chain) continue;
      add_chain(*chain, n);
      stored = planes(chosen_);
      kept = planes_of_chains();
    }
  }

  // Which points the groups that read around them make for themselves.
  void choose_in_groups() {
    for (int n = 0; n < count_; ++n) {
      if (!is<Point>(n) || of_.output_of(n) >= 0 || chosen_.in_chains.contains(n) ||
          chosen_.chain_planes.contains(n)) {
        continue;
      }
      const std::vector<int> readers = of_.readers_of(n);
      if (readers.size() != 1 || !reads_again(of_.node(readers[0]))) continue;
      if (orders_halves(of_, readers[0])) continue;
      Chosen with = chosen_;
      with.in_groups.insert(n);
      const Planes others = planes(with);
      const Operand made{false, n};
      if (only_points(of_, others, made) && !take_long(of_, others, made) &&
          makes_points(others, readers[0])) {
        chosen_ = std::move(with);
      }
    }
  }

  // Whether neighbourhood r, which reads points, is made in kernels of blocks or tiles alone: their
  // groups keep what the points make.
  bool makes_points(const Planes& planes, int r) const {
    if (is_circular(of_.node(r))) return false;
    const std::optional<int> root = stored_from(planes, r);
    if (!root) return false;
    // What another node's tiles store beside it is made as that node is.
    const int leader = leader_of(*root), n = leader >= 0 ? leader : *root;
    if (chosen_.chains.contains(n) || takes_van_herk(planes, n) || fits_mask_runs(of_, n) ||
        fits_rank_histogram(of_, n) || fits_transposition(of_, planes, n)) {
      return false;
    }
    const std::optional<TwoPasses> two = tiled(chosen_, planes, n);
    // Beside what points make, a low tile is left for a high window: most of its rows are made
    // again.
    if (two) return two->inners == std::vector{r} && two->size.rows <= 3 * two->size.height();
    const std::optional<Blocks> blocks = blocks_of(of_, planes, n);
    return blocks && pays_table(planes, of_.node(r).images[0], *blocks);
  }

  // Whether the tables of the points that make an image, if there are any, cost the groups of these
  // blocks less than a plane of it would. Those that take long have a kernel of their own, as the
  // plane has.
  bool pays_table(const Planes& planes, const Operand& image, const Blocks& blocks) const {
    constexpr int enough = 16;
    if (tables_of(of_, planes, image) == 0) return true;
    const std::optional<Operand> codes = coded_by(of_, planes, image);
    return !(codes && entries_take_long(of_, image.index, *codes)) &&
           blocks.size.px * blocks.size.py >= enough;
  }

  // --- forms

  // The node whose tiles store node n too; none: -1.
  int leader_of(int n) const {
    for (const auto& [leader, beside] : chosen_.beside) {
      if (std::ranges::count(beside, n) > 0) return leader;
    }
    return -1;
  }

  // Whether a block makes both passes of separable node n, which is stored.
  bool in_block(const Planes& planes, int n) const {
    return passes_in_block(of_, n) && planes.stored(n) && fits_block(of_, planes, n);
  }

  // Whether the blocks of node n share what they read between rows.
  bool makes_several_rows(const Planes& planes, int n) const {
    const std::optional<Blocks> blocks = blocks_of(of_, planes, n);
    return blocks && blocks->size.py > 1;
  }

  // The two passes inside stored node n, if its kernel is to make both.
  std::optional<TwoPasses> tiled(const Chosen& chosen, const Planes& planes, int n) const {
    Planes others = planes;
    const auto beside = chosen.beside.find(n);
    const bool several = beside != chosen.beside.end();
    if (several) {
      for (const int other : beside->second) others = others.without(other);
    }
    std::optional<TwoPasses> two = two_passes_of(of_, others, n);
    if (!two) return std::nullopt;
    if (several) two->beside = beside->second;
    const int inner = two->inners[0];
    const bool small = is<Extremum>(inner) && makes_several_rows(planes, n) &&
                       (!is_rectangle(of_, inner) || is_flat_rectangle(of_, inner));
    return small || in_block(planes, n) ? std::nullopt : two;
  }

  // The kernels of tiles, and the nodes that nothing reads but such kernels, which make them: they
  // have two passes, or such a node before them.
  void choose_tiled() {
    tiled_.resize(static_cast<std::size_t>(count_));
    for (int n = count_ - 1; n >= 0; --n) {
      if (of_.node(n).is_measure) continue;
      if (planes_.stored(n)) {
        const bool chain = chosen_.chains.contains(n);
        if (of_.tuning.fast && !chain) {
          tiled_[static_cast<std::size_t>(n)] = tiled(chosen_, planes_, n);
        }
        continue;
      }
      if (!two_passes_of(of_, planes_, n)) continue;
      const std::vector<int> readers = of_.readers_of(n);
      if (std::all_of(readers.begin(), readers.end(), [&](int r) {
            return tiled_[static_cast<std::size_t>(r)] || in_tiles_.contains(r);
          })) {
        in_tiles_.insert(n);
      }
    }
  }

  void choose_image(int n, NodePlan& node) {
    const std::vector<int> readers = of_.readers_of(n);
    const std::string reader = readers.empty() ? "" : node_name(readers[0]);
    if (chosen_.in_chains.contains(n)) {
      node = {MadeOnTheWay{}, "the chain that it is part of makes it"};
    } else if (in_tiles_.contains(n)) {
      node = {MadeOnTheWay{}, "the tiles of " + reader + " make it"};
    } else if (chosen_.in_groups.contains(n)) {
      node = {MadeInGroups{readers[0]}, "local memory holds what " + reader + " reads around"};
    } else if (const int leader = leader_of(n); leader >= 0) {
      node = {MadeBeside{leader}, "it is made of what " + node_name(leader) + " is made of"};
    } else if (planes_.stored(n)) {
      node = stored_form(n);
      node.reason = "stored because " + why_stored(chosen_, planes_, n) + "; " + node.reason;
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
      if (nodes.size() < 2 || nodes.size() > max_beside) continue;
      const int last = nodes.back();
      nodes.pop_back();
      for (const int n : nodes) {
        at(n) = {MadeBeside{last}, "it is made of what " + node_name(last) + " is made of"};
      }
      auto& blocks = std::get<Blocks>(at(last).form);
      blocks.beside = nodes;
      blocks.reciprocals = false;
    }
  }

  // The kernels that store node n's pixels.
  NodePlan stored_form(int n) const {
    const bool fast = of_.tuning.fast;
    if (fast && fits_transposition(of_, planes_, n)) {
      return {Transposition{}, "both images are read and written as rows"};
    }
    if (chosen_.chains.contains(n)) {
      Chain chain = chain_of(of_, planes_, n).value();
      const std::size_t inside = chain.inside(n).size();
      return {StripChain{std::move(chain)},
              inside == 0 ? "a chain by itself" : "nothing else reads the values before it"};
    }
    if (takes_van_herk(planes_, n)) return {VanHerk{}, "the cost does not grow with the sides"};
    if (fits_mask_runs(of_, n)) return {MaskRuns{}, "the cost grows with the rows of its mask"};
    if (const std::optional<TwoPasses>& two = tiled_[static_cast<std::size_t>(n)]) {
      return {*two, "local memory holds the row pass"};
    }
    if (fast) {
      if (std::optional<Blocks> blocks = blocks_of(of_, planes_, n)) {
        const std::string why = why_block(blocks->size);
        return {std::move(*blocks), why};
      }
    }
    if (const auto* rank = as<Rank>(of_.node(n));
        rank && fits_rank_network(of_.tuning, *rank, of_.node(n).cls)) {
      return {Pixels{}, "no block holds what it reads; a network orders the few cells"};
    }
    if (fits_rank_blocks(of_, n)) return {RankBlocks{}, "its window is too large for a tile"};
    if (fits_rank_tiles(of_, n)) {
      const bool narrow = bytes_of(of_.node(n).cls) == 1;
      return {RankTiles{}, narrow ? "its mask is no rectangle" : "its classes are wide"};
    }
    if (fits_rank_histogram(of_, n)) return {RankHistogram{}, "its window is too large to order"};
    if (fast && is_affine(of_.node(n))) return {AffineTiles{}, "a sub-group reads few rows"};
    if (fast && is_nearest_resize(of_.node(n))) return {NearestResize{}, "it moves pixels only"};
    if (fast && is_whole_resize(of_.node(n)))
      return {WholeResize{}, "weights and places repeat themselves"};
    if (fast && fits_resize_tiles(of_.node(n)))
      return {ResizeTiles{}, "a tile's columns are made once"};
    if (fast) {
      if (std::optional<PixelTile> tile = framed_tile_of(of_, planes_.without(n), n)) {
        return {Pixels{tile}, "no block holds what it reads, and each pixel is read often"};
      }
      return {Pixels{}, "no block holds what it reads"};
    }
    const std::optional<PixelTile> tile =
        is<Separable>(n) ? pixel_tile_of_columns(of_, n) : pixel_tile_of(of_, planes_, n);
    return {Pixels{tile}, of_.tuning.variant.single_pixels() ? "a variant asks for pixels"
                                                             : "IMPIPE_JIT_STAGED asks for pixels"};
  }

  static std::string why_block(const BlockSize& size) {
    if (size.points) return "nothing is read around its pixels";
    if (size.tile) return "local memory holds what it reads";
    return size.packed ? "registers hold the codes that it reads" : "registers hold what it reads";
  }

  RowPass row_pass(int n, const Form& form) const {
    if (std::holds_alternative<MadeOnTheWay>(form)) return {};
    if (is<Separable>(n)) {
      if (std::holds_alternative<StripChain>(form) || std::holds_alternative<TwoPasses>(form)) {
        return {};
      }
      if (in_block(planes_, n)) return {RowPass::By::own_window, {}, {}};
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
      at(image.index).reason = "stored because " + why_stored(chosen_, planes_, image.index) +
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
      } else if (is<Histogram>(n)) {
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
  Planes planes_;
  Chosen chosen_;
  std::vector<std::optional<TwoPasses>> tiled_;  // one a node: what makes it in tiles
  std::set<int> in_tiles_;
  KernelPlan plan_{std::vector<NodePlan>(of_.spec.nodes.size())};
};

}  // namespace

bool KernelPlan::stored(int n) const {
  const Form& f = node(n).form;
  return !std::holds_alternative<Inlined>(f) && !std::holds_alternative<MadeInGroups>(f) &&
         !std::holds_alternative<MadeOnTheWay>(f);
}

KernelPlan choose(const KernelSpec& spec, const Tuning& tuning, Dialect dialect) {
  return Chooser(KernelContext{spec, dialect, tuning}).run();
}

}  // namespace impipe::jit
