// What the process may use of the machine: a container's, a batch system's share of it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace impipe {

struct ProcessLimits {
  int threads = 1;          // that run at the same time
  std::int64_t memory = 0;  // bytes
};

// The machine, as far as the process's affinity and its control group (version 1 or 2), with all
// above it, allow. A quota of processor time counts as so many whole threads, rounded up.
// Looked at once.
ProcessLimits process_limits();

// What the control groups of the process allow of `machine`. `proc` has the file self/cgroup;
// `groups` is where control groups are mounted.
ProcessLimits limited_by_groups(ProcessLimits machine, const std::filesystem::path& proc,
                                const std::filesystem::path& groups);

}  // namespace impipe
