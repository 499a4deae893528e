// Meyer's flooding: pixels in the order of their heights, equal ones in the order in which they
// were found.
#include "backends/cpu/components/flood.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <queue>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace impipe::cpu {
namespace {

using Index = std::int64_t;

// Codes: a list for each, of pixels in the order in which they came; and which lists have any.
class CodeQueue {
 public:
  CodeQueue(std::int64_t codes, std::int64_t pixels)
      : first_(static_cast<std::size_t>(codes), -1),
        last_(first_.size(), -1),
        next_(static_cast<std::size_t>(pixels), -1),
        words_((first_.size() + 63) / 64),
        over_((words_.size() + 63) / 64) {}

  void push(std::uint32_t code, Index pixel) {
    next_[pixel] = -1;
    if (first_[code] < 0) {
      first_[code] = pixel;
      words_[code / 64] |= std::uint64_t{1} << code % 64;
      over_[code / 4096] |= std::uint64_t{1} << code / 64 % 64;
    } else {
      next_[last_[code]] = pixel;
    }
    last_[code] = pixel;
  }

  // -1: there is none.
  Index pop() {
    const auto over = std::find_if(over_.begin(), over_.end(), [](auto w) { return w != 0; });
    if (over == over_.end()) return -1;
    const auto word =
        static_cast<std::size_t>((over - over_.begin()) * 64 + std::countr_zero(*over));
    const std::size_t code = word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
    const Index pixel = first_[code];
    first_[code] = next_[pixel];
    if (first_[code] < 0) {
      words_[word] &= words_[word] - 1;
      if (words_[word] == 0) *over &= *over - 1;
    }
    return pixel;
  }

 private:
  std::vector<Index> first_, last_, next_;
  std::vector<std::uint64_t> words_, over_;  // bits: a list, a word
};

class FloatQueue {
 public:
  void push(float height, Index pixel) { queue_.push({height, count_++, pixel}); }
  Index pop() {
    if (queue_.empty()) return -1;
    const Index pixel = queue_.top().pixel;
    queue_.pop();
    return pixel;
  }

 private:
  struct Entry {
    float height;
    std::int64_t sequence;
    Index pixel;
    bool operator<(const Entry& o) const {  // the queue has its largest in front
      return height != o.height ? height > o.height : sequence > o.sequence;
    }
  };
  std::priority_queue<Entry> queue_;
  std::int64_t count_ = 0;
};

struct Step {
  int dx, dy;
};
// Down the columns.
constexpr std::array<Step, 8> around{
    {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}};
constexpr std::array<Step, 4> beside{{{-1, 0}, {0, -1}, {0, 1}, {1, 0}}};

template <class T, class Queue>
class Flooding {
 public:
  Flooding(const Flood& flood, const Plane& heights, Plane& out, Queue queue)
      : heights_(heights),
        out_(out),
        size_(out.size()),
        steps_(flood.connectivity == 8 ? std::span<const Step>(around) : std::span(beside)),
        queue_(std::move(queue)),
        queued_(static_cast<std::size_t>(size_.pixels())) {}

  void run() {
    for (std::int64_t y = 0; y < size_.height; ++y) {
      for (std::int64_t x = 0; x < size_.width; ++x) {
        queued_[y * size_.width + x] = out_.row_as<float>(y)[x] != 0;
      }
    }
    for (std::int64_t x = 0; x < size_.width; ++x) {
      for (std::int64_t y = 0; y < size_.height; ++y) {
        if (out_.row_as<float>(y)[x] != 0) queue_neighbours(x, y);
      }
    }
    for (Index pixel; (pixel = queue_.pop()) >= 0;) {
      const std::int64_t x = pixel % size_.width, y = pixel / size_.width;
      const float label = label_around(x, y);
      if (label == 0) continue;
      out_.row_as<float>(y)[x] = label;
      queue_neighbours(x, y);
    }
  }

 private:
  bool inside(std::int64_t x, std::int64_t y) const {
    return x >= 0 && x < size_.width && y >= 0 && y < size_.height;
  }

  void queue_neighbours(std::int64_t x, std::int64_t y) {
    for (const Step& step : steps_) {
      const std::int64_t at_x = x + step.dx, at_y = y + step.dy;
      if (!inside(at_x, at_y)) continue;
      const Index pixel = at_y * size_.width + at_x;
      if (queued_[pixel] != 0) continue;
      queued_[pixel] = 1;
      queue_.push(heights_.row_as<T>(at_y)[at_x], pixel);
    }
  }

  // Of all labelled neighbours; 0 where they have several.
  float label_around(std::int64_t x, std::int64_t y) {
    float label = 0;
    for (const Step& step : steps_) {
      if (!inside(x + step.dx, y + step.dy)) continue;
      const float one = out_.row_as<float>(y + step.dy)[x + step.dx];
      if (one == 0) continue;
      if (label != 0 && one != label) return 0;
      label = one;
    }
    return label;
  }

  const Plane& heights_;
  Plane& out_;
  Size size_;
  std::span<const Step> steps_;
  Queue queue_;
  std::vector<std::uint8_t> queued_;
};

}  // namespace

void run_flood(const Flood& flood, const Plane& heights, const Plane& labels, Plane& out) {
  const Size size = out.size();
  for (std::int64_t y = 0; y < size.height; ++y) {
    std::copy_n(labels.row_as<float>(y), size.width, out.row_as<float>(y));
  }
  if (heights.cls() != PixelClass::single) {
    const bool bytes = bytes_of(heights.cls()) == 1;
    CodeQueue queue(bytes ? 256 : 65536, size.pixels());
    if (bytes)
      return Flooding<std::uint8_t, CodeQueue>(flood, heights, out, std::move(queue)).run();
    return Flooding<std::uint16_t, CodeQueue>(flood, heights, out, std::move(queue)).run();
  }
  for (std::int64_t y = 0; y < size.height; ++y) {
    const float* row = heights.row_as<float>(y);
    if (std::any_of(row, row + size.width, [](float v) { return std::isnan(v); })) {
      throw Error("watershed: the image has NaN", ExitCode::file_failed);
    }
  }
  Flooding<float, FloatQueue>(flood, heights, out, {}).run();
}

}  // namespace impipe::cpu
