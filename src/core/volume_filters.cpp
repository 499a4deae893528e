// Filters of volumes by windows: means along the axes, one after the other, and medians.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include "core/body.hpp"
#include "core/functions.hpp"
#include "core/has_v3.hpp"
#include "core/image_reduction.hpp"
#include "core/placement.hpp"
#include "core/plane_rows.hpp"
#include "core/row_fold.hpp"
#include "core/volume_planes.hpp"
#include "core/volume_resize.hpp"
#include "core/volume_ring.hpp"

namespace impipe {
namespace {

// A sum divided by `divisor`, as a pixel: rounded half up, which is half away from zero, since no
// sum of integers is negative.
template <class Sum, class T>
IMPIPE_INLINE void store_body(const Sum* sums, Sum divisor, bool logical, T* out,
                              std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      out[i] = static_cast<T>((sums[i] + Sum{}) / divisor);  // as if added into 0: no -0
    } else if constexpr (std::is_same_v<Sum, float>) {
      const float most = logical ? 1 : static_cast<float>(std::numeric_limits<T>::max());
      constexpr float half = 0.49999997F;  // with 0.5 the sum of 0.49999997 would be rounded to 1
      out[i] = static_cast<T>(static_cast<std::int32_t>(std::min(sums[i] / divisor, most) + half));
    } else {
      const double value = static_cast<double>(sums[i]) / static_cast<double>(divisor);
      out[i] = static_cast<T>(static_cast<std::int32_t>(value + 0.5));
    }
  }
}

template <class T, class Sum>
IMPIPE_INLINE void convert_body(const T* from, Sum* to, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Sum>(from[i]);
}

#define IMPIPE_SUMS(level)                                                                     \
  template <class Sum, class T>                                                                \
  IMPIPE_TARGET_##level void store_##level(const Sum* sums, Sum divisor, bool logical, T* out, \
                                           std::int64_t count) {                               \
    store_body(sums, divisor, logical, out, count);                                            \
  }                                                                                            \
  template <class T, class Sum>                                                                \
  IMPIPE_TARGET_##level void convert_##level(const T* from, Sum* to, std::int64_t count) {     \
    convert_body(from, to, count);                                                             \
  }
IMPIPE_SUMS(baseline)
IMPIPE_SUMS(v3)
#undef IMPIPE_SUMS

// Sums along rows, then down columns, then through planes, none of which is rounded to the class.
struct SeparableTaps {
  AxisTaps columns, rows, planes;
  double divisor = 1;  // of the sums
};

template <class Sum>
void sum_taps(std::span<const Sum* const> rows, const AxisTaps& taps, std::int64_t output, Sum* out,
              std::int64_t count) {
  if constexpr (std::is_same_v<Sum, float>) {
    if (!taps.weights.empty()) {
      return sum_rows(rows, taps.weights[static_cast<std::size_t>(output)].data(), out, count);
    }
  }
  sum_rows(rows, out, count);
}

template <class T, class Sum>
class SeparableWork : public ChannelWork {
 public:
  SeparableWork(std::shared_ptr<const SeparableTaps> taps, PixelClass cls)
      : taps_(std::move(taps)), cls_(cls), schedule_(taps_->planes) {}

  void add(const Plane& plane, ThreadPool& pool) override {
    const std::int64_t width = taps_->columns.outputs(), height = plane.size().height;
    std::vector<Sum> rows = buffer(width * height), made = buffer(width * taps_->rows.outputs());
    for_rows({width, height}, pool, [&](RowRange range) {
      std::vector<Sum> padded(static_cast<std::size_t>(plane.size().width + taps_->columns.window));
      for (std::int64_t y = range.begin; y < range.end; ++y) {
        sum_along(plane.row_as<T>(y), plane.size().width, padded, rows.data() + y * width);
      }
    });
    for_rows({width, taps_->rows.outputs()}, pool, [&](RowRange range) {
      std::vector<const Sum*> sources;
      for (std::int64_t y = range.begin; y < range.end; ++y) {
        sources.clear();
        for (const std::int64_t from : taps_->rows.sources[static_cast<std::size_t>(y)]) {
          sources.push_back(rows.data() + from * width);
        }
        sum_taps<Sum>(sources, taps_->rows, y, made.data() + y * width, width);
      }
    });
    spare_.push_back(std::move(rows));
    planes_.push_back(std::move(made));
    schedule_.add();
  }
  bool has_next() const override { return schedule_.has_next(); }

  Plane next(ThreadPool& pool) override {
    const std::int64_t width = taps_->columns.outputs(), z = schedule_.next();
    Plane out(cls_, {width, taps_->rows.outputs()});
    for_rows(out.size(), pool, [&](RowRange range) {
      std::vector<const Sum*> sources;
      std::vector<Sum> sums(static_cast<std::size_t>(width));
      for (std::int64_t y = range.begin; y < range.end; ++y) {
        sources.clear();
        for (const std::int64_t from : taps_->planes.sources[static_cast<std::size_t>(z)]) {
          sources.push_back(planes_[static_cast<std::size_t>(from - first_)].data() + y * width);
        }
        sum_taps<Sum>(sources, taps_->planes, z, sums.data(), width);
        (has_v3() ? store_v3<Sum, T>
                  : store_baseline<Sum, T>)(sums.data(), static_cast<Sum>(taps_->divisor),
                                            cls_ == PixelClass::logical, out.row_as<T>(y), width);
      }
    });
    schedule_.advance();
    for (; first_ < schedule_.first_needed() && !planes_.empty(); ++first_) {
      spare_.push_back(std::move(planes_.front()));
      planes_.pop_front();
    }
    return out;
  }

 private:
  std::vector<Sum> buffer(std::int64_t values) {
    std::vector<Sum> out;
    if (!spare_.empty()) {
      out = std::move(spare_.back());
      spare_.pop_back();
    }
    out.resize(static_cast<std::size_t>(values));
    return out;
  }

  // padded: as long as the row and the window.
  void sum_along(const T* row, std::int64_t width, std::vector<Sum>& padded, Sum* out) const {
    const AxisTaps& taps = taps_->columns;
    (has_v3() ? convert_v3<T, Sum> : convert_baseline<T, Sum>)(row, padded.data() + taps.before,
                                                               width);
    if (taps.window > 0) {
      const auto begin = padded.begin() + taps.before;
      std::fill(padded.begin(), begin, *begin);
      std::fill(begin + width, padded.end(), begin[width - 1]);
      std::vector<const Sum*> shifted;
      for (std::int64_t i = 0; i < taps.window; ++i) shifted.push_back(padded.data() + i);
      return sum_taps<Sum>(shifted, taps, 0, out, width);
    }
    for (std::size_t x = 0; x < taps.sources.size(); ++x) {
      Sum sum = 0;
      for (std::size_t i = 0; i < taps.sources[x].size(); ++i) {
        sum += static_cast<Sum>(taps.weights[x][i]) *
               padded[static_cast<std::size_t>(taps.sources[x][i])];
      }
      out[x] = sum;
    }
  }

  const std::shared_ptr<const SeparableTaps> taps_;
  const PixelClass cls_;
  PlaneSchedule schedule_;
  std::deque<std::vector<Sum>> planes_;  // the first is plane `first_`
  std::int64_t first_ = 0;
  std::vector<std::vector<Sum>> spare_;
};

template <class Sum>
std::unique_ptr<VolumeWork> separable(SeparableTaps taps, const ImageType& type,
                                      Alpha alpha = Alpha::stays) {
  const auto shared = std::make_shared<const SeparableTaps>(std::move(taps));
  const auto begin = [shared](PixelClass cls) {
    return with_pixel(cls, [&]<class T>(T) -> std::unique_ptr<ChannelWork> {
      return std::make_unique<SeparableWork<T, Sum>>(shared, cls);
    });
  };
  return channelwise(type, begin, alpha);
}

std::string planes_text(std::int64_t planes) {
  return std::to_string(planes) + (planes == 1 ? " plane" : " planes");
}

std::vector<float> gaussian_weights(double sigma) {
  const int reach = static_cast<int>(std::ceil(2 * sigma));
  std::vector<double> weights;
  double sum = 0;
  for (int i = -reach; i <= reach; ++i) {
    weights.push_back(functions::exp_double(-i * i / (2 * sigma * sigma)));
    sum += weights.back();
  }
  std::vector<float> out;
  for (const double weight : weights) out.push_back(static_cast<float>(weight / sum));
  return out;
}

class GaussianVolume : public VolumeOperation {
 public:
  explicit GaussianVolume(PerAxis<double> sigma) {
    for (std::size_t axis = 0; axis < 3; ++axis) weights_[axis] = gaussian_weights(sigma[axis]);
  }
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    const auto held = std::min(planes, static_cast<std::int64_t>(weights_[2].size())) + 2;
    return static_cast<double>(held * size.pixels() * type.channels) * sizeof(float);
  }
  std::string held() const override {
    return planes_text(static_cast<std::int64_t>(weights_[2].size())) + ", as single,";
  }
  std::vector<PlaneRing> rings(const ImageType& type, Size, std::int64_t planes) const override {
    return {weighted_ring(type, weights_, 1, planes)};
  }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    return separable<float>({taps(1, size.width), taps(0, size.height), taps(2, planes)}, type);
  }

 private:
  AxisTaps taps(std::size_t axis, std::int64_t voxels) const {
    AxisTaps out = window_taps(voxels, static_cast<int>(weights_[axis].size()), Outside::replicate);
    out.weights.resize(out.sources.size(), weights_[axis]);
    return out;
  }

  PerAxis<std::vector<float>> weights_;
};

class BoxVolume : public VolumeOperation {
 public:
  explicit BoxVolume(PerAxis<int> size) : size_(size) {}
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    const auto held = std::min<std::int64_t>(planes, size_[2]) + 2;
    return static_cast<double>(held * size.pixels() * type.channels) * sizeof(double);
  }
  std::string held() const override { return planes_text(size_[2]) + " of sums"; }
  std::vector<PlaneRing> rings(const ImageType& type, Size, std::int64_t planes) const override {
    if (type.cls == PixelClass::single) {
      PerAxis<std::vector<float>> ones;
      for (std::size_t i = 0; i < 3; ++i) ones[i].resize(static_cast<std::size_t>(size_[i]), 1);
      return {weighted_ring(type, ones, static_cast<float>(voxels()), planes)};
    }
    constexpr double exact = 1 << 24;
    if (class_max(type.cls) * voxels() > exact) return {};
    return {integer_mean_ring(type, size_, planes)};
  }
  // Sums of integers are exact.
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    SeparableTaps taps{window_taps(size.width, size_[1], Outside::replicate),
                       window_taps(size.height, size_[0], Outside::replicate),
                       window_taps(planes, size_[2], Outside::replicate), voxels()};
    if (type.cls == PixelClass::single) return separable<float>(std::move(taps), type);
    const double most = class_max(type.cls) * taps.divisor;
    if (most > std::numeric_limits<std::int32_t>::max()) {
      return separable<double>(std::move(taps), type);
    }
    return separable<std::int32_t>(std::move(taps), type);
  }

 private:
  double voxels() const { return static_cast<double>(size_[0]) * size_[1] * size_[2]; }

  const PerAxis<int> size_;
};

class ResizeVolume : public VolumeOperation {
 public:
  ResizeVolume(PerAxis<std::int64_t> sizes, PerAxis<double> scales, Resample how)
      : sizes_(sizes), scales_(scales), how_(how) {}
  Size size(Size of, std::int64_t) const override {
    return {axis(1, of.width).to, axis(0, of.height).to};
  }
  std::int64_t planes(std::int64_t of) const override { return axis(2, of).to; }
  double bytes(const ImageType& type, Size of, std::int64_t planes) const override {
    const Size made = size(of, planes);
    const auto held = std::min<std::int64_t>(planes, axis(2, planes).taps) + 1;
    const auto pixels = static_cast<double>(held * made.pixels() + made.width * of.height);
    return pixels * (type.channels + (type.alpha ? 1 : 0)) * sizeof(float);
  }
  std::string held() const override { return "those between which a result lies, as single,"; }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size of,
                                    std::int64_t planes) const override {
    return separable<float>({taps(1, of.width), taps(0, of.height), taps(2, planes)}, type,
                            Alpha::is_made);
  }

 private:
  ResizeAxis axis(std::size_t which, std::int64_t voxels) const {
    Node node{.primitive = how_};
    for (const double value : {static_cast<double>(sizes_[which]), 0.0, scales_[which], 1.0}) {
      node.arguments.push_back({.value = value});
    }
    return resize_axes(node, {voxels, 1}).x;
  }
  // Weights are divided by their sum, which not all methods of imresize do; those of 0 read
  // nothing, so that they spread no NaN.
  AxisTaps taps(std::size_t which, std::int64_t voxels) const {
    const ResizeAxis along = axis(which, voxels);
    const ResizeTaps all = resize_taps(how_.method, along);
    const std::size_t each = all.weights.size() / static_cast<std::size_t>(along.to);
    AxisTaps out;
    for (std::size_t k = 0; k < static_cast<std::size_t>(along.to); ++k) {
      std::vector<std::int64_t>& sources = out.sources.emplace_back();
      std::vector<float>& weights = out.weights.emplace_back();
      double sum = 0;
      for (std::size_t t = 0; t < each; ++t) {
        if (all.weights[k * each + t] == 0) continue;
        sum += static_cast<double>(all.weights[k * each + t]);
        weights.push_back(all.weights[k * each + t]);
        sources.push_back(
            voxel_read(all.first[k] + static_cast<std::int64_t>(t), voxels, Outside::symmetric));
      }
      for (float& weight : weights) weight = static_cast<float>(weight / sum);
    }
    return out;
  }

  const PerAxis<std::int64_t> sizes_;
  const PerAxis<double> scales_;
  const Resample how_;
};

// --- medians

template <class T>
class MedianWork : public ChannelWork {
 public:
  MedianWork(PerAxis<int> window, PixelClass cls, Size size, std::int64_t planes)
      : cls_(cls),
        size_(size),
        window_(window),
        taps_(window_taps(planes, window[2], Outside::symmetric)),
        schedule_(taps_) {}

  void add(const Plane& plane, ThreadPool& pool) override {
    Plane padded(cls_, {size_.width + window_[1] - 1, size_.height + window_[0] - 1});
    const std::int64_t above = (window_[0] - 1) / 2, left = (window_[1] - 1) / 2;
    for_rows(padded.size(), pool, [&](RowRange range) {
      for (std::int64_t y = range.begin; y < range.end; ++y) {
        const T* from = plane.row_as<T>(voxel_read(y - above, size_.height, Outside::symmetric));
        T* to = padded.row_as<T>(y);
        std::copy_n(from, size_.width, to + left);
        const auto mirror = [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t x = begin; x < end; ++x) {
            to[x] = from[voxel_read(x - left, size_.width, Outside::symmetric)];
          }
        };
        mirror(0, left);
        mirror(left + size_.width, padded.size().width);
      }
    });
    planes_.push_back(std::move(padded));
    schedule_.add();
  }
  bool has_next() const override { return schedule_.has_next(); }

  Plane next(ThreadPool& pool) override {
    std::vector<ShiftedPlane> window;
    for (const std::int64_t z : taps_.sources[static_cast<std::size_t>(schedule_.next())]) {
      for (std::int64_t y = 0; y < window_[0]; ++y) {
        for (std::int64_t x = 0; x < window_[1]; ++x) {
          window.push_back({&planes_[static_cast<std::size_t>(z - first_)], y, x});
        }
      }
    }
    Plane out(cls_, size_);
    median_of(std::move(window), out, pool);
    without_negative_zeros(out, pool);
    schedule_.advance();
    for (; first_ < schedule_.first_needed() && !planes_.empty(); ++first_) planes_.pop_front();
    return out;
  }

 private:
  const PixelClass cls_;
  const Size size_;
  const PerAxis<int> window_;
  const AxisTaps taps_;  // of the planes
  PlaneSchedule schedule_;
  std::deque<Plane> planes_;  // with their margins; the first is plane `first_`
  std::int64_t first_ = 0;
};

class MedianVolume : public VolumeOperation {
 public:
  explicit MedianVolume(PerAxis<int> size) : size_(size) {}
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    const auto held = static_cast<double>(std::min<std::int64_t>(planes, size_[2]));
    const double pixels = (static_cast<double>(size.width) + size_[1]) *
                          (static_cast<double>(size.height) + size_[0]);
    return held * pixels * type.channels * bytes_of(type.cls);
  }
  std::string held() const override { return planes_text(size_[2]); }
  std::vector<PlaneRing> rings(const ImageType& type, Size size,
                               std::int64_t planes) const override {
    constexpr int most = 9;  // planes that a kernel puts together
    if (size_[2] % 2 == 0 || size_[2] > most) return {};
    return {median_ring(type, size_, size, planes)};
  }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    return channelwise(type, [window = size_, size, planes](PixelClass cls) {
      return with_pixel(cls, [&]<class T>(T) -> std::unique_ptr<ChannelWork> {
        return std::make_unique<MedianWork<T>>(window, cls, size, planes);
      });
    });
  }

 private:
  const PerAxis<int> size_;
};

}  // namespace

Volume gaussian_volume(PerAxis<double> sigma) { return std::make_shared<GaussianVolume>(sigma); }
Volume box_volume(PerAxis<int> size) { return std::make_shared<BoxVolume>(size); }
Volume resize_volume(PerAxis<std::int64_t> sizes, PerAxis<double> scales, Resample::Method method,
                     bool antialias) {
  return std::make_shared<ResizeVolume>(sizes, scales,
                                        Resample{.method = method, .antialias = antialias});
}
Volume median_volume(PerAxis<int> size) { return std::make_shared<MedianVolume>(size); }

}  // namespace impipe
