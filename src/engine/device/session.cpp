// Programs by image type and kernels by key, each made once.
#include "engine/device/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <utility>

#include "backends/registry.hpp"
#include "core/device_cache.hpp"
#include "core/host_work.hpp"
#include "core/primitive_facts.hpp"
#include "core/unpacks.hpp"
#include "engine/device/kept_devices.hpp"
#include "engine/program/shrunk.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"

namespace impipe::engine {

namespace {

bool writes_single(const Plan& plan) {
  const std::vector<ValueId> written = written_images(plan);
  return std::any_of(written.begin(), written.end(),
                     [&](ValueId id) { return plan.values[id].type.cls == PixelClass::single; });
}

}  // namespace

Session::Session(pipeline::Pipeline pipeline, OpenDevice device, SessionOptions options)
    : pipeline_(std::move(pipeline)),
      device_(std::move(device)),
      options_(options),
      decoder_(kept("JPEG decoder", [this] { return device_.device->prepare_jpeg_decoder(); })),
      encoder_(kept("JPEG encoder", [this] { return device_.device->prepare_jpeg_encoder(); })),
      unpacker_(kept("unpacker", [this] { return device_.device->prepare_unpacker(); })),
      one_nan_(kept("one NaN", [this] { return device_.device->prepare_one_nan(); })),
      gatherer_(kept("gather", [this] { return device_.device->prepare_gather(); })) {}

std::function<std::shared_ptr<const Kernel>()> Session::kept(
    const std::string& name, std::function<std::shared_ptr<const Kernel>()> make) {
  return [this, name, make = std::move(make)] { return kept_kernel(*device_.device, name, make); };
}

Session::~Session() {
  // They use this session, and programs may outlive it.
  for (const PendingKernel& kernel : compiling_) kernel.wait();
}

std::shared_ptr<const Program> Session::program(const ImageType& input,
                                                const std::map<std::string, ImageType>& operands,
                                                const std::optional<DisplayWindow>& display,
                                                bool any_scale) {
  std::string types = (any_scale ? "any scale; " : "") + to_string(input);
  for (const auto& [name, type] : operands) types += "; " + name + ": " + to_string(type);
  if (input.profile) types += fmt::format("; profile {}", fmt::ptr(input.profile.get()));
  if (display && pipeline_.reads_display()) types += "; display " + to_string(*display);
  std::lock_guard lock(programs_mutex_);
  // Each keeps its profile, and so the profile's address, and tables.
  constexpr std::size_t most_with_profiles = 64;
  if (input.profile && programs_.size() > most_with_profiles) {
    std::erase_if(programs_,
                  [](const auto& one) { return one.first.find("; profile ") != one.first.npos; });
  }
  std::shared_ptr<const Program>& known = programs_[types];
  if (!known) known = program_of(pipeline_, input, operands, display, any_scale);
  return known;
}

std::shared_ptr<const Program> Session::program_of(const pipeline::Pipeline& pipeline,
                                                   const ImageType& input,
                                                   const std::map<std::string, ImageType>& operands,
                                                   const std::optional<DisplayWindow>& display,
                                                   bool any_scale) {
  std::vector<pipeline::PlanPart> parts = pipeline::lower_parts(
      pipeline, input, operands, {.strict = options_.strict, .display = display});
  std::shared_ptr<Program> next;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (any_scale) part->plan = for_any_scale(std::move(part->plan));
    std::shared_ptr<Program> made = made_program(std::move(part->plan));
    if (next) made->then = {*part->reduction, part->reduction_stage, std::move(next)};
    next = std::move(made);
  }
  return next;
}

std::shared_ptr<Program> Session::made_program(Plan lowered, bool stacked) {
  Plan plan = options_.fuse ? pipeline::fuse(lowered, device_.device->nests_neighbourhoods())
                            : pipeline::without_unread(lowered);
  auto made =
      std::make_shared<Program>(make_program(pipeline_, std::move(lowered), std::move(plan)));
  made->kernels = kernels_of(*made, stacked && stackable(*made) > 1);
  if (device().is_gpu && writes_single(made->plan)) one_nan_.begin();
  return made;
}

std::shared_ptr<const Kernel> Session::one_nan(const Program& program, bool for_device) {
  if (!writes_single(program.plan)) return nullptr;
  if (for_device) return one_nan_.kernel();
  if (!device().is_gpu) return nullptr;
  return one_nan_.kernel_in_time();
}

// IMPIPE_TEST_COMPILE_FIRST: each kernel before the next and before anything runs. Oclgrind
// corrupts its memory when two threads compile, or one compiles while another runs a kernel.
bool compiles_first() {
  static const bool asked = std::getenv("IMPIPE_TEST_COMPILE_FIRST") != nullptr;
  return asked;
}

namespace {

std::string name_of_kernel(const KernelSpec& spec, bool stacked) {
  return (stacked || spec.planes > 1 ? "stacked " : "") + spec.key();
}

}  // namespace

std::optional<PendingKernel> Session::known_kernel(const KernelSpec& spec, bool stacked) {
  const std::lock_guard lock(kernels_mutex_);
  const auto known = kernels_.find(name_of_kernel(spec, stacked));
  return known != kernels_.end() ? std::optional(known->second) : std::nullopt;
}

// A GPU's compiler takes a tenth of a second a kernel: they are made side by side, while the first
// pictures are decoded.
std::vector<PendingKernel> Session::kernels_of(const Program& program, bool stacked) {
  const bool compiles = device().id != "cpu" && options_.compile_aside && !compiles_first();
  std::vector<PendingKernel> kernels;
  for (const PlaneKernel& planes : program.planes) {
    if (auto known = known_kernel(planes.spec, stacked)) {
      kernels.push_back(*std::move(known));
      continue;
    }
    const auto make = [this, spec = planes.spec, stacked] { return made_kernel(spec, stacked); };
    bool aside = compiles;
    if (aside) {
      try {
        kernels.push_back(std::async(std::launch::async, make).share());
      } catch (const std::system_error&) {  // no thread for it
        aside = false;
      }
    }
    if (aside) continue;
    kernels.push_back(std::async(std::launch::deferred, make).share());
    kernels.back().get();
  }
  std::lock_guard lock(kernels_mutex_);
  if (compiles) compiling_.insert(compiling_.end(), kernels.begin(), kernels.end());
  return kernels;
}

void Session::check_kernels() {
  std::vector<PendingKernel> ready;
  {
    std::lock_guard lock(kernels_mutex_);
    const auto first = std::partition(compiling_.begin(), compiling_.end(), engine::is_compiling);
    try {
      ready.assign(first, compiling_.end());
    } catch (const std::bad_alloc&) {
      return;  // this is called again
    }
    compiling_.erase(first, compiling_.end());
  }
  for (const PendingKernel& kernel : ready) {
    try {
      kernel.get();
    } catch (const OutOfDeviceMemory&) {
    } catch (const std::bad_alloc&) {  // it fails the files that are in need of it
    }
  }
}

bool Session::is_compiling() {
  std::lock_guard lock(kernels_mutex_);
  if (std::any_of(compiling_.begin(), compiling_.end(), engine::is_compiling)) return true;
  std::lock_guard packers(packers_mutex_);
  return decoder_.is_compiling() || encoder_.is_compiling() || unpacker_.is_compiling() ||
         one_nan_.is_compiling() || gatherer_.is_compiling() ||
         std::any_of(packers_.begin(), packers_.end(),
                     [](const auto& known) { return known.second.is_compiling(); });
}

CodecKernel& Session::packer(const PackedForm& form, DeflateEffort effort) {
  PackedForm any = form;
  any.size = any.chunk = {1, 1};
  if (any.carried > 0) {  // its bytes are parameters, too
    any.carried = 4;
    any.carried_before.assign(any.carried_before.size(), 0);
  }
  const std::string key = to_string(any) + (effort == DeflateEffort::codes ? " codes" : "");
  std::lock_guard lock(packers_mutex_);
  const auto make = [this, any, effort] { return device_.device->prepare_packer(any, effort); };
  return packers_.try_emplace(key, kept("packer " + key, make)).first->second;
}

void Session::wait_for_kernels() {
  std::vector<PendingKernel> all;
  {
    std::lock_guard lock(kernels_mutex_);
    all = compiling_;
  }
  for (const PendingKernel& kernel : all) kernel.wait();
  check_kernels();
}

std::shared_ptr<const Program> Session::stacked(std::shared_ptr<const Program> program) {
  std::lock_guard lock(programs_mutex_);
  std::shared_ptr<const Program>& known = stacked_[program];
  if (!known) {
    auto made = std::make_shared<Program>(*program);
    made->kernels = kernels_of(*made, true);
    known = std::move(made);
  }
  return known;
}

int Session::stackable(const Program& program) const {
  const int most = device_.device->max_stacked();
  int planes = 1;  // of an image
  for (const PlaneKernel& kernel : program.planes) {
    planes = std::max(planes, kernel.spec.planes);
    for (const Node& node : kernel.spec.nodes) {
      if (stands_alone(node.primitive)) return 1;
    }
  }
  return std::max(1, most / planes);
}

int Session::max_stacked(const Program& program, double bytes) const {
  // A launch costs as long as moving about 4 MB: larger images gain nothing by company, and more
  // than some tens of MB together would only take memory.
  constexpr double small = 2 << 20, enough = 32 << 20;
  if (bytes > small) return 1;
  return static_cast<int>(std::clamp<double>(enough / std::max(bytes, 1.0), 1, stackable(program)));
}

int Session::max_coded(const Program& program, double bytes) const {
  return max_together(program, bytes, 384 << 20);
}

int Session::max_packed(const Program& program, const PackedForm& form, double bytes) const {
  if (form.packing == PackedForm::Packing::none) return max_stacked(program, bytes);
  // A card has work with so many chunks. The blocks of a long stream are found and inflated at
  // once; more of it than these bytes is about one of them.
  constexpr double enough = 768, block = 65536;
  const auto chunks = static_cast<double>(form.chunks());
  const auto each = static_cast<double>(form.chunk_bytes());
  const double parts = each > least_stream_bytes ? chunks * each / block : chunks;
  return max_together(program, bytes, bytes * std::max(1.0, enough / parts));
}

int Session::max_planes(double bytes, bool stays) const {
  // On the device the volume itself takes much more, and a launch has to pay; to and from the host
  // transfers take the time.
  constexpr double many = 256 << 20, few = 8 << 20, part = 1.0 / 16;
  const auto memory =
      static_cast<double>(options_.gpu_memory > 0 ? options_.gpu_memory : device().memory);
  const double fits = std::min(stays ? many : few, memory * part) / std::max(bytes, 1.0);
  return static_cast<int>(std::clamp<double>(fits, 1, device_.device->max_stacked()));
}

int Session::max_together(const Program& program, double bytes, double enough) const {
  constexpr double part = 1.0 / 16, most = 64;
  const auto memory =
      static_cast<double>(options_.gpu_memory > 0 ? options_.gpu_memory : device().memory);
  const double fits = std::min(enough, memory * part) / std::max(bytes, 1.0);
  return static_cast<int>(std::clamp<double>(fits, 1, std::min<double>(most, stackable(program))));
}

std::shared_ptr<const Kernel> Session::made_kernel(const KernelSpec& spec, bool stacked) {
  const auto* on_host = std::get_if<OnHost>(&spec.nodes.front().primitive);
  if (on_host != nullptr && !(on_host->work->spectral && device().transforms)) return nullptr;
  const std::string key = name_of_kernel(spec, stacked);
  std::promise<std::shared_ptr<const Kernel>> promise;
  std::unique_lock lock(kernels_mutex_);
  const auto [place, is_new] = kernels_.try_emplace(key);
  if (is_new) place->second = promise.get_future().share();
  const PendingKernel kernel = place->second;
  lock.unlock();
  if (is_new) {
    try {
      Device& device = *device_.device;
      promise.set_value(kept_kernel(device, key, [&]() -> std::shared_ptr<const Kernel> {
        return stacked ? device.prepare_stacked(spec) : device.prepare(spec);
      }));
    } catch (const std::bad_alloc&) {
      // There may be memory when it is asked for again.
      promise.set_exception(std::current_exception());
      lock.lock();
      kernels_.erase(key);
      lock.unlock();
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  return kernel.get();
}

const PendingKernel& CodecKernel::made() {
  std::call_once(once_, [this] {
    auto looked = std::make_shared<std::promise<void>>();
    looked_ = looked->get_future().share();
    const auto make = [this, looked] { return cached_or_compiled(*looked); };
    try {
      kernel_ = std::async(std::launch::async, make).share();
    } catch (const std::system_error&) {  // no thread for it
      looked->set_value();
      kernel_ = std::async(std::launch::deferred, make_).share();
    }
    is_begun_ = true;
  });
  return kernel_;
}

std::shared_ptr<const Kernel> CodecKernel::cached_or_compiled(std::promise<void>& looked) {
  try {
    const OnlyCached only;
    found_ = make_();
    looked.set_value();
    return found_;
  } catch (const NotCached&) {
    looked.set_value();
  } catch (...) {
    looked.set_value();
    throw;
  }
  return make_();
}

std::shared_ptr<const Kernel> CodecKernel::kernel(const std::function<bool()>& stop) {
  wait_for(made(), stop);
  return kernel_.get();
}

std::shared_ptr<const Kernel> CodecKernel::kernel_in_time() {
  made();
  looked_.wait();
  if (found_) return found_;
  if (engine::is_compiling(kernel_)) return nullptr;
  try {
    return kernel_.get();
  } catch (const Error&) {  // the machine has kernels that another one compiled, but no compiler
    return nullptr;
  }
}

Session& Session::on_cpu(const OutOfDeviceMemory& reason) {
  const char* required = std::getenv("IMPIPE_REQUIRE_BACKEND");
  const std::string backend = " " + device().id.substr(0, device().id.find(':')) + " ";
  const std::string wanted = " " + std::string(required == nullptr ? "" : required) + " ";
  if (wanted.find(backend) != std::string::npos) throw reason;
  std::lock_guard lock(cpu_mutex_);
  if (!cpu_) {
    warnings_.push_back(std::string(reason.what()) + "; such images are computed on the CPU");
    OpenDevice cpu{.device = backends::find_backend("cpu")->open(0, *device_.pool),
                   .why = "the device's memory is out",
                   .warning = "",
                   .pool = device_.pool};
    cpu_ = std::make_unique<Session>(pipeline_, std::move(cpu), options_);
  }
  return *cpu_;
}

std::vector<std::string> Session::take_warnings() {
  std::vector<std::string> all = backends::take_cache_warnings();
  std::lock_guard lock(cpu_mutex_);
  for (std::string& warning : std::exchange(warnings_, {})) all.push_back(std::move(warning));
  return all;
}

}  // namespace impipe::engine
