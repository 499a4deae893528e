// Devices that stay open from run to run of a process, with their kernels (impipe serve). A process
// that does one run keeps none.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/backend.hpp"
#include "core/thread_pool.hpp"

namespace impipe::engine {

// From now on, for the rest of the process. No run goes on.
void keep_devices();
bool keeps_devices() noexcept;

// Whether the run that begins may use devices that are kept; else its own are opened.
void use_kept_devices(bool use);
// What works for the devices of a run that has `own`: theirs outlives runs where devices are kept.
ThreadPool& pool_of_run(ThreadPool& own);

// A device of the backend, which may be open already. Throws as Backend::open.
std::shared_ptr<Device> opened(const Backend& backend, int index, ThreadPool& pool);
// parity_failure of a device that `opened` returned, found once.
std::string verdict_on(Device& device, ThreadPool& pool);
bool has_kept_gpu();

// The device's kernel of this name; what `make` returns is kept where the device is. Any thread.
using MakeKernel = std::function<std::shared_ptr<const Kernel>()>;
std::shared_ptr<const Kernel> kept_kernel(const Device& device, const std::string& name,
                                          const MakeKernel& make);

// Between two runs: gives back most of what a large run took, of the host's memory and of devices,
// and forgets what was said and counted in the run.
void tidy_up_after_run();
// Whether the devices can still be used: some errors end a driver's work for good.
bool kept_devices_work() noexcept;

}  // namespace impipe::engine
