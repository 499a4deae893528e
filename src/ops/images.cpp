// Checks of an operator's images, and the scaling that several operators begin with.
#include "ops/images.hpp"

#include <algorithm>

#include "core/text.hpp"

IMPIPE_POINT_BODY(unit_scaled, (x), (white), { return x / white; })

namespace impipe::ops {
namespace {

std::string described(const ImageType& type) {
  const std::string cls(name_of(type.cls));
  if (type.white == 0) return cls + " without a white";
  return cls + " with white " + number_text(type.white);
}

std::string channels(const ImageType& type) {
  return type.channels == 1 ? "1 channel" : std::to_string(type.channels) + " channels";
}

}  // namespace

void need_white(const Call& call, const ImageValue& image) {
  if (image.type.white != 0) return;
  call.fail("the image has no white to scale by; use mat2gray first");
}

void need_colour(const Call& call, const ImageValue& image) {
  if (image.type.channels == 3) return;
  call.fail("it needs a colour image of 3 channels, and the image has " + channels(image.type));
}

ImageValue matching_operand(const Call& call, const PlanBuilder& plan, std::string_view name) {
  const ImageType current = plan.current().type;
  const ImageValue operand = point_operand(call, plan, name);
  if (operand.type.channels != current.channels) {
    call.fail("the current image has " + channels(current) + ", :" + std::string(name) + " has " +
              channels(operand.type));
  }
  return operand;
}

ImageValue point_operand(const Call& call, const PlanBuilder& plan, std::string_view name,
                         bool masks) {
  const ImageType current = plan.current().type;
  const ImageValue operand = plan.operand(call, name);
  const bool mask =
      masks && (operand.type.cls == PixelClass::logical || current.cls == PixelClass::logical);
  if (operand.type.white != current.white && !mask) {
    call.fail("the current image is " + described(current) + ", :" + std::string(name) + " is " +
              described(operand.type));
  }
  return operand;
}

int max_channels(const std::vector<ImageValue>& images) {
  int out = 0;
  for (const ImageValue& image : images) out = std::max(out, image.type.channels);
  return out;
}

PixelClass class_named(std::string_view name) {
  for (const PixelClass c : {PixelClass::logical, PixelClass::uint8, PixelClass::uint16}) {
    if (name_of(c) == name) return c;
  }
  return PixelClass::single;
}

double cast_to(PixelClass cls, double value) {
  if (cls == PixelClass::single) return value;
  if (cls == PixelClass::logical) return value != 0 ? 1 : 0;
  return bodies::to_code(value, class_max(cls));
}

ImageValue to_unit_single(PlanBuilder& plan, const ImageValue& image) {
  if (image.type.cls == PixelClass::single && image.type.white == 1) return image;
  return plan.point(bodies::unit_scaled, {image}, {image.type.white},
                    {.cls = PixelClass::single, .white = 1});
}

ImageValue gray_operand(const Call& call, PlanBuilder& plan, std::string_view name) {
  const ImageValue image = plan.operand(call, name);
  if (image.type.channels == 1) return image;
  const ImageValue current = plan.current();
  plan.set_current(image);
  const ImageValue gray = find_operator("rgb2gray")->lower(call, plan);
  plan.set_current(current);
  return gray;
}

ImageValue measured_image(const Call& call, PlanBuilder& plan) {
  if (!call.has("image")) return plan.current();
  const std::string& name = call.value("image").operands.front();
  const ImageValue image =
      call.op().one_channel ? gray_operand(call, plan, name) : plan.operand(call, name);
  if (!call.op().classes.has(image.type.cls)) {
    call.fail("image",
              "it is not defined for a " + std::string(name_of(image.type.cls)) + " image");
  }
  return image;
}

Parameter measured_image_parameter() {
  return {.name = "image",
          .help = "the image (:name) that is measured; the current one when not given",
          .takes = Takes::operand};
}

}  // namespace impipe::ops
