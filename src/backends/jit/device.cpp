// Programs for a device's kernels.
#include "backends/jit/device.hpp"

#include "backends/jit/codec/codec.hpp"
#include "backends/jit/gather.hpp"
#include "backends/jit/plan/strip_chain.hpp"
#include "backends/jit/text/without_doubles.hpp"
#include "core/primitive_facts.hpp"
#include "core/unpacks.hpp"

namespace impipe::jit {
namespace {

// The nodes' primitives.
std::string title_of(const KernelSpec& spec) {
  std::string text;
  for (const Node& node : spec.nodes) {
    text += (text.empty() ? "" : " | ") + std::string(name_of(node.primitive));
  }
  return text;
}

}  // namespace

std::unique_ptr<Kernel> GpuDevice::load(Program program, const std::string& title) {
  if (!info_.doubles) program.source = without_doubles(program.source);
  return compile(std::move(program), title);
}

bool GpuDevice::nests_neighbourhoods() const { return makes_chains(dialect_, tuning_); }

std::unique_ptr<Kernel> GpuDevice::prepare(const KernelSpec& spec) {
  if (spec.planes > 1) return prepare_stacked(spec);
  return load(generate(spec, dialect_, tuning_), title_of(spec));
}

std::unique_ptr<Kernel> GpuDevice::prepare_stacked(const KernelSpec& spec) {
  Tuning stacked = tuning_;
  stacked.stacked = true;
  return load(generate(spec, dialect_, stacked), "stacked " + title_of(spec));
}

std::unique_ptr<Kernel> GpuDevice::prepare_baseline(Baseline baseline) {
  return load(jit::bandwidth_baseline(baseline, dialect_, tuning_.variant.copy_bytes),
              "bandwidth baseline");
}

std::unique_ptr<Kernel> GpuDevice::prepare_one_nan() { return load(one_nan(dialect_), "one NaN"); }

std::unique_ptr<Kernel> GpuDevice::prepare_gather() { return load(gather(dialect_), "gather"); }

std::unique_ptr<Kernel> GpuDevice::prepare_jpeg_decoder() {
  return load(jpeg_decoder(dialect_), "JPEG decoder");
}

std::unique_ptr<Kernel> GpuDevice::prepare_jpeg_encoder() {
  return load(jpeg_encoder(dialect_), "JPEG encoder");
}

std::unique_ptr<Kernel> GpuDevice::prepare_packer(const PackedForm& form, DeflateEffort effort) {
  if (!packs(form)) return nullptr;
  return load(packer(dialect_, form, effort), "lossless encoder");
}

std::unique_ptr<Kernel> GpuDevice::prepare_unpacker() {
  return load(unpacker(dialect_), "lossless decoder");
}

}  // namespace impipe::jit
