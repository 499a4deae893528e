// Meyer's flooding: pixels in the order of their heights, equal ones in the order in which they
// were found. Heights are made whole numbers, so that pixels of one height wait in a list; pixels
// lie in a frame that is never flooded, so that no neighbour is asked whether it is inside.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cpu/components/label.hpp"
#include "core/error.hpp"

namespace impipe::cpu {
namespace {

// The image with a pixel of frame on each side, row by row.
struct Frame {
  Size image;
  std::int64_t stride() const { return image.width + 2; }
  std::int64_t pixels() const { return stride() * (image.height + 2); }
  std::int64_t at(std::int64_t x, std::int64_t y) const { return (y + 1) * stride() + x + 1; }
};

// For each code a list of pixels in the order in which they came.
template <class Index>
class CodeQueue {
 public:
  CodeQueue(std::int64_t codes, std::int64_t pixels)
      : ends_(static_cast<std::size_t>(codes), Ends{none, none}),
        next_(static_cast<std::size_t>(pixels)) {
    for (std::int64_t n = codes; n > 1 || levels_.empty();) {
      n = (n + 63) / 64;
      levels_.emplace_back(static_cast<std::size_t>(n));
    }
  }

  void push(std::uint32_t code, Index pixel) {
    Ends& ends = ends_[code];
    next_[pixel] = none;
    if (ends.first == none) {
      ends.first = pixel;
      mark(code);
      lowest_ = std::min(lowest_, code);
    } else {
      next_[ends.last] = pixel;
    }
    ends.last = pixel;
  }

  // none: there is no pixel.
  Index pop() {
    if (lowest_ == empty) return none;
    Ends& ends = ends_[lowest_];
    const Index pixel = ends.first;
    ends.first = next_[pixel];
    if (ends.first == none) remove_lowest();
    return pixel;
  }

  // The one that comes next unless a lower one is found before; none: not known.
  Index soon() const { return lowest_ == empty ? none : ends_[lowest_].first; }

  static constexpr Index none = std::numeric_limits<Index>::max();

 private:
  static constexpr std::uint32_t empty = std::numeric_limits<std::uint32_t>::max();
  struct Ends {
    Index first, last;
  };

  void mark(std::size_t place) {
    for (auto& level : levels_) {
      std::uint64_t& word = level[place / 64];
      const bool had = word != 0;
      word |= std::uint64_t{1} << place % 64;
      if (had) return;
      place /= 64;
    }
  }

  // The lowest code has no pixels any more; finds the next.
  void remove_lowest() {
    std::size_t place = lowest_, level = 0;
    while (level < levels_.size()) {
      std::uint64_t& word = levels_[level][place / 64];
      word &= ~(std::uint64_t{1} << place % 64);
      place /= 64;
      if (word != 0) break;
      ++level;
    }
    if (level == levels_.size()) {
      lowest_ = empty;
      return;
    }
    for (std::size_t l = level + 1; l-- > 0;) {
      place = place * 64 + static_cast<std::size_t>(std::countr_zero(levels_[l][place]));
    }
    lowest_ = static_cast<std::uint32_t>(place);
  }

  std::vector<Ends> ends_;
  std::vector<Index> next_;
  // A bit for each code that has pixels, for each word of those, and so on to one word.
  std::vector<std::vector<std::uint64_t>> levels_;
  std::uint32_t lowest_ = empty;
};

// Labels as bits of floats; 0: none yet.
using State = std::uint32_t;
constexpr State waiting = std::numeric_limits<State>::max();  // queued, a line, or the frame
inline bool is_label(State s) { return s - 1 < waiting - 1; }

template <class Index, class Code>
class Flooding {
 public:
  // codes: of each pixel of the frame.
  Flooding(int connectivity, const Frame& frame, std::vector<Code> codes, std::int64_t different)
      : frame_(frame),
        codes_(std::move(codes)),
        states_(static_cast<std::size_t>(frame.pixels()), waiting),
        queue_(different, frame.pixels()) {
    const std::int64_t s = frame.stride();
    // Down the columns.
    if (connectivity == 8) {
      steps_ = {-s - 1, -1, s - 1, -s, s, -s + 1, 1, s + 1};
    } else {
      steps_ = {-1, -s, s, 1};
    }
  }

  void run(const Plane& labels, Plane& out) {
    for (std::int64_t y = 0; y < frame_.image.height; ++y) {
      const float* row = labels.row_as<float>(y);
      State* to = states_.data() + frame_.at(0, y);
      for (std::int64_t x = 0; x < frame_.image.width; ++x) {
        to[x] = row[x] == 0 ? 0 : std::bit_cast<State>(row[x]);
      }
    }
    if (steps_.size() == 8) {
      flood<8>();
    } else {
      flood<4>();
    }
    for (std::int64_t y = 0; y < frame_.image.height; ++y) {
      float* row = out.row_as<float>(y);
      const State* from = states_.data() + frame_.at(0, y);
      for (std::int64_t x = 0; x < frame_.image.width; ++x) {
        row[x] = from[x] == waiting ? 0 : std::bit_cast<float>(from[x]);
      }
    }
  }

 private:
  template <int count>
  void flood() {
    std::int64_t steps[count];
    std::copy_n(steps_.begin(), count, steps);
    queue_round_labels<count>(steps);
    State* const states = states_.data();
    for (Index pixel; (pixel = queue_.pop()) != queue_.none;) {
      if (const Index soon = queue_.soon(); soon != queue_.none) ask_for(soon);
      State* const here = states + pixel;
      const State label = label_around<count>(here, steps);
      if (label == 0) continue;
      *here = label;
      queue_neighbours<count>(pixel, steps);
    }
  }

  void ask_for(Index pixel) const {
    const State* const at = states_.data() + pixel;
    __builtin_prefetch(at - frame_.stride());
    __builtin_prefetch(at);
    __builtin_prefetch(at + frame_.stride());
  }

  template <int count>
  void queue_neighbours(std::int64_t pixel, const std::int64_t (&steps)[count]) {
    for (const std::int64_t step : steps) {
      const std::int64_t at = pixel + step;
      if (states_[at] != 0) continue;
      states_[at] = waiting;
      queue_.push(codes_[at], static_cast<Index>(at));
    }
  }

  // Of all labelled neighbours; 0 where they have several.
  template <int count>
  static State label_around(const State* here, const std::int64_t (&steps)[count]) {
    State least = waiting, largest = 0;
    for (const std::int64_t step : steps) {
      const State one = here[step];
      const bool is = is_label(one);
      least = is && one < least ? one : least;
      largest = is && one > largest ? one : largest;
    }
    return least == largest ? least : 0;
  }

  // The neighbours of labels, down the columns. Some columns at a time are gone through by rows for
  // the labels that have any.
  template <int count>
  void queue_round_labels(const std::int64_t (&steps)[count]) {
    constexpr std::int64_t together = 64;
    std::vector<Index> found[together];
    const Size size = frame_.image;
    for (std::int64_t x0 = 0; x0 < size.width; x0 += together) {
      const std::int64_t n = std::min(together, size.width - x0);
      for (std::int64_t y = 0; y < size.height; ++y) {
        const std::int64_t first = frame_.at(x0, y);
        for (std::int64_t x = 0; x < n; ++x) {
          const State* here = states_.data() + first + x;
          if (!is_label(*here)) continue;
          const bool any = std::any_of(steps, steps + count, [&](auto s) { return here[s] == 0; });
          if (any) found[x].push_back(static_cast<Index>(first + x));
        }
      }
      for (std::vector<Index>& column : found) {
        for (const Index pixel : column) queue_neighbours<count>(pixel, steps);
        column.clear();
      }
    }
  }

  Frame frame_;
  std::vector<Code> codes_;
  std::vector<State> states_;
  CodeQueue<Index> queue_;
  std::vector<std::int64_t> steps_;
};

// Places in the order of floats: how many different ones are smaller. 0 and -0 are equal.
template <class Index>
struct Ranks {
  std::vector<std::uint32_t> of_pixels;
  std::int64_t different = 0;
};
template <class Index>
Ranks<Index> ranks_of(const Plane& heights, const Frame& frame) {
  struct Entry {
    std::uint32_t key;
    Index pixel;
  };
  constexpr int digits = 3, bits = 11;
  constexpr std::uint32_t mask = (1u << bits) - 1;
  const auto n = static_cast<std::size_t>(frame.image.pixels());
  std::vector<Entry> entries(n), others(n);
  std::vector<std::size_t> counts[digits];
  for (auto& of : counts) of.resize(std::size_t{1} << bits);
  std::size_t k = 0;
  for (std::int64_t y = 0; y < frame.image.height; ++y) {
    const float* row = heights.row_as<float>(y);
    for (std::int64_t x = 0; x < frame.image.width; ++x) {
      const auto value = std::bit_cast<std::uint32_t>(row[x] + 0.0f);
      const std::uint32_t key = value >> 31 != 0 ? ~value : value | 0x80000000u;
      entries[k++] = {key, static_cast<Index>(frame.at(x, y))};
      for (int d = 0; d < digits; ++d) ++counts[d][key >> d * bits & mask];
    }
  }
  for (int d = 0; d < digits; ++d) {
    // All have one digit where one count is that of all.
    if (std::find(counts[d].begin(), counts[d].end(), n) != counts[d].end()) continue;
    std::size_t sum = 0;
    for (std::size_t& count : counts[d]) sum += std::exchange(count, sum);
    for (const Entry& entry : entries) others[counts[d][entry.key >> d * bits & mask]++] = entry;
    entries.swap(others);
  }
  Ranks<Index> out;
  out.of_pixels.resize(static_cast<std::size_t>(frame.pixels()));
  std::int64_t rank = -1;
  std::uint32_t last = 0;
  for (const Entry& entry : entries) {
    if (rank < 0 || entry.key != last) ++rank;
    last = entry.key;
    out.of_pixels[entry.pixel] = static_cast<std::uint32_t>(rank);
  }
  out.different = rank + 1;
  return out;
}

template <class Index, class Code>
void flood_codes(int connectivity, const Plane& heights, const Plane& labels, Plane& out) {
  const Frame frame{out.size()};
  std::vector<Code> codes(static_cast<std::size_t>(frame.pixels()));
  for (std::int64_t y = 0; y < frame.image.height; ++y) {
    std::copy_n(heights.row_as<Code>(y), frame.image.width, codes.data() + frame.at(0, y));
  }
  Flooding<Index, Code>(connectivity, frame, std::move(codes), std::int64_t{1} << 8 * sizeof(Code))
      .run(labels, out);
}

template <class Index>
void flood(int connectivity, const Plane& heights, const Plane& labels, Plane& out) {
  switch (heights.cls()) {
    case PixelClass::logical:
    case PixelClass::uint8:
      return flood_codes<Index, std::uint8_t>(connectivity, heights, labels, out);
    case PixelClass::uint16:
      return flood_codes<Index, std::uint16_t>(connectivity, heights, labels, out);
    case PixelClass::single: break;
  }
  const Frame frame{out.size()};
  Ranks<Index> ranks = ranks_of<Index>(heights, frame);
  Flooding<Index, std::uint32_t>(connectivity, frame, std::move(ranks.of_pixels), ranks.different)
      .run(labels, out);
}

}  // namespace

void run_flood(int connectivity, const Plane& heights, const Plane& labels, Plane& out) {
  const Size size = out.size();
  for (std::int64_t y = 0; y < size.height && heights.cls() == PixelClass::single; ++y) {
    const float* row = heights.row_as<float>(y);
    if (std::any_of(row, row + size.width, [](float v) { return std::isnan(v); })) {
      throw Error("watershed: the image has NaN", ExitCode::file_failed);
    }
  }
  if (Frame{size}.pixels() < std::numeric_limits<std::uint32_t>::max()) {
    return flood<std::uint32_t>(connectivity, heights, labels, out);
  }
  flood<std::uint64_t>(connectivity, heights, labels, out);
}

}  // namespace impipe::cpu
