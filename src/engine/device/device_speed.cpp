// Measures how fast memory is copied, and remembers it.
#include "engine/device/device_speed.hpp"

#include <fmt/format.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <sstream>
#include <thread>
#include <vector>

#include "backends/registry.hpp"
#include "core/threads.hpp"

namespace impipe::engine {
namespace {

// Raised when it is measured in another way, so that old numbers do not count.
constexpr const char* speed_version = "device speed 2";

VerdictKey key_of(const DeviceInfo& info, int threads) {
  VerdictKey key;
  key.question = speed_version;
  if (!info.is_gpu) key.question += fmt::format(", {} threads", threads);
  key.device = info.id + " " + info.name;
  key.driver = info.driver;
  return key;
}

// Bytes that a thread copies: all together twice the last-level cache. Of one that many processors
// share, of which few are ours, a thread gets no more than a part.
size_t bytes_to_copy(int threads) {
  constexpr long least = 4 << 20, most = 48 << 20;
  const long bytes = std::clamp(2 * sysconf(_SC_LEVEL3_CACHE_SIZE) / threads, least, most);
  return static_cast<size_t>(bytes) / 64 * 64;  // whole lines of the cache
}

// With stores that go past the caches, whatever the C library does with so many bytes: a multiple
// of 16.
void copy(char* to, const char* from, size_t bytes) {
#if defined(__x86_64__)
  for (size_t i = 0; i < bytes; i += sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace

double measure_copy_speed(int threads) {
  const size_t bytes = bytes_to_copy(threads);
  // Threads work at the same time, though they start one after the other.
  const size_t runs = (size_t{240} << 20) / bytes;
  std::vector<double> speeds(static_cast<size_t>(threads));
  const auto measure = [&speeds, bytes, runs](int t) {
    const std::unique_ptr<char[]> from(new (std::nothrow) char[bytes]);
    const std::unique_ptr<char[]> to(new (std::nothrow) char[bytes]);
    if (!from || !to) return;
    std::memset(from.get(), 1, bytes);  // pages that nobody has written are one page of zeros
    double best = 0;
    for (size_t run = 0; run < runs; ++run) {
      const double start = steady_seconds();
      copy(to.get(), from.get(), bytes);
      best = std::max(best, 2.0 * static_cast<double>(bytes) / (steady_seconds() - start));
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

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

DeviceSpeed speed_of(Device& device, int threads) {
  const VerdictKey key = key_of(device.info(), threads);
  DeviceSpeed speed;
  if (const auto known = backends::known_verdict(key)) {
    std::istringstream text(*known);
    if (text >> speed.copy >> speed.link.up >> speed.link.down >> speed.date) return speed;
  }
  speed = {};
  speed.date = utc_now();
  speed.measured = true;
  try {
    // An OpenCL device that is the processor has the processor's memory.
    speed.copy = device.info().is_gpu ? device.measure_copy() : measure_copy_speed(threads);
    speed.link = device.measure_link();
  } catch (const OutOfDeviceMemory&) {
  }
  const std::string text =
      fmt::format("{} {} {} {}", speed.copy, speed.link.up, speed.link.down, speed.date);
  backends::keep_verdict(
      key, text, fmt::format("speed of {}: copies at {:.1f} GB/s", key.device, speed.copy / 1e9));
  return speed;
}

}  // namespace impipe::engine
