// deskew: imrotate by the angle that deskewangle measures.
#include <map>

#include "core/plan_builder.hpp"
#include "ops/images.hpp"

namespace impipe::ops {
namespace {

ImageValue lower_deskew(const Call& call, PlanBuilder& plan) {
  std::map<std::string, ParameterValue, std::less<>> values;
  for (const char* name : {"angle", "method", "bbox", "fill"}) values[name] = call.value(name);
  ParameterValue& fill = values["fill"];
  if (fill.numbers.empty()) fill.numbers = {class_max(plan.current().type.cls)};
  fill.word.clear();
  const Operator& rotate = *find_operator("imrotate");
  return rotate.lower(Call(rotate, std::move(values), call.text(), call.origin(), call.span()),
                      plan);
}

const RegisterOperator deskew_operator{{
    .name = "deskew",
    .help = "level the lines of a scanned page",
    .parameters = {{.name = "range",
                    .help = "the largest angle, in degrees",
                    .numbers = {.max_count = 1, .low = 0, .high = 90},
                    .fallback = "15"},
                   {.name = "step",
                    .help = "between two angles, in degrees",
                    .numbers = {.max_count = 1, .low = 0.001, .high = 90},
                    .fallback = "0.1"},
                   {.name = "ink",
                    .help = "whether ink is darker or brighter than paper",
                    .words = {"dark", "bright"},
                    .fallback = "dark"},
                   {.name = "method",
                    .help = "between pixels, as of imrotate",
                    .words = {"nearest", "bilinear", "bicubic"},
                    .fallback = "bilinear"},
                   {.name = "bbox",
                    .help = "crop: the size stays; loose: the size that holds all of the page",
                    .words = {"loose", "crop"},
                    .fallback = "crop"},
                   {.name = "fill",
                    .help = "the value beside the page, in its own units, or white",
                    .numbers = {.max_count = 1},
                    .words = {"white"},
                    .fallback = "white"},
                   {.name = "angle",
                    .help = "degrees, counter-clockwise, instead of what deskewangle measures",
                    .numbers = {.max_count = 1, .low = -1e6, .high = 1e6}}},
    .details =
        R"(`deskewangle as a | imrotate a bilinear crop fill=WHITE`: the angle is measured in each image by a
stage of its own, with range, step and ink, and is reported.)",
    .example = "deskew",
    .accuracy = "as imrotate",
    .not_finite = {NotFinite::Rule::spread, "nearest moves values; NaN is no ink"},
    .matlab = "no such function",
    .lower = lower_deskew,
}};

}  // namespace
}  // namespace impipe::ops
