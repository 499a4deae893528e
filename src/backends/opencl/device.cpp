// OpenCL devices as a backend: those of all platforms that the loader knows.
#include "backends/opencl/device.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "backends/jit/device.hpp"
#include "backends/opencl/queue.hpp"
#include "core/error.hpp"

namespace impipe::opencl {
namespace {

struct Found {
  cl_platform_id platform;
  cl_device_id device;
};

bool is_gpu(cl_device_id device) {
  cl_device_type type = 0;
  calls()->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  return (type & CL_DEVICE_TYPE_GPU) != 0;
}

// GPUs first: loaders differ in the order of their platforms.
std::vector<Found> find_devices() {
  std::vector<Found> found;
  const Calls* cl = calls();
  if (cl == nullptr) return found;
  cl_uint platforms = 0;
  if (cl->clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS) return found;
  std::vector<cl_platform_id> all(platforms);
  if (platforms == 0 || cl->clGetPlatformIDs(platforms, all.data(), nullptr) != CL_SUCCESS) {
    return found;
  }
  for (const cl_platform_id platform : all) {
    cl_uint count = 0;
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
      continue;
    std::vector<cl_device_id> devices(count);
    cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (const cl_device_id device : devices) found.push_back({platform, device});
  }
  std::ranges::stable_partition(found, is_gpu, &Found::device);
  return found;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (calls()->clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return "";
  std::string text(size, '\0');
  calls()->clGetDeviceInfo(device, what, size, text.data(), nullptr);
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

template <class T>
T number_of(cl_device_id device, cl_device_info what) {
  T value{};
  calls()->clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

std::string platform_name(cl_platform_id platform) {
  char name[256] = "";
  calls()->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
  return name;
}

// Why it cannot run kernels at all; empty where it can. Whether its results are those of other
// backends is computed, by the parity probe (engine/device/parity.cpp): Intel's runtime for CPUs
// does not claim CL_FP_FMA, and its fma() rounds correctly all the same.
std::string why_not(cl_device_id device) {
  if (number_of<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return "it is not available";
  if (number_of<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) {
    return "its driver has no compiler";
  }
  return "";
}

// IMPIPE_OPENCL_DOUBLES=off takes them from any device, for tests.
bool has_doubles(cl_device_id device) {
  const char* asked = std::getenv("IMPIPE_OPENCL_DOUBLES");
  if (asked != nullptr && *asked != '\0' && std::string_view(asked) != "off") {
    throw Error("IMPIPE_OPENCL_DOUBLES: '" + std::string(asked) + "' is not off", ExitCode::usage);
  }
  if (asked != nullptr && *asked != '\0') return false;
  return text_of(device, CL_DEVICE_EXTENSIONS).find("cl_khr_fp64") != std::string::npos;
}

DeviceInfo describe(const Found& found, std::size_t index) {
  DeviceInfo info;
  info.id = "opencl:" + std::to_string(index);
  info.name = text_of(found.device, CL_DEVICE_NAME);
  info.driver = platform_name(found.platform) + " " + text_of(found.device, CL_DRIVER_VERSION);
  info.memory =
      static_cast<std::int64_t>(number_of<cl_ulong>(found.device, CL_DEVICE_GLOBAL_MEM_SIZE));
  info.is_gpu = is_gpu(found.device);
  info.doubles = has_doubles(found.device);
  info.why_not = why_not(found.device);
  info.usable = info.why_not.empty();
  return info;
}

// Attributes of the extension cl_nv_device_attribute_query.
constexpr cl_device_info compute_capability_major = 0x4000, compute_capability_minor = 0x4001,
                         warp_size_nvidia = 0x4003;
// Of cl_amd_device_attribute_query.
constexpr cl_device_info wavefront_width_amd = 0x4043;

// Of cl_intel_required_subgroup_size.
constexpr cl_device_info sub_group_sizes_intel = 0x4108;

// The sub-group that kernels ask for. Where 16 is the least (Xe-HPC), Intel's compiler takes 32 and
// spills registers (docs/vendors.md); elsewhere it chooses well.
int required_sub_group(cl_device_id device) {
  const auto sizes = number_of<std::array<std::size_t, 16>>(device, sub_group_sizes_intel);
  const auto less = [](std::size_t a, std::size_t b) { return a - 1 < b - 1; };  // 0 is none
  return std::ranges::min(sizes, less) == 16 ? 16 : 0;
}

// Which words and options the device's compiler takes: as its driver says, whatever tuning is
// asked.
Target target_of(cl_device_id device) {
  if (!has_doubles(device)) return {};  // what is translated is of no vendor
  const std::string extensions = text_of(device, CL_DEVICE_EXTENSIONS);
  for (const char* needed : {"cl_nv_device_attribute_query", "cl_nv_compiler_options"}) {
    if (extensions.find(needed) == std::string::npos) {
      return {.sub_group = required_sub_group(device)};
    }
  }
  return {.dialect = jit::Dialect::opencl_nvidia,
          .capability = static_cast<int>(10 * number_of<cl_uint>(device, compute_capability_major) +
                                         number_of<cl_uint>(device, compute_capability_minor))};
}

jit::Tuning tuning_of(cl_device_id device, jit::Dialect dialect) {
  const auto local =
      static_cast<std::int64_t>(number_of<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  // OpenCL 1.2 does not say it; a driver that has no such number leaves 0.
  const cl_uint together = std::max(number_of<cl_uint>(device, warp_size_nvidia),
                                    number_of<cl_uint>(device, wavefront_width_amd));
  return jit::tuning_for(
      is_gpu(device) ? text_of(device, CL_DEVICE_VENDOR) : "cpu", dialect,
      {.processors = static_cast<int>(number_of<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)),
       .sub_group = static_cast<int>(together),
       .local_bytes = local,
       .max_local_bytes = local});
}

class OpenClDevice final : public jit::GpuDevice {
 public:
  OpenClDevice(cl_device_id device, const Target& target, DeviceInfo info)
      : GpuDevice(std::move(info), target.dialect, tuning_of(device, target.dialect)),
        device_(device),
        target_(target) {
    cl_int code = CL_SUCCESS;
    context_ = calls()->clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    memory_ = make_pool(context_, this->info().id, this->info().memory);
    locks_ = make_page_locks(context_);
    use_of_locks_.emplace(locks_);
  }
  ~OpenClDevice() override { calls()->clReleaseContext(context_); }

  std::unique_ptr<Queue> make_queue() override { return new_queue(); }
  double measure_copy() override { return new_queue()->measure_copy(); }
  LinkSpeed measure_link() override { return new_queue()->measure_link(); }
  std::int64_t peak_memory() const override { return memory_->peak(); }

 private:
  std::unique_ptr<Kernel> compile(jit::Program program, const std::string& title) override {
    return std::make_unique<OpenClKernel>(context_, device_, target_, info(), std::move(program),
                                          title);
  }
  std::unique_ptr<OpenClQueue> new_queue() {
    return std::make_unique<OpenClQueue>(context_, device_, info().is_gpu, memory_, locks_);
  }

  cl_device_id device_;
  Target target_;
  cl_context context_ = nullptr;
  std::shared_ptr<jit::MemoryPool> memory_;
  std::shared_ptr<jit::PageLocks> locks_;
  std::optional<jit::PageLocks::Use> use_of_locks_;
};

}  // namespace

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> out;
  const std::vector<Found> found = find_devices();
  for (std::size_t i = 0; i < found.size(); ++i) out.push_back(describe(found[i], i));
  if (!out.empty()) return out;
  DeviceInfo none;
  none.id = "opencl";
  none.name = "OpenCL";
  none.usable = false;
  none.why_not = calls() == nullptr ? loader_problem()
                                    : "no OpenCL driver is installed; the one of your device is "
                                      "needed (pocl-opencl-icd for the processor)";
  return {none};
}

std::unique_ptr<Device> open(int index, ThreadPool&) {
  const std::vector<Found> found = find_devices();
  if (index < 0 || static_cast<std::size_t>(index) >= found.size()) {
    throw Error("there is no device opencl:" + std::to_string(index), ExitCode::backend);
  }
  DeviceInfo info =
      describe(found[static_cast<std::size_t>(index)], static_cast<std::size_t>(index));
  if (!info.usable) throw Error(info.id + " can't be used: " + info.why_not, ExitCode::backend);
  const cl_device_id device = found[static_cast<std::size_t>(index)].device;
  return std::make_unique<OpenClDevice>(device, target_of(device), std::move(info));
}

KernelForms forms(int index) {
  const std::vector<Found> found = find_devices();
  if (found.empty()) {
    return jit::kernel_forms("opencl: no device is here; by the numbers for any",
                             jit::Dialect::opencl, jit::tuning_for("", jit::Dialect::opencl));
  }
  if (index < 0 || static_cast<std::size_t>(index) >= found.size()) {
    throw Error("there is no device opencl:" + std::to_string(index), ExitCode::backend);
  }
  const Found& device = found[static_cast<std::size_t>(index)];
  const DeviceInfo info = describe(device, static_cast<std::size_t>(index));
  const jit::Dialect dialect = target_of(device.device).dialect;
  return jit::kernel_forms(info.id + " (" + info.name + ")", dialect,
                           tuning_of(device.device, dialect));
}

}  // namespace impipe::opencl
