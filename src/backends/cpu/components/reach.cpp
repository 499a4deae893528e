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
#define IMPIPE_KERNELS "backends/cpu/components/reach.inc"
#include "backends/cpu/simd/vector_levels.inc"

// The pixels of another row that word w of a row's edges leads to. flip: 0 for the row under it,
// all ones for the one over it.
IMPIPE_INLINE std::uint64_t led_to(const BitRow& from, std::int64_t w, std::uint64_t flip) {
  const std::uint64_t *edge = from.edge, *slanted = from.slanted, *level = from.level;
  const std::uint64_t own = edge[w] & slanted[w];
  const std::uint64_t before = edge[w - 1] & slanted[w - 1] & ~(level[w - 1] ^ flip);
  const std::uint64_t behind = edge[w + 1] & slanted[w + 1] & (level[w + 1] ^ flip);
  const std::uint64_t straight = edge[w] & ~slanted[w] & ~level[w];
  const std::uint64_t on = (own & ~(level[w] ^ flip)) << 1 | before >> 63;
  const std::uint64_t back = (own & (level[w] ^ flip)) >> 1 | behind << 63;
  return straight | on | back;
}

// Makes them edges.
template <class... Nothing>
IMPIPE_INLINE void lead_body(const BitRow& from, const BitRow& to, std::int64_t words,
                             std::uint64_t flip) {
  std::uint64_t* __restrict edge = to.edge;
  for (std::int64_t w = 0; w < words; ++w) edge[w] |= led_to(from, w, flip) & to.set[w];
}
IMPIPE_CPU_KERNEL(lead,
                  (const BitRow& from, const BitRow& to, std::int64_t words, std::uint64_t flip),
                  (from, to, words, flip))

// Those that are no edges yet; whether there are any.
template <class... Nothing>
IMPIPE_INLINE void find_led_body(const BitRow& from, const BitRow& to, std::int64_t words,
                                 std::uint64_t flip, std::uint64_t* __restrict out, bool* any) {
  std::uint64_t all = 0;
  for (std::int64_t w = 0; w < words; ++w) {
    out[w] = led_to(from, w, flip) & to.set[w] & ~to.edge[w];
    all |= out[w];
  }
  *any = all != 0;
}
IMPIPE_CPU_KERNEL(find_led,
                  (const BitRow& from, const BitRow& to, std::int64_t words, std::uint64_t flip,
                   std::uint64_t* out, bool* any),
                  (from, to, words, flip, out, any))

// Edges that lead along their row make edges of the run of such pixels that they are in, and of the
// pixels at both its ends. Runs end where words do.
template <class... Nothing>
IMPIPE_INLINE void spread_along_body(const BitRow& row, std::int64_t words) {
  const std::uint64_t *set = row.set, *slanted = row.slanted, *level = row.level;
  std::uint64_t* __restrict edge = row.edge;
  for (std::int64_t w = 0; w < words; ++w) {
    std::uint64_t through = ~slanted[w] & level[w];
    // The sum carries each edge to behind the end of its run.
    const std::uint64_t up = (through + (edge[w] & through)) ^ through;
    const std::uint64_t edges = edge[w] | (up & set[w]);
    std::uint64_t down = edges & through;
    for (int step = 1; step < 64; step *= 2) {
      down |= down >> step & through;
      through &= through >> step;
    }
    edge[w] = edges | down | (down >> 1 & set[w]);
  }
}
IMPIPE_CPU_KERNEL(spread_along, (const BitRow& row, std::int64_t words), (row, words))

// The same from each word to the next, forward, then backward.
void spread_across(const BitRow& row, std::int64_t words) {
  std::uint64_t led = 0;  // the word's first pixel, by the last one of the word before
  for (std::int64_t w = 0; w < words; ++w) {
    const std::uint64_t through = ~row.slanted[w] & row.level[w];
    if ((led & row.set[w] & ~row.edge[w]) != 0) {
      const std::uint64_t run = through & ~(through + 1);
      row.edge[w] |= led | ((run | run << 1) & row.set[w]);
    }
    led = (row.edge[w] & through) >> 63;
  }
  led = 0;  // its last pixel, by the first one of the word behind
  for (std::int64_t w = words; w-- > 0;) {
    const std::uint64_t through = ~row.slanted[w] & row.level[w];
    if ((led & row.set[w] & ~row.edge[w]) != 0) {
      const int length = std::countl_one(through);
      const std::uint64_t run = length == 0 ? 0 : ~std::uint64_t{0} << (64 - length);
      row.edge[w] |= led | ((run | run >> 1) & row.set[w]);
    }
    led = (row.edge[w] & through) << 63;
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

  int at_level() const { return static_cast<int>(level_); }
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
    const ReadCodes read = IMPIPE_VECTORS_OR(level_, read_codes, read_codes);
    BitRow to = row(y);
    read(codes, whole, to);
    if (rest == 0) return;
    std::uint8_t last[64] = {};
    std::copy_n(codes + whole * 64, rest, last);
    read(last, 1, {to.set + whole, to.slanted + whole, to.level + whole, to.edge + whole});
  }

  // Rows of a part, downward, then upward.
  void sweep(std::int64_t y0, std::int64_t y1) {
    for (std::int64_t y = y0; y < y1; ++y) {
      read_row(y);
      if (y > y0) lead<>[at_level()](row(y - 1), row(y), words_, 0);
      spread(y);
    }
    for (std::int64_t y = y1 - 1; y-- > y0;) {
      lead<>[at_level()](row(y + 1), row(y), words_, ~std::uint64_t{0});
      spread(y);
    }
  }

  void spread(std::int64_t y) {
    spread_along<>[at_level()](row(y), words_);
    spread_across(row(y), words_);
  }

  // Pixels beside row y that its edges lead to and that are not edges yet.
  void find_open(std::int64_t y, std::vector<Place>& open) {
    thread_local std::vector<std::uint64_t> found;
    found.resize(static_cast<std::size_t>(words_));
    for (const int dy : {-1, 1}) {
      if (y + dy < 0 || y + dy >= size_.height) continue;
      bool any = false;
      find_led<>[at_level()](row(y), row(y + dy), words_, dy > 0 ? 0 : ~std::uint64_t{0},
                             found.data(), &any);
      for (std::int64_t w = 0; any && w < words_; ++w) {
        for (std::uint64_t word = found[w]; word != 0; word &= word - 1) {
          open.push_back({w * 64 + std::countr_zero(word), y + dy});
        }
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
