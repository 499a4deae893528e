// What suites measure beside pipelines: plain loops, a copy, and the decoding of JPEGs.
#pragma once

#include "bench/naive/loops.hpp"
#include "engine/tools/benchmark.hpp"

namespace impipe::bench {

class SuiteBenchmark : public engine::Benchmark {
 public:
  using Benchmark::Benchmark;

  // A plain loop over the pipeline's images, on the calling thread; its time is that of the device
  // and of the whole way.
  engine::BenchmarkResult run_loop(const naive::Loop& loop, const pipeline::Pipeline& pipeline,
                                   const engine::BenchmarkOptions& options);
  // The plain copy of the image, whose result is the image.
  engine::BenchmarkResult run_copy(const engine::BenchmarkOptions& options);
  // Decoding of so many JPEGs in memory, made of natural images: 4:2:0, quality 90. The device's
  // time is that of its kernels; the whole way is from files in the host's memory to pixels in the
  // device's. A device without such kernels: the processor's threads.
  engine::BenchmarkResult run_decoder(int count, Size size);
};

}  // namespace impipe::bench
