// The kernels of blocks and their launches.
#include "backends/jit/block/block.hpp"

#include "backends/jit/block/block_parts.hpp"
#include "backends/jit/block/block_rows.hpp"

namespace impipe::jit {

void write_block_rows(Builder& to, const KernelPlan& plan, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n}) + "_rows";
  const Block block{to, plan, n, plan.node(n).rows.block, image, to.tuning().group};
  const MadeRow row = row_pass(block, n, "b_" + name);
  const auto size = [image](const LaunchContext& at) { return at.size_of(image); };
  write_kernel(block, "store_" + name, row.text,
               {row.places, to.scratch_plane(name, PixelClass::single, size), PixelClass::single,
                to.height(image)},
               size);
}

void write_block_kernel(Builder& to, const KernelPlan& plan, int n) {
  const Operand self{false, n};
  const Blocks& blocks = *plan.form<Blocks>(n);
  const auto write = [&](const BlockSize& size, const std::set<int>& packed_points,
                         const std::string& which, const LaunchTest& wanted) {
    const Block block{to, plan, n, size, self, to.tuning().group, blocks.beside};
    const PlaneText plane = to.plane(self);
    const std::string quick = blocks.reciprocals ? rows_by_reciprocals(block, n, plane) : "";
    BlockParts parts(block, packed_points);
    const StoredRow row = stored_rows(block, parts);
    parts.write_tables();
    write_kernel(
        block, "store_" + Builder::name(self) + which, parts.text(), row,
        [self](const LaunchContext& at) { return at.size_of(self); }, wanted, quick);
  };
  const bool mean = blocks.means;
  const LaunchTest fits = [mean, n](const LaunchContext& at) { return !mean || is_mean(at, n); };
  const BlockSize size = blocks.size;
  if (blocks.low) {
    const int items = to.tuning().group, enough = to.tuning().groups_at_once() / 2;
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

}  // namespace impipe::jit
