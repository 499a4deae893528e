#include "core/volume_planes.hpp"

#include <algorithm>
#include <utility>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

class Channelwise : public VolumeWork {
 public:
  Channelwise(const ImageType& type, BeginChannel begin, Alpha alpha)
      : type_(type), begin_(std::move(begin)), alpha_(alpha) {
    for (int c = 0; c < type.channels; ++c) works_.push_back(begin_(type.cls));
  }
  void add(HostImage plane, ThreadPool& pool) override {
    for (std::size_t c = 0; c < works_.size(); ++c) works_[c]->add(plane.planes[c], pool);
    if (plane.alpha.empty()) return;
    if (alpha_ == Alpha::stays) return alphas_.push_back(std::move(plane.alpha));
    if (!alpha_work_) alpha_work_ = begin_(plane.alpha.cls());
    alpha_work_->add(plane.alpha, pool);
  }
  bool has_next() const override { return works_.front()->has_next(); }
  HostImage next(ThreadPool& pool) override {
    HostImage out;
    out.type = type_;
    for (const auto& work : works_) out.planes.push_back(work->next(pool));
    if (alpha_work_) out.alpha = alpha_work_->next(pool);
    if (alphas_.empty()) return out;
    out.alpha = std::move(alphas_.front());
    alphas_.pop_front();
    return out;
  }

 private:
  const ImageType type_;
  const BeginChannel begin_;
  const Alpha alpha_;
  std::vector<std::unique_ptr<ChannelWork>> works_;
  std::unique_ptr<ChannelWork> alpha_work_;
  std::deque<Plane> alphas_;
};

}  // namespace

std::int64_t voxel_read(std::int64_t at, std::int64_t count, Outside outside) {
  if (outside == Outside::replicate) return std::clamp<std::int64_t>(at, 0, count - 1);
  const std::int64_t period = 2 * count;
  const std::int64_t in_period = (at % period + period) % period;
  return std::min(in_period, period - 1 - in_period);
}

AxisTaps window_taps(std::int64_t voxels, int window, Outside outside) {
  AxisTaps out{.window = window, .before = (window - 1) / 2, .sources = {}, .weights = {}};
  out.sources.resize(static_cast<std::size_t>(voxels));
  for (std::int64_t k = 0; k < voxels; ++k) {
    for (std::int64_t i = 0; i < window; ++i) {
      out.sources[static_cast<std::size_t>(k)].push_back(
          voxel_read(k - out.before + i, voxels, outside));
    }
  }
  return out;
}

void without_negative_zeros(Plane& plane, ThreadPool& pool) {
  if (plane.cls() != PixelClass::single) return;
  for_rows(plane.size(), pool, [&](RowRange range) {
    for (std::int64_t y = range.begin; y < range.end; ++y) {
      float* row = plane.row_as<float>(y);
      for (std::int64_t x = 0; x < plane.size().width; ++x) row[x] += 0.0F;
    }
  });
}

PlaneSchedule::PlaneSchedule(const AxisTaps& planes) : first_(planes.sources.size() + 1) {
  for (const auto& sources : planes.sources) last_.push_back(*std::ranges::max_element(sources));
  first_.back() = *std::ranges::max_element(last_) + 1;
  for (std::size_t k = planes.sources.size(); k-- > 0;) {
    first_[k] = std::min(first_[k + 1], *std::ranges::min_element(planes.sources[k]));
  }
}

std::unique_ptr<VolumeWork> channelwise(const ImageType& type, BeginChannel begin, Alpha alpha) {
  return std::make_unique<Channelwise>(type, std::move(begin), alpha);
}

}  // namespace impipe
