// Binds, lowers, sizes, fuses and explains.
#include "support/plan_laws.hpp"

#include "pipeline/binder.hpp"
#include "pipeline/explain.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/image_sizes.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"

namespace impipe::test {
namespace {

using pipeline::Pipeline;

std::string broken_plan(const Pipeline& pipeline, const MadeImage& input) {
  std::map<std::string, ImageType> types;
  std::map<std::string, Size> sizes;
  for (const std::string& name : pipeline.operands) {
    types[name] = input.type;
    sizes[name] = input.size;
  }
  const Plan lowered = pipeline::lower(pipeline, input.type, types, {});
  for (const Size size : pipeline::planned_sizes(pipeline, lowered, input.size, sizes,
                                                 pipeline::default_max_pixels)) {
    if (size.pixels() < 0 || size.pixels() > pipeline::default_max_pixels) {
      return "an image of " + to_string(size);
    }
  }
  const Plan plan = pipeline::fuse(lowered);
  return pipeline::explain(pipeline, plan, lowered).empty() ? "an empty plan" : "";
}

}  // namespace

PlanVerdict judge_plan(std::string_view text) {
  PlanVerdict verdict;
  const auto judge_error = [&](const Error& error) {
    if (std::string_view(error.what()).find("\n  ") == std::string_view::npos) {
      verdict.broken_law = "an error without a place: " + std::string(error.what());
    }
  };
  Pipeline pipeline;
  try {
    pipeline = pipeline::bind(pipeline::parse(text));
    verdict.bound = true;
  } catch (const Error& error) {
    judge_error(error);
    return verdict;
  }
  const MadeImage inputs[] = {
      {{.cls = PixelClass::uint8, .channels = 3, .alpha = true, .white = 255}, {32, 24}},
      {{.cls = PixelClass::single, .channels = 1, .white = 1}, {5, 2000}},
      {{.cls = PixelClass::logical, .channels = 1, .white = 1}, {1, 1}}};
  for (const MadeImage& input : inputs) {
    try {
      MadeImage made = input;
      if (pipeline.has_source()) {
        made = pipeline::checked_source(pipeline, pipeline::default_max_pixels);
      }
      const std::string broken = broken_plan(pipeline, made);
      if (!broken.empty()) verdict.broken_law = broken;
      ++verdict.planned;
    } catch (const Error& error) {
      judge_error(error);
    }
    if (pipeline.has_source()) break;
  }
  return verdict;
}

}  // namespace impipe::test
