#include "engine/device/volume_on_device.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/one_nan.hpp"
#include "core/volume_ring.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {
namespace {

// An image of a stack.
struct StackImage {
  std::shared_ptr<DevicePlane> stack;
  int index = 0;
  bool follows(const StackImage& other) const {
    return stack == other.stack && index == other.index + 1;
  }
};
using StackImages = std::vector<StackImage>;

StackImage image_of(const std::shared_ptr<DevicePlane>& plane) {
  const DevicePlane::Part part = plane->part();
  return part.stack ? StackImage{part.stack, part.first} : StackImage{plane, 0};
}

StackImages images_of(const std::shared_ptr<DevicePlane>& stack, int first, std::int64_t count) {
  StackImages out;
  for (int i = 0; i < count; ++i) out.push_back({stack, first + i});
  return out;
}

// This image and those behind it.
std::shared_ptr<DevicePlane> plane_of(const StackImage& image, int count, Queue& queue) {
  if (image.index == 0 && count == image.stack->count()) return image.stack;
  auto made = queue.part(image.stack, image.index, count);
  if (!made) throw Error("the device takes no part of a buffer", ExitCode::backend);
  return made;
}

// Calls use(begin, end) for windows of images that one launch takes: each image is the one behind
// that of the window before.
template <class Use>
void for_runs(const std::vector<StackImages>& windows, int most, Use use) {
  for (std::size_t begin = 0, end = 0; begin < windows.size(); begin = end) {
    const auto goes_on = [&] {
      return std::ranges::equal(
          windows[end], windows[end - 1],
          [](const StackImage& image, const StackImage& before) { return image.follows(before); });
    };
    for (end = begin + 1; end < std::min(windows.size(), begin + static_cast<std::size_t>(most));
         ++end) {
      if (!goes_on()) break;
    }
    use(begin, static_cast<int>(end - begin));
  }
}

std::vector<StackImages> windows_of(const StackImages& images) {
  std::vector<StackImages> out;
  for (const StackImage& image : images) out.push_back({image});
  return out;
}

// A program whose images have one size.
class SizedProgram {
 public:
  SizedProgram(Session& session, Plan plan, Size size)
      : program_(session.made_program(std::move(plan), true)), most_(session.stackable(*program_)) {
    std::map<std::string, Size> operands;
    for (const PlanOperand& operand : program_->plan.operands) operands[operand.name] = size;
    sizes_ = sizes_of(*program_, size, operands);
  }

  // Images in a launch.
  int most() const { return most_; }
  // Whether the result is another image than the input.
  bool makes_images() const { return !program_->plan.steps.empty(); }
  std::shared_ptr<DevicePlane> stack(std::int64_t count, Queue& queue) const {
    const auto result = static_cast<std::size_t>(program_->plan.result);
    const ImageType& type = program_->plan.values[result].type;
    return queue.allocate_stack(type.cls, type.channels, sizes_[result], static_cast<int>(count));
  }

  // An image of each window, which is the program's image and its operands, in their order.
  // into: where the first one goes; without a stack: to a new one.
  StackImages made_of(const std::vector<StackImages>& windows, Queue& queue,
                      StackImage into = {}) const {
    StackImages out;
    if (!makes_images()) {
      for (const StackImages& window : windows) out.push_back(window.front());
      return out;
    }
    if (windows.empty()) return out;
    if (!into.stack) into = {stack(std::ssize(windows), queue), 0};
    out = images_of(into.stack, into.index, std::ssize(windows));
    for_runs(windows, most_,
             [&](std::size_t begin, int count) { run(windows[begin], out[begin], count, queue); });
    return out;
  }

 private:
  void run(const StackImages& window, const StackImage& result, int count, Queue& queue) const {
    const Plan& plan = program_->plan;
    std::vector<DeviceValue> values(plan.values.size());
    values.front().plane = plane_of(window.front(), count, queue);
    for (std::size_t i = 0; i < plan.operands.size(); ++i) {
      values[static_cast<std::size_t>(plan.operands[i].value)].plane =
          plane_of(window[i + 1], count, queue);
    }
    values[static_cast<std::size_t>(plan.result)].plane = plane_of(result, count, queue);
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      launch_step(*program_, step, sizes_, values, queue, count);
    }
  }

  std::shared_ptr<const Program> program_;
  std::vector<Size> sizes_;  // of its values
  int most_;
};

using Sources = std::vector<std::vector<PlaneRing::Held>>;

AxisTaps planes_read(const Sources& sources) {
  AxisTaps out;
  for (const auto& of_plane : sources) {
    auto& planes = out.sources.emplace_back();
    for (const PlaneRing::Held& held : of_plane) planes.push_back(held.plane);
  }
  return out;
}

class Ring {
 public:
  Ring(Session& session, PlaneRing ring, Size size)
      : sources_(std::move(ring.sources)),
        of_ring_(session, std::move(ring.of_ring), size),
        schedule_(planes_read(sources_)) {
    for (Plan& plan : ring.of_plane) of_plane_.emplace_back(session, std::move(plan), size);
    held_.resize(of_plane_.size());
    for (const auto& source : sources_) {
      const auto [first, last] = std::ranges::minmax(source, {}, &PlaneRing::Held::plane);
      window_ = std::max(window_, last.plane - first.plane + 1);
    }
  }

  // Planes that all its kernels take together.
  int most() const {
    int out = of_ring_.most() > 1 ? of_ring_.most() : std::numeric_limits<int>::max();
    for (const SizedProgram& program : of_plane_) {
      if (program.makes_images()) out = std::min(out, program.most());
    }
    return out;
  }
  std::size_t images() const { return of_plane_.size(); }
  // Stacks as many and as large as it will have where `count` planes come at a time.
  void take_memory(std::int64_t count, Queue& queue,
                   std::vector<std::shared_ptr<DevicePlane>>& taken) const {
    const std::int64_t most = std::min<std::int64_t>(count + window_ - 1, std::ssize(sources_));
    for (const SizedProgram& program : of_plane_) {
      for (std::int64_t held = 0; program.makes_images() && held < most; held += count) {
        taken.push_back(program.stack(count, queue));
      }
    }
    if (!all_) taken.push_back(of_ring_.stack(count + window_ / 2, queue));
  }
  // All planes of the result are to be in one stack.
  void make_together(Queue& queue) {
    if (of_ring_.makes_images()) all_ = of_ring_.stack(std::ssize(sources_), queue);
  }

  // Takes the next planes, and returns those of the result that can be made now.
  StackImages take(const StackImages& planes, Queue& queue) {
    for (std::size_t image = 0; image < of_plane_.size(); ++image) {
      std::ranges::copy(of_plane_[image].made_of(windows_of(planes), queue),
                        std::back_inserter(held_[image]));
    }
    for (std::size_t i = 0; i < planes.size(); ++i) schedule_.add();
    const auto next = static_cast<int>(schedule_.next());
    std::vector<StackImages> windows;
    for (; schedule_.has_next(); schedule_.advance()) {
      StackImages& window = windows.emplace_back();
      for (const auto& [plane, image] : sources_[static_cast<std::size_t>(schedule_.next())]) {
        window.push_back(held_[image][static_cast<std::size_t>(plane - first_)]);
      }
    }
    StackImages out = of_ring_.made_of(windows, queue, {all_, all_ ? next : 0});
    for (; first_ < schedule_.first_needed() && !held_.front().empty(); ++first_) {
      for (std::deque<StackImage>& images : held_) images.pop_front();
    }
    return out;
  }

 private:
  const Sources sources_;
  std::vector<SizedProgram> of_plane_;
  SizedProgram of_ring_;
  PlaneSchedule schedule_;
  std::vector<std::deque<StackImage>> held_;  // of each of `of_plane_`; the first: plane `first_`
  std::int64_t first_ = 0, window_ = 1;       // window_: planes that one of the result is made of
  std::shared_ptr<DevicePlane> all_;
};

class RingWork : public VolumeOnDevice {
 public:
  RingWork(Lanes& lanes, const VolumePlanes& planes) : turn_(lanes.take()), planes_(planes) {}

  Session& session() { return turn_.session; }
  void append(PlaneRing ring) { rings_.emplace_back(session(), std::move(ring), planes_.size); }

  // Takes the memory that the rings will take, once, so that it is there later; for fewer planes at
  // a time where there is not enough. False: the device has none.
  bool take_memory() {
    for (together_ = planes_together();; together_ = std::max<std::int64_t>(1, together_ / 4)) {
      try {
        if (planes_.together) rings_.back().make_together(turn_.queue);
        std::vector<std::shared_ptr<DevicePlane>> taken;
        if (!planes_.stay) taken.push_back(stack(together_));
        for (const Ring& ring : rings_) ring.take_memory(together_, turn_.queue, taken);
        return true;
      } catch (const OutOfDeviceMemory& error) {
        if (together_ > 1) continue;
        session().on_cpu(error);
        return false;
      }
    }
  }

  void add(HostImage plane, ThreadPool&) override {
    uploads_.push_back(std::move(plane.planes));
    came();
  }
  void add_there(const std::shared_ptr<DevicePlane>& plane) override {
    waiting_.push_back(image_of(plane));
    came();
  }
  bool has_next() const override { return !made_.empty() || !downloaded_.empty(); }
  HostImage next(ThreadPool&) override {
    HostImage out;
    out.type = planes_.type;
    out.planes = std::move(downloaded_.front());
    downloaded_.pop_front();
    return out;
  }
  std::shared_ptr<DevicePlane> next_there() override {
    const StackImage image = std::move(made_.front());
    made_.pop_front();
    return plane_of(image, 1, turn_.queue);
  }

 private:
  std::shared_ptr<DevicePlane> stack(std::int64_t count) {
    return turn_.queue.allocate_stack(planes_.type.cls, planes_.type.channels, planes_.size,
                                      static_cast<int>(count));
  }

  // Planes that come before kernels are launched for them.
  std::int64_t planes_together() {
    const auto has_parts = [&](PixelClass cls) {
      return turn_.queue.has_parts(cls, planes_.type.channels, planes_.size);
    };
    if (!has_parts(planes_.type.cls) || !has_parts(PixelClass::single)) return 1;
    std::size_t images = 0;
    int most = std::numeric_limits<int>::max();
    for (const Ring& ring : rings_) {
      images = std::max(images, ring.images());
      most = std::min(most, ring.most());
    }
    const auto bytes = static_cast<double>(planes_.size.pixels() * planes_.type.channels) *
                       static_cast<double>(images * sizeof(float));
    const int fit = session().max_planes(bytes, planes_.stay);
    return std::min<std::int64_t>({planes_.count, most, fit});
  }

  void came() {
    const std::int64_t waiting = std::ssize(uploads_) + std::ssize(waiting_);
    if (++come_ < planes_.count && waiting < together_) return;
    Queue& queue = turn_.queue;
    StackImages images = std::exchange(waiting_, {});
    if (!uploads_.empty()) {
      const auto there = queue.upload_stack(uploads_);
      std::ranges::copy(images_of(there, 0, std::ssize(uploads_)), std::back_inserter(images));
      uploads_.clear();
    }
    for (Ring& ring : rings_) images = ring.take(images, queue);
    hand_out(images);
  }

  void hand_out(const StackImages& images) {
    Queue& queue = turn_.queue;
    const std::shared_ptr<const Kernel> one_nan = kernel_of_one_nan();
    const bool is_single = planes_.type.cls == PixelClass::single;
    for_runs(windows_of(images), std::numeric_limits<int>::max(), [&](std::size_t at, int count) {
      const auto plane = plane_of(images[at], count, queue);
      if (one_nan && is_single) {
        queue.run(*one_nan, {.spec = nullptr, .inputs = {}, .outputs = {{plane, nullptr}}});
      }
      if (planes_.stay) return;
      for (Planes& made : queue.download_stack(*plane)) {
        if (!one_nan) std::ranges::for_each(made, [](Plane& of) { make_one_nan(of); });
        downloaded_.push_back(std::move(made));
      }
    });
    if (!planes_.stay) return;
    std::ranges::copy(images, std::back_inserter(made_));
    queue.wait();  // others read them
  }

  // Null where it is the host's work.
  std::shared_ptr<const Kernel> kernel_of_one_nan() {
    if (planes_.type.cls != PixelClass::single) return nullptr;
    if (planes_.stay) return session().one_nan_maker().kernel();
    return session().device().is_gpu ? session().one_nan_maker().kernel_in_time() : nullptr;
  }

  const Lanes::Turn turn_;
  const VolumePlanes planes_;
  std::deque<Ring> rings_;  // one after the other
  std::int64_t together_ = 1, come_ = 0;
  std::vector<Planes> uploads_;  // that wait for others
  StackImages waiting_;          // the same of planes that are there
  std::deque<StackImage> made_;
  std::deque<Planes> downloaded_;
};

}  // namespace

std::unique_ptr<VolumeOnDevice> volume_on_device(Lanes& lanes, const VolumeOperation& operation,
                                                 const VolumePlanes& planes) {
  if (planes.type.alpha) return nullptr;
  std::vector<PlaneRing> rings = operation.rings(planes.type, planes.size, planes.count);
  if (rings.empty()) return nullptr;
  auto work = std::make_unique<RingWork>(lanes, planes);
  if (work->session().device().id == "cpu") return nullptr;
  for (PlaneRing& ring : rings) work->append(std::move(ring));
  if (!work->take_memory()) return nullptr;
  return work;
}

}  // namespace impipe::engine
