// What the sources have in common: the size and class of the image they make.
#pragma once

#include <functional>

#include "core/operator.hpp"

namespace impipe::ops {

Parameter size_parameter(bool required);
Parameter class_parameter(std::string_view fallback);
Parameter channels_parameter();

// `size`: one number is a square, two are rows,columns.
Size size_argument(const Call& call);

// An image of the call's size and class.
MadeImage described_image(const Call& call, int channels);

// Fills it; value(x, y, channel) is on the unit scale.
HostImage make_image(const MadeImage& made,
                     const std::function<double(std::int64_t, std::int64_t, int)>& value);

}  // namespace impipe::ops
