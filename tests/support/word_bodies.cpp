// One body for each word of the vocabulary and each operation bodies use: what the test of equal
// bits runs and scripts/check_vectorised.py disassembles.
#include "core/body.hpp"
#include "core/moderate.hpp"

IMPIPE_POINT_BODY(word_min, (x, y), (), { return min(x, y); })
IMPIPE_POINT_BODY(word_max, (x, y), (), { return max(x, y); })
IMPIPE_POINT_BODY(word_clamp, (x), (low, high), { return clamp(x, low, high); })
IMPIPE_POINT_BODY(word_abs, (x), (), { return abs(x); })
IMPIPE_POINT_BODY(word_floor, (x), (), { return floor(x); })
IMPIPE_POINT_BODY(word_ceil, (x), (), { return ceil(x); })
IMPIPE_POINT_BODY(word_trunc, (x), (), { return trunc(x); })
IMPIPE_POINT_BODY(word_sqrt, (x), (), { return sqrt(x); })
IMPIPE_POINT_BODY(word_fma, (x, y, z), (), { return fma(x, y, z); })
IMPIPE_POINT_BODY(word_round_away, (x), (), { return round_away(x); })
IMPIPE_POINT_BODY(word_to_code, (x), (largest), { return to_code(x, largest); })
IMPIPE_POINT_BODY(word_divide, (x, y), (), { return x / y; })
IMPIPE_POINT_BODY(word_quotient, (x, y), (), { return quotient(x, y); })
IMPIPE_POINT_BODY(word_root, (x), (), { return root(x); })
IMPIPE_POINT_BODY(word_multiply_add, (x, y, z), (), { return x * y + z; })
IMPIPE_POINT_BODY(word_choose, (x, y), (), { return x >= y && y != real(0) ? real(1) : x; })
IMPIPE_STENCIL_BODY(word_at, (1, 1, 1, 1), (weight), {
  const real across = fma(at(1, 0), weight, at(1, -1) + at(1, 1)) - at(-1, 0);
  return sqrt(fma(across, across, at(0, 1) * at(0, -1)));
})

IMPIPE_WEIGHTED_MEAN_BODY(word_weighted_mean, (3, 3, 3, 3), (near_by, alike, reach), (int)reach,
                          exp(fma(apart* apart, alike, (real)(dx* dx + dy * dy) * near_by)))

IMPIPE_POINT_BODY(word_pow, (x, y), (), { return pow(x, y); })
IMPIPE_POINT_BODY(word_power, (x), (gamma), { return pow(x, gamma); })
IMPIPE_POINT_BODY(word_exp, (x), (), { return exp(x); })
IMPIPE_POINT_BODY(word_exp2_below_0, (x), (), { return exp2_below_0(x); })
IMPIPE_POINT_BODY(word_small_sin, (x), (), { return small_sin(x); })
IMPIPE_POINT_BODY(word_small_cos, (x), (), { return small_cos(x); })
IMPIPE_POINT_BODY(word_small_tan, (x), (), { return small_tan(x); })
IMPIPE_POINT_BODY(word_log, (x), (), { return log(x); })
IMPIPE_POINT_BODY(word_cube_root, (x), (), { return cube_root(x); })
IMPIPE_POINT_BODY(word_atan2, (y, x), (), { return atan2(y, x); })

// One value at a time: they have a branch.
IMPIPE_POINT_BODY(scalar_sin, (x), (), { return sin(x); })
IMPIPE_POINT_BODY(scalar_cos, (x), (), { return cos(x); })
IMPIPE_POINT_BODY(scalar_tan, (x), (), { return tan(x); })
