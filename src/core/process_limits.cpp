#include "core/process_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

namespace impipe {
namespace {

namespace fs = std::filesystem;

int threads_of_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines of more than 1024 processors.
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void limit_threads(double quota, double period, ProcessLimits& limits) {
  if (quota > 0 && period > 0) {
    const double whole = std::ceil(quota / period);
    if (whole < limits.threads) limits.threads = std::max(1, static_cast<int>(whole));
  }
}

// Version 2: "max 100000", "250000 100000", "max", "1073741824".
void read_unified(const fs::path& group, ProcessLimits& limits) {
  double quota = 0, period = 0;
  if (std::ifstream(group / "cpu.max") >> quota >> period) limit_threads(quota, period, limits);
  std::int64_t bytes = 0;
  if (std::ifstream(group / "memory.max") >> bytes && bytes > 0) {
    limits.memory = std::min(limits.memory, bytes);
  }
}

// Version 1, where a quota below 0 is none.
void read_cpu(const fs::path& group, ProcessLimits& limits) {
  double quota = 0, period = 0;
  std::ifstream(group / "cpu.cfs_quota_us") >> quota;
  std::ifstream(group / "cpu.cfs_period_us") >> period;
  limit_threads(quota, period, limits);
}
void read_memory(const fs::path& group, ProcessLimits& limits) {
  std::int64_t bytes = 0;
  if (std::ifstream(group / "memory.limit_in_bytes") >> bytes && bytes > 0) {
    limits.memory = std::min(limits.memory, bytes);
  }
}

using ReadGroup = void (*)(const fs::path&, ProcessLimits&);

// The group and all above it. In a container the mount may begin at the process's own group.
void walk_up(const fs::path& root, fs::path group, ReadGroup read, ProcessLimits& limits) {
  read(root, limits);
  for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
    read(root / group, limits);
  }
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

}  // namespace

ProcessLimits limited_by_groups(ProcessLimits machine, const fs::path& proc,
                                const fs::path& groups) {
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "0::/job", "4:cpu,cpuacct:/job"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string kinds = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (kinds.empty()) walk_up(groups, group, read_unified, machine);
    if (has_word(kinds, "cpu")) walk_up(groups / "cpu", group, read_cpu, machine);
    if (has_word(kinds, "memory")) walk_up(groups / "memory", group, read_memory, machine);
  }
  return machine;
}

ProcessLimits process_limits() {
  static const ProcessLimits limits = [] {
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return limited_by_groups({.threads = threads_of_affinity(), .memory = pages * page}, "/proc",
                             "/sys/fs/cgroup");
  }();
  return limits;
}

}  // namespace impipe
