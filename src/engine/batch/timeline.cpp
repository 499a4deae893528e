// Adds up slices of time: each kind's union, a device's busy time, and the steps' shares of it.
#include "engine/batch/timeline.hpp"

#include <algorithm>
#include <map>
#include <new>

namespace impipe::engine {
namespace {

using Kind = Slice::Kind;

// What goes on at a moment, as a sweep over the slices' ends finds it.
class Moment {
 public:
  explicit Moment(TimeSums& sums) : sums_(sums) {}

  void change(const Slice& slice, int by) {
    running_[static_cast<size_t>(slice.kind)] += by;
    if (slice.kind != Kind::compute) any_ += by;
    if (slice.device < 0) return;
    OnDevice& on = devices_[slice.device];
    if (slice.kind == Kind::upload) on.uploads += by;
    if (slice.kind == Kind::download) on.downloads += by;
    if (slice.kind == Kind::compile) on.compiles += by;
    if (slice.kind != Kind::kernel) return;
    on.kernels += by;
    if ((on.steps[slice.step] += by) == 0) on.steps.erase(slice.step);
  }

  // It lasted so long.
  void last(double seconds) {
    const bool computes = std::ranges::any_of(
        devices_, [](const auto& device) { return device.second.running_kernels() > 0; });
    for (size_t kind = 0; kind < running_.size(); ++kind) {
      if (running_[kind] == 0 || (kind == static_cast<size_t>(Kind::kernel) && !computes)) continue;
      sums_.wall[kind] += seconds;
      if (kind != static_cast<size_t>(Kind::compute)) sums_.all += seconds;
    }
    if (any_ > 0) sums_.covered += seconds;
    for (const auto& [number, on] : devices_) {
      const auto place = static_cast<size_t>(number);
      if (sums_.devices.size() <= place) sums_.devices.resize(place + 1);
      TimeSums::OfDevice& sum = sums_.devices[place];
      if (on.uploads > 0) sum.upload += seconds;
      if (on.downloads > 0) sum.download += seconds;
      if (on.running_kernels() == 0) continue;
      sum.busy += seconds;
      sum.sum += seconds * on.kernels;
      for (const auto& [step, count] : on.steps) {
        if (step < 0) continue;
        const auto at = static_cast<size_t>(step);
        if (sums_.steps.size() <= at) sums_.steps.resize(at + 1);
        sums_.steps[at] += seconds * count / on.kernels;
      }
    }
  }

 private:
  struct OnDevice {
    int uploads = 0, downloads = 0, kernels = 0, compiles = 0;
    std::map<int, int> steps;  // kernels of each
    // A driver that compiles at a kernel's first launch (PoCL) lets the others wait for that.
    int running_kernels() const { return compiles > 0 ? 0 : kernels; }
  };
  TimeSums& sums_;
  std::array<int, slice_kinds> running_{};
  int any_ = 0;
  std::map<int, OnDevice> devices_;
};

}  // namespace

std::string_view name_of(Kind kind) {
  static constexpr std::array<std::string_view, slice_kinds> names{
      "start-up",         "finish",   "headers",          "read and decode",   "compute",
      "encode and write", "help",     "launches, memory", "wait for compiler", "upload",
      "kernels",          "download", "compile"};
  return names[static_cast<size_t>(kind)];
}

void Timeline::add(Slice slice) noexcept {
  slice.begin -= start_;
  slice.end -= start_;
  std::lock_guard lock(mutex_);
  last_end_ = std::max(last_end_, slice.end);
  try {
    if (first_.size() < max_) {
      first_.push_back(slice);
    } else {
      cut_ = true;
    }
    // What comes late, of a time that was added up already, counts from there on.
    slice.begin = std::max(slice.begin, folded_);
    slice.end = std::max(slice.end, slice.begin);
    waiting_.push_back(slice);
    if (waiting_.size() < max_waiting) return;
    // Of work that goes on there may be slices to come: only the older half is added up.
    std::vector<double> ends;
    for (const Slice& s : waiting_) ends.push_back(s.end);
    const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
    std::nth_element(ends.begin(), middle, ends.end());
    fold(*middle);
  } catch (const std::bad_alloc&) {
  }
}

void Timeline::fold(double until) {
  struct Change {
    double time;
    size_t slice;
    int by;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < waiting_.size(); ++i) {
    const Slice& slice = waiting_[i];
    if (slice.begin >= until) continue;
    const double end = std::min(slice.end, until);
    changes.push_back({slice.begin, i, 1});
    changes.push_back({end, i, -1});
    sums_.sum[static_cast<size_t>(slice.kind)] += end - slice.begin;
  }
  std::ranges::sort(changes, [](const Change& a, const Change& b) { return a.time < b.time; });
  Moment moment(sums_);
  for (size_t i = 0; i < changes.size(); ++i) {
    moment.change(waiting_[changes[i].slice], changes[i].by);
    if (i + 1 < changes.size()) moment.last(changes[i + 1].time - changes[i].time);
  }
  std::erase_if(waiting_, [&](Slice& slice) {
    slice.begin = std::max(slice.begin, until);
    return slice.end <= until;
  });
  folded_ = until;
}

TimeSums Timeline::sums() {
  std::lock_guard lock(mutex_);
  double last = folded_;
  for (const Slice& slice : waiting_) last = std::max(last, slice.end);
  fold(last);
  return sums_;
}

double Timeline::last_end() const {
  std::lock_guard lock(mutex_);
  return start_ + last_end_;
}

std::vector<Slice> Timeline::first() const {
  std::lock_guard lock(mutex_);
  return first_;
}

bool Timeline::is_cut() const {
  std::lock_guard lock(mutex_);
  return cut_;
}

}  // namespace impipe::engine
