// How strips share an image.
#include "backends/jit/plan/strip_size.hpp"

#include <algorithm>

namespace impipe::jit {
namespace {

constexpr int max_rows = 64;   // of a strip
constexpr double alone = 1.5;  // groups that would take the time that one takes alone, and one

// The first sub-group and the last one of a row have nobody beside them to make pixels for.
std::int64_t sub_groups_across(Size size) {
  return std::max<std::int64_t>(1, (size.width - 2 * strip_px + strip_across - 1) / strip_across);
}

std::int64_t groups_down(Size size, int rows) {
  return (size.height + strip_sub_groups * rows - 1) / (strip_sub_groups * rows);
}

}  // namespace

int StripSize::iterations(Size size) const {
  const int fewest = above / iteration + 1;
  int best = fewest;
  double least = 0;
  for (int iterations = fewest; iterations == fewest || rows(iterations) <= max_rows;
       ++iterations) {
    const std::int64_t groups = sub_groups_across(size) * groups_down(size, rows(iterations));
    // Rows that a processor makes; one that is nearly alone with a group waits for it.
    const double time = (static_cast<double>((groups + processors - 1) / processors) + alone) *
                        (rows(iterations) + around);
    if (iterations == fewest || time < least) {
      best = iterations;
      least = time;
    }
  }
  return best;
}

LaunchShape StripSize::groups(Size size) const {
  return {{sub_groups_across(size), groups_down(size, rows(iterations(size))), 1},
          {strip_items, 1, 1}};
}

}  // namespace impipe::jit
