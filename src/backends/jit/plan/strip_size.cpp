// How strips share an image.
#include "backends/jit/plan/strip_size.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

constexpr int most_rows = 64;  // of a strip
constexpr double alone = 1.5;  // groups that would take the time that one takes alone, and one

// The first wave and the last one of a row have nobody beside them to make pixels for.
std::int64_t waves_across(Size size) {
  return std::max<std::int64_t>(1, (size.width - 2 * strip_px + strip_across - 1) / strip_across);
}

std::int64_t groups_down(Size size, int rows) {
  return (size.height + strip_waves * rows - 1) / (strip_waves * rows);
}

}  // namespace

int StripSize::turns(Size size) const {
  const int fewest = above / turn + 1;
  int best = fewest;
  double least = 0;
  for (int turns = fewest; turns == fewest || rows(turns) <= most_rows; ++turns) {
    const std::int64_t groups = waves_across(size) * groups_down(size, rows(turns));
    // Rows that a processor makes; one that is nearly alone with a group waits for it.
    const double time = (static_cast<double>((groups + processors - 1) / processors) + alone) *
                        (rows(turns) + around);
    if (turns == fewest || time < least) {
      best = turns;
      least = time;
    }
  }
  return best;
}

LaunchShape StripSize::groups(Size size) const {
  return {{waves_across(size), groups_down(size, rows(turns(size))), 1}, {strip_items, 1, 1}};
}

}  // namespace impipe::jit
