// Which nodes are made in blocks, and of what size; see block_writer.hpp for the text.
#include "backends/jit/block.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "backends/jit/block_writer.hpp"
#include "backends/jit/nodes.hpp"

namespace impipe::jit {
namespace {

// Values of a window that registers hold.
constexpr int most_window = 112;
constexpr int most_of_several = 64;  // where several nodes are made of it
constexpr int most_words = 96;
constexpr BlockSize tile_size{.px = 4, .py = 8, .tile = true, .groups = 5};
// Takes as much local memory.
constexpr BlockSize lanes_tile_size{.px = 4, .py = 16, .packed = true, .tile = true, .groups = 5};
// Of a plane of wide pixels: a window of 36.
constexpr BlockSize small_size{.px = 4, .py = 4, .groups = 6};
constexpr int most_taps = 49;
constexpr int most_runs = 24;
constexpr int most_tile_runs = 64;
constexpr int most_ranked = 25;
constexpr int tall_rows = 16, low_rows = 8;  // of blocks in lanes

// The neighbourhood of a node that a block can have; nothing for others.
std::optional<Footprint> footprint_of(const Builder& to, int n) {
  const Node& node = to.node(n);
  if (const auto* s = as<Stencil>(node)) {
    const bool weights = s->body == nullptr && s->expression == nullptr;
    if (!stays(*s) || s->combine != Combine::sum) return std::nullopt;
    if (weights && s->taps.count() > most_taps) return std::nullopt;
    return s->footprint();
  }
  if (const auto* s = as<Separable>(node)) {
    if (!stays(*s)) return std::nullopt;
    return passes_in_block(to, n) ? s->footprint() : s->column.footprint();
  }
  if (const auto* e = as<Extremum>(node)) {
    const Footprint f = e->mask.footprint();
    if (f.left < 0 || f.right < 0 || f.up < 0 || f.down < 0) return std::nullopt;
    return f;
  }
  if (const auto* r = as<Rank>(node)) {
    const Footprint f = r->mask.footprint();
    if (r->offsets || r->mask.count() > most_ranked || f.left < 0 || f.right < 0 || f.up < 0 ||
        f.down < 0) {
      return std::nullopt;
    }
    return f;
  }
  return std::nullopt;
}

// Bytes of local memory of the tile of a group.
std::int64_t tile_bytes(const Builder& to, const Footprint& f) {
  const int halo = (std::max(f.left, f.right) + 3) / 4 * 4;
  return std::int64_t{4} * (32 * tile_size.px + 2 * halo) *
         (to.tuning().group / 32 * tile_size.py + f.up + f.down);
}

// Whether `node`, a weighted sum or an extremum, reads its pixels from local memory.
bool pays_tile(const Builder& to, const Node& node) {
  Footprint f;
  if (const auto* s = as<Stencil>(node)) {
    if (s->body != nullptr || s->expression != nullptr) return false;
    f = s->footprint();
  } else if (const auto* e = as<Extremum>(node)) {
    const auto runs = static_cast<int>(runs_of(e->mask).size());
    if (runs <= most_runs || runs > most_tile_runs) return false;
    f = e->mask.footprint();
  } else {
    return false;
  }
  return 1 == 1 && to.tuning().unroll && std::min({f.left, f.right, f.up, f.down}) >= 0 &&
         std::max({f.left, f.right, f.up, f.down}) > 1 &&
         tile_bytes(to, f) <= to.tuning().local_bytes;
}

// What a block of a node is made of.
struct Parts {
  bool fits = true;
  int bytes = 1;         // of the widest class
  int stored_bytes = 1;  // of the widest class in memory
  Footprint reach;       // of all neighbourhoods
  bool around = false;
  bool lanes = true;    // every neighbourhood is of bytes that lanes can hold
  bool limited = true;  // the registers of a kernel can be
  int ranked = 0;       // most cells of a rank filter
  int runs = 0;         // most runs of an extremum
  int around_count = 0;
  bool tables = false;  // for codes, made by kernels of their own
  bool moved = false;   // pixels come from other places
  int points = 0;
  bool powers = false;          // points take powers or the like
  bool tile = false;            // a weighted sum that reads far enough for local memory to pay
  std::optional<Operand> made;  // what a neighbourhood reads, where points make it
};

// means: separable nodes that can be means of bytes are.
void collect(const Builder& to, const IsStored& stored, const Operand& operand, bool means,
             Parts& parts) {
  parts.bytes = std::max(parts.bytes, bytes_of(to.cls(operand)));
  if (operand.external || stored(operand.index)) {
    parts.stored_bytes = std::max(parts.stored_bytes, bytes_of(to.cls(operand)));
    return;
  }
  const Node& node = to.node(operand.index);
  if (const auto* point = as<Point>(node)) {
    if (coded_by(to, stored, operand)) parts.tables = true;
    ++parts.points;
    parts.powers = parts.powers || point->expression != nullptr ||
                   (point->body != nullptr &&
                    std::string_view(point->body->text).find("pow(") != std::string_view::npos);
    for (const Operand& image : pixel_images(node)) {
      collect(to, stored, image, means, parts);
    }
    return;
  }
  if (moves(node)) {
    parts.fits = parts.fits && can_be_moved(to, stored, operand.index);
    parts.moved = true;
    if (parts.fits) collect(to, stored, node.images[0], means, parts);
    return;
  }
  const std::optional<Footprint> f = footprint_of(to, operand.index);
  const Operand& image = node.images[0];
  if (!f || !only_points(to, stored, image)) {
    parts.fits = false;
    return;
  }
  parts.around = true;
  ++parts.around_count;
  if (const auto* e = as<Extremum>(node)) {
    parts.runs = std::max(parts.runs, static_cast<int>(runs_of(e->mask).size()));
  }
  parts.tile = pays_tile(to, node);
  const bool mean = means && can_be_mean(to, stored, operand.index);
  parts.lanes = parts.lanes && (mean || takes_lanes(to, stored, operand.index));
  if (const auto* rank = as<Rank>(node)) parts.ranked = std::max(parts.ranked, rank->mask.count());
  parts.reach = {std::max(parts.reach.left, f->left), std::max(parts.reach.right, f->right),
                 std::max(parts.reach.up, f->up), std::max(parts.reach.down, f->down)};
  if (made_here(to, stored, image)) {
    parts.fits = parts.fits && !parts.made &&
                 (as<Separable>(node) == nullptr || passes_in_block(to, operand.index));
    parts.made = image;
  } else if (as<Separable>(node) == nullptr && !parts.tile) {
    collect(to, stored, image, means, parts);
  }
}

// The words around a block of bytes.
int words_of(const BlockSize& size, const Parts& parts) {
  const auto words = [&](int pixels) { return (pixels + 3) / 4; };
  const Footprint& f = parts.reach;
  return (words(f.left) + words(size.px) + words(f.right)) * (size.py + f.up + f.down);
}

// The largest block whose window registers hold, and local memory what points make; nothing when
// there is none.
std::optional<BlockSize> block_size(const Builder& to, const IsStored& stored, const Parts& parts) {
  const Footprint& f = parts.reach;
  const auto has_room = [&](const BlockSize& size) {
    if (!parts.made) return true;
    const Size group{32 * size.px, to.tuning().group / 32 * size.py};
    const PointTile tile(size.packed ? 1 : 4, group, f);
    return size.px % 4 == 0 && tile.local_bytes(to, stored, *parts.made) <= to.tuning().local_bytes;
  };
  if (!parts.around) {
    // Small blocks fill a device sooner; they make a table of codes more often.
    const bool light = parts.bytes == 1 && parts.points <= 1 && !parts.powers && !parts.moved;
    return BlockSize{.px = 16 / parts.bytes, .py = light ? 2 : 4, .points = true};
  }
  if (parts.tile && parts.around_count == 1) {
    const bool lanes = parts.lanes && parts.runs > 0;
    if (parts.made && (lanes || !has_room(tile_size))) return std::nullopt;
    return lanes ? lanes_tile_size : tile_size;
  }
  if (parts.runs > most_runs) return std::nullopt;
  if (parts.lanes) {
    // A rank filter keeps its window beside its lists.
    const int tallest = parts.ranked > 9 || !parts.limited ? low_rows : tall_rows;
    for (BlockSize size :
         {BlockSize{8, tall_rows, true}, {8, low_rows, true}, {8, 4, true}, {4, 4, true}}) {
      if (size.py > tallest || words_of(size, parts) > most_words || !has_room(size)) continue;
      // The runs of many rows take registers.
      if (parts.runs > 5) size.groups = 3;
      // One makes its points while others order theirs.
      if (parts.made) size.groups = 5;
      return size;
    }
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
    sizes.insert(sizes.begin(), {8, 8});
  const int most = parts.around_count > 1 && r > 1 ? most_of_several : most_window;
  for (const BlockSize size : sizes) {
    if ((size.px + f.left + f.right) * (size.py + f.up + f.down) <= most && has_room(size)) {
      return size;
    }
  }
  return std::nullopt;
}

Parts parts_of(const Builder& to, const IsStored& others, int n, bool means = false) {
  Parts parts{.stored_bytes = bytes_of(to.node(n).cls), .limited = to.limits_registers()};
  collect(to, others, {false, n}, means, parts);
  parts.fits = parts.fits && !(parts.moved && parts.around);
  return parts;
}

std::optional<BlockSize> row_block_size(const Builder& to, int n) {
  const Footprint f = as<Separable>(to.node(n))->row.footprint();
  const Parts parts{.bytes = 4, .reach = {f.left, f.right, 0, 0}, .around = true, .lanes = false};
  return block_size(
      to, [](int) { return true; }, parts);
}

}  // namespace

IsStored others_than(const IsStored& stored, int n) {
  return [&stored, n](int other) { return other != n && stored(other); };
}

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

bool passes_in_block(const Builder& to, int n) {
  const auto* s = as<Separable>(to.node(n));
  if (s == nullptr || !to.fast() || !stays(*s)) return false;
  // Made where it is stored, so that no other kernel wants its rows.
  const bool stored = to.output_of(n) >= 0;
  return stored && s->footprint() == Footprint{1, 1, 1, 1};
}

bool fits_block(const Builder& to, const IsStored& stored, int n) {
  const IsStored others = others_than(stored, n);
  const Parts parts = parts_of(to, others, n);
  return parts.fits && block_size(to, others, parts).has_value();
}

bool fits_block_rows(const Builder& to, int n) {
  return stays(*as<Separable>(to.node(n))) && row_block_size(to, n).has_value();
}

void write_block_rows(Builder& to, const IsStored& stored, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n}) + "_rows";
  BlockWriter block(to, stored, *row_block_size(to, n), image);
  const std::string array = block.row_pass(n, "b_" + name);
  const auto size = [image](const LaunchContext& at) { return at.size_of(image); };
  block.kernel("store_" + name, array, to.scratch_plane(name, PixelClass::single, size),
               PixelClass::single, size, to.height(image));
}

void write_block_kernel(Builder& to, const IsStored& stored, int n) {
  const Operand self{false, n};
  const IsStored others = others_than(stored, n);
  const auto write = [&](const BlockSize& size, const std::string& which,
                         const LaunchTest& wanted) {
    BlockWriter block(to, others, size, self);
    block.quickly(n, to.plane(self));
    const std::string array = block.centre(self);
    block.kernel(
        "store_" + Builder::name(self) + which, array, to.plane(self), to.node(n).cls,
        [self](const LaunchContext& at) { return at.size_of(self); }, to.height(self), wanted);
  };
  const bool mean = can_be_mean(to, others, n);
  const LaunchTest fits = [mean, n](const LaunchContext& at) { return !mean || is_mean(at, n); };
  const Parts parts = parts_of(to, others, n, mean);
  const BlockSize size = *block_size(to, others, parts);
  const bool tall = size.packed && size.py == tall_rows && !parts.tables;
  if (tall) {
    // Lower blocks for images that have too few tall ones to keep the device busy.
    const int items = to.tuning().group, enough = to.tuning().groups_at_once / 2;
    const LaunchTest large = [=](const LaunchContext& at) {
      const Size s = at.size_of(self);
      return s.pixels() * at.count() >= std::int64_t{enough} * items * size.px * size.py;
    };
    BlockSize low = size;
    low.py = parts.made ? low_rows / 2 : low_rows;
    low.groups = std::max(size.groups, BlockSize{}.groups);
    write(size, "", [=](const LaunchContext& at) { return fits(at) && large(at); });
    write(low, "_low", [=](const LaunchContext& at) { return fits(at) && !large(at); });
  } else {
    write(size, "", fits);
  }
  if (mean) {
    write(*block_size(to, others, parts_of(to, others, n)), "_weighted",
          [fits](const LaunchContext& at) { return !fits(at); });
  }
}

}  // namespace impipe::jit
