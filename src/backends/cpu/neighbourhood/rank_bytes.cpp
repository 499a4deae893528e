// Ranks of bytes in large rectangles, in constant time (Perreault and Hebert 2007). Each column
// keeps counts of its pixels in the rows of the window: sixteen of the codes' upper halves, and for
// each of those, a bucket, sixteen of the lower halves. All are cumulative, so that a code changes
// them by a vector of a table, and that a rank is found by comparing with all sixteen. The window's
// coarse counts are those of its columns, summed as it moves; its fine counts are kept for two
// neighbouring buckets and summed for others when a rank asks for them.
#include "backends/cpu/neighbourhood/rank_bytes.hpp"

#include <algorithm>

#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {

#if IMPIPE_HAS_INTRINSICS
namespace {

constexpr int buckets = 16;  // of codes with the same upper half
constexpr int bucket_codes = 16;
constexpr int max_height = 255;   // a column's counts are bytes
constexpr int max_cells = 65535;  // a window's have 16 bits
// Columns of a strip: their counts stay in the L2 cache.
constexpr std::int64_t strip_columns = 1280;
constexpr std::int64_t min_strip = 512;  // results
// Columns that are brought up to date at a time: long before windows read their counts, which a
// processor would wait for, and in the L1 cache.
constexpr std::int64_t columns_at_once = 64;

// [code]: what a code of four bits adds to the counts up to each.
struct alignas(64) Additions {
  std::uint8_t of[bucket_codes][bucket_codes];
};
constexpr Additions additions = [] {
  Additions table{};
  for (int code = 0; code < bucket_codes; ++code) {
    for (int t = code; t < bucket_codes; ++t) table.of[code][t] = 1;
  }
  return table;
}();

// The counts of a strip's columns, sixteen bytes each.
struct StripCounts {
  std::uint8_t* coarse = nullptr;
  std::uint8_t* fine = nullptr;  // of the first bucket
  std::int64_t apart = 0;        // bytes from a bucket's to those of the next
};

// A strip of results. The rows of pixels begin under its first window's first cell.
struct Strip {
  const std::byte* const* rows = nullptr;
  std::int64_t offset = 0;  // bytes from rows[y] to its beginning
  std::int64_t width = 0, height = 0;
  int window_width = 0, window_height = 0;
  int rank = 0;
  std::uint8_t* out = nullptr;
  std::int64_t stride = 0;

  const std::uint8_t* row(std::int64_t y) const {
    return reinterpret_cast<const std::uint8_t*>(rows[y]) + offset;
  }
};

struct ByteRanks {
  // One for ranks, and one for the mean of two.
  void (*strip)(const Strip& strip, const StripCounts& columns);
  void (*strip_of_means)(const Strip& strip, const StripCounts& columns);
};

#define IMPIPE_KERNELS "backends/cpu/neighbourhood/rank_bytes.inc"
#include "backends/cpu/simd/vector_levels.inc"

}  // namespace

bool has_rank_bytes(const Rank& rank, CpuLevel level) {
  const Mask& mask = rank.mask;
  return level >= CpuLevel::v3 && mask.full() && mask.height <= max_height &&
         mask.count() <= max_cells;
}

void run_rank_bytes(const Rank& rank, const RowsView& in, TileOut out, Scratch& scratch,
                    CpuLevel level) {
  const ScratchScope scope(scratch);
  const Mask& mask = rank.mask;
  const std::int64_t around = mask.width - 1;
  const std::int64_t most = std::max(min_strip, strip_columns - around);
  const std::int64_t strips = (in.width + most - 1) / most;
  const std::int64_t width = (in.width + strips - 1) / strips;
  // An odd number of lines: buckets lie in different sets of a cache.
  constexpr std::int64_t line = 64;
  const std::int64_t apart = (((width + around) * bucket_codes / line + 1) | 1) * line;
  StripCounts columns{.coarse = scratch.take<std::uint8_t>((1 + buckets) * apart), .apart = apart};
  columns.fine = columns.coarse + apart;
  const ByteRanks& ranks = level == CpuLevel::v4 ? v4::ranks : v3::ranks;
  for (std::int64_t x = 0; x < in.width; x += width) {
    const Strip strip{.rows = in.rows,
                      .offset = x - mask.origin_x,
                      .width = std::min(width, in.width - x),
                      .height = in.height,
                      .window_width = mask.width,
                      .window_height = mask.height,
                      .rank = rank.rank,
                      .out = reinterpret_cast<std::uint8_t*>(out.data) + x,
                      .stride = out.stride};
    (rank.average ? ranks.strip_of_means : ranks.strip)(strip, columns);
  }
}
#else
bool has_rank_bytes(const Rank&, CpuLevel) { return false; }
void run_rank_bytes(const Rank&, const RowsView&, TileOut, Scratch&, CpuLevel) {}
#endif

}  // namespace impipe::cpu
