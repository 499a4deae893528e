// Huang's sliding histogram in two levels, of the pixels' codes; floats are given codes first.
#include "backends/cpu/rank_histogram.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "backends/cpu/extremum.hpp"

namespace impipe::cpu {
namespace {

// Counts of codes, and of groups of 2^shift neighbouring codes, with a place between two codes
// that stays near the rank asked for.
class SlidingHistogram {
 public:
  SlidingHistogram(std::uint32_t codes, int shift)
      : shift_(shift), fine_(((codes >> shift) + 1) << shift), coarse_((codes >> shift) + 1) {}

  void clear() {
    std::fill(fine_.begin(), fine_.end(), 0u);
    std::fill(coarse_.begin(), coarse_.end(), 0u);
    place_ = below_ = 0;
  }
  void add(std::uint32_t code) {
    ++fine_[code];
    ++coarse_[code >> shift_];
    below_ += code < place_;
  }
  void remove(std::uint32_t code) {
    --fine_[code];
    --coarse_[code >> shift_];
    below_ -= code < place_;
  }
  // The code of the rank-th smallest; fewer than rank + 1 codes in the window is our mistake.
  std::uint32_t find(std::uint32_t rank) {
    const std::uint32_t group = (1u << shift_) - 1;
    while (below_ > rank) {
      if ((place_ & group) == 0 && below_ - coarse_[(place_ >> shift_) - 1] > rank) {
        below_ -= coarse_[(place_ >> shift_) - 1];
        place_ -= group + 1;
      } else {
        below_ -= fine_[--place_];
      }
    }
    while (below_ + fine_[place_] <= rank) {
      if ((place_ & group) == 0 && below_ + coarse_[place_ >> shift_] <= rank) {
        below_ += coarse_[place_ >> shift_];
        place_ += group + 1;
      } else {
        below_ += fine_[place_++];
      }
    }
    return place_;
  }
  // The smallest code above `code` that is in the window, given that there is one.
  std::uint32_t next(std::uint32_t code) const {
    do ++code;
    while (fine_[code] == 0);
    return code;
  }
  std::uint32_t up_to(std::uint32_t code) const { return below_ + fine_[code]; }

 private:
  int shift_;
  std::vector<std::uint32_t> fine_, coarse_;
  std::uint32_t place_ = 0;  // a code
  std::uint32_t below_ = 0;  // values in the window whose code is less than place_
};

// value_of(code) gives a pixel, mean_of(a, b) that of two codes. rows: of codes, at the first pixel
// under the mask's first cell.
template <class Code, class T, class ValueOf, class MeanOf>
void slide(const Rank& rank, const std::vector<MaskRun>& runs, const std::vector<const Code*>& rows,
           const RowsView& in, TileOut out, SlidingHistogram& histogram, ValueOf value_of,
           MeanOf mean_of) {
  const auto wanted = static_cast<std::uint32_t>(rank.rank);
  const std::int64_t channels = in.channels;
  for (std::int64_t y = 0; y < in.height; ++y) {
    T* to = reinterpret_cast<T*>(out.data + y * out.stride);
    for (std::int64_t c = 0; c < channels; ++c) {
      histogram.clear();
      for (const MaskRun& run : runs) {
        const Code* row = rows[static_cast<std::size_t>(y + run.y)] + c;
        for (int i = 0; i < run.length; ++i) histogram.add(row[(run.x + i) * channels]);
      }
      for (std::int64_t x = 0; x < in.width; ++x) {
        if (x > 0) {
          for (const MaskRun& run : runs) {
            const Code* row = rows[static_cast<std::size_t>(y + run.y)] + c;
            histogram.add(row[(x - 1 + run.x + run.length) * channels]);
            histogram.remove(row[(x - 1 + run.x) * channels]);
          }
        }
        const std::uint32_t code = histogram.find(wanted);
        if (!rank.average) {
          to[x * channels + c] = value_of(code);
        } else {
          const bool tied = histogram.up_to(code) > wanted + 1;
          to[x * channels + c] = mean_of(code, tied ? code : histogram.next(code));
        }
      }
    }
  }
}

template <class Code>
void slide_codes(const Rank& rank, const std::vector<MaskRun>& runs, const RowsView& in,
                 TileOut out, std::uint32_t largest, int shift) {
  std::vector<const Code*> rows;
  for (std::int64_t y = 0; y < in.height + rank.mask.height - 1; ++y) {
    rows.push_back(reinterpret_cast<const Code*>(in.rows[y]) -
                   static_cast<std::int64_t>(rank.mask.origin_x) * in.channels);
  }
  SlidingHistogram histogram(largest, shift);
  slide<Code, Code>(
      rank, runs, rows, in, out, histogram,
      [](std::uint32_t code) { return static_cast<Code>(code); },
      [](std::uint32_t a, std::uint32_t b) { return static_cast<Code>((a + b + 1) >> 1); });
}

// Orders as the floats do; -0 comes before 0 and NaN at the ends.
std::uint32_t key_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
float value_of_key(std::uint32_t key) {
  return std::bit_cast<float>((key >> 31) != 0 ? key & 0x7fffffffu : ~key);
}

void slide_floats(const Rank& rank, const std::vector<MaskRun>& runs, const RowsView& in,
                  TileOut out, Scratch& scratch) {
  const std::int64_t wide = (in.width + rank.mask.width - 1) * in.channels;
  const std::int64_t tall = in.height + rank.mask.height - 1;
  const std::int64_t count = wide * tall;
  // Each float of the tile gets the place of its value among the sorted ones as its code.
  auto* sorted = scratch.take<std::uint64_t>(count);
  auto* codes = scratch.take<std::uint32_t>(count);
  auto* values = scratch.take<float>(count);
  std::vector<const std::uint32_t*> rows;
  for (std::int64_t y = 0; y < tall; ++y) {
    const float* row = reinterpret_cast<const float*>(in.rows[y]) -
                       static_cast<std::int64_t>(rank.mask.origin_x) * in.channels;
    for (std::int64_t i = 0; i < wide; ++i) {
      sorted[y * wide + i] = static_cast<std::uint64_t>(key_of(row[i])) << 32 |
                             static_cast<std::uint64_t>(y * wide + i);
    }
    rows.push_back(codes + y * wide);
  }
  std::sort(sorted, sorted + count);
  std::uint32_t code = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i > 0 && sorted[i] >> 32 != sorted[i - 1] >> 32) ++code;
    codes[sorted[i] & 0xffffffffu] = code;
    values[code] = value_of_key(static_cast<std::uint32_t>(sorted[i] >> 32));
  }
  SlidingHistogram histogram(code, (std::bit_width(code) + 1) / 2);
  slide<std::uint32_t, float>(
      rank, runs, rows, in, out, histogram, [values](std::uint32_t a) { return values[a]; },
      [values](std::uint32_t a, std::uint32_t b) { return (values[a] + values[b]) / 2; });
}

}  // namespace

void run_rank_histogram(const Rank& rank, PixelClass cls, const RowsView& in, TileOut out,
                        Scratch& scratch) {
  const ScratchScope scope(scratch);
  const std::vector<MaskRun> runs = plan_extremum(rank.mask).runs;
  switch (cls) {
    case PixelClass::logical:
    case PixelClass::uint8: return slide_codes<std::uint8_t>(rank, runs, in, out, 255, 4);
    case PixelClass::uint16: return slide_codes<std::uint16_t>(rank, runs, in, out, 65535, 8);
    case PixelClass::single: return slide_floats(rank, runs, in, out, scratch);
  }
}

}  // namespace impipe::cpu
