// The tuning tables: what differs between vendors, as numbers.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "backends/jit/program/dialect_features.hpp"
#include "backends/jit/program/tuning.hpp"
#include "core/error.hpp"

namespace impipe::jit {
namespace {

// generic: what OpenCL 1.2 promises every full-profile device (32 KB of local memory, 1024 bytes
//          of parameters), with 16-byte loads.
// nvidia:  measured on one H200, docs/benchmarks/h200.md; 128 threads, 16-byte loads. Its 132
//          multiprocessors are what plans are made for where no device is.
// amd:     wavefronts of 64, four values a load and more work per work-item: Kong et al.,
//          "Accelerating MATLAB Image Processing Toolbox Functions on GPUs", section 4. With 8 KB
//          of local memory a group most kernels have four waves a SIMD or more (docs/vendors.md).
// intel:   sub-groups of 16 and 16-byte block loads: Intel's OpenCL optimisation guide for
//          integrated graphics. Unrolled loops and larger tiles spill registers (docs/vendors.md).
// cpu:     OpenCL of CPUs, whoever made them: unrolled loops are 1.2 to 8 times as fast (PoCL).
constexpr Tuning rows[] = {
    {.vendor = "generic", .unroll = false},
    {.vendor = "nvidia",
     .group = 128,
     .local_bytes = 48 * 1024,
     .fused_bytes = 48 * 1024,
     .wide_histogram_items = 1024,
     .wide_histogram_groups = 0,
     .group_scalars = true,
     .sorted_tiles = true,
     .load_bytes = 16,
     .sub_group = 32,
     .exchanges = true,
     .groups_a_processor = 16,
     .waiting_groups = 1024,
     .histogram_items = 1024,
     .processors = 132,
     .strip_rows = 7,
     .column_words = 16,
     .column_blocks = 32,
     .bytes_a_microsecond = 4.2e6,
     .operations_a_microsecond = 33.4e6,
     .launch_microseconds = 1},
    {.vendor = "amd",
     .group = 256,
     .local_bytes = 16 * 1024,
     .max_local_bytes = 64 * 1024,
     .load_bytes = 16,
     .sub_group = 64,
     .ranked_cells = 150,
     .groups_of_device = 512},
    {.vendor = "intel",
     .group = 64,
     .local_bytes = 16 * 1024,
     .max_local_bytes = 64 * 1024,
     .load_bytes = 16,
     .sub_group = 16,
     .ranked_cells = 72,
     .unroll = false,
     .groups_of_device = 256},
    {.vendor = "cpu",
     .group = 256,
     .local_bytes = 16 * 1024,
     .max_local_bytes = 64 * 1024,
     .load_bytes = 16},
};

KernelVariant variant_of_all;  // before any device is opened, by the thread that opens them

bool contains(std::string_view text, std::string_view word) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), equal) != text.end();
}

}  // namespace

Tuning tuning_for(std::string_view vendor, Dialect dialect, const DeviceNumbers& device) {
  const char* asked = std::getenv("IMPIPE_VENDOR");
  const std::string_view name = asked != nullptr && *asked != '\0' ? asked : vendor;
  Tuning found = rows[0];
  for (const Tuning& row : rows) {
    if (contains(name, row.vendor) ||
        (std::string_view(row.vendor) == "amd" && contains(name, "Advanced Micro"))) {
      found = row;
    }
  }
  if (asked != nullptr && *asked != '\0' && found.vendor != name) {
    throw Error(
        "IMPIPE_VENDOR: '" + std::string(name) + "' is none of generic, nvidia, amd, intel, cpu",
        ExitCode::usage);
  }
  found.parameter_bytes = features_of(dialect).parameter_bytes;
  found.fast = std::getenv("IMPIPE_JIT_STAGED") == nullptr;
  if (device.processors > 0) found.processors = device.processors;
  if (device.sub_group > 0) found.sub_group = device.sub_group;
  const auto lower = [](std::int64_t& bytes, std::int64_t said) {
    if (said > 0) bytes = std::min(bytes, said);
  };
  lower(found.local_bytes, device.local_bytes);
  lower(found.fused_bytes, device.local_bytes);
  lower(found.max_local_bytes, device.max_local_bytes);
  if (const char* bytes = std::getenv("IMPIPE_LOCAL_BYTES")) {
    lower(found.local_bytes, std::atoll(bytes));
    lower(found.fused_bytes, std::atoll(bytes));
    lower(found.max_local_bytes, std::atoll(bytes));
  }
  return with_variant(found, variant_of_all);
}

Tuning with_variant(Tuning tuning, const KernelVariant& variant) {
  tuning.variant = variant;
  tuning.fast = tuning.fast && !variant.single_pixels();
  return tuning;
}

void set_variant(const KernelVariant& variant) { variant_of_all = variant; }

}  // namespace impipe::jit
