// One code of two: a * bins + b.
#pragma once

#include "core/body.hpp"

namespace impipe {

// The point body (a, b), (bins) whose results a joint histogram counts. Backends know it: the codes
// need not be made where bytes can be counted in pairs.
const PointBody& pair_code_body();

}  // namespace impipe
