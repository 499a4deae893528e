// Adds up step times, and measures what copying memory costs here.
#include "engine/profile.hpp"
#include "core/primitive_facts.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "core/threads.hpp"

namespace impipe::engine {
namespace {

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

double Profile::unaccounted() const {
  return total() - start_up - times.prepare - times.decode - times.compute - times.encode -
         times.help - times.wait;
}

double Profile::host() const {
  double others = transfer + kernel_wait;
  for (const StepProfile& step : steps) others += step.seconds;
  return times.compute - others;
}

double Profile::thread_busy() const {
  return (times.prepare + times.decode + times.compute + times.encode + times.help) / threads;
}

void StepTimes::add(const Program& program, const std::vector<std::string>& stages,
                    const Outcome& outcome) {
  std::lock_guard lock(mutex_);
  transfer_ += outcome.transfer_seconds;
  kernel_wait_ += outcome.kernel_wait;
  for (size_t s = 0; s < outcome.step_seconds.size(); ++s) {
    const Step& step = program.plan.steps[s];
    const std::string name = stages_text(step, stages);
    const std::string kernel = kernel_text(step.kernel);
    const auto [place, is_new] = place_.try_emplace(name + "\n" + kernel, steps_.size());
    if (is_new) steps_.push_back({.name = name, .kernel = kernel});
    StepProfile& sum = steps_[place->second];
    ++sum.runs;
    sum.seconds += outcome.step_seconds[s];
    sum.bytes += outcome.step_bytes[s];
  }
}

double measure_copy_speed(int threads) {
  // Far larger than a last-level cache; the best of a few runs.
  constexpr size_t bytes = size_t{48} << 20;
  constexpr int runs = 5;
  std::vector<double> speeds(static_cast<size_t>(threads));
  const auto measure = [&speeds](int t) {
    const std::unique_ptr<char[]> from(new (std::nothrow) char[bytes]);
    const std::unique_ptr<char[]> to(new (std::nothrow) char[bytes]);
    if (!from || !to) return;
    std::memset(from.get(), 1, bytes);  // pages that nobody has written are one page of zeros
    double best = 0;
    for (int run = 0; run < runs; ++run) {
      const auto start = std::chrono::steady_clock::now();
      std::memcpy(to.get(), from.get(), bytes);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::max(best, 2.0 * static_cast<double>(bytes) / took.count());
    }
    speeds[static_cast<size_t>(t)] = best;
  };
  std::vector<std::thread> workers = start_threads(threads - 1, measure);
  measure(threads - 1);
  double sum = 0;
  for (std::thread& worker : workers) worker.join();
  for (const double speed : speeds) sum += speed;
  if (sum == 0) throw std::bad_alloc();
  return sum;
}

}  // namespace impipe::engine
