// Canny's hysteresis, 64 pixels at a time: rows of bits lead to the row under them, then to the one
// over them; the few pixels that are still led to are visited one by one.
#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "backends/cpu/components/bit_plane.hpp"
#include "backends/cpu/components/label.hpp"
#include "backends/cpu/simd/vectors.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t part_rows = 128;

struct Place {
  std::int64_t x = 0, y = 0;
};

// A row of pixels as bits: those with a code, the two bits of where a code leads (of 10 and of 12),
// and those that are edges. A word of zeros lies at either end.
struct BitRow {
  std::uint64_t *set, *slanted, *level, *edge;
};

// Which of 64 codes have one of the bits.
std::uint64_t with_bits(const std::uint8_t* codes, std::uint8_t bits) {
  std::uint8_t bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = (codes[i] & bits) != 0;
  std::uint64_t word;
  pack_bits(bytes, 64, &word, CpuLevel::baseline);
  return word;
}

void read_codes(const std::uint8_t* codes, std::int64_t words, const BitRow& to) {
  for (std::int64_t w = 0; w < words; ++w, codes += 64) {
    to.set[w] = with_bits(codes, 0xff);
    to.slanted[w] = with_bits(codes, 10);
    to.level[w] = with_bits(codes, 12);
    to.edge[w] = with_bits(codes, 0xf0);
  }
}

using ReadCodes = void (*)(const std::uint8_t* codes, std::int64_t words, const BitRow& to);
#if IMPIPE_HAS_INTRINSICS
#define IMPIPE_VECTORS_ONLY
#define IMPIPE_KERNELS "backends/cpu/components/reach.inc"
#include "backends/cpu/simd/each_level.inc"
constexpr ReadCodes read_codes_of[cpu_levels] = {read_codes, v3::read_codes, v4::read_codes};
#else
constexpr ReadCodes read_codes_of[cpu_levels] = {read_codes, read_codes, read_codes};
#endif

// The pixels of another row that a row's edges lead to. flip: 0 for the row under it, all ones for
// the one over it.
template <class... Nothing>
IMPIPE_INLINE void led_to_body(const BitRow& from, std::int64_t words, std::uint64_t flip,
                               std::uint64_t* __restrict to) {
  const std::uint64_t *edge = from.edge, *slanted = from.slanted, *level = from.level;
  for (std::int64_t w = 0; w < words; ++w) {
    const std::uint64_t own = edge[w] & slanted[w];
    const std::uint64_t before = edge[w - 1] & slanted[w - 1] & ~(level[w - 1] ^ flip);
    const std::uint64_t behind = edge[w + 1] & slanted[w + 1] & (level[w + 1] ^ flip);
    const std::uint64_t straight = edge[w] & ~slanted[w] & ~level[w];
    const std::uint64_t on = (own & ~(level[w] ^ flip)) << 1 | before >> 63;
    const std::uint64_t back = (own & (level[w] ^ flip)) >> 1 | behind << 63;
    to[w] = straight | on | back;
  }
}
IMPIPE_CPU_KERNEL(led_to,
                  (const BitRow& from, std::int64_t words, std::uint64_t flip, std::uint64_t* to),
                  (from, words, flip, to))

// The bits of `from`, and what lies below them in unbroken runs of `through`.
std::uint64_t spread_down(std::uint64_t from, std::uint64_t through) {
  for (int step = 1; step < 64; step *= 2) {
    from |= from >> step & through;
    through &= through >> step;
  }
  return from;
}

// Edges that lead along their row.
void spread_along(const BitRow& row, std::int64_t words) {
  std::uint64_t carry = 0;
  for (std::int64_t w = 0; w < words; ++w) {
    // The sum carries each edge to behind the end of its run.
    const std::uint64_t runs = ~row.slanted[w] & row.level[w];
    const std::uint64_t edges = row.edge[w] & runs;
    std::uint64_t sum, carried;
    const bool over = __builtin_add_overflow(runs, edges, &sum);
    const bool over_again = __builtin_add_overflow(sum, carry, &carried);
    row.edge[w] |= (carried ^ runs) & row.set[w];
    carry = over || over_again ? 1 : 0;
  }
  carry = 0;
  for (std::int64_t w = words; w-- > 0;) {
    const std::uint64_t runs = ~row.slanted[w] & row.level[w];
    const std::uint64_t first = carry << 63 & row.set[w];
    std::uint64_t edges = (row.edge[w] | first) & runs;
    if (edges != 0) edges = spread_down(edges, runs);
    row.edge[w] |= first | (edges >> 1 & row.set[w]);
    carry = edges & 1;
  }
}

class Reach {
 public:
  Reach(const Plane& codes, Plane& out, ThreadPool& pool, CpuLevel level)
      : codes_(codes),
        out_(out),
        pool_(pool),
        level_(level),
        size_(codes.size()),
        words_((size_.width + 63) / 64),
        bits_(PixelClass::single, {2 * planes * (words_ + 2), size_.height}) {}

  void run() {
    const std::int64_t parts = (size_.height + part_rows - 1) / part_rows;
    std::vector<std::vector<Place>> open(static_cast<std::size_t>(parts));
    pool_.for_each(parts, [&](std::int64_t part) { sweep(first_row(part), first_row(part + 1)); });
    pool_.for_each(parts, [&](std::int64_t part) {
      for (std::int64_t y = first_row(part); y < first_row(part + 1); ++y) {
        find_open(y, open[part]);
      }
    });
    pool_.for_each(parts, [&](std::int64_t part) { visit(open[part]); });
    pool_.for_each(parts, [&](std::int64_t part) {
      for (std::int64_t y = first_row(part); y < first_row(part + 1); ++y) {
        unpack_bits(row(y).edge, size_.width, false, out_.row_as<std::uint8_t>(y), level_);
      }
    });
  }

 private:
  static constexpr std::int64_t planes = 4;

  std::int64_t first_row(std::int64_t part) const {
    return std::min(size_.height, part * part_rows);
  }
  BitRow row(std::int64_t y) {
    auto* first = reinterpret_cast<std::uint64_t*>(bits_.row(y)) + 1;
    const std::int64_t stride = words_ + 2;
    return {first, first + stride, first + 2 * stride, first + 3 * stride};
  }

  void read_row(std::int64_t y) {
    auto* first = reinterpret_cast<std::uint64_t*>(bits_.row(y));
    for (std::int64_t p = 0; p < planes; ++p) {
      first[p * (words_ + 2)] = first[p * (words_ + 2) + words_ + 1] = 0;
    }
    const auto* codes = codes_.row_as<std::uint8_t>(y);
    const std::int64_t whole = size_.width / 64, rest = size_.width % 64;
    const ReadCodes read = read_codes_of[static_cast<int>(level_)];
    BitRow to = row(y);
    read(codes, whole, to);
    if (rest == 0) return;
    std::uint8_t last[64] = {};
    std::copy_n(codes + whole * 64, rest, last);
    read(last, 1, {to.set + whole, to.slanted + whole, to.level + whole, to.edge + whole});
  }

  // Rows of a part, downward, then upward.
  void sweep(std::int64_t y0, std::int64_t y1) {
    std::vector<std::uint64_t> next(static_cast<std::size_t>(words_));
    for (std::int64_t y = y0; y < y1; ++y) {
      read_row(y);
      if (y > y0) lead(y - 1, y, 0, next.data());
      spread_along(row(y), words_);
    }
    for (std::int64_t y = y1 - 1; y-- > y0;) {
      lead(y + 1, y, ~std::uint64_t{0}, next.data());
      spread_along(row(y), words_);
    }
  }

  void lead(std::int64_t from, std::int64_t to, std::uint64_t flip, std::uint64_t* next) {
    led_to<>[static_cast<int>(level_)](row(from), words_, flip, next);
    const BitRow there = row(to);
    for (std::int64_t w = 0; w < words_; ++w) there.edge[w] |= next[w] & there.set[w];
  }

  // Pixels beside row y that its edges lead to and that are not edges yet.
  void find_open(std::int64_t y, std::vector<Place>& open) {
    thread_local std::vector<std::uint64_t> next;
    next.resize(static_cast<std::size_t>(words_));
    for (const int dy : {-1, 1}) {
      if (y + dy < 0 || y + dy >= size_.height) continue;
      led_to<>[static_cast<int>(level_)](row(y), words_, dy > 0 ? 0 : ~std::uint64_t{0},
                                         next.data());
      const BitRow there = row(y + dy);
      for (std::int64_t w = 0; w < words_; ++w) {
        std::uint64_t word = next[w] & there.set[w] & ~there.edge[w];
        for (; word != 0; word &= word - 1)
          open.push_back({w * 64 + std::countr_zero(word), y + dy});
      }
    }
  }

  // Whoever makes a pixel an edge goes on from it, so that each is visited once.
  bool claim(const Place& p) {
    const std::uint64_t bit = std::uint64_t{1} << p.x % 64;
    std::atomic_ref<std::uint64_t> word(row(p.y).edge[p.x / 64]);
    return (word.load(std::memory_order_relaxed) & bit) == 0 &&
           (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
  }

  // What the pixels lead to, and what that leads to.
  void visit(const std::vector<Place>& first) {
    std::vector<Place> open;
    for (const Place& p : first) {
      if (claim(p)) open.push_back(p);
      while (!open.empty()) {
        const Place from = open.back();
        open.pop_back();
        for (const int sign : {-1, 1}) {
          const Place to = neighbour(from, sign);
          if (to.x < 0 || to.x >= size_.width || to.y < 0 || to.y >= size_.height) continue;
          if (is_set(to) && claim(to)) open.push_back(to);
        }
      }
    }
  }

  bool is_set(const Place& p) { return (row(p.y).set[p.x / 64] >> p.x % 64 & 1) != 0; }

  Place neighbour(const Place& p, int sign) {
    static constexpr Place steps[] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}};
    const BitRow bits = row(p.y);
    const std::uint64_t slanted = bits.slanted[p.x / 64] >> p.x % 64 & 1;
    const std::uint64_t level = bits.level[p.x / 64] >> p.x % 64 & 1;
    const Place step = steps[slanted + 2 * level];
    return {p.x + sign * step.x, p.y + sign * step.y};
  }

  const Plane& codes_;
  Plane& out_;
  ThreadPool& pool_;
  CpuLevel level_;
  Size size_;
  std::int64_t words_;
  Plane bits_;
};

}  // namespace

void run_reach(const Plane& codes, Plane& out, ThreadPool& pool, CpuLevel level) {
  Reach(codes, out, pool, level).run();
}

}  // namespace impipe::cpu
