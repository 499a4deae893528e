// Chooses what is stored. Each choice asks what is stored so far: `planes`, one pass over the
// nodes, in which a node depends on earlier ones only.
#include "backends/jit/choose/materialise.hpp"

#include <algorithm>

#include "backends/jit/block/block.hpp"
#include "backends/jit/choose/chooser.hpp"
#include "backends/jit/program/quotients.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

// Rows of windows of which a chain holds several.
constexpr int max_chained = 3;
// Rows of sums in order that a tile makes one after the other: 9 pay, 25 take 1.2 times as long.
constexpr int max_in_order = 16;

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

class Materialiser {
 public:
  explicit Materialiser(const KernelContext& of)
      : of_(of), count_(of.count()), chosen_(of.spec.nodes.size()) {}

  Materialised run() {
    if (of_.tuning.fast) {
      choose_forked_chains();
      choose_in_turn();
      choose_chains();
      choose_in_groups();
    }
    chosen_.planes = planes(chosen_);
    for (int n = 0; n < count_; ++n) {
      const bool stored = chosen_.planes.stored(n);
      chosen_.why.push_back(stored ? why_stored(chosen_, chosen_.planes, n) : "");
    }
    return std::move(chosen_);
  }

 private:
  template <class T>
  bool is(int n) const {
    return as<T>(of_.node(n)) != nullptr;
  }

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
  std::string why_stored(const Materialised& chosen, const Planes& planes, int n) const {
    if (chosen.in_chains.contains(n) || chosen.in_groups.contains(n) ||
        chosen.in_turn.contains(n) || chosen.on_the_way.contains(n)) {
      return "";
    }
    if (of_.output_of(n) >= 0) return "it leaves the kernel";
    if (chosen.chain_planes.contains(n)) return "a chain reads its plane";
    if (has_family_form(planes, n)) return "no form that is fused is cheaper";
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
  bool mixes_in_turn(const Materialised& chosen, int n) const {
    const std::vector<Operand>& images = of_.node(n).images;
    return std::any_of(images.begin(), images.end(), [&](const Operand& image) {
      return !image.external && chosen.in_turn.contains(image.index);
    });
  }

  Planes planes(const Materialised& chosen) const {
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

  // Whether the cheapest form of node n is one of its family's, into which nothing is fused. Where
  // points read it, to store it costs a write and a read more.
  bool has_family_form(const Planes& planes, int n) const {
    if (!is<Extremum>(n) && !is<Rank>(n)) return false;
    const Choice choice = cheapest({of_, planes, n});
    const bool by_points =
        std::ranges::all_of(of_.readers_of(n), [&](int r) { return is<Point>(r); });
    if (of_.output_of(n) >= 0 || !by_points) {
      return std::holds_alternative<FamilyForm>(choice.offer.form);
    }
    return pays_plane(choice, of_.node(n).cls);
  }

  // Whether a family's form is cheaper than blocks by more than a plane of the class costs, which
  // it needs and blocks don't.
  bool pays_plane(const Choice& choice, PixelClass cls) const {
    if (!std::holds_alternative<FamilyForm>(choice.offer.form)) return false;
    const auto fused = std::ranges::find(choice.costs, blocks_form.name, &FormCost::form);
    const Work trip{.bytes = 2.0 * bytes_of(cls)};
    return fused == choice.costs.end() ||
           choice.costs.front().microseconds + microseconds(trip, of_.tuning) < fused->microseconds;
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
  std::optional<Materialised> with_in_turn(int r) const {
    Mixed mixed;
    if (chosen_.chains.contains(r) || chosen_.in_chains.contains(r)) return {};
    if (!is<Point>(r) || of_.node(r).images.size() < 2 || !add_mixed(r, mixed)) return {};
    Materialised with = chosen_;
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
      with.co_outputs[r].push_back(n);
    }
    // Blocks keep windows of two planes, and mix no more than one point does.
    const bool many = joins_neighbourhoods(of_.node(r)) && mixed.points.empty();
    if (!many && with.on_the_way == chosen_.on_the_way) return {};
    const Planes others = planes(with);
    const std::optional<int> root = stored_from(others, r);
    if (mixed.separables.size() < 2 || !root) return {};
    if (with.co_outputs.contains(r) && *root != r) return {};
    const std::optional<TwoPasses> two = two_passes_of(of_, with.planes_for(*root, others), *root);
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
      if (std::optional<Materialised> with = with_in_turn(r)) chosen_ = std::move(*with);
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
                      chosen_.tiles_of_several.contains(n) || chosen_.leader_of(n) >= 0 ||
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
      if (!stored.stored(n) || chosen_.tiles_of_several.contains(n) || chosen_.leader_of(n) >= 0 ||
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
      Materialised with = chosen_;
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
    const int leader = chosen_.leader_of(*root), n = leader >= 0 ? leader : *root;
    if (chosen_.chains.contains(n)) return false;
    const Operand image = of_.node(r).images[0];
    Planes stored = chosen_.planes_for(n, planes);
    if (!image.external) stored.set(image.index, true);
    if (pays_plane(cheapest({of_, stored, n}), of_.cls(image))) return false;
    const Form form = cheapest({of_, chosen_.planes_for(n, planes), n}).offer.form;
    // With what points make, a low tile is left for a high window: most of its rows are made again.
    if (const auto* two = std::get_if<TwoPasses>(&form)) {
      return two->inners == std::vector{r} && two->size.rows <= 3 * two->size.height();
    }
    const auto* blocks = std::get_if<Blocks>(&form);
    return blocks != nullptr && pays_table(planes, image, *blocks);
  }

  // Whether the tables of the points that make an image, if there are any, cost the groups of these
  // blocks less than a plane of it would.
  bool pays_table(const Planes& planes, const Operand& image, const Blocks& blocks) const {
    constexpr int enough = 16;
    return tables_of(of_, planes, image) == 0 || blocks.size.px * blocks.size.py >= enough;
  }

  const KernelContext& of_;
  int count_;
  Materialised chosen_;
};

}  // namespace

// Whether kernels of a primitive's own make a node, an image as a whole or a measurement.
bool made_as_whole(const Node& node) {
  const PrimitiveFacts facts = facts_of(node);
  return facts.whole_image || facts.measures || as<Scalar>(node) != nullptr;
}

int Materialised::leader_of(int n) const {
  for (const auto& [leader, others] : co_outputs) {
    if (std::ranges::count(others, n) > 0) return leader;
  }
  return -1;
}

Planes Materialised::planes_for(int n, const Planes& stored) const {
  Planes others = stored;
  if (const auto found = co_outputs.find(n); found != co_outputs.end()) {
    for (const int other : found->second) others = others.without(other);
  }
  return others;
}

Materialised materialise(const KernelContext& context) { return Materialiser(context).run(); }

}  // namespace impipe::jit
