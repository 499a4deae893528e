// The cache of compiled kernels, as the commands see it.
#pragma once

#include <string>
#include <vector>

#include "backends/registry.hpp"
#include "engine/device/session.hpp"

namespace impipe::engine {

using backends::cache_folder;
using backends::clear_cache;
using backends::list_cache;

struct WarmOptions {
  DeviceChoice device;  // auto: the first GPU that can be used
  SessionOptions session;
  std::vector<ImageType> types;  // that kernels are made for
};

struct WarmEnd {
  std::string device;
  CompileCounts counts;
  int not_kept = 0;  // kernels that could not be written to the cache
  std::vector<std::string> warnings;
};

// Makes a pipeline's kernels without running them, and on a GPU those of the codecs. Types that the
// pipeline is not defined for are left out. Throws Error (backend) when there is no GPU.
WarmEnd warm_cache(pipeline::Pipeline pipeline, const WarmOptions& options);

}  // namespace impipe::engine
