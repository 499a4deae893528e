#include "bench/suite_benchmark.hpp"

namespace impipe::bench {

using engine::BenchmarkOptions;
using engine::BenchmarkResult;

BenchmarkResult SuiteBenchmark::run_copy(const BenchmarkOptions& options) {
  const HostImage& made = image("", 1, options);
  BenchmarkResult result;
  result.type = made.type;
  result.size = made.size();
  result.launches = 1;
  result.bytes = 2.0 * static_cast<double>(made.size().pixels() * made.type.channels *
                                           bytes_of(made.type.cls));
  result.floor = result.bytes / copy_speed_;
  const size_t places = places_for(result.bytes);
  const auto from = places_of(made.planes, places);
  std::vector<std::shared_ptr<DevicePlane>> to(places);
  for (auto& plane : to) plane = place_for(made.type.cls, made.type.channels, made.size(), 1);
  const Times times = time_of([&](size_t i) { copy(*to[i % places], *from[i % places]); }, places);
  result.take_device(times.spread, times.groups);
  result.baseline_time = result.device;
  result.outcome.image = made;
  result.outcome.image.planes = queue_->download(*to.front());
  return result;
}

BenchmarkResult SuiteBenchmark::run_loop(const naive::Loop& loop,
                                         const pipeline::Pipeline& pipeline,
                                         const BenchmarkOptions& options) {
  constexpr double budget = 1;
  const engine::Material what = material(pipeline, options);
  BenchmarkResult result;
  result.type = what.image.type;
  result.size = what.image.size();
  // Slow ones run once or twice: what their first run costs more is little beside them.
  std::vector<double> times;
  const double begin = steady_seconds();
  do {
    const double start = steady_seconds();
    engine::Outcome outcome = loop(what);
    times.push_back(1e3 * (steady_seconds() - start));
    if (times.size() == 1) result.outcome = std::move(outcome);
  } while (times.size() < 5 && steady_seconds() - begin < budget);
  result.cold_ms = times.front();
  result.runs = static_cast<int>(times.size());
  result.take_wall(engine::spread_of(times));
  for (double& time : times) time *= 1e-3;
  result.take_device(engine::spread_of(times), result.runs);
  return result;
}

}  // namespace impipe::bench
