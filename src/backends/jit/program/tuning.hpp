// The numbers that kernels are made by on a device.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/jit/program/program.hpp"
#include "core/kernel_variant.hpp"

namespace impipe::jit {

// What a device's driver says of it; 0: it does not say.
struct DeviceNumbers {
  int processors = 0;            // multiprocessors or compute units, which groups are shared among
  int sub_group = 0;             // work-items that run together
  std::int64_t local_bytes = 0;  // of local (shared) memory that any kernel may take
  std::int64_t max_local_bytes = 0;  // that a kernel may ask for
};

// What differs between vendors and can't be asked: numbers, a row a vendor, none without a
// measurement or a source; with the device's own.
struct Tuning {
  const char* vendor = "generic";
  int group = 128;  // work-items (threads) of a group
  // Local (shared) memory that a group takes, so that others fit beside it. Devices lower it.
  std::int64_t local_bytes = 32 * 1024;
  // The same of a group that also makes the points in front of its neighbourhood: a launch less is
  // worth more than a group more.
  std::int64_t fused_bytes = 32 * 1024;
  // What a kernel may take that asks for it, and is alone on its processor then. Devices lower it.
  std::int64_t max_local_bytes = 227 * 1024;
  int wide_histogram_items = 256;  // of a group that counts 65,536 codes
  int wide_histogram_groups = 64;  // 0: one a processor
  // Whether all work-items of a group run what scans a histogram; else one does.
  bool group_scalars = false;
  // Whether ranks in large windows of wide pixels go by tiles that groups sort.
  bool sorted_tiles = false;
  int parameter_bytes = 960;  // of the by-value struct; the rest goes through a buffer
  int load_bytes = 16;        // of the widest load and store
  int sub_group = 32;         // work-items that run together, where no driver says it
  bool exchanges = false;     // those of a sub-group read one another's registers
  int ranked_cells = 210;     // that a work-item orders without spilling registers
  bool unroll = true;         // loops over blocks: registers hold them; processors don't mind
  // Groups of 128 of a reduction over the whole image: so many a processor, or of any device.
  int groups_a_processor = 0, groups_of_device = 512;
  // Groups that may wait for what others of the same launch write (decisions/0009); 1: none may.
  int waiting_groups = 1;
  int histogram_items = 256;  // of a group that counts in local memory
  int processors = 1;         // that groups are shared among, where no driver says it
  // Rows of a strip, at least, that a chain of neighbourhoods makes in an iteration of its loop; 0:
  // what lies between neighbourhoods is stored.
  int strip_rows = 0;
  int sums_rows = 4;  // the same where weighted sums in two dimensions fill the iteration
  // Of a group that takes extrema down columns: words side by side, blocks of eight rows.
  int column_words = 16, column_blocks = 16;
  // What estimates of costs are made of (choose/cost_model).
  double bytes_a_microsecond = 100e3, operations_a_microsecond = 1e6, launch_microseconds = 5;
  // Kernels for several planes, which lie behind each other in every buffer: the third index of a
  // group is the plane's.
  bool stacked = false;
  // False where every kernel makes one pixel a work-item: what the fast ones are compared with.
  bool fast = true;
  KernelVariant variant;  // of a benchmark

  int groups_at_once() const {
    return groups_a_processor > 0 ? groups_a_processor * processors : groups_of_device;
  }
  int groups_of_wide_histogram() const {
    return wide_histogram_groups > 0 ? wide_histogram_groups : processors;
  }
};
// `vendor`: of a GPU, as its driver says it; or "cpu". IMPIPE_VENDOR=amd|intel|nvidia|cpu|generic
// overrides; IMPIPE_JIT_STAGED asks for kernels of one pixel a work-item, IMPIPE_LOCAL_BYTES=N for
// those of a device with so much local memory.
Tuning tuning_for(std::string_view vendor, Dialect dialect, const DeviceNumbers& device = {});
// The same numbers for kernels of that variant.
Tuning with_variant(Tuning tuning, const KernelVariant& variant);
// From now on tuning_for is of that variant.
void set_variant(const KernelVariant& variant);

}  // namespace impipe::jit
