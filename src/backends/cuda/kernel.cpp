// Compiles and loads kernels.
#include "backends/cuda/kernel.hpp"

#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "backends/jit/runtime/binaries.hpp"
#include "core/error.hpp"

namespace impipe::cuda {

CudaKernel::CudaKernel(jit::Program program, const std::string& title,
                       std::shared_ptr<const DeviceContext> context, int capability,
                       const std::string& driver_version)
    : context_(std::move(context)), program_(std::move(program)) {
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back(arch_option(capability));
  jit::BinaryRequest request{.key = {}, .title = title, .extension = "cu", .plan = program_.plan};
  request.key.source = program_.source;
  for (const std::string& option : options) {
    if (!option.starts_with("-arch=")) request.key.options += option + " ";
  }
  request.key.compiler = compiler_name();
  request.key.device = "sm_" + std::to_string(capability);
  request.key.driver = driver_version;
  jit::with_binary(
      request, [&] { return compile(program_.source, options); },
      [&](std::span<const std::byte> binary) {
        // PTX is a text, which must end in a zero.
        std::vector<std::byte> text(binary.begin(), binary.end());
        text.push_back(std::byte{0});
        return load(text.data());
      });
}

CudaKernel::~CudaKernel() {
  if (module_ != nullptr && context_->try_use()) driver().api.module_unload(module_);
}

bool CudaKernel::load(const void* binary) {
  context_->use();
  if (driver().api.module_load(&module_, binary) != 0) return false;
  entries_.clear();
  for (const std::string& name : program_.entries) {
    Function function = nullptr;
    if (driver().api.module_function(&function, module_, name.c_str()) != 0) return false;
    const int bytes = local_bytes(static_cast<int>(entries_.size()));
    if (bytes > 0 &&
        driver().api.function_attribute(function, function_max_dynamic_shared, bytes) != 0) {
      return false;
    }
    entries_.push_back(function);
  }
  return true;
}

}  // namespace impipe::cuda
