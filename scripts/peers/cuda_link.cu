// What page-locked copies of 16 MB reach over the link: up, down, both at once; and both while
// threads of the host fill the buffers before they go up and read them once they are down, as a
// program that decodes and encodes pictures does. usage: cuda_link [THREADS]
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

constexpr size_t bytes = size_t{16} << 20;
constexpr int rounds = 24;

struct Lane {
  char *up = nullptr, *down = nullptr, *device = nullptr, *other = nullptr;
  std::vector<char> host = std::vector<char>(bytes, 1);
  cudaStream_t going_up{}, going_down{};
};

struct Way {
  const char* name;
  bool up, down, touches;
};

// Moves and touches what a way says, so many times.
void run(Lane& lane, const Way& way) {
  for (int i = 0; i < rounds; ++i) {
    if (way.touches) std::memcpy(lane.up, lane.host.data(), bytes);
    if (way.up) {
      cudaMemcpyAsync(lane.device, lane.up, bytes, cudaMemcpyHostToDevice, lane.going_up);
    }
    if (way.down) {
      cudaMemcpyAsync(lane.down, lane.other, bytes, cudaMemcpyDeviceToHost, lane.going_down);
    }
    cudaStreamSynchronize(lane.going_up);
    cudaStreamSynchronize(lane.going_down);
    if (way.touches) std::memcpy(lane.host.data(), lane.down, bytes);
  }
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? std::atoi(arguments[1]) : 16;
  std::vector<Lane> lanes(static_cast<size_t>(threads));
  for (Lane& lane : lanes) {
    if (cudaMallocHost(&lane.up, bytes) != cudaSuccess ||
        cudaMallocHost(&lane.down, bytes) != cudaSuccess ||
        cudaMalloc(&lane.device, bytes) != cudaSuccess ||
        cudaMalloc(&lane.other, bytes) != cudaSuccess) {
      return 1;
    }
    cudaStreamCreateWithFlags(&lane.going_up, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&lane.going_down, cudaStreamNonBlocking);
  }
  constexpr Way ways[] = {{"up", true, false, false},
                          {"down", false, true, false},
                          {"up and down at once", true, true, false},
                          {"up and down at once, filled and read by the host", true, true, true}};
  for (const Way& way : ways) {
    double best = 1e9;
    for (int turn = 0; turn < 3; ++turn) {
      const auto begin = std::chrono::steady_clock::now();
      std::vector<std::thread> running;
      for (Lane& lane : lanes) running.emplace_back([&lane, &way] { run(lane, way); });
      for (std::thread& one : running) one.join();
      const auto end = std::chrono::steady_clock::now();
      const double seconds = std::chrono::duration<double>(end - begin).count();
      if (seconds < best) best = seconds;
    }
    const double each = static_cast<double>(bytes) * rounds * threads / best / 1e9;
    std::printf("%s, %d threads: %.1f GB/s each way\n", way.name, threads, each);
  }
}
