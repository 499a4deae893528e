// The body rgb2gray, which every colour image passes on its way to edge, graythresh and others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// Whether run_luminance gives what this body gives: from and to are the classes of its planes and
// of its result, args its arguments.
bool has_luminance(const PointBody& body, PixelClass from, PixelClass to,
                   const std::vector<double>& args, CpuLevel level);

// n pixels; in: the rows of red, green and blue.
void run_luminance(std::byte* out, const std::byte* const* in, PixelClass cls, std::int64_t n,
                   const PointBody& body, const std::vector<double>& args, CpuLevel level);

}  // namespace impipe::cpu
