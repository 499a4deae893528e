// Inflates and deflates chunks by nvCOMP, for scripts/gpu_codecs.sh.
// usage: nvcomp FILE...: each a set of chunks: their number, the bytes of each packed and unpacked
// (uint32), then the packed ones (raw deflate), then the unpacked ones. Prints GB/s of unpacked
// bytes, the best of five, and the ratio of what it deflates.
#include <cuda_runtime.h>
#include <nvcomp/deflate.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

void check(bool is_good, const char* what) {
  if (is_good) return;
  std::fprintf(stderr, "nvcomp: %s failed\n", what);
  std::exit(1);
}

template <class T>
T* on_card(const std::vector<T>& values) {
  T* to = nullptr;
  check(cudaMalloc(&to, values.size() * sizeof(T)) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(to, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}

// Chunks behind each other, each on a multiple of 16.
struct Chunks {
  char* memory = nullptr;
  void** pointers = nullptr;
  size_t* bytes = nullptr;
  std::vector<size_t> begins;
  Chunks(const std::vector<size_t>& sizes) {
    size_t all = 0;
    for (const size_t size : sizes) {
      begins.push_back(all);
      all += (size + 31) / 16 * 16;
    }
    check(cudaMalloc(&memory, all + 16) == cudaSuccess, "cudaMalloc");
    std::vector<void*> places;
    for (const size_t begin : begins) places.push_back(memory + begin);
    pointers = on_card(places);
    bytes = on_card(sizes);
  }
};

template <class Work>
double best_seconds(Work work) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  double best = 1e9;
  for (int i = 0; i < 6; ++i) {
    cudaEventRecord(begin);
    work();
    cudaEventRecord(end);
    check(cudaEventSynchronize(end) == cudaSuccess, "a kernel");
    float ms = 0;
    cudaEventElapsedTime(&ms, begin, end);
    if (i > 0) best = std::min(best, ms / 1e3);
  }
  return best;
}

void measure(const char* name) {
  std::FILE* file = std::fopen(name, "rb");
  check(file != nullptr, name);
  std::uint32_t count = 0;
  check(std::fread(&count, 4, 1, file) == 1, name);
  std::vector<std::uint32_t> pairs(2 * count);
  check(std::fread(pairs.data(), 4, pairs.size(), file) == pairs.size(), name);
  std::vector<size_t> packed, whole;
  size_t all = 0, most = 0;
  for (size_t i = 0; i < count; ++i) {
    packed.push_back(pairs[2 * i]);
    whole.push_back(pairs[2 * i + 1]);
    all += whole.back();
    most = std::max(most, whole.back());
  }
  const Chunks from(packed), to(whole);
  std::vector<std::vector<char>> wanted;
  for (const bool is_whole : {false, true}) {
    const Chunks& chunks = is_whole ? to : from;
    for (size_t i = 0; i < count; ++i) {
      std::vector<char> bytes(is_whole ? whole[i] : packed[i]);
      check(std::fread(bytes.data(), 1, bytes.size(), file) == bytes.size(), name);
      if (!is_whole) {
        cudaMemcpy(chunks.memory + chunks.begins[i], bytes.data(), bytes.size(),
                   cudaMemcpyHostToDevice);
      } else {
        wanted.push_back(std::move(bytes));
      }
    }
  }
  std::fclose(file);

  const auto inflate = nvcompBatchedDeflateDecompressDefaultOpts;
  size_t temp_bytes = 0;
  check(nvcompBatchedDeflateDecompressGetTempSize(count, most, inflate, &temp_bytes, all, nullptr) ==
            nvcompSuccess,
        "its temporary memory");
  void* temp = nullptr;
  cudaMalloc(&temp, temp_bytes + 16);
  size_t* made = on_card(whole);
  nvcompStatus_t* statuses = on_card(std::vector<nvcompStatus_t>(count));
  const double inflated = best_seconds([&] {
    check(nvcompBatchedDeflateDecompressAsync(from.pointers, from.bytes, to.bytes, made, count, temp,
                                              temp_bytes, to.pointers, inflate, statuses,
                                              nullptr) == nvcompSuccess,
          "inflating");
  });
  for (size_t i = 0; i < count; ++i) {
    std::vector<char> bytes(whole[i]);
    cudaMemcpy(bytes.data(), to.memory + to.begins[i], bytes.size(), cudaMemcpyDeviceToHost);
    check(bytes == wanted[i], "comparing");
  }
  std::printf("%-12s inflated %7.2f GB/s", name, static_cast<double>(all) / inflated / 1e9);

  // Streams are deflated in parts of 64 KB, as impipe does it.
  constexpr size_t part = 65536;
  std::vector<size_t> parts;
  std::vector<void*> places;
  for (size_t i = 0; i < count; ++i) {
    for (size_t at = 0; at < whole[i]; at += part) {
      parts.push_back(std::min(part, whole[i] - at));
      places.push_back(to.memory + to.begins[i] + at);
    }
  }
  void** part_pointers = on_card(places);
  size_t* part_bytes = on_card(parts);
  for (const int algorithm : {0, 1, 2, 4}) {
    nvcompBatchedDeflateCompressOpts_t deflate = nvcompBatchedDeflateCompressDefaultOpts;
    deflate.algorithm = algorithm;
    size_t room = 0, bytes = 0;
    check(nvcompBatchedDeflateCompressGetTempSize(parts.size(), part, deflate, &bytes, all, nullptr) ==
              nvcompSuccess,
          "its temporary memory");
    nvcompBatchedDeflateCompressGetMaxOutputChunkSize(part, deflate, &room);
    void* own = nullptr;
    check(cudaMalloc(&own, bytes + 16) == cudaSuccess, "cudaMalloc");
    const Chunks out(std::vector<size_t>(parts.size(), room));
    const double seconds = best_seconds([&] {
      check(nvcompBatchedDeflateCompressAsync(part_pointers, part_bytes, part, parts.size(), own,
                                              bytes, out.pointers, out.bytes, deflate, nullptr,
                                              nullptr) == nvcompSuccess,
            "deflating");
    });
    std::vector<size_t> sizes(parts.size());
    cudaMemcpy(sizes.data(), out.bytes, sizes.size() * sizeof(size_t), cudaMemcpyDeviceToHost);
    size_t sum = 0;
    for (const size_t size : sizes) sum += size;
    std::printf("  by %d %6.2f, ratio %.3f", algorithm, static_cast<double>(all) / seconds / 1e9,
                static_cast<double>(all) / static_cast<double>(sum));
    cudaFree(own);
    cudaFree(out.memory);
  }
  std::printf("\n");
  cudaFree(from.memory);
  cudaFree(to.memory);
}

}  // namespace

int main(int count, char** names) {
  for (int i = 1; i < count; ++i) measure(names[i]);
}
