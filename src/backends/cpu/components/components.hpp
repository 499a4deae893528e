// Connected components of a logical image, as a forest over the runs of its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/components/bit_plane.hpp"
#include "core/thread_pool.hpp"

namespace impipe::cpu {

// Columns [begin, end) of a row, all set, as far as they go.
struct Run {
  std::int32_t begin = 0, end = 0;
};

// Strips of rows are searched side by side, each row's runs joined to those of the row above; then
// the strips are joined. Linear in the pixels, whatever the components look like.
class Components {
 public:
  // What is known of each component.
  enum class Keep {
    first,   // the least of x * height + y of its pixels
    pixels,  // how many it has
    flag,    // 1 when one of its pixels is set in `flags`, too, else 0
  };
  // flags: of the same size, for Keep::flag only.
  Components(const BitPlane& set, const BitPlane* flags, Keep keep, int connectivity,
             ThreadPool& pool);

  // Strips of rows, to share work by: strip s has rows [first_row(s), first_row(s + 1)).
  std::int64_t strips() const { return static_cast<std::int64_t>(first_rows_.size()) - 1; }
  std::int64_t first_row(std::int64_t strip) const { return first_rows_[strip]; }

  // The runs of a row, from left to right, are [row_begin(y), row_end(y)).
  std::uint32_t row_begin(std::int64_t y) const { return row_begin_[y]; }
  std::uint32_t row_end(std::int64_t y) const { return row_end_[y]; }
  Run run(std::uint32_t i) const { return {begins_[i], ends_[i]}; }
  // Union-find: the root of run i. Its parent is the root of its component within the strip.
  std::uint32_t root(std::uint32_t i) const { return parent_[parent_[i]]; }
  // Of a strip: the runs that touch none in the row above. Every root is among them.
  const std::vector<std::uint32_t>& starts(std::int64_t strip) const { return starts_[strip]; }
  bool is_root(std::uint32_t i) const { return parent_[i] == i; }
  // What is kept of the component that this root stands for.
  std::uint64_t kept(std::uint32_t root) const { return kept_[root]; }
  void keep(std::uint32_t root, std::uint64_t value) { kept_[root] = value; }

 private:
  template <Keep keep>
  void search(const BitPlane* flags, std::int64_t s, std::uint32_t at);
  // What is kept of one run, and of what two stand for.
  template <Keep keep>
  std::uint64_t kept_of(const BitPlane* flags, std::int64_t y, const Run& run) const;
  template <Keep keep>
  static std::uint64_t both(std::uint64_t a, std::uint64_t b);
  template <Keep keep>
  std::uint32_t join(std::uint32_t a, std::uint32_t b);  // roots; the one that stays
  void join_strips(std::int64_t over, std::int64_t under);
  std::uint32_t find(std::uint32_t i);

  const BitPlane& set_;
  Keep keep_;
  std::int32_t reach_;  // columns beyond its own in which a run touches others: 1 or 0
  std::vector<std::int64_t> first_rows_;
  std::vector<std::uint32_t> row_begin_, row_end_;
  std::vector<std::vector<std::uint32_t>> starts_;
  // Of each run; a strip's begin where they would if all rows before it were as full as can be.
  Plane begin_memory_, end_memory_, parent_memory_, kept_memory_;
  std::int32_t* begins_ = nullptr;
  std::int32_t* ends_ = nullptr;
  std::uint32_t* parent_ = nullptr;
  std::uint64_t* kept_ = nullptr;      // set where a run is a root
  std::vector<std::uint32_t> joined_;  // roots of strips that others stand for
};

}  // namespace impipe::cpu
