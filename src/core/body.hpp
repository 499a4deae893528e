// Bodies: the few lines of C that make a primitive into an operator. Each macro compiles a body for
// the CPU, once per instruction set, and keeps its text for the run-time compilers of the GPUs.
//
// Use them at global scope. A body is C99 that reads its inputs and parameters by name, calls only
// core/vocabulary.hpp, writes `real` for its type (float, or double where the operator is defined
// in double) and casts its constants: real(0.5).
//
//   IMPIPE_POINT_BODY(complement, (x), (white), { return white - x; })
//   IMPIPE_STENCIL_BODY(forward_difference, (0, 1, 0, 0), (), { return at(1, 0) - at(0, 0); })
//   IMPIPE_WEIGHTED_MEAN_BODY(mean_of_nine, (1, 1, 1, 1), (), 1, real(dx * dx + dy * dy + 1))
//   IMPIPE_SCALAR_BODY(mean_of, { out[0] = in[0] / args[0]; })
//
// Each defines impipe::bodies::NAME.
#pragma once

#include <cstdint>

#include "core/group_words.hpp"
#include "core/vocabulary.hpp"

namespace impipe {

// The instruction sets a body is compiled for; the best one the processor has is chosen at run
// time.
enum class CpuLevel { baseline, v3, v4 };  // x86-64, x86-64-v3 (AVX2, FMA), x86-64-v4 (AVX-512)
inline constexpr int cpu_levels = 3;

#if defined(__x86_64__) && !defined(__clang__)
#define IMPIPE_TARGET_v3 __attribute__((target("arch=x86-64-v3")))
#define IMPIPE_TARGET_v4 __attribute__((target("arch=x86-64-v4")))
#else
#define IMPIPE_TARGET_v3
#define IMPIPE_TARGET_v4
#endif

// out: n values; in: one row of n values an input; args: one value a parameter. No row overlaps
// out.
template <class real>
using PointRow = void (*)(real* out, const real* const* in, std::int64_t n, const real* args);

// A point body (P2P): one output value from the values of its inputs at the same place.
struct PointBody {
  const char* name;
  const char* text;
  const char* input_names;      // "(x, y)"
  const char* parameter_names;  // "(white)"
  int inputs;
  int parameters;
  PointRow<float> rows_float[cpu_levels];
  PointRow<double> rows_double[cpu_levels];
};

// How far a stencil reaches, in pixels.
struct Footprint {
  int left = 0, right = 0, up = 0, down = 0;
  bool operator==(const Footprint&) const = default;
};

// rows[0] is the row `up` above the output's, each valid from -left*step to n+right*step (in
// elements); step is the number of interleaved channels. No row overlaps out.
using StencilRow = void (*)(float* out, const float* const* rows, std::int64_t n, std::int64_t step,
                            const float* args);

// The weights of n values so far `apart` from the middle's and (dx, dy) away from it.
using WeightRow = void (*)(float* out, const float* apart, std::int64_t n, int dx, int dy,
                           const float* args);

// A stencil body (N2P): one output value from the neighbourhood, read with at(dx, dy).
struct StencilBody {
  const char* name;
  const char* text;
  const char* parameter_names;
  Footprint footprint;
  int parameters;
  StencilRow rows[cpu_levels];
  // Of a weighted mean: its weights, and up to how many pixels away they are.
  WeightRow weights[cpu_levels] = {};
  int (*last)(const float* args) = nullptr;
};

// in: the input measurements one after the other; args: launch arguments; out: the result.
// count: how many values each input has. Serial code; its cost must not depend on the image.
using ScalarFunction = void (*)(const double* in, const std::int64_t* count, const double* args,
                                double* out);
struct ScalarBody {
  const char* name;
  const char* text;
  ScalarFunction run;
  // Run by all work-items of a group on a GPU, and by one thread here: each does the part of the
  // work that `item` of `items` says, and they share what the words of core/group_words.hpp find.
  // Several groups share nothing.
  bool by_group = false;
};

}  // namespace impipe

// IMPIPE_FOR_EACH(macro, a, b, c) is macro(a) macro(b) macro(c).
#define IMPIPE_PARENS ()
#define IMPIPE_EXPAND(...) IMPIPE_EXPAND2(IMPIPE_EXPAND2(IMPIPE_EXPAND2(__VA_ARGS__)))
#define IMPIPE_EXPAND2(...) IMPIPE_EXPAND1(IMPIPE_EXPAND1(IMPIPE_EXPAND1(__VA_ARGS__)))
#define IMPIPE_EXPAND1(...) __VA_ARGS__
#define IMPIPE_FOR_EACH(macro, ...) \
  __VA_OPT__(IMPIPE_EXPAND(IMPIPE_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define IMPIPE_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(IMPIPE_FOR_EACH_AGAIN IMPIPE_PARENS(macro, __VA_ARGS__))
#define IMPIPE_FOR_EACH_AGAIN() IMPIPE_FOR_EACH_STEP
#define IMPIPE_UNWRAP(...) __VA_ARGS__
#define IMPIPE_ONE(name) +1
#define IMPIPE_DECLARE_REAL(name) [[maybe_unused]] const real name,
#define IMPIPE_LOAD_ROW(name) [[maybe_unused]] const real* __restrict name##_row_ = *in++;
#define IMPIPE_LOAD_ARG(name) [[maybe_unused]] const real name = *args++;
#define IMPIPE_PASS_ROW(name) name##_row_[i],
#define IMPIPE_PASS(name) name,

#define IMPIPE_POINT_ROWS(NAME, real, level)                                                    \
  IMPIPE_TARGET_##level static void NAME##_##real##_##level(real* out, const real* const* in,   \
                                                            std::int64_t n, const real* args) { \
    NAME##_rows<real>(out, in, n, args);                                                        \
  }

#define IMPIPE_TARGET_baseline

#define IMPIPE_POINT_BODY(NAME, INPUTS, PARAMETERS, ...)                                           \
  namespace impipe::bodies {                                                                       \
  namespace {                                                                                      \
  template <class real>                                                                            \
  IMPIPE_INLINE real NAME##_value(IMPIPE_FOR_EACH(IMPIPE_DECLARE_REAL, IMPIPE_UNWRAP INPUTS)       \
                                      IMPIPE_FOR_EACH(IMPIPE_DECLARE_REAL,                         \
                                                      IMPIPE_UNWRAP PARAMETERS) int) __VA_ARGS__   \
      template <class real>                                                                        \
      IMPIPE_INLINE void NAME##_rows(real* __restrict out, [[maybe_unused]] const real* const* in, \
                                     std::int64_t n, [[maybe_unused]] const real* args) {          \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ROW, IMPIPE_UNWRAP INPUTS)                                         \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ARG, IMPIPE_UNWRAP PARAMETERS)                                     \
    for (std::int64_t i = 0; i < n; ++i) {                                                         \
      out[i] = NAME##_value<real>(IMPIPE_FOR_EACH(IMPIPE_PASS_ROW, IMPIPE_UNWRAP INPUTS)           \
                                      IMPIPE_FOR_EACH(IMPIPE_PASS, IMPIPE_UNWRAP PARAMETERS) 0);   \
    }                                                                                              \
  }                                                                                                \
  IMPIPE_POINT_ROWS(NAME, float, baseline)                                                         \
  IMPIPE_POINT_ROWS(NAME, float, v3)                                                               \
  IMPIPE_POINT_ROWS(NAME, float, v4)                                                               \
  IMPIPE_POINT_ROWS(NAME, double, baseline)                                                        \
  IMPIPE_POINT_ROWS(NAME, double, v3)                                                              \
  IMPIPE_POINT_ROWS(NAME, double, v4)                                                              \
  }                                                                                                \
  extern const PointBody NAME;                                                                     \
  const PointBody NAME{#NAME,                                                                      \
                       #__VA_ARGS__,                                                               \
                       #INPUTS,                                                                    \
                       #PARAMETERS,                                                                \
                       0 IMPIPE_FOR_EACH(IMPIPE_ONE, IMPIPE_UNWRAP INPUTS),                        \
                       0 IMPIPE_FOR_EACH(IMPIPE_ONE, IMPIPE_UNWRAP PARAMETERS),                    \
                       {NAME##_float_baseline, NAME##_float_v3, NAME##_float_v4},                  \
                       {NAME##_double_baseline, NAME##_double_v3, NAME##_double_v4}};              \
  }

#define IMPIPE_STENCIL_ROWS(NAME, level)                                                 \
  IMPIPE_TARGET_##level static void NAME##_##level(float* out, const float* const* rows, \
                                                   std::int64_t n, std::int64_t step,    \
                                                   const float* args) {                  \
    NAME##_rows(out, rows, n, step, args);                                               \
  }

// FOOTPRINT is (left, right, up, down).
#define IMPIPE_STENCIL_BODY(NAME, FOOTPRINT, PARAMETERS, ...)                                     \
  namespace impipe::bodies {                                                                      \
  namespace {                                                                                     \
  constexpr Footprint NAME##_footprint{IMPIPE_UNWRAP FOOTPRINT};                                  \
  struct NAME##_neighbourhood {                                                                   \
    const float* rows[NAME##_footprint.up + NAME##_footprint.down + 1];                           \
    std::int64_t i, step;                                                                         \
    IMPIPE_INLINE float operator()(int dx, int dy) const {                                        \
      return rows[dy + NAME##_footprint.up][i + dx * step];                                       \
    }                                                                                             \
  };                                                                                              \
  template <class real>                                                                           \
  IMPIPE_INLINE real NAME##_value([[maybe_unused]] const NAME##_neighbourhood at,                 \
                                  IMPIPE_FOR_EACH(IMPIPE_DECLARE_REAL,                            \
                                                  IMPIPE_UNWRAP PARAMETERS) int)                  \
      __VA_ARGS__ IMPIPE_INLINE void NAME                                                         \
      ##_rows(float* __restrict out, const float* const* rows, std::int64_t n, std::int64_t step, \
              [[maybe_unused]] const float* args) {                                               \
    using real = float;                                                                           \
    NAME##_neighbourhood at;                                                                      \
    for (int k = 0; k <= NAME##_footprint.up + NAME##_footprint.down; ++k) at.rows[k] = rows[k];  \
    at.step = step;                                                                               \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ARG, IMPIPE_UNWRAP PARAMETERS)                                    \
    for (std::int64_t i = 0; i < n; ++i) {                                                        \
      at.i = i;                                                                                   \
      out[i] = NAME##_value<real>(at, IMPIPE_FOR_EACH(IMPIPE_PASS, IMPIPE_UNWRAP PARAMETERS) 0);  \
    }                                                                                             \
  }                                                                                               \
  IMPIPE_STENCIL_ROWS(NAME, baseline)                                                             \
  IMPIPE_STENCIL_ROWS(NAME, v3)                                                                   \
  IMPIPE_STENCIL_ROWS(NAME, v4)                                                                   \
  }                                                                                               \
  extern const StencilBody NAME;                                                                  \
  const StencilBody NAME{#NAME,                                                                   \
                         #__VA_ARGS__,                                                            \
                         #PARAMETERS,                                                             \
                         NAME##_footprint,                                                        \
                         0 IMPIPE_FOR_EACH(IMPIPE_ONE, IMPIPE_UNWRAP PARAMETERS),                 \
                         {NAME##_baseline, NAME##_v3, NAME##_v4}};                                \
  }

#define IMPIPE_WEIGHT_ROWS(NAME, level)                                                    \
  IMPIPE_TARGET_##level static void NAME##_weights_##level(                                \
      float* out, const float* apart, std::int64_t n, int dx, int dy, const float* args) { \
    NAME##_weight_row(out, apart, n, dx, dy, args);                                        \
  }

// A stencil body whose result is the mean of the square up to LAST pixels away, each value
// weighted: the expression computes a weight from how far the value is `apart` from the middle's,
// and from `dx` and `dy`; it is the same where all three have the other sign. Here a row is gone
// over once for each of the pixels, which compilers vectorise however many they are.
#define IMPIPE_WEIGHTED_MEAN_BODY(NAME, FOOTPRINT, PARAMETERS, LAST, ...) \
  IMPIPE_WEIGHTED_MEAN(NAME, FOOTPRINT, PARAMETERS, LAST, "value - x", #__VA_ARGS__, __VA_ARGS__)
// The same of a square whose size is constant, so that compilers of kernels unroll its loops, and
// of weights that are 1 in the middle. Differences of a pair of pixels have the same sign in the
// sums of both, so that pixels of one work-item share the pair's weight.
#define IMPIPE_SQUARE_MEAN_BODY(NAME, FOOTPRINT, PARAMETERS, LAST, ...)         \
  IMPIPE_WEIGHTED_MEAN(NAME, FOOTPRINT, PARAMETERS, LAST,                       \
                       "dy > 0 || (dy == 0 && dx > 0) ? value - x : x - value", \
                       "dx == 0 && dy == 0 ? real(1) + apart : " #__VA_ARGS__, __VA_ARGS__)
#define IMPIPE_WEIGHTED_MEAN(NAME, FOOTPRINT, PARAMETERS, LAST, APART_TEXT, WEIGHT_TEXT, ...)     \
  namespace impipe::bodies {                                                                      \
  namespace {                                                                                     \
  template <class real>                                                                           \
  IMPIPE_INLINE real NAME##_weight(const real apart, const int dx, const int dy,                  \
                                   IMPIPE_FOR_EACH(IMPIPE_DECLARE_REAL,                           \
                                                   IMPIPE_UNWRAP PARAMETERS) int) {               \
    return __VA_ARGS__;                                                                           \
  }                                                                                               \
  IMPIPE_INLINE void NAME##_rows(float* __restrict out, const float* const* rows, std::int64_t n, \
                                 std::int64_t step, [[maybe_unused]] const float* args) {         \
    using real = float;                                                                           \
    constexpr Footprint footprint{IMPIPE_UNWRAP FOOTPRINT};                                       \
    constexpr std::int64_t chunk = 512;                                                           \
    float weights[chunk], sum[chunk];                                                             \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ARG, IMPIPE_UNWRAP PARAMETERS)                                    \
    for (std::int64_t from = 0; from < n; from += chunk) {                                        \
      const std::int64_t count = n - from < chunk ? n - from : chunk;                             \
      const float* const middle = rows[footprint.up] + from;                                      \
      for (std::int64_t i = 0; i < count; ++i) weights[i] = sum[i] = 0;                           \
      for (int dy = -LAST; dy <= LAST; ++dy) {                                                    \
        for (int dx = -LAST; dx <= LAST; ++dx) {                                                  \
          const float* const values = rows[footprint.up + dy] + from + dx * step;                 \
          for (std::int64_t i = 0; i < count; ++i) {                                              \
            const float w =                                                                       \
                NAME##_weight<real>(values[i] - middle[i], dx, dy,                                \
                                    IMPIPE_FOR_EACH(IMPIPE_PASS, IMPIPE_UNWRAP PARAMETERS) 0);    \
            weights[i] += w;                                                                      \
            sum[i] = fma(w, values[i], sum[i]);                                                   \
          }                                                                                       \
        }                                                                                         \
      }                                                                                           \
      for (std::int64_t i = 0; i < count; ++i) out[from + i] = sum[i] / weights[i];               \
    }                                                                                             \
  }                                                                                               \
  IMPIPE_INLINE void NAME##_weight_row(float* __restrict out, const float* __restrict apart,      \
                                       std::int64_t n, int dx, int dy,                            \
                                       [[maybe_unused]] const float* args) {                      \
    using real = float;                                                                           \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ARG, IMPIPE_UNWRAP PARAMETERS)                                    \
    for (std::int64_t i = 0; i < n; ++i) {                                                        \
      out[i] = NAME##_weight<real>(apart[i], dx, dy,                                              \
                                   IMPIPE_FOR_EACH(IMPIPE_PASS, IMPIPE_UNWRAP PARAMETERS) 0);     \
    }                                                                                             \
  }                                                                                               \
  static int NAME##_last([[maybe_unused]] const float* args) {                                    \
    using real = float;                                                                           \
    IMPIPE_FOR_EACH(IMPIPE_LOAD_ARG, IMPIPE_UNWRAP PARAMETERS)                                    \
    return LAST;                                                                                  \
  }                                                                                               \
  IMPIPE_WEIGHT_ROWS(NAME, baseline)                                                              \
  IMPIPE_WEIGHT_ROWS(NAME, v3)                                                                    \
  IMPIPE_WEIGHT_ROWS(NAME, v4)                                                                    \
  IMPIPE_STENCIL_ROWS(NAME, baseline)                                                             \
  IMPIPE_STENCIL_ROWS(NAME, v3)                                                                   \
  IMPIPE_STENCIL_ROWS(NAME, v4)                                                                   \
  }                                                                                               \
  extern const StencilBody NAME;                                                                  \
  const StencilBody NAME{#NAME,                                                                   \
                         "{ const real x = at(0, 0); real weights = real(0); real sum = real(0);" \
                         " for (int dy = -" #LAST "; dy <= " #LAST                                \
                         "; ++dy) {"                                                              \
                         " for (int dx = -" #LAST "; dx <= " #LAST                                \
                         "; ++dx) {"                                                              \
                         " const real value = at(dx, dy); const real apart = " APART_TEXT         \
                         ";"                                                                      \
                         " const real w = " WEIGHT_TEXT                                           \
                         ";"                                                                      \
                         " weights += w; sum = fma(w, value, sum); } }"                           \
                         " return sum / weights; }",                                              \
                         #PARAMETERS,                                                             \
                         Footprint{IMPIPE_UNWRAP FOOTPRINT},                                      \
                         0 IMPIPE_FOR_EACH(IMPIPE_ONE, IMPIPE_UNWRAP PARAMETERS),                 \
                         {NAME##_baseline, NAME##_v3, NAME##_v4},                                 \
                         {NAME##_weights_baseline, NAME##_weights_v3, NAME##_weights_v4},         \
                         NAME##_last};                                                            \
  }

#define IMPIPE_SCALAR_BODY(NAME, ...)                                                  \
  namespace impipe::bodies {                                                           \
  static void NAME##_run([[maybe_unused]] const double* in,                            \
                         [[maybe_unused]] const std::int64_t* count,                   \
                         [[maybe_unused]] const double* args, double* out) __VA_ARGS__ \
      extern const ScalarBody NAME;                                                    \
  const ScalarBody NAME{#NAME, #__VA_ARGS__, NAME##_run};                              \
  }

// The same by all work-items of a group: `item` of `items`, a power of two; and of each of several
// groups: `group` of `groups`.
#define IMPIPE_GROUP_BODY(NAME, ...)                                         \
  namespace impipe::bodies {                                                 \
  static void NAME##_run([[maybe_unused]] const double* in,                  \
                         [[maybe_unused]] const std::int64_t* count,         \
                         [[maybe_unused]] const double* args, double* out) { \
    using namespace group_words;                                             \
    __VA_ARGS__                                                              \
  }                                                                          \
  extern const ScalarBody NAME;                                              \
  const ScalarBody NAME{#NAME, #__VA_ARGS__, NAME##_run, true};              \
  }
