// Blocks of an image become one pixel each.
#pragma once

#include "core/volume.hpp"

namespace impipe {

enum class BlockValue { mean, max, min, median, sum, std };
// rows, columns: of a block, the first of which begins at the upper left; the last ones have fewer.
// mean, max, min and median keep class and white and are rounded once; sum and std are single.
// Alpha is averaged.
Volume block_pages(BlockValue value, std::int64_t rows, std::int64_t columns);

}  // namespace impipe
