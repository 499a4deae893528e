// Says in words what a plan does: stages, types, steps, barriers and bytes moved.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

// What a device makes of a plan's kernels: lines for each step.
struct DeviceKernels {
  std::string device;
  std::vector<std::vector<std::string>> steps;
};

// The text of `impipe plan`. `plan` is what will run; `unfused` is the plan before fusion, for
// comparison of the bytes moved; `kernels`: what a device makes of the steps, if that is asked.
std::string explain(const Pipeline& pipeline, const Plan& plan, const Plan& unfused,
                    const DeviceKernels* kernels = nullptr);

// The same of a pipeline that makes one image of several: what each part does, and what becomes of
// its images.
struct ExplainedPart {
  const Plan& plan;
  const Plan& unfused;
  const DeviceKernels* kernels = nullptr;
  std::optional<ImageReduction> reduction;  // of what it makes
  int reduction_stage = 0;
};
std::string explain(const Pipeline& pipeline, std::span<const ExplainedPart> parts);

// "the pages of a file become one image, on the host, as they come".
std::string describe(const ImageReduction& reduction);

// What `impipe plan` shows, in parts.
struct StepWords {
  std::string what;                // its nodes
  std::vector<std::string> reads;  // "the input", "step 1", ":a"
  std::vector<int> stages;         // from 1
  double bytes_per_pixel = 0;
  std::string apart;  // why it was not fused; may be empty
};
std::vector<StepWords> words_of(const Plan& plan);

// A node in a few words: "separable 7x7 replicate".
std::string describe(const Node& node);

// One line about a step: "point imadjust + separable 7x7 -> reduce sum"; "-> the image + reduce
// sum" when the image is stored as well.
std::string describe(const Step& step);

// Bytes a step reads and writes for one pixel of its first image.
double bytes_per_pixel(const Step& step);

}  // namespace impipe::pipeline
