// The squared distances along rows come first, then down columns, then through planes: each is the
// lower envelope of parabolas along a line (Felzenszwalb and Huttenlocher 2012).
#include "core/volume_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A line of squared distances becomes the smallest of line[j] + weight (i - j)^2.
class Envelope {
 public:
  Envelope(std::int64_t length, double spacing)
      : weight_(spacing * spacing),
        at_(size_of(length)),
        from_(size_of(length) + 1),
        line_(size_of(length)) {}

  double& operator[](std::int64_t i) { return line_[size_of(i)]; }

  // Calls put(i, distance) for each i.
  template <class Put>
  void make(const Put& put) {
    const auto length = std::ssize(line_);
    std::int64_t last = -1;
    for (std::int64_t i = 0; i < length; ++i) {
      if (line_[size_of(i)] == infinite) continue;
      double from = -infinite;
      for (; last >= 0; --last) {
        from = meeting(at_[size_of(last)], i);
        if (from > from_[size_of(last)]) break;
        from = -infinite;
      }
      at_[size_of(++last)] = i;
      from_[size_of(last)] = from;
    }
    if (last < 0) {
      for (std::int64_t i = 0; i < length; ++i) put(i, infinite);
      return;
    }
    from_[size_of(last) + 1] = infinite;
    std::int64_t parabola = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      while (from_[size_of(parabola) + 1] < static_cast<double>(i)) ++parabola;
      const auto apart = static_cast<double>(i - at_[size_of(parabola)]);
      put(i, line_[size_of(at_[size_of(parabola)])] + weight_ * apart * apart);
    }
  }

 private:
  static std::size_t size_of(std::int64_t i) { return static_cast<std::size_t>(i); }
  // Where the parabola of j, which is behind that of i, becomes the lower one.
  double meeting(std::int64_t i, std::int64_t j) const {
    const auto a = static_cast<double>(i), b = static_cast<double>(j);
    const double rise = line_[size_of(j)] - line_[size_of(i)];
    return (rise / weight_ + (b - a) * (b + a)) / (2 * (b - a));
  }

  const double weight_;
  std::vector<std::int64_t> at_;  // of the envelope's parabolas
  std::vector<double> from_;      // where each begins to be the lowest
  std::vector<double> line_;
};

class DistanceWork : public VolumeWork {
 public:
  DistanceWork(PerAxis<double> spacing, const ImageType& type, Size size, std::int64_t planes)
      : spacing_(spacing), type_(type), size_(size), planes_(planes) {}

  void add(HostImage plane, ThreadPool& pool) override {
    std::vector<double>& squares = squares_.emplace_back(static_cast<std::size_t>(size_.pixels()));
    for_rows(size_, pool, [&](RowRange rows) { along_rows(plane.planes.front(), rows, squares); });
    for_rows({size_.height, size_.width}, pool, [&](RowRange columns) {
      Envelope line(size_.height, spacing_[0]);
      for (std::int64_t x = columns.begin; x < columns.end; ++x) {
        for (std::int64_t y = 0; y < size_.height; ++y) line[y] = squares[index(x, y)];
        line.make([&](std::int64_t y, double square) { squares[index(x, y)] = square; });
      }
    });
    if (std::ssize(squares_) == planes_) through_planes(pool);
  }
  bool has_next() const override { return std::ssize(squares_) == planes_ && next_ < planes_; }
  HostImage next(ThreadPool& pool) override {
    HostImage out(type_, size_);
    std::vector<double>& squares = squares_[static_cast<std::size_t>(next_++)];
    for_rows(size_, pool, [&](RowRange rows) {
      for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        auto* to = out.planes.front().row_as<float>(y);
        for (std::int64_t x = 0; x < size_.width; ++x) {
          to[x] = static_cast<float>(std::sqrt(squares[index(x, y)]));
        }
      }
    });
    squares = {};
    return out;
  }

 private:
  std::size_t index(std::int64_t x, std::int64_t y) const {
    return static_cast<std::size_t>(y * size_.width + x);
  }

  // The nearest voxel that is not 0 lies before or behind.
  void along_rows(const Plane& plane, RowRange rows, std::vector<double>& squares) const {
    with_pixel(plane.cls(), [&]<class T>(T) {
      for (std::int64_t y = rows.begin; y < rows.end; ++y) {
        const T* row = plane.row_as<T>(y);
        double* to = squares.data() + index(0, y);
        double apart = infinite;
        for (std::int64_t x = 0; x < size_.width; ++x) {
          apart = row[x] != 0 ? 0 : apart + 1;
          to[x] = apart;
        }
        apart = infinite;
        for (std::int64_t x = size_.width; x-- > 0;) {
          apart = row[x] != 0 ? 0 : apart + 1;
          const double nearest = std::min(to[x], apart) * spacing_[1];
          to[x] = nearest * nearest;
        }
      }
    });
  }

  void through_planes(ThreadPool& pool) {
    for_rows(size_, pool, [&](RowRange rows) {
      Envelope line(planes_, spacing_[2]);
      for (std::size_t i = index(0, rows.begin); i < index(0, rows.end); ++i) {
        for (std::int64_t z = 0; z < planes_; ++z)
          line[z] = squares_[static_cast<std::size_t>(z)][i];
        line.make([&](std::int64_t z, double square) {
          squares_[static_cast<std::size_t>(z)][i] = square;
        });
      }
    });
  }

  const PerAxis<double> spacing_;
  const ImageType type_;
  const Size size_;
  const std::int64_t planes_;
  std::vector<std::vector<double>> squares_;  // of distances, a plane each
  std::int64_t next_ = 0;
};

class DistanceVolume : public VolumeOperation {
 public:
  explicit DistanceVolume(PerAxis<double> spacing) : spacing_(spacing) {}
  ImageType type(const ImageType&) const override {
    return {.cls = PixelClass::single, .channels = 1, .alpha = false, .white = 0};
  }
  double bytes(const ImageType&, Size size, std::int64_t planes) const override {
    return static_cast<double>(size.pixels()) * static_cast<double>(planes) * sizeof(double);
  }
  std::string held() const override { return "all planes, as double,"; }
  std::unique_ptr<VolumeWork> begin(const ImageType& of, Size size,
                                    std::int64_t planes) const override {
    return std::make_unique<DistanceWork>(spacing_, type(of), size, planes);
  }

 private:
  const PerAxis<double> spacing_;
};

}  // namespace

Volume distance_volume(PerAxis<double> spacing) {
  return std::make_shared<DistanceVolume>(spacing);
}

}  // namespace impipe
