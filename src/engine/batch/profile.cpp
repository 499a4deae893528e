// Adds up what images' steps did, and what a profile says of it all.
#include "engine/batch/profile.hpp"

#include "core/primitive_facts.hpp"

namespace impipe::engine {
namespace {

using Kind = Slice::Kind;

std::string stages_text(const Step& step, const std::vector<std::string>& stages) {
  std::string text;
  for (const int stage : step.stages) {
    if (!text.empty()) text += " | ";
    text += stages.at(static_cast<size_t>(stage));
  }
  return text;
}

std::string kernel_text(const KernelSpec& kernel) {
  std::string text;
  for (const Node& node : kernel.nodes) {
    if (!text.empty()) text += " + ";
    text += name_of(node.primitive);
  }
  return text;
}

}  // namespace

double Profile::thread_unaccounted() const {
  return total() - start_up - times.prepare - times.decode - times.compute - times.encode -
         times.help - times.wait;
}

bool Profile::on_gpu() const { return !devices.empty() && devices.front().info.id != "cpu"; }

double Profile::threads_working() const {
  double computing = sums.sum_of(Kind::host);
  if (!on_gpu()) computing = times.compute - sums.sum_of(Kind::kernel_wait);
  const double working = times.prepare + times.decode + times.encode + times.help + computing;
  return times.wall > 0 ? working / (threads * times.wall) : 0;
}

std::vector<int>& StepTimes::places_of(const Program& program,
                                       const std::vector<std::string>& stages) {
  std::vector<int>& places = places_[&program];
  if (!places.empty()) return places;
  for (const Step& step : program.plan.steps) {
    places.push_back(place_of(stages_text(step, stages), kernel_text(step.kernel), step.apart));
  }
  return places;
}

int StepTimes::place_of(const std::string& name, const std::string& kernel,
                        const std::string& apart) {
  const auto [place, is_new] =
      known_.try_emplace(name + "\n" + kernel, static_cast<int>(steps_.size()));
  if (is_new) steps_.push_back({.name = name, .kernel = kernel, .apart = apart});
  return place->second;
}

int StepTimes::Places::of(int tag) const {
  if (tag == decoding_tag) return decoding;
  if (tag == encoding_tag) return encoding;
  return tag < 0 ? -1 : program[static_cast<size_t>(tag)];
}

// Returns its place, -1 where nothing was done.
int StepTimes::add(const CodecWork& work, const std::string& name) {
  if (work.bytes == 0) return -1;
  const int place = place_of(name, "codec", "");
  StepProfile& sum = steps_[static_cast<size_t>(place)];
  ++sum.runs;
  sum.bytes += work.bytes;
  sum.launches += work.launches;
  return place;
}

StepTimes::Places StepTimes::add(const Program& program, const std::vector<std::string>& stages,
                                 const Outcome& outcome) {
  std::lock_guard lock(mutex_);
  Places places;
  places.decoding = add(outcome.decoding, "decode");
  places.program = places_of(program, stages);
  places.encoding = add(outcome.encoding, "encode");
  for (size_t s = 0; s < outcome.step_bytes.size(); ++s) {
    StepProfile& sum = steps_[static_cast<size_t>(places.program[s])];
    ++sum.runs;
    sum.bytes += outcome.step_bytes[s];
    if (s < outcome.step_launches.size()) sum.launches += outcome.step_launches[s];
  }
  for (const Activity& activity : outcome.activity) {
    if (activity.kind == Activity::Kind::upload) {
      uploaded_ += activity.bytes;
      copied_up_ += activity.copied;
    }
    if (activity.kind == Activity::Kind::download) {
      downloaded_ += activity.bytes;
      copied_down_ += activity.copied;
    }
  }
  return places;
}

}  // namespace impipe::engine
