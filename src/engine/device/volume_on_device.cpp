#include "engine/device/volume_on_device.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/volume_ring.hpp"
#include "engine/program/executor.hpp"

namespace impipe::engine {
namespace {

using DeviceImages = std::vector<std::shared_ptr<DevicePlane>>;

using Sources = std::vector<std::vector<PlaneRing::Held>>;

AxisTaps planes_read(const Sources& sources) {
  AxisTaps out;
  for (const auto& of_plane : sources) {
    auto& planes = out.sources.emplace_back();
    for (const PlaneRing::Held& held : of_plane) planes.push_back(held.plane);
  }
  return out;
}

// A program whose images have one size.
class SizedProgram {
 public:
  SizedProgram(Session& session, Plan plan, Size size)
      : program_(session.made_program(std::move(plan))) {
    std::map<std::string, Size> operands;
    for (const PlanOperand& operand : program_->plan.operands) operands[operand.name] = size;
    sizes_ = sizes_of(*program_, size, operands);
  }
  // inputs: the program's image and its operands, in their order.
  std::shared_ptr<DevicePlane> run(const DeviceImages& inputs, Queue& queue) const {
    const Plan& plan = program_->plan;
    std::vector<DeviceValue> values(plan.values.size());
    values.front().plane = inputs.front();
    for (std::size_t i = 0; i < plan.operands.size(); ++i) {
      values[static_cast<std::size_t>(plan.operands[i].value)].plane = inputs[i + 1];
    }
    for (std::size_t step = 0; step < plan.steps.size(); ++step) {
      launch_step(*program_, step, sizes_, values, queue);
    }
    return values[static_cast<std::size_t>(plan.result)].plane;
  }

 private:
  std::shared_ptr<const Program> program_;
  std::vector<Size> sizes_;  // of its values
};

class Ring {
 public:
  Ring(Session& session, PlaneRing ring, Size size)
      : sources_(std::move(ring.sources)),
        of_ring_(session, std::move(ring.of_ring), size),
        schedule_(planes_read(sources_)) {
    for (Plan& plan : ring.of_plane) of_plane_.emplace_back(session, std::move(plan), size);
  }

  void add(const std::shared_ptr<DevicePlane>& plane, Queue& queue) {
    DeviceImages& made = held_.emplace_back();
    for (const SizedProgram& program : of_plane_) made.push_back(program.run({plane}, queue));
    schedule_.add();
  }
  bool has_next() const { return schedule_.has_next(); }
  std::shared_ptr<DevicePlane> next(Queue& queue) {
    DeviceImages inputs;
    for (const auto& [plane, image] : sources_[static_cast<std::size_t>(schedule_.next())]) {
      inputs.push_back(held_[static_cast<std::size_t>(plane - first_)][image]);
    }
    std::shared_ptr<DevicePlane> out = of_ring_.run(inputs, queue);
    schedule_.advance();
    for (; first_ < schedule_.first_needed() && !held_.empty(); ++first_) held_.pop_front();
    return out;
  }

 private:
  const Sources sources_;
  std::vector<SizedProgram> of_plane_;
  SizedProgram of_ring_;
  PlaneSchedule schedule_;
  std::deque<DeviceImages> held_;  // the first is of plane `first_`
  std::int64_t first_ = 0;
};

class RingWork : public VolumeOnDevice {
 public:
  RingWork(Lanes& lanes, const ImageType& type) : turn_(lanes.take()), type_(type) {}

  Session& session() { return turn_.session; }
  void append(PlaneRing ring, Size size) { rings_.emplace_back(session(), std::move(ring), size); }

  void add(HostImage plane, ThreadPool&) override { add_there(turn_.queue.upload(plane.planes)); }
  void add_there(const std::shared_ptr<DevicePlane>& plane) override {
    rings_.front().add(plane, turn_.queue);
    for (std::size_t i = 1; i < rings_.size(); ++i) {
      while (rings_[i - 1].has_next()) {
        rings_[i].add(rings_[i - 1].next(turn_.queue), turn_.queue);
      }
    }
  }
  bool has_next() const override { return rings_.back().has_next(); }
  HostImage next(ThreadPool&) override {
    HostImage out;
    out.type = type_;
    out.planes = turn_.queue.download(*rings_.back().next(turn_.queue));
    return out;
  }
  std::shared_ptr<DevicePlane> next_there() override {
    std::shared_ptr<DevicePlane> out = rings_.back().next(turn_.queue);
    turn_.queue.wait();  // others read it
    return out;
  }

 private:
  const Lanes::Turn turn_;
  const ImageType type_;
  std::deque<Ring> rings_;  // one after the other
};

}  // namespace

std::unique_ptr<VolumeOnDevice> volume_on_device(Lanes& lanes, const VolumeOperation& operation,
                                                 const ImageType& type, Size size,
                                                 std::int64_t planes) {
  if (type.alpha) return nullptr;
  std::vector<PlaneRing> rings = operation.rings(type, size, planes);
  if (rings.empty()) return nullptr;
  auto work = std::make_unique<RingWork>(lanes, type);
  if (work->session().device().id == "cpu") return nullptr;
  for (PlaneRing& ring : rings) work->append(std::move(ring), size);
  return work;
}

}  // namespace impipe::engine
