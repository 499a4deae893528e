// Reductions of images pixel by pixel: running sums, and order statistics by a sorting network that
// sorts the values of neighbouring pixels side by side.
#include "core/image_reduction.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/body.hpp"
#include "core/has_v3.hpp"
#include "core/volume.hpp"

namespace impipe {
namespace {

using Operation = ImageReduction::Operation;

// A value in raw units as a pixel: rounded half away from zero, saturated, NaN to 0.
template <class T>
T pixel_of(double value, PixelClass cls) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(value);
  } else {
    if (cls == PixelClass::logical) return value >= 0.5 ? 1 : 0;
    const double rounded = std::round(value);
    return rounded > 0 ? static_cast<T>(std::min(rounded, class_max(cls))) : T{0};
  }
}

void write_row(Plane& plane, std::int64_t y, const double* values, std::int64_t x,
               std::int64_t count) {
  with_pixel(plane.cls(), [&]<class T>(T) {
    T* to = plane.row_as<T>(y) + x;
    for (std::int64_t i = 0; i < count; ++i) to[i] = pixel_of<T>(values[i], plane.cls());
  });
}

// --- one image after the other

template <class T>
IMPIPE_INLINE void add_body(const T* from, double* sums, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i];
}

// Differences from the first image: sums of squares of those lose nothing where a pixel's values
// are large and near each other.
template <class T>
IMPIPE_INLINE void add_squares_body(const T* from, const T* first, double* sums, double* squares,
                                    std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(from[i]) - static_cast<double>(first[i]);
    sums[i] += difference;
    squares[i] += difference * difference;
  }
}

// NaN is the largest.
template <bool largest, class T>
IMPIPE_INLINE void extremum_body(const T* from, T* to, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const T a = to[i], b = from[i];
    if constexpr (std::is_integral_v<T>) {
      to[i] = largest ? std::max(a, b) : std::min(a, b);
    } else if constexpr (largest) {
      to[i] = a != a || a > b ? a : b;
    } else {
      to[i] = a != a || b < a ? b : a;
    }
  }
}

#define IMPIPE_RUNNING(level)                                                                 \
  template <class T>                                                                          \
  IMPIPE_TARGET_##level void add_##level(const T* from, double* sums, std::int64_t count) {   \
    add_body(from, sums, count);                                                              \
  }                                                                                           \
  template <class T>                                                                          \
  IMPIPE_TARGET_##level void add_squares_##level(const T* from, const T* first, double* sums, \
                                                 double* squares, std::int64_t count) {       \
    add_squares_body(from, first, sums, squares, count);                                      \
  }                                                                                           \
  template <bool largest, class T>                                                            \
  IMPIPE_TARGET_##level void extremum_##level(const T* from, T* to, std::int64_t count) {     \
    extremum_body<largest>(from, to, count);                                                  \
  }
IMPIPE_RUNNING(baseline)
IMPIPE_RUNNING(v3)
#undef IMPIPE_RUNNING

// What is known of one plane so far.
struct RunningPlane {
  Plane first;  // std: the first image's; max, min: the result so far
  std::vector<double> sums, squares;
};

template <class T>
void add_row(Operation operation, const Plane& from, RunningPlane& to, std::int64_t y) {
  const std::int64_t count = from.size().width;
  const T* row = from.row_as<T>(y);
  double* sums = to.sums.data() + y * count;
  switch (operation) {
    case Operation::max:
      return (has_v3() ? extremum_v3<true, T>
                       : extremum_baseline<true, T>)(row, to.first.row_as<T>(y), count);
    case Operation::min:
      return (has_v3() ? extremum_v3<false, T>
                       : extremum_baseline<false, T>)(row, to.first.row_as<T>(y), count);
    case Operation::std:
      return (has_v3() ? add_squares_v3<T>
                       : add_squares_baseline<T>)(row, to.first.row_as<T>(y), sums,
                                                  to.squares.data() + y * count, count);
    default: return (has_v3() ? add_v3<T> : add_baseline<T>)(row, sums, count);
  }
}

bool is_extremum(Operation operation) {
  return operation == Operation::max || operation == Operation::min;
}

Plane copy_of(const Plane& plane) {
  Plane copy(plane.cls(), plane.size());
  for (std::int64_t y = 0; y < plane.size().height; ++y) {
    std::memcpy(copy.row(y), plane.row(y), static_cast<std::size_t>(plane.row_bytes()));
  }
  return copy;
}

RunningPlane begin_plane(Operation operation, const Plane& image) {
  RunningPlane out;
  const auto pixels = static_cast<std::size_t>(image.size().pixels());
  if (operation == Operation::std) out.first = image;
  if (is_extremum(operation)) {
    out.first = copy_of(image);
    return out;
  }
  out.sums.resize(pixels);
  if (operation == Operation::std) out.squares.resize(pixels);
  return out;
}

// --- all images at once

// Exchanges that sort so many values (Knuth 5.2.2 M, Batcher's merge exchange).
using Exchanges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Exchanges sorting_network(std::uint32_t count) {
  Exchanges out;
  if (count < 2) return out;
  const std::uint32_t half = std::bit_ceil(count) / 2;
  for (std::uint32_t p = half; p > 0; p /= 2) {
    std::uint32_t q = half, r = 0, d = p;
    for (;;) {
      for (std::uint32_t i = 0; i + d < count; ++i) {
        if ((i & p) == r) out.emplace_back(i, i + d);
      }
      if (q == p) break;
      d = q - p;
      q /= 2;
      r = p;
    }
  }
  return out;
}

// Leaves out the exchanges on which the values in the middle do not depend.
void keep_medians(Exchanges& network, std::size_t count) {
  std::vector<bool> is_read(count, false);
  is_read[(count - 1) / 2] = is_read[count / 2] = true;
  std::size_t kept = network.size();
  for (std::size_t i = network.size(); i-- > 0;) {
    const auto [low, high] = network[i];
    if (!is_read[low] && !is_read[high]) continue;
    is_read[low] = is_read[high] = true;
    network[--kept] = network[i];
  }
  network.erase(network.begin(), network.begin() + static_cast<std::ptrdiff_t>(kept));
}

// Floats sort as whole numbers; NaN is the last of them.
constexpr std::int32_t key_of_nan = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t sign_as_order(std::int32_t bits) {
  return bits ^ ((bits >> 31) & key_of_nan);
}
constexpr std::int32_t infinite_key = 0x7f800000;

// Values of neighbouring pixels: one row of them an image.
template <class T>
struct Columns {
  using Key = std::conditional_t<std::is_floating_point_v<T>, std::int32_t, T>;
  static constexpr int width = 64 / static_cast<int>(sizeof(Key));
  struct alignas(64) Row {
    Key keys[width];
  };
  std::vector<Row> rows;
  explicit Columns(std::size_t images) : rows(images) {}
  Key* row(std::size_t image) { return rows[image].keys; }
  static double value(Key key) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(std::bit_cast<float>(sign_as_order(key)));
    } else {
      return static_cast<double>(key);
    }
  }
};

// finite: infinities count as NaN.
template <class T>
IMPIPE_INLINE void load_keys(const T* from, typename Columns<T>::Key* to, bool finite) {
  constexpr int width = Columns<T>::width;
  if constexpr (std::is_floating_point_v<T>) {
    const std::int32_t most = finite ? infinite_key - 1 : infinite_key;
#pragma GCC ivdep
    for (int i = 0; i < width; ++i) {
      const auto bits = std::bit_cast<std::int32_t>(from[i]);
      to[i] = (bits & key_of_nan) > most ? key_of_nan : sign_as_order(bits);
    }
  } else {
    std::memcpy(to, from, sizeof(T) * width);
  }
}

// Values side by side, as many as a vector register of x86-64-v3 has.
template <class Key>
using Lanes [[gnu::vector_size(32), gnu::may_alias]] = Key;

template <class Key, int width>
IMPIPE_INLINE void sort_body(Key* keys, const std::pair<std::uint32_t, std::uint32_t>* network,
                             std::size_t exchanges) {
  constexpr std::size_t registers = width * sizeof(Key) / sizeof(Lanes<Key>);
  auto* rows = reinterpret_cast<Lanes<Key>*>(keys);
  for (std::size_t e = 0; e < exchanges; ++e) {
    Lanes<Key>* a = rows + network[e].first * registers;
    Lanes<Key>* b = rows + network[e].second * registers;
    for (std::size_t i = 0; i < registers; ++i) {
      const Lanes<Key> x = a[i], y = b[i];
      a[i] = x < y ? x : y;
      b[i] = x < y ? y : x;
    }
  }
}

// Sums over the images of differences from `centres` and of their squares; how many are none of
// NaN. Of whole numbers they are exact.
template <class T>
IMPIPE_INLINE void sum_body(const typename Columns<T>::Key* keys, std::size_t images,
                            const double* centres, double* sums, double* squares, int* counts) {
  constexpr int width = Columns<T>::width;
  for (std::size_t n = 0; n < images; ++n) {
    const auto* row = keys + n * width;
#pragma GCC ivdep
    for (int i = 0; i < width; ++i) {
      const double difference = Columns<T>::value(row[i]) - centres[i];
      const bool counts_here = std::is_same_v<T, float> ? std::int64_t{row[i]} != key_of_nan : true;
      const double kept = counts_here ? difference : 0;
      sums[i] += kept;
      squares[i] += kept * kept;
      counts[i] += counts_here ? 1 : 0;
    }
  }
}

#define IMPIPE_ORDERED(level)                                                                      \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void load_##level(const T* from, typename Columns<T>::Key* to,             \
                                          bool finite) {                                           \
    load_keys(from, to, finite);                                                                   \
  }                                                                                                \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void sort_##level(typename Columns<T>::Key* keys,                          \
                                          const std::pair<std::uint32_t, std::uint32_t>* network,  \
                                          std::size_t exchanges) {                                 \
    sort_body<typename Columns<T>::Key, Columns<T>::width>(keys, network, exchanges);              \
  }                                                                                                \
  template <class T>                                                                               \
  IMPIPE_TARGET_##level void sum_##level(const typename Columns<T>::Key* keys, std::size_t images, \
                                         const double* centres, double* sums, double* squares,     \
                                         int* counts) {                                            \
    sum_body<T>(keys, images, centres, sums, squares, counts);                                     \
  }
IMPIPE_ORDERED(baseline)
IMPIPE_ORDERED(v3)
#undef IMPIPE_ORDERED

// One pixel's values in their order, those from `begin` to `end`, and what was summed of them.
template <class T>
struct Sample {
  const typename Columns<T>::Key* keys;  // the first
  double origin, sum, squares;           // sums of differences from `origin`
  int begin, end;

  double value(int at) const {
    return Columns<T>::value(keys[static_cast<std::ptrdiff_t>(at) * Columns<T>::width]);
  }
  int count() const { return end - begin; }
  double median() const {
    return (value(begin + (count() - 1) / 2) + value(begin + count() / 2)) / 2;
  }
  double mean() const { return origin + sum / count(); }
  double deviation() const {
    const double n = count();
    return std::sqrt(std::max(0.0, n * squares - sum * sum)) / n;
  }
  // Leaves what lies within.
  bool keep(double low, double high) {
    const int first = begin, last = end;
    const auto leave = [&](int at) {
      const double difference = value(at) - origin;
      sum -= difference;
      squares -= difference * difference;
    };
    while (begin < end && value(begin) < low) leave(begin++);
    while (begin < end && value(end - 1) > high) leave(--end);
    if (begin == first && end == last) return false;
    if constexpr (std::is_floating_point_v<T>) add_again();
    return begin < end;
  }
  // Sums of floats cannot be taken from.
  void add_again() {
    origin = begin < end ? median() : 0;
    sum = squares = 0;
    for (int i = begin; i < end; ++i) {
      const double difference = value(i) - origin;
      sum += difference;
      squares += difference * difference;
    }
  }
};

template <class T>
double clipped_mean(Sample<T>& sample, const ImageReduction& reduction) {
  for (int round = 0; round < reduction.iterations && sample.count() > 0; ++round) {
    const double centre = reduction.mean_is_centre ? sample.mean() : sample.median();
    const double reach = reduction.kappa * sample.deviation();
    if (!sample.keep(centre - reach, centre + reach)) break;
  }
  return sample.count() > 0 ? sample.mean() : std::numeric_limits<double>::quiet_NaN();
}

// The pixels of one plane, in pieces of some rows.
template <class T>
class Ordered {
 public:
  using Key = typename Columns<T>::Key;
  static constexpr int width = Columns<T>::width;

  Ordered(const ImageReduction& reduction, std::vector<ShiftedPlane> planes, Plane& result)
      : reduction_(reduction),
        planes_(std::move(planes)),
        result_(result),
        network_(sorting_network(static_cast<std::uint32_t>(planes_.size()))) {
    if (reduction_.operation == Operation::median) keep_medians(network_, planes_.size());
  }

  void make(RowRange rows) const {
    Columns<T> columns(planes_.size());
    double values[width];
    const std::int64_t row_width = result_.size().width;
    for (std::int64_t y = rows.begin; y < rows.end; ++y) {
      for (std::int64_t x = 0; x < row_width; x += width) {
        const std::int64_t count = std::min<std::int64_t>(width, row_width - x);
        load(columns, y, x, count);
        (has_v3() ? sort_v3<T> : sort_baseline<T>)(columns.row(0), network_.data(),
                                                   network_.size());
        if (reduction_.operation == Operation::median) {
          medians(columns, values);
        } else {
          clipped(columns, values, count);
        }
        write_row(result_, y, values, x, count);
      }
    }
  }

 private:
  void load(Columns<T>& columns, std::int64_t y, std::int64_t x, std::int64_t count) const {
    const bool finite = reduction_.operation == Operation::clip;
    T part[width] = {};
    for (std::size_t n = 0; n < planes_.size(); ++n) {
      const ShiftedPlane& plane = planes_[n];
      const T* from = plane.plane->row_as<T>(y + plane.rows) + plane.columns + x;
      if (count < width) {
        std::copy_n(from, count, part);
        from = part;
      }
      (has_v3() ? load_v3<T> : load_baseline<T>)(from, columns.row(n), finite);
    }
  }

  void medians(Columns<T>& columns, double* values) const {
    const Key* low = columns.row((planes_.size() - 1) / 2);
    const Key* high = columns.row(planes_.size() / 2);
    for (int i = 0; i < width; ++i) {
      values[i] = (Columns<T>::value(low[i]) + Columns<T>::value(high[i])) / 2;
    }
  }

  void clipped(Columns<T>& columns, double* values, std::int64_t count) const {
    double origins[width], sums[width] = {}, squares[width] = {};
    int counts[width] = {};
    const Key* middle = columns.row((planes_.size() - 1) / 2);
    for (int i = 0; i < width; ++i) {
      const double origin = Columns<T>::value(middle[i]);
      origins[i] = std::isnan(origin) ? Columns<T>::value(columns.row(0)[i]) : origin;
      if (std::isnan(origins[i])) origins[i] = 0;
    }
    (has_v3() ? sum_v3<T> : sum_baseline<T>)(columns.row(0), planes_.size(), origins, sums, squares,
                                             counts);
    for (int i = 0; i < count; ++i) {
      Sample<T> sample{columns.row(0) + i, origins[i], sums[i], squares[i], 0, counts[i]};
      values[i] = clipped_mean(sample, reduction_);
    }
  }

  const ImageReduction& reduction_;
  const std::vector<ShiftedPlane> planes_;
  Plane& result_;
  Exchanges network_;
};

void reduce_by_order(const ImageReduction& reduction, std::vector<ShiftedPlane> planes,
                     Plane& result, ThreadPool& pool) {
  with_pixel(planes.front().plane->cls(), [&]<class T>(T) {
    const Ordered<T> ordered(reduction, std::move(planes), result);
    for_rows(result.size(), pool, [&](RowRange rows) { ordered.make(rows); });
  });
}

HostImage image_of(const ImageType& type, Size size, std::optional<PixelClass> alpha) {
  HostImage out;
  out.type = type;
  out.planes = new_planes(type.cls, type.channels, size);
  if (alpha) out.alpha = Plane(*alpha, size);
  return out;
}

}  // namespace

void median_of(std::vector<ShiftedPlane> planes, Plane& result, ThreadPool& pool) {
  ImageReduction median;
  median.operation = Operation::median;
  reduce_by_order(median, std::move(planes), result, pool);
}

ImageType reduced_type(const ImageReduction& reduction, const ImageType& image) {
  if (reduction.volume) return reduction.volume->type(image);
  ImageType type = image;
  const bool sums = reduction.operation == Operation::sum;
  if (sums || reduction.operation == Operation::std) type.cls = PixelClass::single;
  if (sums) type.white = 0;
  if (!reduction.cls) return type;
  type.cls = *reduction.cls;
  if (type.cls != PixelClass::single) type.white = class_max(type.cls);
  return type;
}

struct RunningReduction::State {
  ImageReduction reduction;
  ImageType type;  // of the images
  Size size;
  std::int64_t count = 0;
  std::vector<RunningPlane> planes;
  std::optional<PixelClass> alpha_class;
  RunningPlane alpha;

  double value(const RunningPlane& plane, Operation operation, std::size_t at) const {
    const auto n = static_cast<double>(count);
    const double sum = plane.sums[at];
    if (operation == Operation::sum) return sum;
    if (operation == Operation::mean) return sum / n;
    if (count == 1) return 0;
    const double variance = (plane.squares[at] - sum * sum / n) / (n - 1);
    return variance < 0 ? 0 : std::sqrt(variance);
  }
  void write(const RunningPlane& plane, Operation operation, Plane& to, ThreadPool& pool) const {
    for_rows(to.size(), pool, [&](RowRange rows) {
      const auto width = static_cast<std::size_t>(to.size().width);
      std::vector<double> values(width);
      for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        if (is_extremum(operation)) {
          with_pixel(plane.first.cls(), [&]<class T>(T) {
            std::copy_n(plane.first.row_as<T>(y), width, values.begin());
          });
        } else {
          const std::size_t row = static_cast<std::size_t>(y) * width;
          for (std::size_t x = 0; x < width; ++x) values[x] = value(plane, operation, row + x);
        }
        write_row(to, y, values.data(), 0, to.size().width);
      }
    });
  }
};

RunningReduction::RunningReduction(const ImageReduction& reduction)
    : state_(std::make_unique<State>()) {
  state_->reduction = reduction;
}
RunningReduction::~RunningReduction() = default;
RunningReduction::RunningReduction(RunningReduction&&) noexcept = default;
RunningReduction& RunningReduction::operator=(RunningReduction&&) noexcept = default;

double RunningReduction::bytes_a_pixel(const ImageReduction& reduction) {
  constexpr double most_of_a_pixel = 4;
  if (is_extremum(reduction.operation)) return most_of_a_pixel;
  return reduction.operation == Operation::std ? 16 + most_of_a_pixel : 8;
}

void RunningReduction::add(const HostImage& image, ThreadPool& pool) {
  State& s = *state_;
  const Operation operation = s.reduction.operation;
  const bool is_first = s.count++ == 0;
  if (is_first) {
    s.type = image.type;
    s.size = image.size();
    for (const Plane& plane : image.planes) s.planes.push_back(begin_plane(operation, plane));
    if (!image.alpha.empty()) {
      s.alpha_class = image.alpha.cls();
      s.alpha = begin_plane(Operation::mean, image.alpha);
    }
  }
  const auto add_plane = [&](Operation by, const Plane& from, RunningPlane& to) {
    if (is_first && by != Operation::sum && by != Operation::mean) return;
    with_pixel(from.cls(), [&]<class T>(T) {
      for_rows(from.size(), pool, [&](RowRange rows) {
        for (std::int64_t y = rows.begin; y < rows.end; ++y) add_row<T>(by, from, to, y);
      });
    });
  };
  for (std::size_t c = 0; c < s.planes.size(); ++c)
    add_plane(operation, image.planes[c], s.planes[c]);
  if (!image.alpha.empty()) add_plane(Operation::mean, image.alpha, s.alpha);
}

HostImage RunningReduction::result(ThreadPool& pool) const {
  const State& s = *state_;
  HostImage out = image_of(reduced_type(s.reduction, s.type), s.size, s.alpha_class);
  for (std::size_t c = 0; c < s.planes.size(); ++c) {
    s.write(s.planes[c], s.reduction.operation, out.planes[c], pool);
  }
  if (s.alpha_class) s.write(s.alpha, Operation::mean, out.alpha, pool);
  return out;
}

HostImage reduced(const ImageReduction& reduction, std::span<const HostImage* const> images,
                  ThreadPool& pool) {
  if (!reduction.is_by_order()) {
    RunningReduction running(reduction);
    for (const HostImage* image : images) running.add(*image, pool);
    return running.result(pool);
  }
  const HostImage& first = *images.front();
  std::optional<PixelClass> alpha;
  if (!first.alpha.empty()) alpha = first.alpha.cls();
  HostImage out = image_of(reduced_type(reduction, first.type), first.size(), alpha);
  for (std::size_t c = 0; c < out.planes.size(); ++c) {
    std::vector<ShiftedPlane> planes;
    for (const HostImage* image : images) planes.push_back({&image->planes[c]});
    reduce_by_order(reduction, std::move(planes), out.planes[c], pool);
  }
  if (!alpha) return out;
  ImageReduction mean;
  mean.operation = Operation::mean;
  RunningReduction alphas(mean);
  for (const HostImage* image : images) {
    HostImage one;
    one.type = {.cls = *alpha, .channels = 1, .white = class_max(*alpha)};
    one.planes = {image->alpha};
    alphas.add(one, pool);
  }
  out.alpha = alphas.result(pool).planes.front();
  return out;
}

}  // namespace impipe
