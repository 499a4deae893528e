// Channels of colour images: one taken out, three put together, weighted sums of them. All are
// points, so they fuse.
#pragma once

#include <array>
#include <vector>

#include "core/plan_builder.hpp"

namespace impipe::ops {

// Channel 0, 1 or 2 of a colour image, as an image of one channel.
ImageValue picked_channel(PlanBuilder& plan, const ImageValue& image, int channel);

// The image whose channels these are: three of one channel, equal class and white.
ImageValue joined_channels(PlanBuilder& plan, const std::vector<ImageValue>& channels);

// k[0] r + k[1] g + k[2] b + add, from the left.
struct Weights {
  std::array<double, 3> k{};
  double add = 0;
};
ImageValue weighted_channels(PlanBuilder& plan, const ImageValue& image, const Weights& weights,
                             Result result, bool in_double = false);
// Three of those, joined.
ImageValue mixed_channels(PlanBuilder& plan, const ImageValue& image,
                          const std::array<Weights, 3>& rows, Result result,
                          bool in_double = false);

}  // namespace impipe::ops
