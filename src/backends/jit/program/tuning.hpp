// The numbers that kernels are made by on a device.
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// What differs between vendors: numbers, a row a vendor. No row without a measurement or a source.
struct Tuning {
  const char* vendor = "generic";
  int group = 128;                       // work-items (threads) of a group
  std::int64_t local_bytes = 32 * 1024;  // local (shared) memory a group may take
  // What a kernel may take that asks for it, and is alone on its processor then. Devices lower it.
  std::int64_t most_local_bytes = 227 * 1024;
  int wide_histogram_items = 256;  // of a group that counts 65,536 codes, and how many groups
  int wide_histogram_groups = 64;
  // Whether all work-items of a group run what scans a histogram; else one does.
  bool group_scalars = false;
  int parameter_bytes = 960;  // of the by-value struct; the rest goes through a buffer
  int load_bytes = 16;        // of the widest load and store
  int wave = 32;              // work-items that run together
  bool exchanges = false;     // those of a wave read one another's registers
  bool unroll = true;         // loops over blocks: registers hold them; processors don't mind
  int groups_at_once = 512;   // groups of 128 of a reduction over the whole image
  // Groups that may wait for what others of the same launch write (decisions/0014); 1: none may.
  int waiting_groups = 1;
  int histogram_items = 256;  // of a group that counts in local memory
  int processors = 1;         // that groups are shared among
  // Rows of a strip, at least, that a chain of neighbourhoods makes in a turn of its loop; 0: what
  // lies between neighbourhoods is stored.
  int strip_rows = 0;
  int sums_rows = 4;  // the same where weighted sums in two dimensions fill the turn
  // Of a group that takes extrema down columns: words side by side, blocks of eight rows.
  int column_words = 16, column_blocks = 16;
  // Kernels for several planes, which lie behind each other in every buffer: the third index of a
  // group is the plane's.
  bool stacked = false;
  // False where every kernel makes one pixel a work-item: what the fast ones are compared with.
  bool fast = true;
};
// `vendor`: of the device, as its driver says it. IMPIPE_VENDOR=amd|intel|nvidia|generic overrides;
// IMPIPE_JIT_STAGED asks for kernels of one pixel a work-item.
Tuning tuning_for(std::string_view vendor, Dialect dialect);

}  // namespace impipe::jit
