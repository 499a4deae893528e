// Generated text that was compiled and loaded.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/jit/program/program.hpp"

namespace impipe::cuda {

class CudaKernel final : public Kernel {
 public:
  // title: of the text, for people. capability: 90 for compute capability 9.0. driver_version:
  // part of the cache's key.
  CudaKernel(jit::Program program, const std::string& title,
             std::shared_ptr<const DeviceContext> context, int capability,
             const std::string& driver_version);
  ~CudaKernel() override;

  const jit::Program& program() const { return program_; }
  Function entry(int index) const { return entries_[static_cast<std::size_t>(index)]; }
  const std::string& entry_name(int index) const {
    return program_.entries[static_cast<std::size_t>(index)];
  }
  // Dynamic shared memory.
  int local_bytes(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return i < program_.local_bytes.size() ? program_.local_bytes[i] : 0;
  }

 private:
  bool load(const void* binary);

  std::shared_ptr<const DeviceContext> context_;
  jit::Program program_;
  Module module_ = nullptr;
  std::vector<Function> entries_;
};

}  // namespace impipe::cuda
