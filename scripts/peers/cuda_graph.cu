// What launches cost that wait for each other: rounds over a mask of 512x512, as labels and filled
// holes have them, one after the other in a stream, in a graph, and in one kernel whose groups meet
// at a barrier of the grid. usage: cuda_graph [ROUNDS]
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

constexpr int side = 512, items = 256, groups = side * side / items / 4;

__device__ void spread(const unsigned char* from, unsigned char* to) {
  for (int i = blockIdx.x * items + threadIdx.x; i < side * side; i += groups * items) {
    const int left = i % side > 0 ? from[i - 1] : 0, up = i >= side ? from[i - side] : 0;
    to[i] = max(max(left, up), int{from[i]});
  }
}
__global__ void one_round(const unsigned char* from, unsigned char* to) { spread(from, to); }
__global__ void all_rounds(unsigned char* a, unsigned char* b, int rounds) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < rounds; ++i) {
    spread(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a);
    grid.sync();
  }
}

template <class Run>
double least_of(cudaStream_t stream, const Run& run) {
  double least = 1e9;
  for (int i = 0; i < 200; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    cudaStreamSynchronize(stream);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    least = std::min(least, took.count());
  }
  return least;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 78;
  unsigned char *a = nullptr, *b = nullptr;
  cudaMalloc(&a, side * side);
  cudaMalloc(&b, side * side);
  cudaMemset(a, 0, side * side);
  cudaStream_t stream{};
  cudaStreamCreate(&stream);
  const auto launches = [&] {
    for (int i = 0; i < rounds; ++i) {
      one_round<<<groups, items, 0, stream>>>(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a);
    }
  };
  cudaGraph_t graph{};
  cudaGraphExec_t made{};
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  launches();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&made, graph, 0);
  void* arguments[] = {&a, &b, &rounds};
  const double apart = least_of(stream, launches);
  const double in_graph = least_of(stream, [&] { cudaGraphLaunch(made, stream); });
  const double together = least_of(stream, [&] {
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(all_rounds), groups, items, arguments, 0, stream);
  });
  const cudaError_t said = cudaGetLastError();
  std::printf("%d rounds: launches %.1f us, a graph %.1f us, one kernel %.1f us (%s)\n", rounds, apart,
              in_graph, together, cudaGetErrorString(said));
  return said == cudaSuccess ? 0 : 1;
}
