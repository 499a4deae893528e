// What operators ask of the images they are given: a white, a matching operand; and the result
// types they make from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// A result with this image's class and white.
inline Result like(const ImageValue& image) {
  return {.cls = image.type.cls, .white = image.type.white};
}
inline constexpr Result logical_result{.cls = PixelClass::logical, .white = 1};
inline constexpr Result single_result{.cls = PixelClass::single, .white = 0};  // without a white

// What NaN and Inf become in a reconstruction, and in weighted sums of a pixel's channels.
inline constexpr NotFinite nan_smallest{
    NotFinite::Rule::other, "NaN is smaller than every number; Inf is a value like others"};
inline constexpr NotFinite nan_mixed{
    NotFinite::Rule::propagated,
    "NaN in one channel of a pixel makes NaN of all that are mixed with it"};

inline constexpr Argument pixels_argument{.source = Argument::Source::pixels};

// Fails when the image has no white (distances, projections, labels): "[0,1]" then means nothing.
void need_white(const Call& call, const ImageValue& image);

// Fails when the image is not of red, green and blue.
void need_colour(const Call& call, const ImageValue& image);

// The image `:name`, which must have the white and the channels of the current one.
ImageValue matching_operand(const Call& call, const PlanBuilder& plan, std::string_view name);
// The same for a point, where one of them may be gray beside colour, and `masks` says whether it
// may be logical beside another class: it then counts as 0 and 1.
ImageValue point_operand(const Call& call, const PlanBuilder& plan, std::string_view name,
                         bool masks = false);
// The image `:name` as one channel, through rgb2gray where it is coloured.
ImageValue gray_operand(const Call& call, PlanBuilder& plan, std::string_view name);
// What a measurement measures: the image that its parameter `image` names, else the current one;
// of one channel for operators of one channel.
ImageValue measured_image(const Call& call, PlanBuilder& plan);
// The parameter `image` of measurements.
Parameter measured_image_parameter();

// A result that has the channels of all of these.
int max_channels(const std::vector<ImageValue>& images);

// The names of the classes, for `class=`.
PixelClass class_named(std::string_view name);

// What a number becomes in this class: rounded half away from zero and saturated, NaN is 0;
// logical: whether it is not 0.
double cast_to(PixelClass cls, double value);

// x / white as single with white 1; the image itself when that changes nothing.
ImageValue to_unit_single(PlanBuilder& plan, const ImageValue& image);

// im2uint8 of an image that has a white, which stays white.
ImageValue to_uint8(PlanBuilder& plan, const ImageValue& image);

// The column or row of each pixel (`name` is "col" or "row"), counted from 0; exact up to 2^24.
ImageValue place_image(PlanBuilder& plan, const ImageValue& image, std::string_view name);

}  // namespace impipe::ops
