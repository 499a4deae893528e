// A Program: a plan made ready to run on a device, and what it needs for images of given sizes.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "core/plan.hpp"
#include "core/plane_kernel.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::engine {

// An argument of a Scalar node that means the size of the image that was measured. The node has no
// image of its own: in the plan the argument is a constant, whose value each run sets.
struct SizedArgument {
  size_t node = 0;  // of the step's PlaneKernel
  size_t place = 0;
  Argument argument;  // as lowered
  ValueId image = 0;
};

// A kernel that may still be compiling; `get` waits for it and throws what went wrong.
using PendingKernel = std::shared_future<std::shared_ptr<const Kernel>>;
bool is_compiling(const PendingKernel& kernel) noexcept;
// Waits until it is compiled or has failed to be. Throws Error (file_failed) as soon as `stop`,
// which is asked several times a second, returns true: a compiler cannot be interrupted, but left
// behind.
void wait_for(const PendingKernel& kernel, const std::function<bool()>& stop);

struct Program {
  Plan lowered;                        // one primitive a step: what sizes and errors are told from
  Plan plan;                           // the steps that run; its values have the ids of `lowered`
  std::vector<PlaneKernel> planes;     // one a step of `plan`: what the device runs for it
  std::vector<PendingKernel> kernels;  // one a step of `plan`: those of `planes`
  std::vector<std::vector<ValueId>> dead_after;   // one a step: values nobody reads later
  std::vector<std::vector<SizedArgument>> sized;  // one a step
  std::vector<std::string> operators;             // one a stage of the pipeline
  std::vector<std::string> value_names;  // one a value: ":a" when the user named it, or empty
  // Bytes on the device at most at the same time, a pixel of the input image.
  double bytes_per_pixel = 0;
  // Where the pipeline goes on with one image of several that this program makes.
  struct Then {
    ImageReduction reduction;
    int stage = 0;                           // of the pipeline
    std::shared_ptr<const Program> program;  // of the image that comes of them
  };
  std::optional<Then> then;
};

// Part `index` of a pipeline, whose first part is `first`.
const Program& part_of(const Program& first, int index);
// The plan of the last part: of what the pipeline ends in.
const Plan& last_plan(const Program& first);

// Everything but the kernels.
Program make_program(const pipeline::Pipeline& pipeline, Plan lowered, Plan plan);

// The sizes of all values: of an image its own, of a measurement that of the image it was made
// from. Throws Error for operands of unequal size and for empty results.
std::vector<Size> sizes_of(const Program& program, Size input,
                           const std::map<std::string, Size>& operands);

// Bytes that an image has for each of its pixels, in all its planes.
int bytes_per_pixel(const PlanValue& value);

// Bytes of a plan's images at most at the same time, their rows padded. sizes: of all values.
// row_alignment: that of the device's planes; 0: planes are the host's.
struct ImageBytes {
  double on_device = 0;
  double input = 0, result = 0;  // in host memory
  double tables = 0;  // of resized sides, where and what each place reads; of works on the host
};
ImageBytes image_bytes(const Program& program, const std::vector<Size>& sizes,
                       std::int64_t row_alignment);

}  // namespace impipe::engine
