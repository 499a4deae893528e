// Finds the runs of each row and joins them.
#include "backends/cpu/components/components.hpp"

#include <algorithm>
#include <limits>

#include "backends/cpu/tile/run_values.hpp"
#include "core/error.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t min_rows = 32;  // of a strip
constexpr std::int64_t strips_a_thread = 4;

// Memory for `count` elements of `floats` * 4 bytes, from what images have left.
Plane memory_for(std::int64_t count, int floats) {
  return Plane(PixelClass::single, {count * floats, 1});
}

}  // namespace

Components::Components(const BitPlane& set, const BitPlane* flags, Keep keep, int connectivity,
                       ThreadPool& pool)
    : set_(set), keep_(keep), reach_(connectivity == 8 ? 1 : 0) {
  const Size size = set.size();
  const std::int64_t max_runs = (size.width + 1) / 2;  // a row
  if (max_runs * size.height > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("the image is too large for finding its components: " + to_string(size),
                ExitCode::file_failed);
  }
  const std::int64_t wanted = strips_a_thread * (pool.helpers() + 1);
  const std::int64_t rows = std::max(min_rows, (size.height + wanted - 1) / wanted);
  for (std::int64_t y = 0; y < size.height; y += rows) first_rows_.push_back(y);
  first_rows_.push_back(size.height);
  row_begin_.resize(static_cast<std::size_t>(size.height));
  row_end_.resize(row_begin_.size());
  starts_.resize(static_cast<std::size_t>(strips()));
  begin_memory_ = memory_for(max_runs * size.height, 1);
  end_memory_ = memory_for(max_runs * size.height, 1);
  parent_memory_ = memory_for(max_runs * size.height, 1);
  kept_memory_ = memory_for(max_runs * size.height, 2);
  begins_ = begin_memory_.row_as<std::int32_t>(0);
  ends_ = end_memory_.row_as<std::int32_t>(0);
  parent_ = parent_memory_.row_as<std::uint32_t>(0);
  kept_ = kept_memory_.row_as<std::uint64_t>(0);
  const auto search = keep == Keep::first    ? &Components::search<Keep::first>
                      : keep == Keep::pixels ? &Components::search<Keep::pixels>
                                             : &Components::search<Keep::flag>;
  pool.for_each(strips(), [&](std::int64_t s) {
    (this->*search)(flags, s, static_cast<std::uint32_t>(first_row(s) * max_runs));
  });
  for (std::int64_t s = 1; s < strips(); ++s) {
    join_strips(first_row(s) - 1, first_row(s));
  }
  // Path compression: a parent comes before its child, so that it points to its root already.
  std::sort(joined_.begin(), joined_.end());
  for (const std::uint32_t i : joined_) parent_[i] = parent_[parent_[i]];
}

template <Components::Keep keep>
std::uint64_t Components::kept_of(const BitPlane* flags, std::int64_t y, const Run& run) const {
  switch (keep) {
    case Keep::first: return static_cast<std::uint64_t>(run.begin * set_.size().height + y);
    case Keep::pixels: return static_cast<std::uint64_t>(run.end - run.begin);
    case Keep::flag: break;
  }
  return any_bit(flags->row(y), run.begin, run.end) ? 1 : 0;
}

template <Components::Keep keep>
std::uint64_t Components::both(std::uint64_t a, std::uint64_t b) {
  switch (keep) {
    case Keep::first: return std::min(a, b);
    case Keep::pixels: return a + b;
    case Keep::flag: break;
  }
  return a | b;
}

inline std::uint32_t Components::find(std::uint32_t i) {
  while (parent_[i] != i) {
    parent_[i] = parent_[parent_[i]];
    i = parent_[i];
  }
  return i;
}

// The earlier root stands for both.
template <Components::Keep keep>
std::uint32_t Components::join(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t first = std::min(a, b), second = std::max(a, b);
  parent_[second] = first;
  kept_[first] = both<keep>(kept_[first], kept_[second]);
  return first;
}

// The rows of strip s, whose runs are kept from `at` on.
template <Components::Keep keep>
void Components::search(const BitPlane* flags, std::int64_t s, std::uint32_t at) {
  const std::int64_t y0 = first_row(s), y1 = first_row(s + 1);
  std::vector<std::uint32_t>& starts = starts_[s];
  for (std::int64_t y = y0; y < y1; ++y) {
    row_begin_[y] = at;
    row_end_[y] = at + static_cast<std::uint32_t>(
                           find_runs(set_.row(y), set_.size().width, begins_ + at, ends_ + at));
    std::uint32_t j = y > y0 ? row_begin_[y - 1] : 0;
    const std::uint32_t end = y > y0 ? row_end_[y - 1] : 0;
    for (std::uint32_t i = at; i < row_end_[y]; ++i) {
      const Run here = run(i);
      const std::int32_t from = here.begin - reach_, to = here.end + reach_;
      while (j < end && ends_[j] <= from) ++j;
      if (j == end || begins_[j] >= to) {
        starts.push_back(i);
        parent_[i] = i;
        kept_[i] = kept_of<keep>(flags, y, here);
        continue;
      }
      // The run above begins as far to the left, so that this one has not the component's first
      // pixel.
      const bool adds_nothing = keep == Keep::first && here.begin >= begins_[j];
      if (adds_nothing && (j + 1 == end || begins_[j + 1] >= to)) {
        parent_[i] = parent_[j];
        continue;
      }
      std::uint32_t root = find(j);
      // The last one that it touches may touch the next, too.
      for (; j + 1 < end && begins_[j + 1] < to; ++j) {
        const std::uint32_t other = find(j + 1);
        if (other != root) root = join<keep>(root, other);
      }
      parent_[i] = root;
      if (!adds_nothing) kept_[root] = both<keep>(kept_[root], kept_of<keep>(flags, y, here));
    }
    at = row_end_[y];
  }
  // Roots come before the runs they stand for.
  if (y0 == y1) return;
  for (std::uint32_t i = row_begin_[y0]; i < at; ++i) parent_[i] = parent_[parent_[i]];
}

void Components::join_strips(std::int64_t over, std::int64_t under) {
  const auto join_roots = keep_ == Keep::first    ? &Components::join<Keep::first>
                          : keep_ == Keep::pixels ? &Components::join<Keep::pixels>
                                                  : &Components::join<Keep::flag>;
  std::uint32_t j = row_begin_[over];
  const std::uint32_t end = row_end_[over];
  for (std::uint32_t i = row_begin_[under]; i < row_end_[under]; ++i) {
    const std::int32_t from = begins_[i] - reach_, to = ends_[i] + reach_;
    while (j < end && ends_[j] <= from) ++j;
    // The last one that it touches may touch the next, too.
    for (std::uint32_t k = j; k < end && begins_[k] < to; ++k) {
      const std::uint32_t a = find(k), b = find(i);
      if (a == b) continue;
      (this->*join_roots)(a, b);
      joined_.push_back(std::max(a, b));
    }
  }
}

}  // namespace impipe::cpu
