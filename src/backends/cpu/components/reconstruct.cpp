// Reconstruction by dilation: values that spread over the image.
#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <type_traits>

#include "backends/cpu/components/label.hpp"

namespace impipe::cpu {
namespace {

constexpr std::int64_t part_rows = 128;

struct Place {
  std::int32_t x = 0, y = 0;
};

// Places in the order of their values, the largest first: a list for each code of an integer class.
// What is added later is never larger than what was taken.
template <class T>
class Falling {
 public:
  void add(T value, Place place) {
    places_[value].push_back(place);
    highest_ = std::max<int>(highest_, value);
  }
  bool take(T& value, Place& place) {
    while (highest_ >= 0 && places_[static_cast<std::size_t>(highest_)].empty()) --highest_;
    if (highest_ < 0) return false;
    std::vector<Place>& list = places_[static_cast<std::size_t>(highest_)];
    value = static_cast<T>(highest_);
    place = list.back();
    list.pop_back();
    return true;
  }

 private:
  std::vector<std::vector<Place>> places_{std::size_t{1} << 8 * sizeof(T)};
  int highest_ = -1;
};

template <>
class Falling<std::int32_t> {
 public:
  void add(std::int32_t value, Place place) { places_.push({value, place}); }
  bool take(std::int32_t& value, Place& place) {
    if (places_.empty()) return false;
    value = places_.top().value;
    place = places_.top().place;
    places_.pop();
    return true;
  }

 private:
  struct Valued {
    std::int32_t value;
    Place place;
    bool operator<(const Valued& other) const { return value < other.value; }
  };
  std::priority_queue<Valued> places_;
};

// Vincent's two scans, in parts of the image side by side; what they leave, from the largest value
// down, so that every pixel has its own when its turn comes.
template <class T>
class Reconstruction {
 public:
  Reconstruction(int connectivity, const Plane& mask, Plane& out)
      : corners_(connectivity == 8),
        mask_(mask),
        out_(out),
        width_(mask.size().width),
        height_(mask.size().height) {}

  // out: the marker, at most the mask.
  void run(ThreadPool& pool) {
    const std::int64_t parts = (height_ + part_rows - 1) / part_rows;
    pool.for_each(parts, [&](std::int64_t part) {
      const std::int64_t y0 = part * part_rows, y1 = std::min(height_, y0 + part_rows);
      std::vector<T> around(static_cast<std::size_t>(width_));
      for (std::int64_t y = y0; y < y1; ++y) scan_down(y, y > y0, around.data());
      for (std::int64_t y = y1; y-- > y0;) scan_up(y, y + 1 < y1, around.data());
    });
    std::vector<std::vector<Place>> leading(static_cast<std::size_t>(parts));
    pool.for_each(parts, [&](std::int64_t part) {
      const std::int64_t y0 = part * part_rows, y1 = std::min(height_, y0 + part_rows);
      for (std::int64_t y = y0; y < y1; ++y) find_leading(y, leading[part]);
    });
    Falling<T> places;
    for (const std::vector<Place>& list : leading) {
      for (const Place& p : list) places.add(out_row(p.y)[p.x], p);
    }
    T value;
    Place p;
    while (places.take(value, p)) {
      if (out_row(p.y)[p.x] != value) continue;  // it was raised meanwhile
      for_each_neighbour(p, [&](const Place& q) {
        T& there = out_row(q.y)[q.x];
        const T raised = std::min(value, mask_row(q.y)[q.x]);
        if (!(raised > there)) return;
        there = raised;
        places.add(raised, q);
      });
    }
  }

 private:
  const T* mask_row(std::int64_t y) const { return mask_.row_as<T>(y); }
  T* out_row(std::int64_t y) const { return out_.template row_as<T>(y); }

  template <class Visit>
  void for_each_neighbour(const Place& p, const Visit& visit) const {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || (!corners_ && dx != 0 && dy != 0)) continue;
        const Place q{p.x + dx, p.y + dy};
        if (q.x >= 0 && q.x < width_ && q.y >= 0 && q.y < height_) visit(q);
      }
    }
  }

  // The largest of a row's own values and of those of the row beside it, if there is one.
  void gather(const T* own, const T* beside, T* around) const {
    if (beside == nullptr) {
      std::copy_n(own, width_, around);
      return;
    }
    for (std::int64_t x = 0; x < width_; ++x) around[x] = std::max(own[x], beside[x]);
    if (!corners_) return;
    for (std::int64_t x = 1; x < width_; ++x) around[x] = std::max(around[x], beside[x - 1]);
    for (std::int64_t x = 0; x + 1 < width_; ++x) around[x] = std::max(around[x], beside[x + 1]);
  }

  void scan_down(std::int64_t y, bool has_beside, T* around) const {
    T* out = out_row(y);
    const T* mask = mask_row(y);
    gather(out, has_beside ? out_row(y - 1) : nullptr, around);
    T last = around[0];
    for (std::int64_t x = 0; x < width_; ++x) {
      last = std::min(std::max(last, around[x]), mask[x]);
      out[x] = last;
    }
  }

  void scan_up(std::int64_t y, bool has_beside, T* around) const {
    T* out = out_row(y);
    const T* mask = mask_row(y);
    gather(out, has_beside ? out_row(y + 1) : nullptr, around);
    T last = around[width_ - 1];
    for (std::int64_t x = width_; x-- > 0;) {
      last = std::min(std::max(last, around[x]), mask[x]);
      out[x] = last;
    }
  }

  // Places with a neighbour that they can raise.
  void find_leading(std::int64_t y, std::vector<Place>& leading) const {
    for (std::int64_t x = 0; x < width_; ++x) {
      const Place p{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)};
      const T value = out_row(y)[x];
      bool leads = false;
      for_each_neighbour(p, [&](const Place& q) {
        const T there = out_row(q.y)[q.x];
        leads |= there < value && there < mask_row(q.y)[q.x];
      });
      if (leads) leading.push_back(p);
    }
  }

  bool corners_;
  const Plane& mask_;
  Plane& out_;
  std::int64_t width_, height_;
};

// Floats go as whole numbers in their order, with one zero, NaN below all.
template <class T>
using Key = std::conditional_t<std::is_same_v<T, float>, std::int32_t, T>;
template <class T>
constexpr Key<T> lowest_key = std::numeric_limits<Key<T>>::min();

template <class T>
Key<T> key_of(T value) {
  if constexpr (std::is_same_v<T, float>) {
    const auto bits = std::bit_cast<std::int32_t>(value + 0.0f);
    const std::int32_t key = bits ^ (bits >> 31 & std::numeric_limits<std::int32_t>::max());
    return value != value ? lowest_key<T> : key;
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
                 ThreadPool& pool) {
  const Size size = mask.size();
  constexpr bool single = std::is_same_v<T, float>;
  Plane keys;
  if constexpr (single) keys = Plane(mask.cls(), size);
  pool.for_each(size.height, [&](std::int64_t y) {
    const T* from = marker.row_as<T>(y);
    const T* most = mask.row_as<T>(y);
    Key<T>* to = out.row_as<Key<T>>(y);
    for (std::int64_t x = 0; x < size.width; ++x)
      to[x] = std::min(key_of(from[x]), key_of(most[x]));
    if constexpr (single) {
      Key<T>* key = keys.row_as<Key<T>>(y);
      for (std::int64_t x = 0; x < size.width; ++x) key[x] = key_of(most[x]);
    }
  });
  Reconstruction<Key<T>>(connectivity, single ? keys : mask, out).run(pool);
  if constexpr (single) {
    pool.for_each(size.height, [&](std::int64_t y) {
      const Key<T>* key = out.row_as<Key<T>>(y);
      T* to = out.row_as<T>(y);
      for (std::int64_t x = 0; x < size.width; ++x) to[x] = value_of<T>(key[x]);
    });
  }
}

template <class T>
void gray_holes(int connectivity, const Plane& image, Plane& out, ThreadPool& pool) {
  const Size size = image.size();
  Plane mask(image.cls(), size);
  pool.for_each(size.height, [&](std::int64_t y) {
    const T* from = image.row_as<T>(y);
    Key<T>* turn = mask.row_as<Key<T>>(y);
    Key<T>* to = out.row_as<Key<T>>(y);
    const bool border = y == 0 || y + 1 == size.height;
    for (std::int64_t x = 0; x < size.width; ++x) turn[x] = key_of(turned(from[x]));
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = border ? turn[x] : lowest_key<T>;
    to[0] = turn[0];
    to[size.width - 1] = turn[size.width - 1];
  });
  Reconstruction<Key<T>>(connectivity, mask, out).run(pool);
  pool.for_each(size.height, [&](std::int64_t y) {
    const Key<T>* key = out.row_as<Key<T>>(y);
    T* to = out.row_as<T>(y);
    for (std::int64_t x = 0; x < size.width; ++x) to[x] = turned(value_of<T>(key[x]));
  });
}

}  // namespace

void run_reconstruct(int connectivity, const Plane& marker, const Plane& mask, Plane& out,
                     ThreadPool& pool) {
  if (mask.cls() == PixelClass::single) {
    reconstruct<float>(connectivity, marker, mask, out, pool);
  } else if (mask.cls() == PixelClass::uint16) {
    reconstruct<std::uint16_t>(connectivity, marker, mask, out, pool);
  } else {
    reconstruct<std::uint8_t>(connectivity, marker, mask, out, pool);
  }
}

void run_gray_holes(int connectivity, const Plane& image, Plane& out, ThreadPool& pool) {
  if (image.cls() == PixelClass::single) {
    gray_holes<float>(connectivity, image, out, pool);
  } else if (image.cls() == PixelClass::uint16) {
    gray_holes<std::uint16_t>(connectivity, image, out, pool);
  } else {
    gray_holes<std::uint8_t>(connectivity, image, out, pool);
  }
}

}  // namespace impipe::cpu
