// Turns a Pipeline into a Plan: every operator adds its primitives.
#include "pipeline/lower.hpp"

#include "core/plan_builder.hpp"
#include "core/plan_limit.hpp"

namespace impipe::pipeline {
namespace {

std::string classes_text(const Classes& classes) {
  std::string out;
  for (const PixelClass c :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    if (!classes.has(c)) continue;
    if (!out.empty()) out += ", ";
    out += name_of(c);
  }
  return out;
}

void lower_operator(const Call& call, PlanBuilder& builder, const LowerOptions& options) {
  const Operator& op = call.op();
  if (!op.classes.has(builder.current().type.cls)) {
    call.fail("it is not defined for a " + std::string(name_of(builder.current().type.cls)) +
              " image; it takes " + classes_text(op.classes));
  }
  const ImageValue given = builder.current();
  const int channels = given.type.channels;
  if (op.colour && channels != 3) {
    call.fail(
        channels == 1
            ? "it takes a colour image, and this one is gray; gray2rgb makes three channels of it"
            : "it takes a colour image of 3 channels, and this one has " +
                  std::to_string(channels));
  }
  if (options.strict && op.name == "rgb2gray" && channels == 1) {
    call.fail("the image is gray already");
  }
  if (op.one_channel && channels != 1 && channels != 3) {
    call.fail("it is defined for one channel, and the image has " + std::to_string(channels));
  }
  if (op.one_channel && channels == 3) {
    if (options.strict) {
      call.fail("it is defined for one channel and the image has colour; put rgb2gray before it");
    }
    const Operator& gray = *find_operator("rgb2gray");
    const Call gray_call(gray, {}, call.text(), call.origin(), call.span());
    builder.set_current(gray.lower(gray_call, builder));
    builder.note(std::string(op.name) + ": colour images go through rgb2gray first");
  }
  const ImageValue seen = builder.current();
  const ImageValue made = op.lower(call, builder);
  // What only measures hands the image on as it was given.
  builder.set_current(builder.reported() && made.id == seen.id ? given : made);
  if (op.category == "geometry") builder.set_moved();
}

}  // namespace

Plan lower(const Pipeline& pipeline, const ImageType& input,
           const std::map<std::string, ImageType>& operands, const LowerOptions& options) {
  PlanBuilder builder(input, operands, options.display);
  std::vector<ImageType> stage_types;
  int index = 0;
  for (const BoundStage& stage : pipeline.stages) {
    builder.begin_stage(index++);
    if (!stage.keep_as.empty()) {
      builder.keep(stage.keep_as, builder.current());
    } else if (!stage.save_template.empty()) {
      builder.save(stage.save_template);
    } else if (stage.call->op().lower != nullptr) {
      try {
        lower_operator(*stage.call, builder, options);
        if (!stage.measured_as.empty()) {
          const std::string why_not = builder.keep_measured(stage.measured_as);
          if (!why_not.empty()) stage.call->fail(why_not);
        }
      } catch (const PlanTooLarge& error) {
        stage.call->fail(error.what());
      }
    }
    stage_types.push_back(builder.current().type);
  }
  Plan plan = builder.finish();
  plan.stage_types = std::move(stage_types);
  return plan;
}

}  // namespace impipe::pipeline
