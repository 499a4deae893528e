// The kernels of blocks and their launches.
#include "backends/jit/block/block.hpp"

#include <algorithm>
#include <cmath>

#include "backends/jit/block/block_parts.hpp"
#include "backends/jit/block/block_rows.hpp"
#include "core/primitive_facts.hpp"

namespace impipe::jit {
namespace {

// Cells of a sorting network of so many inputs, of which a median needs about half.
double comparators(double cells) {
  const double depth = std::log2(std::max(2.0, cells));
  return cells * depth * (depth + 1) / 8;
}

// Adds the work of one pixel of what a block of this size makes in registers: of the points, and of
// the neighbourhood that they are made of.
void add_work(const KernelContext& context, const Planes& planes, const Operand& operand,
              const BlockSize& size, Work& work) {
  work.operations += 1;
  if (planes.has(operand)) return;
  const Node& node = context.node(operand.index);
  for (const Operand& image : pixel_images(node)) add_work(context, planes, image, size, work);
  const PrimitiveFacts facts = facts_of(node);
  if (!facts.reads_around) {
    work.operations += 3;
    return;
  }
  const auto* separable = as<Separable>(node);
  const bool columns = separable != nullptr && !passes_in_block(context, operand.index);
  const Footprint f = columns ? separable->column.footprint() : facts.footprint;
  // Pixels that a block loads, for each that it makes; groups share those of a tile.
  const double loads = size.tile ? 2
                                 : double(size.px + f.left + f.right) * (size.py + f.up + f.down) /
                                       (double(size.px) * size.py);
  double steps = 0;
  if (const auto* extremum = as<Extremum>(node)) {
    const Mask& mask = extremum->mask;
    const double area = double(mask.width) * mask.height;
    steps = mask.full()  ? (size.packed ? 1.3 : 1.7) * (mask.width + mask.height)
            : !size.tile ? 30 + 1.0 * mask.count()
                         : (size.packed ? 0.35 : 0.85) * area;
  } else if (const auto* rank = as<Rank>(node)) {
    // Rectangles that overlap share what is sorted of them.
    steps = (rank->mask.full() ? 0.8 : 1.9) * comparators(rank->mask.count());
  } else if (separable != nullptr) {
    steps = 1.3 * (separable->row.count() + separable->column.count());
    if (columns) {
      work.bytes += 8;  // the row pass in single, written and read
      ++work.launches;
      // Rows that no block holds are made pixel by pixel, and columns of many values spill.
      if (!row_block_of(context, operand.index)) work.operations += 8 * separable->row.count();
      constexpr int most_values = 80;
      if (size.py + f.up + f.down > most_values) steps *= 3;
    }
  } else if (const auto* stencil = as<Stencil>(node)) {
    const double area = double(f.left + 1 + f.right) * (f.up + 1 + f.down);
    steps = stencil->body != nullptr ? 6 * area : 1.5 * stencil->taps.count();
  }
  work.operations += 3 * loads + steps / (size.packed ? 2 : 1);
}

std::string why_block(const BlockSize& size) {
  if (size.points) return "nothing is read around its pixels";
  if (size.tile) return "local memory holds what it reads";
  return size.packed ? "registers hold the codes that it reads" : "registers hold what it reads";
}

Offer offer_blocks(const FormQuestion& question) {
  const KernelContext& context = question.context;
  std::optional<Blocks> blocks = blocks_of(context, question.planes, question.n);
  if (!blocks) return vetoed("no block holds what it reads");
  Offer offer{.work = {.bytes = bytes_moved(context, question.n)},
              .form = {},
              .reason = why_block(blocks->size),
              .veto = {}};
  add_work(context, question.planes.without(question.n), {false, question.n}, blocks->size,
           offer.work);
  offer.form = std::move(*blocks);
  return offer;
}

}  // namespace

void write_block_rows(Builder& builder, const KernelPlan& plan, int n) {
  const Operand image = builder.node(n).images[0];
  const std::string name = Builder::name({false, n}) + "_rows";
  const Block block{builder, plan, n, plan.node(n).rows.block, image, builder.tuning().group};
  const MadeRow row = row_pass(block, n, "b_" + name);
  const auto size = [image](const LaunchContext& at) { return at.size_of(image); };
  write_kernel(block, "store_" + name, row.text,
               {row.places, builder.scratch_plane(name, PixelClass::single, size),
                PixelClass::single, builder.height(image)},
               size);
}

namespace {

void write_block_kernel(Builder& builder, const KernelPlan& plan, int n) {
  const Operand self{false, n};
  const Blocks& blocks = *plan.form<Blocks>(n);
  const auto write = [&](const BlockSize& size, const std::set<int>& packed_points,
                         const std::string& which, const LaunchTest& wanted,
                         Quotients* quotients = nullptr) {
    const Block block{builder, plan, n, size, self, builder.tuning().group, blocks.beside};
    const PlaneText plane = builder.plane(self);
    const std::string quick = blocks.reciprocals ? rows_by_reciprocals(block, n, plane) : "";
    BlockParts parts(block, packed_points, quotients);
    const StoredRow row = stored_rows(block, parts);
    write_kernel(
        block, "store_" + Builder::name(self) + which, parts.text(), row,
        [self](const LaunchContext& at) { return at.size_of(self); }, wanted, quick);
  };
  const bool mean = blocks.means;
  const LaunchTest fits = [mean, n](const LaunchContext& at) { return !mean || is_mean(at, n); };
  const BlockSize size = blocks.size;
  if (!blocks.whites.empty()) {
    Quotients quotients;
    const LaunchTest units = [whites = blocks.whites](const LaunchContext& at) {
      return std::ranges::all_of(whites, [&at](const auto& white) {
        return at.argument(white.first, static_cast<int>(white.second)) == 1;
      });
    };
    write(size, blocks.packed_points, "_of_white_1", units, &quotients);
    write(size, blocks.packed_points, "", [units](const LaunchContext& at) { return !units(at); });
  } else if (blocks.low) {
    const int items = builder.tuning().group, enough = builder.tuning().groups_at_once() / 2;
    const LaunchTest large = [=](const LaunchContext& at) {
      const Size s = at.size_of(self);
      return s.pixels() * at.count() >= std::int64_t{enough} * items * size.px * size.py;
    };
    write(size, blocks.packed_points, "",
          [=](const LaunchContext& at) { return fits(at) && large(at); });
    write(*blocks.low, blocks.packed_points, "_low",
          [=](const LaunchContext& at) { return fits(at) && !large(at); });
  } else {
    write(size, blocks.packed_points, "", fits);
  }
  if (blocks.weighted) {
    write(*blocks.weighted, blocks.weighted_packed_points, "_weighted",
          [fits](const LaunchContext& at) { return !fits(at); });
  }
}

}  // namespace

const FormRow blocks_form = {"blocks", offer_blocks,
                             [](Builder& builder, const KernelPlan& plan, int n) -> LaunchTest {
                               write_block_kernel(builder, plan, n);
                               return nullptr;
                             }};

}  // namespace impipe::jit
