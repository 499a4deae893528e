// The bin index of a joint histogram.
#include "core/pair_code.hpp"

IMPIPE_POINT_BODY(pair_code, (a, b), (bins), { return a * bins + b; })

namespace impipe {

const PointBody& pair_code_body() { return bodies::pair_code; }

}  // namespace impipe
