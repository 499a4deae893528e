#include "core/volume_objects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/plane_rows.hpp"

namespace impipe {
namespace {

// single has all whole numbers up to this one.
constexpr std::size_t most_labels = 1 << 24;

struct Run {  // of voxels that are not 0, along a row
  std::int32_t begin = 0, end = 0;
};

// The runs of a volume, and which of them are connected.
class Components {
 public:
  Components(int conn, Size size) : conn_(conn), size_(size) {}

  void add(const Plane& plane) {
    with_pixel(plane.cls(), [&]<class T>(T) {
      for (std::int64_t y = 0; y < size_.height; ++y) add_row(plane.row_as<T>(y), y);
    });
  }

  // Numbers of the components' runs, from 1 on, and how many there are.
  std::pair<std::vector<std::int32_t>, std::int32_t> labels() {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> first(runs_.size(), none);  // voxel of a component, at its root
    for (std::size_t row = 0; row + 1 < rows_.size(); ++row) {
      const auto y = static_cast<std::int64_t>(row) % size_.height;
      const auto z = static_cast<std::int64_t>(row) / size_.height;
      for (std::size_t i = rows_[row]; i < rows_[row + 1]; ++i) {
        std::int64_t& known = first[root(i)];
        known = std::min(known, (z * size_.width + runs_[i].begin) * size_.height + y);
      }
    }
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (first[i] != none) roots.push_back(i);
    }
    std::ranges::sort(roots, {}, [&](std::size_t i) { return first[i]; });
    if (roots.size() > most_labels) {
      throw Error("there are " + std::to_string(roots.size()) +
                      " components, more than single can tell apart (16777216)",
                  ExitCode::file_failed);
    }
    std::vector<std::int32_t> of_root(runs_.size()), out(runs_.size());
    for (std::size_t k = 0; k < roots.size(); ++k) {
      of_root[roots[k]] = static_cast<std::int32_t>(k) + 1;
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) out[i] = of_root[root(i)];
    return {std::move(out), static_cast<std::int32_t>(roots.size())};
  }

  // The runs of row y of plane z: numbers from `begin` on.
  std::pair<std::size_t, std::size_t> runs_of(std::int64_t z, std::int64_t y) const {
    const auto row = static_cast<std::size_t>(z * size_.height + y);
    return {rows_[row], rows_[row + 1]};
  }
  const Run& run(std::size_t i) const { return runs_[i]; }

 private:
  template <class T>
  void add_row(const T* row, std::int64_t y) {
    for (std::int64_t x = 0; x < size_.width;) {
      while (x < size_.width && row[x] == 0) ++x;
      if (x == size_.width) break;
      const std::int64_t begin = x;
      while (x < size_.width && row[x] != 0) ++x;
      parents_.push_back(runs_.size());
      runs_.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(x)});
    }
    rows_.push_back(runs_.size());
    const std::size_t here = rows_.size() - 2, plane = static_cast<std::size_t>(size_.height);
    if (y > 0) connect(here, here - 1, conn_ > 6);
    if (here < plane) return;
    connect(here, here - plane, conn_ > 6);
    if (conn_ == 6) return;
    if (y > 0) connect(here, here - plane - 1, conn_ == 26);
    if (y + 1 < size_.height) connect(here, here - plane + 1, conn_ == 26);
  }

  // Runs of two rows that overlap; diagonal: also those that only touch.
  void connect(std::size_t row, std::size_t other, bool diagonal) {
    const std::int32_t reach = diagonal ? 1 : 0;
    std::size_t j = rows_[other];
    for (std::size_t i = rows_[row]; i < rows_[row + 1]; ++i) {
      while (j < rows_[other + 1] && runs_[j].end + reach <= runs_[i].begin) ++j;
      for (std::size_t k = j; k < rows_[other + 1] && runs_[k].begin < runs_[i].end + reach; ++k) {
        const std::size_t a = root(i), b = root(k);
        parents_[std::max(a, b)] = std::min(a, b);
      }
    }
  }

  std::size_t root(std::size_t i) {
    while (parents_[i] != i) {
      parents_[i] = parents_[parents_[i]];
      i = parents_[i];
    }
    return i;
  }

  const int conn_;
  const Size size_;
  std::vector<Run> runs_;
  std::vector<std::size_t> parents_;  // union-find over the runs
  std::vector<std::size_t> rows_{0};  // the first run of each row, plane after plane, and the end
};

class LabelWork : public VolumeWork {
 public:
  LabelWork(int conn, const ImageType& type, Size size, std::int64_t planes)
      : components_(conn, size), type_(type), size_(size), planes_(planes) {}

  void add(HostImage plane, ThreadPool&) override {
    components_.add(plane.planes.front());
    if (++come_ == planes_) labels_ = components_.labels().first;
  }
  bool has_next() const override { return come_ == planes_ && next_ < planes_; }
  HostImage next(ThreadPool& pool) override {
    HostImage out(type_, size_);
    for_rows(size_, pool, [&](RowRange range) {
      for (std::int64_t y = range.begin; y < range.end; ++y) {
        auto* row = out.planes.front().row_as<float>(y);
        std::fill_n(row, size_.width, 0.0F);
        const auto [begin, end] = components_.runs_of(next_, y);
        for (std::size_t i = begin; i < end; ++i) {
          const Run& run = components_.run(i);
          std::fill(row + run.begin, row + run.end, static_cast<float>(labels_[i]));
        }
      }
    });
    ++next_;
    return out;
  }

 private:
  Components components_;
  const ImageType type_;
  const Size size_;
  const std::int64_t planes_;
  std::vector<std::int32_t> labels_;  // one a run
  std::int64_t come_ = 0, next_ = 0;
};

// Runs take less than this unless nearly every other voxel is one.
double bytes_of_runs(Size size, std::int64_t planes) {
  return static_cast<double>(size.pixels()) * static_cast<double>(planes) * 2;
}

class LabelVolume : public VolumeOperation {
 public:
  explicit LabelVolume(int conn) : conn_(conn) {}
  ImageType type(const ImageType&) const override {
    return {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
  }
  double bytes(const ImageType&, Size size, std::int64_t planes) const override {
    return bytes_of_runs(size, planes);
  }
  std::string held() const override { return "the runs of all planes"; }
  std::unique_ptr<VolumeWork> begin(const ImageType& of, Size size,
                                    std::int64_t planes) const override {
    return std::make_unique<LabelWork>(conn_, type(of), size, planes);
  }

 private:
  const int conn_;
};

// --- the table

struct Object {
  std::int64_t voxels = 0;
  std::array<std::int64_t, 3> sums = {};  // of columns, rows, planes
  std::array<std::int64_t, 3> least, most = {-1, -1, -1};
  double intensities = 0, smallest = std::numeric_limits<double>::infinity();
  double largest = -std::numeric_limits<double>::infinity();

  Object() { least.fill(std::numeric_limits<std::int64_t>::max()); }

  void add_run(std::int64_t begin, std::int64_t end, std::int64_t y, std::int64_t z) {
    const std::int64_t count = end - begin;
    voxels += count;
    sums[0] += (begin + end - 1) * count / 2;
    sums[1] += y * count;
    sums[2] += z * count;
    const std::array<std::int64_t, 3> low{begin, y, z}, high{end - 1, y, z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      least[axis] = std::min(least[axis], low[axis]);
      most[axis] = std::max(most[axis], high[axis]);
    }
  }
  void add_intensity(double value) {
    intensities += value;
    smallest = value < smallest ? value : smallest;
    largest = value > largest ? value : largest;
  }
};

// Objects of runs of equal labels.
class ObjectTableWork : public VolumeWork {
 public:
  ObjectTableWork(int conn, double origin, bool labelled, bool intensities, Size size)
      : origin_(origin),
        labelled_(labelled),
        intensities_(intensities),
        size_(size),
        components_(conn, size) {}

  void add(HostImage plane, ThreadPool&) override {
    if (labelled_) {
      add_labels(plane);
    } else {
      components_.add(plane.planes.front());
      if (intensities_) beside_.push_back(plane.planes[1]);
    }
    ++come_;
  }
  bool has_next() const override { return false; }
  HostImage next(ThreadPool&) override { return {}; }

  std::vector<double> table() const override {
    std::map<double, Object> objects = objects_;
    if (!labelled_) add_components(objects);
    std::vector<double> out;
    for (const auto& [label, object] : objects) append(label, object, out);
    return out;
  }

 private:
  void add_labels(const HostImage& plane) {
    with_pixel(plane.planes.front().cls(), [&]<class T>(T) {
      for (std::int64_t y = 0; y < size_.height; ++y) {
        const T* row = plane.planes.front().row_as<T>(y);
        for (std::int64_t x = 0; x < size_.width;) {
          const std::int64_t begin = x;
          while (x < size_.width && row[x] == row[begin]) ++x;
          if (x == begin) ++x;  // NaN
          if (!(row[begin] > 0)) continue;
          Object& object = objects_[static_cast<double>(row[begin])];
          object.add_run(begin, x, y, come_);
          if (intensities_) add_intensities(object, plane.planes[1], begin, x, y);
        }
      }
    });
  }

  void add_components(std::map<double, Object>& objects) const {
    Components components = components_;
    const auto [labels, count] = components.labels();
    std::vector<Object> found(static_cast<std::size_t>(count));
    for (std::int64_t z = 0; z < come_; ++z) {
      for (std::int64_t y = 0; y < size_.height; ++y) {
        const auto [first, last] = components.runs_of(z, y);
        for (std::size_t i = first; i < last; ++i) {
          const Run& run = components.run(i);
          Object& object = found[static_cast<std::size_t>(labels[i]) - 1];
          object.add_run(run.begin, run.end, y, z);
          if (!intensities_) continue;
          add_intensities(object, beside_[static_cast<std::size_t>(z)], run.begin, run.end, y);
        }
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      objects.emplace_hint(objects.end(), static_cast<double>(i) + 1, found[i]);
    }
  }

  static void add_intensities(Object& object, const Plane& plane, std::int64_t begin,
                              std::int64_t end, std::int64_t y) {
    with_pixel(plane.cls(), [&]<class T>(T) {
      const T* row = plane.row_as<T>(y);
      for (std::int64_t x = begin; x < end; ++x) object.add_intensity(static_cast<double>(row[x]));
    });
  }

  void append(double label, const Object& object, std::vector<double>& out) const {
    const auto volume = static_cast<double>(object.voxels);
    out.insert(out.end(), {label, volume});
    for (const std::int64_t sum : object.sums) {
      out.push_back(static_cast<double>(sum) / volume + origin_);
    }
    const double before = origin_ == 0 ? 0 : origin_ - 0.5;
    for (const std::int64_t least : object.least) {
      out.push_back(static_cast<double>(least) + before);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out.push_back(static_cast<double>(object.most[axis] - object.least[axis] + 1));
    }
    out.push_back(std::cbrt(6 * volume / std::numbers::pi));
    if (!intensities_) return;
    out.insert(out.end(), {object.intensities / volume, object.smallest, object.largest});
  }

  const double origin_;
  const bool labelled_, intensities_;
  const Size size_;
  Components components_;             // unless the volume is one of labels
  std::vector<Plane> beside_;         // of components: intensities
  std::map<double, Object> objects_;  // of labels
  std::int64_t come_ = 0;
};

class ObjectTableVolume : public VolumeOperation {
 public:
  ObjectTableVolume(int conn, double origin, bool intensities)
      : conn_(conn), origin_(origin), intensities_(intensities) {}
  std::vector<std::string> columns() const override {
    std::vector<std::string> out{"Label",         "Volume",        "Centroid_x",
                                 "Centroid_y",    "Centroid_z",    "BoundingBox_x",
                                 "BoundingBox_y", "BoundingBox_z", "BoundingBox_w",
                                 "BoundingBox_h", "BoundingBox_d", "EquivDiameter"};
    if (intensities_) out.insert(out.end(), {"MeanIntensity", "MinIntensity", "MaxIntensity"});
    return out;
  }
  double bytes(const ImageType& type, Size size, std::int64_t planes) const override {
    const double beside = intensities_ ? bytes_of(type.cls) : 0;
    return bytes_of_runs(size, planes) +
           beside * static_cast<double>(size.pixels()) * static_cast<double>(planes);
  }
  std::string held() const override { return ""; }
  std::unique_ptr<VolumeWork> begin(const ImageType& type, Size size, std::int64_t) const override {
    const bool labelled = intensities_ ? type.white == 0 : type.cls != PixelClass::logical;
    return std::make_unique<ObjectTableWork>(conn_, origin_, labelled, intensities_, size);
  }

 private:
  const int conn_;
  const double origin_;
  const bool intensities_;
};

}  // namespace

Volume label_volume(int conn) { return std::make_shared<LabelVolume>(conn); }

Volume object_table_volume(int conn, double origin, bool intensities) {
  return std::make_shared<ObjectTableVolume>(conn, origin, intensities);
}

}  // namespace impipe
