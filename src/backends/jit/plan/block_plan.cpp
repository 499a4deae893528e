// Decides whether a node's kernel can be one of blocks, and of which size.
#include "backends/jit/plan/block_plan.hpp"

#include <algorithm>
#include <functional>

#include "backends/jit/plan/rank_windows.hpp"
#include "backends/jit/program/quotients.hpp"

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

// Values of a window that registers hold.
constexpr int max_window = 112;
constexpr int max_of_several = 64;  // where several nodes are made of it
constexpr int max_words = 96;
constexpr BlockSize tile_size{.px = 4, .py = 8, .tile = true, .groups = 5};
// For sparse masks such as lines at an angle, whose rows share nothing.
constexpr BlockSize packed_line_size{.px = 4, .py = 8, .packed = true, .tile = true, .groups = 5};
// For a reach of one pixel where 8x8 results would take too many registers: 6x6 pixels are read.
constexpr BlockSize small_size{.px = 4, .py = 4, .groups = 6};
// Of a body that goes over its window by itself: pixels it reads for a block, whose text is written
// out. Longer texts leave a processor's cache of instructions.
constexpr std::int64_t max_written_out = 128;
// Groups at once of such a body of singles: `imbilatfilt` takes 61.8 us on an H200, 66.5 with four.
// Of bytes five are slower, 68.0 and 66.0 us.
constexpr int groups_of_long_texts = 5;
// Steps of a body that is written out for each of 64 pixels.
constexpr int max_steps = 24;
constexpr int max_taps = 49;
constexpr int max_runs = 24, max_tile_runs = 64;
// Of lines of bytes at an angle whose window registers hold.
constexpr int max_line_side = 15;
// A mask that a loop goes over row by row, as a rectangle, costs as much as pixels one by one that
// read an eighth of its cells do.
constexpr std::int64_t max_cells_a_weight = 8;
constexpr std::int64_t max_asked = 110 * 1024;  // of local memory: two groups share a processor
constexpr int few_ranked = 9;  // cells of windows that leave most registers to what is made of them
constexpr int groups_beside_points = 5;      // one makes its points while others order theirs
constexpr int tall_rows = 16, low_rows = 8;  // of packed blocks
constexpr int max_tall_runs = 7;             // of a mask that tall ones are made for

bool has_tap(const BodyTree& tree) {
  return tree.kind == Kind::tap || std::any_of(tree.parts.begin(), tree.parts.end(), has_tap);
}

const PackedSum packed_byte{"", 255, 0};

// Bytes of local memory of the tile of a group.
std::int64_t tile_bytes(const KernelContext& of, const Footprint& f) {
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4;
  return std::int64_t{4} * (32 * tile_size.px + 2 * halo) *
         (of.tuning.group / 32 * tile_size.py + f.up + f.down);
}

// Bytes of local memory of the weights of a mask that has too many to be unrolled, else 0.
std::int64_t weight_bytes(const Node& node) {
  const auto* s = as<Stencil>(node);
  if (s == nullptr || !rolls_rows(*s)) return 0;
  return 16 * std::int64_t{weight_vectors(s->taps)} * s->taps.height;
}

// Whether `node`, a weighted sum or an extremum, reads its pixels from local memory.
bool pays_tile(const KernelContext& of, const Node& node) {
  Footprint f;
  if (const auto* s = as<Stencil>(node)) {
    if (s->body != nullptr || s->expression != nullptr) return false;
    f = s->footprint();
  } else if (const auto* e = as<Extremum>(node)) {
    // Small masks of many short runs of bytes and singles, and of bytes long lines at an angle.
    const auto runs = static_cast<int>(runs_of(e->mask).size());
    const int side = std::max(e->mask.width, e->mask.height);
    const bool bytes = bytes_of(node.cls) == 1;
    const bool line = bytes && is_sparse(e->mask) && side > max_line_side && runs <= max_runs;
    const bool ragged = side <= max_line_side && runs > max_runs && runs <= max_tile_runs;
    if (!(bytes || node.cls == PixelClass::single) || e->mask.full() || !(line || ragged)) {
      return false;
    }
    f = e->mask.footprint();
  } else {
    return false;
  }
  const std::int64_t weights = weight_bytes(node);
  const std::int64_t most =
      weights == 0 ? of.tuning.local_bytes : std::min(of.tuning.max_local_bytes, max_asked);
  return of.tuning.unroll && std::min({f.left, f.right, f.up, f.down}) >= 0 &&
         std::max({f.left, f.right, f.up, f.down}) > 1 && tile_bytes(of, f) + weights <= most &&
         (weights == 0 || weights <= 4 * max_cells_a_weight * as<Stencil>(node)->taps.count());
}

// The neighbourhood of a node that a block can have; nothing for others.
std::optional<Footprint> footprint_of(const KernelContext& of, int n) {
  const Node& node = of.node(n);
  if (const auto* s = as<Stencil>(node)) {
    const bool weights = s->body == nullptr && s->expression == nullptr;
    if (!stays(*s) || s->combine != Combine::sum) return std::nullopt;
    if (weights && rolls_rows(*s) && !pays_tile(of, node)) return std::nullopt;
    return s->footprint();
  }
  if (const auto* s = as<Separable>(node)) {
    if (!stays(*s) || sums_codes(of, n)) return std::nullopt;
    return passes_in_block(of, n) ? s->footprint() : s->column.footprint();
  }
  if (const auto* e = as<Extremum>(node)) {
    const Footprint f = e->mask.footprint();
    if (f.left < 0 || f.right < 0 || f.up < 0 || f.down < 0) return std::nullopt;
    return f;
  }
  if (const auto* r = as<Rank>(node)) {
    const Footprint f = r->mask.footprint();
    if (r->offsets || r->entropy || !can_be_ordered(*r, bytes_of(of.cls(node.images[0]))) ||
        f.left < 0 || f.right < 0 || f.up < 0 || f.down < 0) {
      return std::nullopt;
    }
    return f;
  }
  return std::nullopt;
}

// What a block of a node is made of.
struct Parts {
  bool fits = true;
  int bytes = 1;         // of the widest class
  int stored_bytes = 1;  // of the widest class in memory
  Footprint reach;       // of all neighbourhoods
  bool around = false;
  bool packed = true;    // every neighbourhood is of pixels that can be packed
  int packed_bytes = 1;  // the widest of those
  bool limited = true;   // the registers of a kernel can be
  int ranked = 0;        // most cells of a rank filter
  const Mask* ranked_mask = nullptr;
  bool loops = false;   // a body goes over its window by itself
  int steps = 0;        // most of another body
  std::set<int> seen;   // nodes
  int runs = 0;         // most runs of an extremum
  bool ragged = false;  // an extremum is of no rectangle, or of another one than those before it
  int around_count = 0;
  std::set<int> coded;                    // points of one image's codes
  std::int64_t after = 0;                 // bytes of those for points after all neighbourhoods
  bool moved = false;                     // pixels come from other places
  std::set<std::pair<bool, int>> planes;  // that are read
  int points = 0;
  bool powers = false;          // points take powers or the like
  bool tile = false;            // a weighted sum that reads far enough for local memory to pay
  std::int64_t weights = 0;     // bytes of those that only a tile's rows go over
  std::optional<Operand> made;  // what a neighbourhood reads, where points make it
};

void collect_body(const Stencil& stencil, Parts& parts) {
  if (stencil.body == nullptr) return;
  const std::optional<BodyTrees> trees = whole_body(stencil.body->text);
  parts.loops = parts.loops || !trees;
  if (trees) parts.steps = std::max(parts.steps, steps_of(*trees));
}

// means: separable nodes that can be means of bytes are.
void collect(const KernelContext& of, const Planes& planes, const Operand& operand, bool means,
             Parts& parts) {
  parts.bytes = std::max(parts.bytes, bytes_of(of.cls(operand)));
  if (planes.has(operand)) {
    parts.stored_bytes = std::max(parts.stored_bytes, bytes_of(of.cls(operand)));
    parts.planes.insert({operand.external, operand.index});
    return;
  }
  if (!parts.seen.insert(operand.index).second) return;
  const Node& node = of.node(operand.index);
  if (const auto* point = as<Point>(node)) {
    if (coded_by(of, planes, operand)) parts.coded.insert(operand.index);
    ++parts.points;
    parts.powers = parts.powers || point->expression != nullptr ||
                   (point->body != nullptr && traits_of(*point->body).powers);
    for (const Operand& image : pixel_images(node)) {
      collect(of, planes, image, means, parts);
    }
    return;
  }
  if (moves(node)) {
    parts.fits = parts.fits && can_be_moved(of, planes, operand.index);
    parts.moved = true;
    if (parts.fits) collect(of, planes, node.images[0], means, parts);
    return;
  }
  const std::optional<Footprint> f = footprint_of(of, operand.index);
  const Operand& image = node.images[0];
  if (!f || !only_points(of, planes, image)) {
    parts.fits = false;
    return;
  }
  parts.around = true;
  ++parts.around_count;
  if (const auto* e = as<Extremum>(node)) {
    parts.runs = std::max(parts.runs, static_cast<int>(runs_of(e->mask).size()));
    parts.ragged = parts.ragged || !e->mask.full() || (parts.around_count > 1 && *f != parts.reach);
  }
  if (const auto* stencil = as<Stencil>(node)) collect_body(*stencil, parts);
  parts.tile = pays_tile(of, node);
  parts.weights = std::max(parts.weights, weight_bytes(node));
  const bool mean = means && can_be_mean(of, planes, operand.index);
  parts.packed = parts.packed && (mean || takes_packed(of, planes, operand.index));
  parts.packed_bytes = std::max(parts.packed_bytes, bytes_of(of.cls(image)));
  if (const auto* rank = as<Rank>(node)) {
    parts.ranked = std::max(parts.ranked, rank->mask.count());
    parts.ranked_mask = &rank->mask;
  }
  parts.reach = {std::max(parts.reach.left, f->left), std::max(parts.reach.right, f->right),
                 std::max(parts.reach.up, f->up), std::max(parts.reach.down, f->down)};
  if (made_here(of, planes, image)) {
    parts.fits = parts.fits && !parts.made &&
                 (as<Separable>(node) == nullptr || passes_in_block(of, operand.index));
    parts.made = image;
  } else if (as<Separable>(node) == nullptr && !parts.tile) {
    collect(of, planes, image, means, parts);
  }
}

// The words around a block of packed codes.
int words_of(const BlockSize& size, const Parts& parts) {
  const auto words = [&](int pixels) { return (pixels * parts.packed_bytes + 3) / 4; };
  const Footprint& f = parts.reach;
  return (words(f.left) + words(size.px) + words(f.right)) * (size.py + f.up + f.down);
}

// Of sums of many weights: fewer groups share a processor where their tiles are large.
BlockSize size_for_many(const KernelContext& of, const Parts& parts) {
  BlockSize size = tile_size;
  const std::int64_t tile = tile_bytes(of, parts.reach), all = tile + parts.weights + parts.after;
  if (all <= of.tuning.local_bytes) return size;
  size.asked_bytes = static_cast<int>(tile);
  size.groups =
      static_cast<int>(std::clamp<std::int64_t>(of.tuning.max_local_bytes / all, 1, size.groups));
  return size;
}

BlockSize block_of_points(const KernelContext& of, const Parts& parts) {
  if (const int px = of.tuning.variant.pixels; px > 0) {
    const int most = std::min(px, 16 / parts.bytes);
    return {.px = most, .py = std::max(1, px / most), .points = true};
  }
  // Small blocks fill a device sooner; they make a table of codes more often.
  const bool light = parts.bytes == 1 && parts.points <= 1 && !parts.powers && !parts.moved;
  BlockSize size{.px = 16 / parts.bytes, .py = light ? 2 : 4, .points = true};
  // Where there are tables, registers hold the next block's words, four a plane and row.
  constexpr int most_words = 32;
  const int words = 4 * static_cast<int>(parts.planes.size());
  while (!parts.coded.empty() && size.py > 1 && words * size.py > most_words) size.py /= 2;
  return size;
}

// The largest block of packed codes whose window registers hold, if there is room for it.
std::optional<BlockSize> packed_size(const Parts& parts,
                                     const std::function<bool(const BlockSize&)>& has_room) {
  // Runs of many rows are registers, those of several extrema too, and a rank filter keeps its
  // window beside its lists.
  const bool many = parts.runs > max_tall_runs || (parts.around_count > 1 && parts.ragged);
  const bool low = many || parts.ranked > few_ranked || !parts.limited;
  const int tallest = low ? low_rows : tall_rows;
  for (BlockSize size :
       {BlockSize{8, tall_rows, true}, {8, low_rows, true}, {8, 4, true}, {4, 4, true}}) {
    if (size.py > tallest || words_of(size, parts) > max_words || !has_room(size)) continue;
    if (parts.runs > 5 && !(many && size.py == low_rows)) size.groups = 3;
    if (parts.made) size.groups = groups_beside_points;
    return size;
  }
  return std::nullopt;
}

// The largest block whose window registers hold, and local memory what points make; nothing when
// there is none.
std::optional<BlockSize> block_size(const KernelContext& of, const Planes& planes,
                                    const Parts& parts) {
  const Footprint& f = parts.reach;
  const auto has_room = [&](const BlockSize& size) {
    if (!parts.made) return !size.tile || tile_bytes(of, f) + parts.after <= of.tuning.local_bytes;
    const Size group{32 * size.px, of.tuning.group / 32 * size.py};
    const PointTile tile(size.packed ? 1 : 4, group, f);
    return size.px % 4 == 0 &&
           tile.local_bytes(of, planes, *parts.made) + parts.weights + parts.after <=
               of.tuning.fused_bytes;
  };
  if (!parts.around) return block_of_points(of, parts);
  if (parts.tile && parts.around_count == 1) {
    const bool packed = parts.packed && parts.runs > 0 && parts.packed_bytes == 1;
    if (parts.weights > 0 && !parts.made) return size_for_many(of, parts);
    if ((packed && parts.made) || !has_room(tile_size)) return std::nullopt;
    return packed ? packed_line_size : tile_size;
  }
  if (parts.runs > max_runs || parts.weights > 0) return std::nullopt;
  if (parts.around_count == 1 && parts.ranked > few_ranked) {
    std::optional<BlockSize> size =
        size_for_ranks(*parts.ranked_mask, parts.packed, of.tuning.ranked_cells, has_room);
    if (size && parts.packed && parts.made) size->groups = groups_beside_points;
    return size;
  }
  if (parts.packed) {
    if (const auto size = packed_size(parts, has_room)) return size;
  }
  const int r = std::max({f.left, f.right, f.up, f.down});
  std::vector<BlockSize> sizes = {{4, 8}, {8, 4}, {4, 4}, {8, 2}, {4, 2}, {8, 1}, {4, 1}};
  if (f.up == 0 && f.down == 0)
    sizes = {{8, 4}, {8, 2}, {8, 1}, {4, 1}};
  else if (f.left == 0 && f.right == 0)
    sizes = {{4, 8}, {4, 4}, {2, 8}, {1, 16}};
  else if ((parts.stored_bytes == 4 || parts.made) && r == 1)
    sizes.insert(sizes.begin(), parts.around_count == 1 ? small_size : BlockSize{4, 4});
  else if (parts.made && r == 2 && parts.ranked == 0)
    sizes.insert(sizes.begin(), {4, 4});
  else if (parts.stored_bytes < 4 && r == 1)
    sizes.insert(sizes.begin(), parts.steps > max_steps ? small_size : BlockSize{8, 8});
  const int most = parts.around_count > 1 && r > 1 ? max_of_several : max_window;
  const int cells = (f.left + 1 + f.right) * (f.up + 1 + f.down);
  for (BlockSize size : sizes) {
    if (parts.loops && std::int64_t{size.px} * size.py * cells > max_written_out) continue;
    if (parts.loops && parts.stored_bytes == 4) size.groups = groups_of_long_texts;
    if ((size.px + f.left + f.right) * (size.py + f.up + f.down) <= most && has_room(size)) {
      return size;
    }
  }
  return std::nullopt;
}

Parts parts_of(const KernelContext& of, const Planes& planes, int n, bool means = false) {
  Parts parts{.stored_bytes = bytes_of(of.node(n).cls), .limited = of.features().limits_registers};
  collect(of, planes, {false, n}, means, parts);
  if (parts.around) parts.after = table_bytes * tables_of(of, planes, {false, n});
  parts.fits = parts.fits && !(parts.moved && parts.around);
  return parts;
}

// What a block of points has besides planes.
struct PointParts {
  bool quotients = false;                                // by what is the same for all pixels
  bool others = false;                                   // not by whites of floats alone
  std::vector<std::pair<int, std::size_t>> whites = {};  // nodes, and their arguments
  bool tables_or_moves = false;  // its groups go from block to block, or load from other places
};

void collect_points(const KernelContext& of, const Planes& planes, const Operand& operand,
                    PointParts& parts) {
  if (planes.has(operand)) return;
  const Node& node = of.node(operand.index);
  if (moves(node) || coded_by(of, planes, operand) || ramp_of(of, operand.index)) {
    parts.tables_or_moves = true;
    return;
  }
  if (divides_by_uniform(of, operand.index)) {
    const std::optional<std::size_t> white = white_divided_by(of, operand.index);
    parts.quotients = true;
    parts.others = parts.others || !white;
    if (white) parts.whites.emplace_back(operand.index, *white);
  }
  for (const Operand& image : pixel_images(node)) collect_points(of, planes, image, parts);
}

bool takes_reciprocals(const KernelContext& of, const Planes& planes, int n,
                       const BlockSize& size) {
  if (!size.points || !of.tuning.unroll) return false;
  if (row_alignment % (size.px * bytes_of(of.node(n).cls)) != 0) return false;
  PointParts parts;
  collect_points(of, planes, {false, n}, parts);
  return parts.quotients && !parts.tables_or_moves;
}

// Goes through a block of bytes as it is written, and finds the points that are made packed.
class PackedPoints {
 public:
  PackedPoints(const KernelContext& of, const Planes& planes, int n) : of_(of), planes_(planes) {
    add({false, n});
  }
  std::set<int> found;

 private:
  void add(const Operand& operand) {
    if (planes_.has(operand) || !made_.insert(operand.index).second) return;
    const int n = operand.index;
    const Node& node = of_.node(n);
    if (as<Point>(node) == nullptr) {
      windows_.push_back(node.images[0]);
      if (as<Extremum>(node) != nullptr || as<Rank>(node) != nullptr) packed_points_.insert(n);
      return;
    }
    if (const int rounds = rounded_by(of_, planes_, n); rounds >= 0) {
      windows_.push_back(of_.node(rounds).images[0]);
      return;
    }
    for (const Operand& image : pixel_images(node)) add(image);
    const bool bytes = std::all_of(node.images.begin(), node.images.end(),
                                   [&](const Operand& i) { return bytes_of(of_.cls(i)) == 1; });
    const auto packed = [&](std::size_t i) { return has_packed(node.images[i]) ? "l" : ""; };
    if (!bytes || !packed_point(node, packed, [](std::size_t) { return "p"; })) return;
    packed_points_.insert(n);
    found.insert(n);
  }

  // Of a plane those of a window around it.
  bool has_packed(const Operand& operand) const {
    if (!planes_.has(operand)) return packed_points_.contains(operand.index);
    return std::find(windows_.begin(), windows_.end(), operand) != windows_.end();
  }

  const KernelContext& of_;
  const Planes& planes_;
  std::set<int> made_, packed_points_;
  std::vector<Operand> windows_;
};

std::set<int> points_that_pack(const KernelContext& of, const Planes& planes, int n,
                               const BlockSize& size) {
  return size.packed && !size.tile ? PackedPoints(of, planes, n).found : std::set<int>{};
}

}  // namespace

std::vector<Run> runs_of(const Mask& mask) {
  std::vector<Run> runs;
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width;) {
      int end = x;
      while (end < mask.width && mask.at(end, y)) ++end;
      if (end > x) runs.push_back({y - mask.origin_y, x - mask.origin_x, end - x});
      x = end > x ? end : x + 1;
    }
  }
  return runs;
}

std::vector<Run> columns_of(const Mask& mask) {
  std::vector<Run> runs;
  for (int x = 0; x < mask.width; ++x) {
    for (int y = 0; y < mask.height; ++y) {
      if (!mask.at(x, y)) continue;
      const int first = y;
      while (y < mask.height && mask.at(x, y)) ++y;
      runs.push_back({.y = first - mask.origin_y, .x = x - mask.origin_x, .length = y - first});
    }
  }
  return runs;
}

LeafRange ranges_in(const BodySums& sums) {
  return [&sums](const BodyTree& tree) {
    const auto it = sums.ranges.find(tree.name);
    return it == sums.ranges.end() ? std::nullopt : std::optional(it->second);
  };
}

std::optional<BodySums> sums_of_body(const Stencil& stencil) {
  if (stencil.body == nullptr) return std::nullopt;
  std::optional<BodyTrees> trees = parsed_body(stencil.body->text);
  if (!trees || has_tap(trees->result)) return std::nullopt;
  BodySums found{std::move(*trees), {}, {}};
  const PackedLeaf leaf = [](const BodyTree& tree) {
    return tree.kind == Kind::tap ? std::optional(packed_byte) : std::nullopt;
  };
  for (const auto& [name, tree] : found.trees.locals) {
    if (!has_tap(tree)) {
      if (const auto range = range_of(tree, ranges_in(found))) found.ranges[name] = *range;
      continue;
    }
    const std::optional<PackedSum> sum = packed_sum(tree, leaf);
    if (!sum) return std::nullopt;
    found.sums.insert(name);
    found.ranges[name] = {static_cast<double>(-sum->bias),
                          static_cast<double>(sum->high - sum->bias), true};
  }
  return found.sums.empty() ? std::nullopt : std::optional(std::move(found));
}

bool is_sparse(const Mask& mask) {
  return !mask.full() && mask.count() <= 2 * static_cast<int>(runs_of(mask).size());
}

bool is_line_of_bytes(const Node& node) {
  const auto* extremum = as<Extremum>(node);
  if (extremum == nullptr || bytes_of(node.cls) != 1) return false;
  const Mask& mask = extremum->mask;
  return is_sparse(mask) && std::max(mask.width, mask.height) <= max_line_side;
}

bool rolls_rows(const Stencil& stencil) {
  return stencil.body == nullptr && stencil.expression == nullptr &&
         stencil.taps.count() > max_taps;
}

bool takes_packed(const KernelContext& of, const Planes& planes, int n) {
  const Node& node = of.node(n);
  const Operand& image = node.images[0];
  const bool ordered = as<Extremum>(node) != nullptr || as<Rank>(node) != nullptr;
  // Codes of 16 bits fill the halves, which orders them as well, but leaves no room for sums.
  if (of.cls(image) == PixelClass::uint16) return ordered && planes.has(image);
  if (bytes_of(of.cls(image)) != 1 || !only_points(of, planes, image)) return false;
  if (const auto* stencil = as<Stencil>(node)) {
    const bool known = stencil->border != Border::constant || node.arguments.empty() ||
                       node.arguments.back().source == Argument::Source::constant;
    return known && sums_of_body(*stencil).has_value();
  }
  return ordered;
}

bool is_long(const Stencil& stencil) {
  if (stencil.body == nullptr) return false;
  const std::optional<BodyTrees> trees = whole_body(stencil.body->text);
  return !trees || steps_of(*trees) > max_steps;
}

bool orders_halves(const KernelContext& of, int n) {
  constexpr int few = 9;
  const auto* rank = as<Rank>(of.node(n));
  return rank != nullptr && of.cls(of.node(n).images[0]) == PixelClass::uint16 &&
         rank->mask.count() > few;
}

int rounded_by(const KernelContext& of, const Planes& planes, int n) {
  const Node& node = of.node(n);
  const Point& point = *as<Point>(node);
  if (point.body == nullptr || point.lookup || point.in_table || node.cls != PixelClass::uint8) {
    return -1;
  }
  const std::optional<BodyTrees> trees = parsed_body(point.body->text);
  const bool as_is = trees && trees->locals.empty() && trees->result.kind == Kind::name &&
                     names_in(point.body->input_names) == std::vector{trees->result.name};
  const Operand& image = node.images[0];
  if (!as_is || planes.has(image)) return -1;
  const Node& made = of.node(image.index);
  if (as<Stencil>(made) == nullptr || made.cls != PixelClass::single) return -1;
  const std::optional<BodySums> sums = sums_of_body(*as<Stencil>(made));
  return sums && is_root_of_whole(sums->trees.result, ranges_in(*sums)) ? image.index : -1;
}

bool can_be_mean(const KernelContext& of, const Planes& planes, int n) {
  if (!passes_in_block(of, n)) return false;
  const Node& node = of.node(n);
  const auto& separable = *as<Separable>(node);
  const Operand& image = node.images[0];
  const auto constant = [](const Argument& a) { return a.source == Argument::Source::constant; };
  return node.cls == PixelClass::uint8 && of.cls(image) == PixelClass::uint8 &&
         only_points(of, planes, image) && separable.row.full() && separable.column.full() &&
         std::all_of(node.arguments.begin(), node.arguments.end(), constant);
}

bool passes_in_block(const KernelContext& of, int n) {
  const auto* s = as<Separable>(of.node(n));
  if (s == nullptr || !of.tuning.fast || !stays(*s)) return false;
  // Made where it is stored, so that no other kernel wants its rows.
  const std::vector<int> readers = of.readers_of(n);
  const bool measured = !readers.empty() &&
                        std::ranges::all_of(readers, [&](int r) { return of.node(r).is_measure; });
  const bool stored = of.output_of(n) >= 0 || measured;
  return stored && s->footprint() == Footprint{1, 1, 1, 1};
}

std::vector<std::pair<int, std::size_t>> whites_of_points(const KernelContext& of,
                                                          const Planes& planes,
                                                          const std::vector<int>& nodes) {
  PointParts parts;
  for (const int n : nodes) collect_points(of, planes.without(n), {false, n}, parts);
  if (parts.others || parts.tables_or_moves) return {};
  return parts.whites;
}

bool fits_block(const KernelContext& of, const Planes& planes, int n) {
  const Planes others = planes.without(n);
  const Parts parts = parts_of(of, others, n);
  return parts.fits && block_size(of, others, parts).has_value();
}

std::optional<Blocks> blocks_of(const KernelContext& of, const Planes& planes, int n) {
  if (!fits_block(of, planes, n)) return std::nullopt;
  const Planes others = planes.without(n);
  Blocks blocks{.means = can_be_mean(of, others, n)};
  const Parts parts = parts_of(of, others, n, blocks.means);
  blocks.size = block_size(of, others, parts).value();
  blocks.packed_points = points_that_pack(of, others, n, blocks.size);
  const bool tables =
      std::ranges::any_of(parts.coded, [&](int p) { return !blocks.packed_points.contains(p); });
  if (blocks.size.packed && blocks.size.py == tall_rows && !tables) {
    blocks.low = blocks.size;
    blocks.low->py = parts.made ? low_rows / 2 : low_rows;
    blocks.low->groups = std::max(blocks.size.groups, BlockSize{}.groups);
  }
  blocks.reciprocals = takes_reciprocals(of, others, n, blocks.size);
  if (blocks.means) {
    blocks.weighted = block_size(of, others, parts_of(of, others, n)).value();
    blocks.weighted_packed_points = points_that_pack(of, others, n, *blocks.weighted);
  }
  return blocks;
}

std::optional<BlockSize> row_block_of(const KernelContext& of, int n) {
  const Separable& separable = *as<Separable>(of.node(n));
  if (!stays(separable)) return std::nullopt;
  const Footprint f = separable.row.footprint();
  const Parts parts{.bytes = 4, .reach = {f.left, f.right, 0, 0}, .around = true, .packed = false};
  return block_size(of, Planes(of.spec.nodes.size()), parts);
}

}  // namespace impipe::jit
