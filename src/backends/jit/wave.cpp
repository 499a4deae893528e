// Words for the work-items of a wave, which run together and exchange values, as kernel text.
#include "backends/jit/wave.hpp"

#include "backends/jit/text.hpp"

namespace impipe::jit {
namespace {

constexpr const char* opencl_words = R"(
#define WAVE_MEMORY LOCAL long wave_memory[64]
#define WAVE_GIVEN IN_LOCAL long* wave_memory
#define WAVE_GIVE wave_memory
#define WAVE_BARRIER GLOBAL_BARRIER
#define HIGHEST_BIT(word) (31 - (int)clz(word))
#define LOWEST_BIT(word) HIGHEST_BIT((word) & (0u - (word)))
#define DOUBLE_BITS(value) as_ulong(value)
#define BITS_DOUBLE(bits) as_double(bits)
// turn: 0 and 1 in turns, so that nobody writes what somebody still reads.
FUNCTION double wave_lane_before(WAVE_GIVEN, const double v, const int turn) {
  IN_LOCAL double* const line = (IN_LOCAL double*)wave_memory + 32 * turn;
  line[ITEM] = v;
  BARRIER;
  return line[ITEM == 0 ? 0 : ITEM - 1];
}
)";

constexpr const char* opencl_least = R"(
FUNCTION $type wave_least_$type(WAVE_GIVEN, const $type v) {
  IN_LOCAL $type* const line = (IN_LOCAL $type*)wave_memory;
  line[ITEM] = v;
  for (int step = 16; step > 0; step /= 2) {
    BARRIER;
    if (ITEM < step && line[ITEM + step] < line[ITEM]) line[ITEM] = line[ITEM + step];
  }
  BARRIER;
  const $type least = line[0];
  BARRIER;
  return least;
}
)";

constexpr const char* cuda_words = R"(
#define WAVE_MEMORY const int wave_memory = 0
#define WAVE_GIVEN const int wave_memory
#define WAVE_GIVE wave_memory
#define WAVE_BARRIER __syncwarp()
#define HIGHEST_BIT(word) (31 - __clz((int)(word)))
#define LOWEST_BIT(word) (__ffs((int)(word)) - 1)
#define DOUBLE_BITS(value) ((unsigned long)__double_as_longlong(value))
#define BITS_DOUBLE(bits) __longlong_as_double((long long)(bits))
FUNCTION double wave_lane_before(WAVE_GIVEN, const double v, const int turn) {
  return __shfl_up_sync(0xffffffffu, v, 1);
}
)";

constexpr const char* cuda_least = R"(
FUNCTION $type wave_least_$type(WAVE_GIVEN, $type v) {
  for (int step = 16; step > 0; step /= 2) {
    const $type other = __shfl_xor_sync(0xffffffffu, v, step);
    v = other < v ? other : v;
  }
  return v;
}
)";

constexpr const char* cuda_least_int = R"(
FUNCTION int wave_least_int(WAVE_GIVEN, int v) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, v);
#else
  for (int step = 16; step > 0; step /= 2) {
    v = smaller(v, __shfl_xor_sync(0xffffffffu, v, step));
  }
  return v;
#endif
}
)";

}  // namespace

int most_waves(Dialect dialect) { return dialect == Dialect::cuda ? 8 : 1; }

std::string wave_words(Dialect dialect) {
  const bool cuda = dialect == Dialect::cuda;
  std::string text = cuda ? cuda_words : opencl_words;
  text += cuda ? cuda_least_int : filled(opencl_least, {{"type", "int"}});
  for (const char* type : {"long", "double"}) {
    text += filled(cuda ? cuda_least : opencl_least, {{"type", type}});
  }
  return text;
}

}  // namespace impipe::jit
