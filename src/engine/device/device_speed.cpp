// Measures how fast memory is copied, and remembers it.
#include "engine/device/device_speed.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
constexpr const char* version = "device speed 1";

VerdictKey key_of(const DeviceInfo& info, int threads) {
  VerdictKey key;
  key.question = version;
  if (info.id == "cpu") key.question += fmt::format(", {} threads", threads);
  key.device = info.id + " " + info.name;
  key.driver = info.driver;
  return key;
}

// Bytes that a thread copies: all together several times the last-level cache.
size_t bytes_to_copy(int threads) {
  constexpr long least = 48 << 20, most = 1 << 30;
  const long cache = std::clamp<long>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0, most / 2);
  return static_cast<size_t>(std::max(least, 2 * cache / threads));
}

}  // namespace

double measure_copy_speed(int threads) {
  const size_t bytes = bytes_to_copy(threads);
  constexpr int runs = 5;
  std::vector<double> speeds(static_cast<size_t>(threads));
  const auto measure = [&speeds, bytes](int t) {
    const std::unique_ptr<char[]> from(new (std::nothrow) char[bytes]);
    const std::unique_ptr<char[]> to(new (std::nothrow) char[bytes]);
    if (!from || !to) return;
    std::memset(from.get(), 1, bytes);  // pages that nobody has written are one page of zeros
    double best = 0;
    for (int run = 0; run < runs; ++run) {
      const double start = steady_seconds();
      std::memcpy(to.get(), from.get(), bytes);
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
    speed.copy = device.measure_copy();
    speed.link = device.measure_link();
  } catch (const OutOfDeviceMemory&) {
  }
  if (device.info().id == "cpu") speed.copy = measure_copy_speed(threads);
  const std::string text =
      fmt::format("{} {} {} {}", speed.copy, speed.link.up, speed.link.down, speed.date);
  backends::keep_verdict(
      key, text, fmt::format("speed of {}: copies at {:.1f} GB/s", key.device, speed.copy / 1e9));
  return speed;
}

}  // namespace impipe::engine
