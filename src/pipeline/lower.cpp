// Turns a Pipeline into a Plan: every operator adds its primitives.
#include "pipeline/lower.hpp"

#include <algorithm>

#include "core/plan_builder.hpp"
#include "core/plan_limit.hpp"
#include "core/volume.hpp"
#include "pipeline/measured_arguments.hpp"

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

// Throws Error where the operator is not defined for the image; makes one channel of it for those
// that take one.
void prepare_image(const Call& call, PlanBuilder& builder, const LowerOptions& options) {
  const Operator& op = call.op();
  if (!op.classes.has(builder.current().type.cls)) {
    call.fail("it is not defined for a " + std::string(name_of(builder.current().type.cls)) +
              " image; it takes " + classes_text(op.classes));
  }
  const int channels = builder.current().type.channels;
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
}

void lower_operator(const Call& call, PlanBuilder& builder, const LowerOptions& options) {
  const Operator& op = call.op();
  const ImageValue given = builder.current();
  prepare_image(call, builder, options);
  const auto& profile = builder.current().type.profile;
  if (op.profile == Operator::Profile::srgb && profile && !profile->is_srgb) {
    builder.note(std::string(op.name) + ": its formula is sRGB's, and the colours are those of '" +
                 profile->name + "'; `icc to=srgb` before it converts them");
  }
  const ImageValue seen = builder.current();
  const ImageValue made = op.lower(call, builder);
  // What only measures hands the image on as it was given.
  builder.set_current(builder.reported() && made.id == seen.id ? given : made);
  if (op.category == "geometry") builder.set_moved();
}

// A name of a table means its largest object, whatever columns are chosen.
void add_area(ObjectTable& table) {
  if (table.rows || table.columns.empty() || std::ranges::count(table.columns, "Area") > 0) return;
  table.columns.push_back("Area");
}

std::map<std::string, MeasuredPlace> places_of(const BoundStage& stage, PlanBuilder& builder) {
  std::map<std::string, MeasuredPlace> places;
  for (const auto& [name, span] : awaited(stage)) {
    const Call named(stage.call->op(), {}, stage.call->text(), stage.call->origin(), span);
    places.emplace(name, builder.measured_place(named, name));
  }
  return places;
}

// Stages [begin, end), none of which takes several images; the type after each.
std::vector<ImageType> lower_range(const Pipeline& pipeline, size_t begin, size_t end,
                                   PlanBuilder& builder, const LowerOptions& options) {
  std::vector<ImageType> types;
  for (size_t index = begin; index < end; ++index) {
    const BoundStage& stage = pipeline.stages[index];
    builder.begin_stage(static_cast<int>(index));
    if (!stage.keep_as.empty()) {
      builder.keep(stage.keep_as, builder.current());
    } else if (!stage.save_template.empty()) {
      builder.save(stage.save_template);
    } else if (stage.call->op().lower != nullptr) {
      const Call call = stage.waiting == nullptr
                            ? *stage.call
                            : call_until_measured(pipeline, stage, places_of(stage, builder));
      try {
        lower_operator(call, builder, options);
        if (!stage.measured_as.empty()) {
          const std::string why_not = builder.keep_measured(stage.measured_as);
          if (!why_not.empty()) stage.call->fail(why_not);
        }
      } catch (const PlanTooLarge& error) {
        stage.call->fail(error.what());
      }
    }
    types.push_back(builder.current().type);
  }
  return types;
}

// Stages [begin, end).
Plan lower_stages(const Pipeline& pipeline, size_t begin, size_t end, const ImageType& input,
                  const std::map<std::string, ImageType>& operands, const LowerOptions& options) {
  PlanBuilder builder(input, operands, options.display);
  std::vector<ImageType> stage_types(begin, input);
  for (const ImageType& type : lower_range(pipeline, begin, end, builder, options)) {
    stage_types.push_back(type);
  }
  if (end < pipeline.stages.size()) {  // a stage that takes several images: what it takes of each
    const Call& call = *pipeline.stages[end].call;
    builder.begin_stage(static_cast<int>(end));
    prepare_image(call, builder, options);
    if (call.op().lower != nullptr) builder.set_current(call.op().lower(call, builder));
  }
  Plan plan = builder.finish();
  plan.stage_types = std::move(stage_types);
  return plan;
}

}  // namespace

MeasuringPlan lower_measuring(const Pipeline& pipeline, size_t begin, size_t stage,
                              const ImageType& input,
                              const std::map<std::string, ImageType>& operands,
                              const LowerOptions& options) {
  PlanBuilder builder(input, operands, options.display);
  MeasuringPlan made;
  lower_range(pipeline, begin, stage, builder, options);
  made.places = places_of(pipeline.stages[stage], builder);
  made.plan = builder.finish();
  made.plan.writes_image = false;
  made.plan.saves.clear();
  for (const auto& [name, place] : made.places) {
    if (place.table) add_area(*made.plan.measurements[*place.table].objects);
  }
  return made;
}

namespace {

// What comes after a stage that makes a table of a volume: nothing but the table.
Plan plan_of_table(const Pipeline& pipeline, size_t stage, std::vector<std::string> columns,
                   const ImageType& type, const std::vector<ImageType>& stage_types) {
  const BoundStage& of = pipeline.stages[stage];
  if (stage + 1 < pipeline.stages.size()) {
    of.call->fail("it makes a table of all pages, and no stage can follow");
  }
  PlanBuilder builder(type, {}, {});
  Plan plan = builder.finish();
  plan.writes_image = false;
  const std::string name =
      of.measured_as.empty() ? std::string(of.call->op().name) : of.measured_as;
  plan.measurements.push_back({.name = name,
                               .stage = static_cast<int>(stage),
                               .objects = ObjectTable{.columns = std::move(columns)}});
  plan.stage_types = stage_types;
  return plan;
}

bool moves(const BoundStage& stage) {
  return stage.call && stage.call->op().category == "geometry";
}

}  // namespace

Plan lower(const Pipeline& pipeline, const ImageType& input,
           const std::map<std::string, ImageType>& operands, const LowerOptions& options) {
  return lower_stages(pipeline, 0, pipeline.stages.size(), input, operands, options);
}

std::vector<PlanPart> lower_parts(const Pipeline& pipeline, const ImageType& input,
                                  const std::map<std::string, ImageType>& operands,
                                  const LowerOptions& options) {
  std::vector<PlanPart> parts;
  ImageType type = input;
  LowerOptions of_part = options;
  for (size_t begin = 0;;) {
    const auto from = pipeline.stages.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto found = std::find_if(from, pipeline.stages.end(), [](const BoundStage& stage) {
      return stage.call && takes_several(*stage.call);
    });
    const auto end = static_cast<size_t>(found - pipeline.stages.begin());
    PlanPart& part = parts.emplace_back();
    part.plan = lower_stages(pipeline, begin, end, type, operands, of_part);
    if (found == pipeline.stages.end()) return parts;
    part.plan.writes_image = true;  // for those that follow
    part.reduction = found->call->op().reduction(*found->call);
    part.reduction_stage = static_cast<int>(end);
    ImageType made = part.plan.values[part.plan.result].type;
    made.alpha = part.plan.result_alpha.has_value();
    type = reduced_type(*part.reduction, made);
    part.plan.stage_types.push_back(type);
    if (std::any_of(from, found, moves)) of_part.display.reset();
    if (part.reduction->volume && !part.reduction->volume->columns().empty()) {
      Plan table = plan_of_table(pipeline, end, part.reduction->volume->columns(), type,
                                 part.plan.stage_types);
      parts.push_back({std::move(table), {}, 0});
      return parts;
    }
    begin = end + 1;
  }
}

}  // namespace impipe::pipeline
