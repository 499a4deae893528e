// A session: one pipeline on one device, with the kernels and programs made so far.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/backend.hpp"
#include "core/display_window.hpp"
#include "engine/device/device_speed.hpp"
#include "engine/program/executor.hpp"
#include "engine/program/program.hpp"
#include "engine/program/work_cost.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

struct DeviceChoice {
  std::string backend = "auto";  // or a backend's name
  // "cuda:1", "1", "cuda:0,cuda:1", "all"; empty: the backend's first usable GPU or, without
  // one, its first usable device.
  std::string device;
};

// A device that was opened, and why it was this one ("auto: the CPU, …").
struct OpenDevice {
  std::shared_ptr<Device> device;  // sessions may share it
  std::string why;
  std::string warning;  // that the device does not compute as the CPU does
  ThreadPool* pool = nullptr;
};
// Throws Error (backend) for unknown names and when what was asked for can't be used.
OpenDevice open_device(const DeviceChoice& choice, ThreadPool& pool);
// The same of several: those of a list, or all GPUs of the machine. A card that two backends see
// counts for the better backend. "all" of a backend without GPUs means all its devices.
std::vector<OpenDevice> open_devices(const DeviceChoice& choice, ThreadPool& pool);

// Whether the choice is left to what there is to do.
bool is_automatic(const DeviceChoice& choice);
// The CPU, or a GPU when that would be faster, works as the CPU does and is there. No GPU is
// touched for work that is shorter than its start.
OpenDevice choose_device(const WorkCost& work, int threads, ThreadPool& pool);
// Whether this machine may have a GPU that would do the work much sooner than the CPU, its start
// included, and images are small enough to begin with them on the CPU: none would take long after
// the GPU is there.
bool gpu_may_join(const WorkCost& work, int threads);
// For how long the CPU should leave the work to a GPU that is being opened, in seconds: 0 where
// what it would do meanwhile saves the GPU more than the opening takes longer for it.
double seconds_to_wait_for_gpu(const WorkCost& work, int threads);
// The CPU, for work that a GPU would do sooner, until it is there.
OpenDevice cpu_until_then(const WorkCost& work, int threads, ThreadPool& pool);
// The first GPU that can be used and works as the CPU does. Throws Error with the reasons against
// each when there is none.
OpenDevice open_any_gpu(ThreadPool& pool);

// How a device makes kernels, as DeviceChoice names it: of several the first, and "all" and a
// number alone mean GPUs. It is not opened, and one with its backend's name need not be here.
// Throws Error (backend) for unknown names and numbers.
KernelForms kernel_forms(const std::string& devices);

// The devices of all backends that were compiled in.
std::vector<DeviceInfo> all_devices();

struct DeviceReport {
  DeviceInfo info;        // not usable either when its parity probe failed
  double copy_speed = 0;  // bytes a second, read plus written; 0: not measured
};
// All devices, each opened, probed and measured.
std::vector<DeviceReport> report_devices();

// Where pictures of the formats that devices know are decoded and encoded. automatic: on a GPU,
// once its kernels are there.
enum class CodecPlace { automatic, cpu, device };

struct SessionOptions {
  bool fuse = true;
  bool strict = false;          // an implicit rgb2gray is an error
  bool compile_aside = true;    // a GPU's kernels in threads of their own
  std::int64_t gpu_memory = 0;  // bytes that may be taken of a GPU's (--gpu-mem); 0: all
};

// A kernel of a device that is made in a thread of its own when it is first asked for; or none.
// Any thread.
class CodecKernel {
 public:
  explicit CodecKernel(std::function<std::shared_ptr<const Kernel>()> make)
      : make_(std::move(make)) {}
  // Waits for it. Throws Error (file_failed) when `stop` returns true before it is there.
  std::shared_ptr<const Kernel> kernel(const std::function<bool()>& stop = [] { return false; });
  // Waits for one that the disk cache has, but not for the compiler: null until it is done, and
  // where it fails.
  std::shared_ptr<const Kernel> kernel_in_time();
  // From now on it is being made.
  void begin() { made(); }
  bool is_compiling() const noexcept { return is_begun_ && engine::is_compiling(kernel_); }

 private:
  const PendingKernel& made();
  // looked: is set once the cache was asked.
  std::shared_ptr<const Kernel> cached_or_compiled(std::promise<void>& looked);

  std::function<std::shared_ptr<const Kernel>()> make_;
  std::once_flag once_;
  std::atomic<bool> is_begun_ = false;
  PendingKernel kernel_;
  std::shared_future<void> looked_;      // that the cache was asked
  std::shared_ptr<const Kernel> found_;  // what it had; read once it was asked
};

// Any thread may call any function.
class Session {
 public:
  Session(pipeline::Pipeline pipeline, OpenDevice device, SessionOptions options);
  ~Session();

  const pipeline::Pipeline& pipeline() const { return pipeline_; }
  const DeviceInfo& device() const { return device_.device->info(); }
  // See device_speed.hpp.
  DeviceSpeed speed(int threads) { return speed_of(*device_.device, threads); }
  std::int64_t peak_memory() const { return device_.device->peak_memory(); }
  const std::string& why() const { return device_.why; }
  bool is_strict() const { return options_.strict; }

  // The program for images of this type; made at most once a type. A GPU's kernels are compiled
  // meanwhile, side by side. display: see LowerOptions. any_scale: for what is read at less than
  // its size (shrunk.hpp).
  std::shared_ptr<const Program> program(const ImageType& input,
                                         const std::map<std::string, ImageType>& operands,
                                         const std::optional<DisplayWindow>& display = {},
                                         bool any_scale = false);
  // That of another pipeline, which is this one with the numbers of one image
  // (settled_program.hpp); made anew.
  std::shared_ptr<const Program> program_of(const pipeline::Pipeline& pipeline,
                                            const ImageType& input,
                                            const std::map<std::string, ImageType>& operands,
                                            const std::optional<DisplayWindow>& display,
                                            bool any_scale = false);
  // Makes one of a plan; stacked: with kernels for stacks, where `stackable` is above 1.
  std::shared_ptr<Program> made_program(Plan lowered, bool stacked = false);
  // The same program with kernels for stacks.
  std::shared_ptr<const Program> stacked(std::shared_ptr<const Program> program);
  // Throws what went wrong with a kernel that is no longer compiling, unless memory was out, which
  // is a matter of each image.
  void check_kernels();
  // Whether a kernel is being compiled, so that the session cannot be destroyed without a wait.
  bool is_compiling();
  // Waits for all kernels; then the same.
  void wait_for_kernels();
  // Images that the program's kernels may do together; 1 where any of them stands alone.
  int stackable(const Program& program) const;
  // Images of so many bytes each that the program may do together, at least 1.
  int max_stacked(const Program& program, double bytes) const;
  // The same of JPEGs that the device decodes: those gain by company up to a size where one of them
  // alone has work for all of the device.
  int max_coded(const Program& program, double bytes) const;
  // The same of lossless pictures of this form: as many as have chunks for all of a card.
  int max_packed(const Program& program, const PackedForm& form, double bytes) const;
  // Planes of a volume that kernels may do together, by the bytes that are held of each.
  // stays: the volume is in the device's memory.
  int max_planes(double bytes, bool stays) const;

  std::unique_ptr<Queue> make_queue() { return device_.device->make_queue(); }
  // Device::prepare_jpeg_decoder's and prepare_jpeg_encoder's.
  CodecKernel& jpeg_decoder() { return decoder_; }
  CodecKernel& jpeg_encoder() { return encoder_; }
  // Device::prepare_unpacker's, and prepare_packer's, which is made once for forms that differ in
  // their sizes.
  CodecKernel& unpacker() { return unpacker_; }
  CodecKernel& packer(const PackedForm& form, DeflateEffort effort);
  // Device::prepare_one_nan's for a program that has images of single; null where it has none, on a
  // device that is the processor, and while it is compiled. for_device: images stay on the device,
  // whatever it is; waits until it is compiled.
  std::shared_ptr<const Kernel> one_nan(const Program& program, bool for_device = false);
  CodecKernel& one_nan_maker() { return one_nan_; }
  // Device::prepare_gather's.
  CodecKernel& gatherer() { return gatherer_; }
  std::shared_ptr<const Kernel> kernel(const KernelSpec& spec) { return made_kernel(spec, false); }

  // The same pipeline on the CPU, for images that the device has no memory for; made when it is
  // first asked for. Throws `reason` when IMPIPE_REQUIRE_BACKEND names the device's backend.
  Session& on_cpu(const OutOfDeviceMemory& reason);
  // What the user should know, since the last call.
  std::vector<std::string> take_warnings();

 private:
  std::vector<PendingKernel> kernels_of(const Program& program, bool stacked);
  // The kernel that was asked for before.
  std::optional<PendingKernel> known_kernel(const KernelSpec& spec, bool stacked);
  // Stackable images that fit in a part of the device's memory, which several
  // groups share, and in `enough` bytes.
  int max_together(const Program& program, double bytes, double enough) const;
  std::shared_ptr<const Kernel> made_kernel(const KernelSpec& spec, bool stacked);
  // `make` of a kernel that a kept device keeps under this name.
  std::function<std::shared_ptr<const Kernel>()> kept(
      const std::string& name, std::function<std::shared_ptr<const Kernel>()> make);

  pipeline::Pipeline pipeline_;
  OpenDevice device_;
  SessionOptions options_;
  std::mutex programs_mutex_, kernels_mutex_, cpu_mutex_;
  std::unique_ptr<Session> cpu_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // by the types' text
  std::map<std::shared_ptr<const Program>, std::shared_ptr<const Program>> stacked_;
  // By KernelSpec::key; a kernel is made by the first who asks, the others wait for it.
  std::unordered_map<std::string, PendingKernel> kernels_;
  CodecKernel decoder_, encoder_, unpacker_, one_nan_, gatherer_;
  std::mutex packers_mutex_;
  std::map<std::string, CodecKernel> packers_;  // by the forms' text
  std::vector<PendingKernel> compiling_;        // what check_kernels has not seen ready
};

}  // namespace impipe::engine
