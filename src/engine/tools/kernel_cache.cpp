// Fills the cache.
#include "engine/tools/kernel_cache.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/process_limits.hpp"

namespace impipe::engine {

WarmEnd warm_cache(pipeline::Pipeline pipeline, const WarmOptions& options) {
  ThreadPool pool(process_limits().threads - 1);
  DeviceChoice choice = options.device;
  if (is_automatic(choice)) {
    const std::vector<DeviceInfo> devices = all_devices();
    const auto gpu = std::ranges::find_if(
        devices, [](const DeviceInfo& info) { return info.usable && info.is_gpu; });
    if (gpu == devices.end()) {
      throw Error("cache warm: there is no GPU that can be used; see impipe devices",
                  ExitCode::backend);
    }
    choice.device = gpu->id;
  }
  Session session(std::move(pipeline), open_device(choice, pool), options.session);
  pool.for_each(static_cast<std::int64_t>(options.types.size()), [&](std::int64_t i) {
    const ImageType& type = options.types[static_cast<size_t>(i)];
    std::map<std::string, ImageType> operands;
    for (const std::string& name : session.pipeline().operands) operands[name] = type;
    try {
      session.program(type, operands);
    } catch (const Error& error) {
      if (error.code() == ExitCode::backend) throw;  // others: not defined for this type
    }
  });
  session.wait_for_kernels();
  return {session.device().id, backends::compile_counts(), backends::kernels_not_kept(),
          session.take_warnings()};
}

}  // namespace impipe::engine
