// Reconstruction by dilation: values that spread over the image.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <queue>
#include <type_traits>
#include <utility>

#include "backends/cpu/components/label.hpp"
#include "backends/cpu/components/sweep_rows.hpp"
#include "core/plane_rows.hpp"

namespace impipe::cpu {
namespace {

// Floats go as whole numbers in their order, with one zero, NaN below all.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, float>, std::int32_t, T>;

template <class T>
Key<T> key_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    const auto bits = std::bit_cast<std::int32_t>(value + 0.0f);
    const std::int32_t key = bits ^ (bits >> 31 & std::numeric_limits<std::int32_t>::max());
    return value != value ? std::numeric_limits<Key<T>>::min() : key;
  } else {
    return value;
  }
}
template <class T>
T value_of(Key<T> key) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(key ^ (key >> 31 & std::numeric_limits<std::int32_t>::max()));
  } else {
    return key;
  }
}

// Planes of keys with a frame of the lowest.
template <class T>
class Framed {
 public:
  explicit Framed(Size size) : size_(size), plane_(plane_class(), framed(size)) {
    std::fill_n(row(-1), size_.width, lowest);
    std::fill_n(row(size_.height), size_.width, lowest);
    for (std::int64_t y = -1; y <= size_.height; ++y) {
      std::fill_n(row(y) - padding, padding, lowest);
      std::fill_n(row(y) + size_.width, framed(size_).width - padding - size_.width, lowest);
    }
  }

  Size size() const { return size_; }
  T* row(std::int64_t y) { return plane_.template row_as<T>(y + 1) + padding; }
  const T* row(std::int64_t y) const { return plane_.template row_as<T>(y + 1) + padding; }
  // Of row 0; from a row to the next, in keys.
  T* data() { return row(0); }
  const T* data() const { return row(0); }
  std::int64_t stride() const { return plane_.stride() / std::int64_t{sizeof(T)}; }

  static constexpr T lowest = std::numeric_limits<T>::min();

 private:
  static constexpr std::int64_t padding = row_padding / std::int64_t{sizeof(T)};
  static constexpr PixelClass plane_class() {
    return sizeof(T) == 1   ? PixelClass::uint8
           : sizeof(T) == 2 ? PixelClass::uint16
                            : PixelClass::single;
  }
  // Whole vectors, and one more on each side.
  static Size framed(Size size) {
    const std::int64_t vectors = (size.width + padding - 1) / padding;
    return {(vectors + 2) * padding, size.height + 2};
  }

  Size size_;
  Plane plane_;
};

constexpr int buckets = 4096;

// The bucket of a key: larger ones have none below.
template <class T>
class BucketOf {
 public:
  explicit BucketOf(const Framed<T>&) {}
  int operator()(T key) const { return sizeof(T) == 1 ? key : key >> 4; }
};

// Of floats by their distance from one near the smallest.
template <>
class BucketOf<std::int32_t> {
 public:
  explicit BucketOf(const Framed<std::int32_t>& keys) {
    constexpr std::int64_t step = 13;  // of rows and columns that are looked at
    constexpr std::size_t part = 256;  // of which the first and the last are taken for outliers
    std::vector<float> values;
    for (std::int64_t y = 0; y < keys.size().height; y += step) {
      const std::int32_t* row = keys.row(y);
      for (std::int64_t x = y % step; x < keys.size().width; x += step) {
        const float value = value_of<float>(row[x]);
        if (std::isfinite(value)) values.push_back(value);
      }
    }
    if (values.empty()) return;
    const auto at = [&](std::size_t place) {
      std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                       values.end());
      return values[place];
    };
    first_ = at(values.size() / part);
    const float range = at(values.size() - 1 - values.size() / part) - first_;
    if (range > 0 && std::isfinite(range)) scale_ = static_cast<float>(buckets - 1) / range;
    if (!std::isfinite(scale_)) scale_ = 0;
  }
  int operator()(std::int32_t key) const {
    // NaN is in the first.
    const float place = std::max(0.0f, (value_of<float>(key) - first_) * scale_);
    return static_cast<int>(std::min(place, static_cast<float>(buckets - 1)));
  }

 private:
  float first_ = 0, scale_ = 0;
};

// A bucket queue of pixel indices, first in first out within a bucket.
class Waiting {
 public:
  void add(int bucket, std::int64_t place) {
    Line& line = lines_[static_cast<std::size_t>(bucket)];
    if (line.last == nullptr || line.last->used == Block::room) append_block(line);
    line.last->places[line.last->used++] = place;
    highest_ = std::max(highest_, bucket);
  }
  // Of the highest bucket that has one.
  bool take(std::int64_t& place) {
    for (; highest_ >= 0; --highest_) {
      Line& line = lines_[static_cast<std::size_t>(highest_)];
      if (line.first == nullptr) continue;
      place = line.first->places[line.taken++];
      if (line.taken == line.first->used) drop_block(line);
      return true;
    }
    return false;
  }

 private:
  struct Block {
    static constexpr std::int32_t room = 62;
    Block* next = nullptr;
    std::int32_t used = 0;
    std::int64_t places[room];
  };
  struct Line {
    Block *first = nullptr, *last = nullptr;
    std::int32_t taken = 0;  // of the first block
  };

  void append_block(Line& line) {
    if (free_ == nullptr) {
      constexpr std::size_t together = 128;
      memory_.push_back(std::make_unique<Block[]>(together));
      for (std::size_t i = 0; i < together; ++i) {
        memory_.back()[i].next = std::exchange(free_, &memory_.back()[i]);
      }
    }
    Block* block = std::exchange(free_, free_->next);
    block->next = nullptr;
    block->used = 0;
    (line.last == nullptr ? line.first : line.last->next) = block;
    line.last = block;
  }
  void drop_block(Line& line) {
    Block* block = std::exchange(line.first, line.first->next);
    if (line.first == nullptr) line.last = nullptr;
    line.taken = 0;
    block->next = std::exchange(free_, block);
  }

  std::vector<Line> lines_{buckets};
  int highest_ = -1;
  std::vector<std::unique_ptr<Block[]>> memory_;
  Block* free_ = nullptr;
};

// Sweeps down and up the image, in strips side by side; what they leave, about from the largest
// value down, so that hardly any pixel is raised twice.
template <class T>
class Reconstruction {
 public:
  // values: the marker, at most the mask.
  Reconstruction(int connectivity, const Framed<T>& mask, Framed<T>& values, CpuLevel level)
      : corners_(connectivity == 8),
        mask_(mask),
        values_(values),
        height_(mask.size().height),
        forward_(sweep_row<T>(true, level)),
        backward_(sweep_row<T>(false, level)),
        level_(level) {}

  void run(ThreadPool& pool) {
    const std::int64_t strips =
        std::clamp<std::int64_t>(height_ / (2 * part_rows), 1, pool.helpers() + 1);
    pool.for_each(strips, [&](std::int64_t strip) {
      sweep_strip(height_ * strip / strips, height_ * (strip + 1) / strips);
    });
    const std::int64_t parts = (height_ + part_rows - 1) / part_rows;
    std::vector<std::vector<std::int64_t>> leading(static_cast<std::size_t>(parts));
    pool.for_each(parts, [&](std::int64_t part) {
      find_leading(part * part_rows, std::min(height_, (part + 1) * part_rows), leading[part]);
    });
    spread(leading);
  }

 private:
  static constexpr std::int64_t part_rows = 128;

  // Rows [y, end) of a strip that begins at `first` and ends at `last`: what lies beyond is
  // another thread's.
  void sweep_down(std::int64_t y, std::int64_t end, std::int64_t first) const {
    for (; y < end; ++y) {
      forward_(values_.row(y), values_.row(y > first ? y - 1 : -1), mask_.row(y),
               mask_.size().width, corners_);
    }
  }
  void sweep_up(std::int64_t y, std::int64_t end, std::int64_t last) const {
    while (end-- > y) {
      backward_(values_.row(end), values_.row(end + 1 < last ? end + 1 : -1), mask_.row(end),
                mask_.size().width, corners_);
    }
  }
  // A part of a strip at a time, which a cache holds: twice from the first to the last, down and
  // up, and twice back.
  void sweep_strip(std::int64_t first, std::int64_t last) const {
    for (int turn = 0; turn < 2; ++turn) {
      std::int64_t y = first;
      for (; y < last; y += part_rows) {
        sweep_down(y, std::min(last, y + part_rows), first);
        sweep_up(y, std::min(last, y + part_rows), last);
      }
      for (y -= part_rows; y >= first; y -= part_rows) {
        sweep_up(y, std::min(last, y + part_rows), last);
        sweep_down(y, std::min(last, y + part_rows), first);
      }
    }
  }

  // Places of rows [y, end) with a neighbour that they can raise.
  void find_leading(std::int64_t y, std::int64_t end, std::vector<std::int64_t>& leading) const {
    const std::int64_t width = mask_.size().width, pitch = width + 2;
    constexpr std::int64_t together = 8;
    std::vector<T> open(static_cast<std::size_t>(3 * pitch));
    std::vector<std::uint8_t> leads(static_cast<std::size_t>(width + together));
    const OpenRow<T> open_values = open_row<T>(level_);
    const LeadRow<T> find = lead_row<T>(level_);
    const auto opened = [&](std::int64_t row) { return open.data() + (row + 3) % 3 * pitch + 1; };
    for (std::int64_t row = y - 1; row <= y; ++row) {
      open_values(opened(row), values_.row(row), mask_.row(row), width);
    }
    for (; y < end; ++y) {
      open_values(opened(y + 1), values_.row(y + 1), mask_.row(y + 1), width);
      find(leads.data(), values_.row(y), {opened(y - 1), opened(y), opened(y + 1)}, width,
           corners_);
      for (std::int64_t x = 0; x < width; x += together) {
        std::uint64_t some = 0;
        std::memcpy(&some, leads.data() + x, sizeof some);
        for (std::int64_t k = x; some != 0 && k < x + together; ++k) {
          if (leads[static_cast<std::size_t>(k)] != 0) leading.push_back(y * values_.stride() + k);
        }
      }
    }
  }

  // Raises the neighbours of a place.
  template <class Raised>
  void raise(std::int64_t place, const Raised& raised) const {
    const std::int64_t stride = values_.stride();
    const std::int64_t steps[] = {-stride,     -1,          1,          stride,
                                  -stride - 1, -stride + 1, stride - 1, stride + 1};
    T* values = values_.data();
    const T* mask = mask_.data();
    const T value = values[place];
    for (int i = 0; i < (corners_ ? 8 : 4); ++i) {
      const std::int64_t next = place + steps[i];
      const T most = std::min(value, mask[next]);
      if (!(most > values[next])) continue;
      values[next] = most;
      raised(next, most);
    }
  }

  void spread(const std::vector<std::vector<std::int64_t>>& leading) const {
    const BucketOf<T> bucket_of(mask_);
    Waiting waiting;
    for (const auto& places : leading) {
      for (const std::int64_t place : places) {
        waiting.add(bucket_of(values_.data()[place]), place);
      }
    }
    // Where buckets have too many values the rest goes in order.
    std::int64_t left = 4 * mask_.size().width * height_;
    std::int64_t place = 0;
    while (left-- > 0 && waiting.take(place)) {
      raise(place, [&](std::int64_t next, T value) { waiting.add(bucket_of(value), next); });
    }
    std::priority_queue<std::pair<T, std::int64_t>> rest;
    while (waiting.take(place)) rest.emplace(values_.data()[place], place);
    while (!rest.empty()) {
      const auto [value, at] = rest.top();
      rest.pop();
      if (values_.data()[at] != value) continue;  // it was raised meanwhile
      raise(at, [&](std::int64_t next, T raised) { rest.emplace(raised, next); });
    }
  }

  bool corners_;
  const Framed<T>& mask_;
  Framed<T>& values_;
  std::int64_t height_;
  SweepRow<T> forward_, backward_;
  CpuLevel level_;
};

// Values turned round, so that the smallest becomes the largest.
template <class T>
T turned(T value) {
  if constexpr (std::is_same_v<T, float>)
    return 0.0f - value;
  else
    return static_cast<T>(std::numeric_limits<T>::max() - value);
}

template <class T>
void reconstruct(int connectivity, const Plane& marker, const Plane& mask, Plane& out,
                 ThreadPool& pool, CpuLevel level) {
  const Size size = mask.size();
  Framed<Key<T>> keys(size), values(size);
  pool.for_each(size.height, [&](std::int64_t y) {
    const T* from = marker.row_as<T>(y);
    const T* most = mask.row_as<T>(y);
    Key<T>*key = keys.row(y), *to = values.row(y);
    for (std::int64_t x = 0; x < size.width; ++x) {
      key[x] = key_of(most[x]);
      to[x] = std::min(key_of(from[x]), key[x]);
    }
  });
  Reconstruction<Key<T>>(connectivity, keys, values, level).run(pool);
  pool.for_each(size.height, [&](std::int64_t y) {
    const Key<T>* key = values.row(y);
    T* to = out.row_as<T>(y);
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = value_of<T>(key[x]);
  });
}

template <class T>
void gray_holes(int connectivity, const Plane& image, Plane& out, ThreadPool& pool,
                CpuLevel level) {
  const Size size = image.size();
  Framed<Key<T>> keys(size), values(size);
  pool.for_each(size.height, [&](std::int64_t y) {
    const T* from = image.row_as<T>(y);
    Key<T>*key = keys.row(y), *to = values.row(y);
    const bool border = y == 0 || y + 1 == size.height;
    for (std::int64_t x = 0; x < size.width; ++x) key[x] = key_of(turned(from[x]));
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = border ? key[x] : Framed<Key<T>>::lowest;
    to[0] = key[0];
    to[size.width - 1] = key[size.width - 1];
  });
  Reconstruction<Key<T>>(connectivity, keys, values, level).run(pool);
  pool.for_each(size.height, [&](std::int64_t y) {
    const Key<T>* key = values.row(y);
    T* to = out.row_as<T>(y);
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = turned(value_of<T>(key[x]));
  });
}

}  // namespace

void run_reconstruct(int connectivity, const Plane& marker, const Plane& mask, Plane& out,
                     ThreadPool& pool, CpuLevel level) {
  with_pixel(mask.cls(), [&](auto pixel) {
    reconstruct<decltype(pixel)>(connectivity, marker, mask, out, pool, level);
  });
}

void run_gray_holes(int connectivity, const Plane& image, Plane& out, ThreadPool& pool,
                    CpuLevel level) {
  with_pixel(image.cls(), [&](auto pixel) {
    gray_holes<decltype(pixel)>(connectivity, image, out, pool, level);
  });
}

}  // namespace impipe::cpu
