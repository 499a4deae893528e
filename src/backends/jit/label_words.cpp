// What the kernels of connected components share: words of pixels, and the forest over their runs.
//
// A word has 32 pixels of a column, the uppermost in bit 0; its runs are the stretches of set bits.
// Two runs of a word never begin in the same pair of rows, so a pair is a node of the forest, which
// stands for the run that begins in it. Nodes are numbered down the columns: the least node of a
// component is the one with its first pixel in column-major order.
#include "backends/jit/label.hpp"
#include "backends/jit/text.hpp"

namespace impipe::jit {

namespace {

// Which of a set of words and bits belong together is decided here for both levels of the forest.
constexpr const char* words = R"(
// The row in which the run with row y begins; the first row after the run.
FUNCTION int run_begin(const uint word, const int y) {
  return 32 - LEADING_ZEROS(~word & ((1u << y) - 1u));
}
FUNCTION int lowest_bit(const uint bits) { return 31 - LEADING_ZEROS(bits & (0u - bits)); }
FUNCTION uint run_bits(const uint word, const int begin) {
  const uint after = ~word & (0xffffffffu << begin);
  const uint upto = after == 0u ? 0xffffffffu : (after & (0u - after)) - 1u;
  return upto & (0xffffffffu << begin);
}
FUNCTION uint run_begins(const uint word) { return word & ~(word << 1); }
// The row of the run that stands for node `pair` (0 to 15) of a word.
FUNCTION int begin_in_pair(const uint word, const int pair) {
  return 2 * pair + ((run_begins(word) >> (2 * pair) & 1u) == 0u ? 1 : 0);
}

// Rows of `right` at which one of its runs touches one of `left`, the column before it: side by
// side, or (the row over, the row under) by a corner only.
FUNCTION uint touch_beside(const uint left, const uint right) { return run_begins(left & right); }
FUNCTION uint touch_over(const uint left, const uint right) {
  return right & (left << 1) & ~left & ~(right << 1);
}
FUNCTION uint touch_under(const uint left, const uint right) {
  return right & (left >> 1) & ~left & ~(right >> 1);
}

// Links lead to smaller nodes; a root's to itself. Paths are halved on the way. In local memory all
// is done by atomic operations, so that tools that look for races find none; in global memory a link
// that is lost to halving is made again by whoever's minimum returned the old one.
#define LINK_LOCAL(link) OR_LOCAL(link, 0u)
#define HALVE_LOCAL(link, over) MIN_LOCAL(link, over)
#define LINK_GLOBAL(link) LOAD_GLOBAL(link)
#define HALVE_GLOBAL(link, over) STORE_GLOBAL(link, over)
)";

// One level of the forest: in local memory or in global.
constexpr const char* forest = R"(FUNCTION_APART uint find_$level($space uint* parent, uint i) {
  uint up = LINK_$where(&parent[i]);
  while (up != i) {
    const uint over = LINK_$where(&parent[up]);
    if (over == up) return up;
    HALVE_$where(&parent[i], over);
    i = over;
    up = LINK_$where(&parent[i]);
  }
  return i;
}
FUNCTION_APART void join_$level($space uint* parent, uint a, uint b) {
  a = find_$level(parent, a);
  b = find_$level(parent, b);
  while (a != b) {
    const uint low = a < b ? a : b, high = a < b ? b : a;
    const uint before = MIN_$where(&parent[high], low);
    if (before == high) return;
    a = find_$level(parent, before);
    b = find_$level(parent, low);
  }
}
)";

}  // namespace

std::string label_functions() {
  return words + filled(forest, {{"level", "local"}, {"space", "IN_LOCAL"}, {"where", "LOCAL"}}) +
         filled(forest, {{"level", "global"}, {"space", "GLOBAL"}, {"where", "GLOBAL"}});
}

}  // namespace impipe::jit
