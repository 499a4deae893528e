// Arguments that are measured numbers: `graythresh as t | imbinarize t`. The numbers are those of
// each image, so that a stage has its call only once what stands before it has measured them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/plan_builder.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/pipeline.hpp"

namespace impipe::pipeline {

// A name that a stage waits for, with its fields, and where it stands in the text.
struct AwaitedName {
  std::string name;
  Span span;
};
// Empty where it waits for none.
std::vector<AwaitedName> awaited(const BoundStage& stage);

// The first stage of [begin, end) that waits; `end` where there is none.
std::size_t first_waiting(const Pipeline& pipeline, std::size_t begin, std::size_t end);

struct MeasuredNumbers {
  std::vector<double> numbers;
  int columns = 1;  // above 1: they are a matrix of that many, row by row
};
// The call of a stage that waits with numbers in range, as many as there will be.
Call call_until_measured(const Pipeline& pipeline, const BoundStage& stage,
                         const std::map<std::string, MeasuredPlace>& places);

// Gives a stage that waits its numbers, by their names. Throws Error with the place in the text
// where its parameter doesn't take them.
void settle(Pipeline& pipeline, std::size_t stage,
            const std::map<std::string, MeasuredNumbers>& numbers);

// What measures the numbers that a stage waits for: the stages [begin, stage), no image, nothing
// saved.
struct MeasuringPlan {
  Plan plan;
  std::map<std::string, MeasuredPlace> places;  // by name
};
MeasuringPlan lower_measuring(const Pipeline& pipeline, std::size_t begin, std::size_t stage,
                              const ImageType& input,
                              const std::map<std::string, ImageType>& operands,
                              const LowerOptions& options);

// The numbers of a place, of a measured plan: of each measurement [channels][values]. Throws Error
// where a table has no object.
MeasuredNumbers numbers_at(const Plan& plan, const MeasuredPlace& place,
                           const std::vector<std::vector<double>>& measurements);

}  // namespace impipe::pipeline
