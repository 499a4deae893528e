// Dilations and erosions of volumes. Extrema along runs of an element's row come first, then those
// of rows of such runs, and each layer of the element goes into the planes that it reaches.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "core/plane_rows.hpp"
#include "core/row_fold.hpp"
#include "core/volume_planes.hpp"
#include "core/volume_ring.hpp"

namespace impipe {
namespace {

// An element as it is worked with.
struct Layers {
  struct Row {
    std::int64_t row = 0;
    std::size_t run = 0;
    auto operator<=>(const Row&) const = default;
  };
  struct Layer {
    std::vector<Row> rows;
    std::vector<std::int64_t> planes;  // offsets at which the element looks like this
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;  // begin, end; short ones first
  std::vector<Layer> layers;
  std::int64_t left = 0, right = 0;  // how far runs reach
  std::int64_t first = 0, last = 0;  // planes
};

Layers layers_of(const Element3& element) {
  Layers out;
  for (const Element3::Run& run : element.runs) {
    out.runs.emplace_back(run.begin, run.end);
    out.left = std::max<std::int64_t>(out.left, -run.begin);
    out.right = std::max<std::int64_t>(out.right, run.end - 1);
    out.first = std::min<std::int64_t>(out.first, run.plane);
    out.last = std::max<std::int64_t>(out.last, run.plane);
  }
  std::ranges::sort(out.runs);
  const auto repeated = std::ranges::unique(out.runs);
  out.runs.erase(repeated.begin(), repeated.end());
  std::ranges::stable_sort(out.runs, {}, [](const auto& run) { return run.second - run.first; });
  std::map<std::int64_t, std::vector<Layers::Row>> by_plane;
  for (const Element3::Run& run : element.runs) {
    const auto found =
        std::ranges::find(out.runs, std::pair<std::int64_t, std::int64_t>(run.begin, run.end));
    by_plane[run.plane].push_back({run.row, static_cast<std::size_t>(found - out.runs.begin())});
  }
  std::map<std::vector<Layers::Row>, std::vector<std::int64_t>> alike;
  for (auto& [plane, rows] : by_plane) {
    std::ranges::sort(rows);
    alike[rows].push_back(plane);
  }
  for (auto& [rows, planes] : alike) out.layers.push_back({rows, planes});
  return out;
}

// The value that takes no part: what is outside the volume, and NaN.
template <class T>
T neutral(bool largest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity) return largest ? -Limits::infinity() : Limits::infinity();
  return largest ? Limits::min() : Limits::max();
}

template <class T>
class MorphologyWork : public ChannelWork {
 public:
  MorphologyWork(std::shared_ptr<const Layers> layers, bool largest, PixelClass cls, Size size,
                 std::int64_t planes)
      : layers_(std::move(layers)),
        largest_(largest),
        // All ones is no logical pixel.
        neutral_(cls == PixelClass::logical && !largest ? T{1} : neutral<T>(largest)),
        cls_(cls),
        size_(size),
        planes_(planes) {}

  void add(const Plane& plane, ThreadPool& pool) override {
    while (begun_ <= std::min(planes_ - 1, come_ - layers_->first)) {
      Plane& begun = made_.emplace_back(cls_, size_);
      for_rows(size_, pool, [&](RowRange range) {
        for (std::int64_t y = range.begin; y < range.end; ++y) {
          std::fill_n(begun.row_as<T>(y), size_.width, neutral_);
        }
      });
      ++begun_;
    }
    while (runs_.size() < layers_->runs.size()) runs_.emplace_back(cls_, size_);
    for_rows(size_, pool, [&](RowRange rows) { make_runs(plane, rows); });
    for_rows(size_, pool, [&](RowRange rows) { add_layers(rows); });
    ++come_;
  }
  bool has_next() const override {
    return next_ < planes_ && std::min(planes_ - 1, next_ + layers_->last) < come_;
  }
  Plane next(ThreadPool& pool) override {
    Plane out = std::move(made_.front());
    made_.pop_front();
    without_negative_zeros(out, pool);
    ++next_;
    return out;
  }

 private:
  // The extrema along each run of the element, of which those of longer runs begin with what a
  // shorter one within them has made.
  void make_runs(const Plane& plane, RowRange range) {
    const std::int64_t left = layers_->left;
    std::vector<T> padded(static_cast<std::size_t>(left + size_.width + layers_->right), neutral_);
    std::vector<const T*> sources;
    for (std::int64_t y = range.begin; y < range.end; ++y) {
      const T* row = plane.row_as<T>(y);
      T* inner = padded.data() + left;
      for (std::int64_t x = 0; x < size_.width; ++x)
        inner[x] = row[x] == row[x] ? row[x] : neutral_;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto [begin, end] = layers_->runs[i];
        sources.clear();
        std::pair<std::int64_t, std::int64_t> within{end, end};
        if (i > 0 && layers_->runs[i - 1].first >= begin && layers_->runs[i - 1].second <= end) {
          within = layers_->runs[i - 1];
          sources.push_back(runs_[i - 1].template row_as<T>(y));
        }
        for (std::int64_t x = begin; x < within.first; ++x) sources.push_back(inner + x);
        for (std::int64_t x = within.second; x < end; ++x) sources.push_back(inner + x);
        extremum_of_rows<T>(largest_, sources, runs_[i].template row_as<T>(y), size_.width);
      }
    }
  }

  // The plane that has come is `offset` planes behind those that its layers at `offset` belong to.
  void add_layers(RowRange range) {
    std::vector<T> extrema(static_cast<std::size_t>(size_.width));
    std::vector<const T*> sources;
    for (std::int64_t y = range.begin; y < range.end; ++y) {
      for (const Layers::Layer& layer : layers_->layers) {
        sources.clear();
        for (const auto& [row, run] : layer.rows) {
          if (y + row < 0 || y + row >= size_.height) continue;
          sources.push_back(runs_[run].template row_as<T>(y + row));
        }
        if (sources.empty()) continue;
        extremum_of_rows<T>(largest_, sources, extrema.data(), size_.width);
        for (const std::int64_t offset : layer.planes) {
          const std::int64_t z = come_ - offset;
          if (z < 0 || z >= planes_) continue;
          T* made = made_[static_cast<std::size_t>(z - next_)].template row_as<T>(y);
          const T* const both[] = {made, extrema.data()};
          extremum_of_rows<T>(largest_, both, made, size_.width);
        }
      }
    }
  }

  const std::shared_ptr<const Layers> layers_;
  const bool largest_;
  const T neutral_;
  const PixelClass cls_;
  const Size size_;
  const std::int64_t planes_;
  std::vector<Plane> runs_;  // of the plane that has come
  std::deque<Plane> made_;   // the first is plane `next_`
  std::int64_t come_ = 0, begun_ = 0, next_ = 0;
};

// One work after the other.
class InTurn : public ChannelWork {
 public:
  explicit InTurn(std::vector<std::unique_ptr<ChannelWork>> works) : works_(std::move(works)) {}
  void add(const Plane& plane, ThreadPool& pool) override {
    works_.front()->add(plane, pool);
    for (std::size_t i = 1; i < works_.size(); ++i) {
      while (works_[i - 1]->has_next()) works_[i]->add(works_[i - 1]->next(pool), pool);
    }
  }
  bool has_next() const override { return works_.back()->has_next(); }
  Plane next(ThreadPool& pool) override { return works_.back()->next(pool); }

 private:
  std::vector<std::unique_ptr<ChannelWork>> works_;
};

Element3 reflected(const Element3& element) {
  Element3 out;
  for (const Element3::Run& run : element.runs) {
    out.runs.push_back({-run.plane, -run.row, 1 - run.end, 1 - run.begin});
  }
  return out;
}

class MorphologyVolume : public VolumeOperation {
 public:
  MorphologyVolume(const Element3& element, std::vector<Morphology3> steps)
      : steps_(std::move(steps)),
        element_(element),
        dilating_(std::make_shared<const Layers>(layers_of(reflected(element)))),
        eroding_(std::make_shared<const Layers>(layers_of(element))) {}

  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    const std::int64_t held =
        std::min(planes, height()) + static_cast<std::int64_t>(eroding_->runs.size());
    return static_cast<double>(std::ssize(steps_) * held * size.pixels() * type.channels) *
           bytes_of(type.cls);
  }
  std::string held() const override {
    return std::to_string(std::ssize(steps_) * height()) + " planes";
  }
  std::vector<PlaneRing> rings(const ImageType& type, Size, std::int64_t planes) const override {
    std::vector<PlaneRing> out;
    for (const Morphology3 step : steps_) {
      const bool largest = step == Morphology3::dilate;
      out.push_back(extremum_ring(type, largest ? reflected(element_) : element_, largest, planes));
    }
    return out;
  }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size,
                                    std::int64_t planes) const override {
    const auto of_channel = [&](PixelClass cls) -> std::unique_ptr<ChannelWork> {
      std::vector<std::unique_ptr<ChannelWork>> works;
      for (const Morphology3 step : steps_) {
        const bool largest = step == Morphology3::dilate;
        with_pixel(cls, [&]<class T>(T) {
          works.push_back(std::make_unique<MorphologyWork<T>>(largest ? dilating_ : eroding_,
                                                              largest, cls, size, planes));
        });
      }
      return std::make_unique<InTurn>(std::move(works));
    };
    return channelwise(type, of_channel);
  }

 private:
  std::int64_t height() const { return eroding_->last - eroding_->first + 1; }

  const std::vector<Morphology3> steps_;
  const Element3 element_;
  const std::shared_ptr<const Layers> dilating_, eroding_;
};

}  // namespace

Element3 sphere_element(double radius) {
  Element3 out;
  const double square = radius * radius;
  const int reach = static_cast<int>(std::floor(radius));
  for (int z = -reach; z <= reach; ++z) {
    for (int y = -reach; y <= reach; ++y) {
      int x = reach;
      while (x >= 0 && x * x + y * y + z * z > square) --x;
      if (x >= 0) out.runs.push_back({z, y, -x, x + 1});
    }
  }
  return out;
}

Element3 cuboid_element(PerAxis<int> sides) {
  Element3 out;
  const auto origin = [&](std::size_t axis) { return (sides[axis] - 1) / 2; };
  for (int z = 0; z < sides[2]; ++z) {
    for (int y = 0; y < sides[0]; ++y) {
      out.runs.push_back({z - origin(2), y - origin(0), -origin(1), sides[1] - origin(1)});
    }
  }
  return out;
}

Volume morphology_volume(const Element3& element, std::vector<Morphology3> steps) {
  return std::make_shared<MorphologyVolume>(element, std::move(steps));
}

}  // namespace impipe
