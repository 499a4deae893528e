// Whether float32 gives the same codes as double: tried for all codes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/body.hpp"
#include "core/image.hpp"

namespace impipe::cpu {

// For a body of two inputs of these classes. False when they have too many pairs of codes to try,
// when the image has too few elements for a trial to pay, or when some pair differs. Trials are
// remembered. Any thread.
bool float_is_exact(const PointBody& body, const std::vector<double>& args, PixelClass first,
                    PixelClass second, PixelClass result, std::int64_t elements, CpuLevel level);

}  // namespace impipe::cpu
