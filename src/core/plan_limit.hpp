// The limit of what a plan holds beside its images: cells of kernels and elements, and numbers.
#pragma once

#include <cstdint>
#include <string>

#include "core/error.hpp"

namespace impipe {

// Four of the largest matrices. A text of a few thousand characters could ask for gigabytes.
inline constexpr std::int64_t max_plan_cells = std::int64_t{1} << 22;

// Thrown while a plan is made; `lower` tells the place in the text.
class PlanTooLarge : public Error {
 public:
  PlanTooLarge()
      : Error("the kernels, elements and lists of the pipeline have more than " +
              std::to_string(max_plan_cells) + " numbers up to here") {}
};

}  // namespace impipe
