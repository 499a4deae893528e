// What the devices of both GPU runtimes have in common: how kernels are asked for.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backends/jit/generator.hpp"
#include "core/backend.hpp"

namespace impipe::jit {

class GpuDevice : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  bool nests_neighbourhoods() const override;
  std::unique_ptr<Kernel> prepare(const KernelSpec& spec) override;
  std::unique_ptr<Kernel> prepare_stacked(const KernelSpec& spec) override;
  int max_stacked() const override { return jit::max_stacked; }
  std::unique_ptr<Kernel> prepare_baseline(Baseline baseline) override;
  std::unique_ptr<Kernel> prepare_one_nan() override;
  std::unique_ptr<Kernel> prepare_gather() override;
  std::unique_ptr<Kernel> prepare_jpeg_decoder() override;
  std::unique_ptr<Kernel> prepare_jpeg_encoder() override;
  std::unique_ptr<Kernel> prepare_packer(const PackedForm& form, DeflateEffort effort) override;
  std::unique_ptr<Kernel> prepare_unpacker() override;

 protected:
  GpuDevice(DeviceInfo info, Dialect dialect, const Tuning& tuning)
      : info_(std::move(info)), dialect_(dialect), tuning_(tuning) {
    // A CPU's compiler takes half a minute for them, and its cores are the host's. Without double
    // precision the host is faster.
    info_.transforms = std::string_view(tuning.vendor) != "cpu" && info_.doubles;
  }

 private:
  // Compiles and loads a program. title: what a person would look for in a list of kernels.
  virtual std::unique_ptr<Kernel> compile(Program program, const std::string& title) = 0;
  // The same of a program that may compute in double.
  std::unique_ptr<Kernel> load(Program program, const std::string& title);

  DeviceInfo info_;
  Dialect dialect_;
  Tuning tuning_;
};

}  // namespace impipe::jit
