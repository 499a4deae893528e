// The laws that hold for any text up to its plan: an error that shows a place, or steps whose
// images are within the limits.
#pragma once

#include <string>
#include <string_view>

namespace impipe::test {

struct PlanVerdict {
  bool bound = false;      // the operators' arguments are right
  int planned = 0;         // for so many kinds of images there is a plan
  std::string broken_law;  // empty when all hold
};

PlanVerdict judge_plan(std::string_view text);

}  // namespace impipe::test
