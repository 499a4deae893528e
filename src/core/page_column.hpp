// All pages of a file as one image, one below the other: what is measured of all of them together.
#pragma once

#include "core/operator.hpp"

namespace impipe {

// Makes it; without arguments, and not in the catalogue.
const Operator& page_column();

}  // namespace impipe
