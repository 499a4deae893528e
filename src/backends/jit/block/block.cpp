// The kernels of blocks and their launches; see block_writer.hpp for the text.
#include "backends/jit/block/block.hpp"

#include "backends/jit/block/block_writer.hpp"

namespace impipe::jit {

void write_block_rows(Builder& to, const KernelPlan& plan, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n}) + "_rows";
  BlockWriter block(to, plan, n, plan.node(n).rows.block, image);
  const std::string array = block.row_pass(n, "b_" + name);
  const auto size = [image](const LaunchContext& at) { return at.size_of(image); };
  block.kernel("store_" + name, array, to.scratch_plane(name, PixelClass::single, size),
               PixelClass::single, size, to.height(image));
}

void write_block_kernel(Builder& to, const KernelPlan& plan, int n) {
  const Operand self{false, n};
  const Blocks& blocks = *plan.form<Blocks>(n);
  const auto write = [&](const BlockSize& size, const std::set<int>& in_lanes,
                         const std::string& which, const LaunchTest& wanted) {
    BlockWriter block(to, plan, n, size, self);
    block.make_in_lanes(in_lanes);
    const PlaneText plane = to.plane(self);
    if (blocks.reciprocals) block.quickly(n, plane);
    const std::string array = block.centre(self);
    block.kernel(
        "store_" + Builder::name(self) + which, array, plane, to.node(n).cls,
        [self](const LaunchContext& at) { return at.size_of(self); }, to.height(self), wanted);
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
    write(size, blocks.in_lanes, "",
          [=](const LaunchContext& at) { return fits(at) && large(at); });
    write(*blocks.low, blocks.in_lanes, "_low",
          [=](const LaunchContext& at) { return fits(at) && !large(at); });
  } else {
    write(size, blocks.in_lanes, "", fits);
  }
  if (blocks.weighted) {
    write(*blocks.weighted, blocks.weighted_in_lanes, "_weighted",
          [fits](const LaunchContext& at) { return !fits(at); });
  }
}

}  // namespace impipe::jit
