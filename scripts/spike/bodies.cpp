// The bodies of the spike: two point bodies and a transcendental one, a stencil, and the map of a
// reduction.
#include "core/body.hpp"

IMPIPE_POINT_BODY(adjust, (x), (low_in, high_in, low_out, high_out), {
  const real v = (clamp(x, low_in, high_in) - low_in) / (high_in - low_in);
  return low_out + (high_out - low_out) * v;
})
IMPIPE_POINT_BODY(ratio, (x, y), (), { return sqrt(abs(x)) / (y + real(0.5)); })
IMPIPE_POINT_BODY(code, (x, y), (white), { return to_code(max(x, min(y, x * y)), white); })
IMPIPE_POINT_BODY(power, (x, y), (gamma), { return pow(abs(x), gamma) * y; })
IMPIPE_POINT_BODY(square, (x), (), { return x * x; })
IMPIPE_STENCIL_BODY(prewitt, (1, 1, 1, 1), (scale), {
  const real gx = at(1, -1) + at(1, 0) + at(1, 1) - (at(-1, -1) + at(-1, 0) + at(-1, 1));
  const real gy = at(-1, 1) + at(0, 1) + at(1, 1) - (at(-1, -1) + at(0, -1) + at(1, -1));
  return scale * fma(gx, gx, gy * gy);
})
