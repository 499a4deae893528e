// Weighted sums of three planes of bytes, as the luminance of a colour image, which every colour
// image passes on its way to edge, graythresh and others, or its differences of colour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// Of the three planes, and what is added: all sums are codes, but for what they are rounded by.
using MeanWeights = std::array<double, 4>;

// The weights by which run_mean gives what this body gives in double, if it is such a sum. from
// and to are the classes of its planes and of its result, args its arguments.
std::optional<MeanWeights> mean_weights(const PointBody& body, std::span<const PixelClass> from,
                                        PixelClass to, const std::vector<double>& args,
                                        CpuLevel level);

// A body that is such a sum.
struct MeanBody {
  const PointBody* body;
  const MeanWeights* weights;
  const std::vector<double>* args;
};

// n pixels by each of these bodies, into outs; in: the rows of the three planes, whose pixels
// become numbers once for several bodies.
void run_means(std::span<std::byte* const> outs, const std::byte* const* in, std::int64_t n,
               std::span<const MeanBody> means, CpuLevel level);

}  // namespace impipe::cpu
