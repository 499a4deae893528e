// What stands above every kernel: the dialect's own words, the vocabulary of bodies, the classes.
#include "backends/jit/dialect.hpp"

#include "backends/jit/text.hpp"
#include "backends/jit/wide_access.hpp"
#include "core/vocabulary.hpp"

namespace impipe::jit {
namespace {

constexpr const char* opencl_words = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define FUNCTION static inline
// Not inlined: PoCL 3.1 loses a function's atomic operations in its loops over work-items.
#define FUNCTION_APART
#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1)))
#define KERNEL_DENSE(items, groups) KERNEL(items)
#define PARAMETERS const struct Parameters all_parameters
#define GLOBAL __global
#define LOCAL __local
#define IN_LOCAL __local
// Local memory beyond what every kernel may take.
#define DYNAMIC_LOCAL(type, name, count) __local type name[count]
#define RESTRICT restrict
#define GROUP_X ((int)get_group_id(0))
#define GROUP_Y ((int)get_group_id(1))
#define GROUP_Z ((long)get_group_id(2))
#define GROUPS_X ((int)get_num_groups(0))
#define GROUPS_Y ((int)get_num_groups(1))
#define ITEM ((int)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define GLOBAL_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define ADD_LOCAL(place, value) atomic_add(place, value)
#define ADD_GLOBAL(place, value) atomic_add(place, value)
#ifdef __NV_CL_C_VERSION
#define FENCE asm volatile("membar.gl;" ::: "memory")
static inline uint add_bytes(const uint word, const uint sum) {
  uint found;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(found) : "r"(word), "r"(0x1010101u), "r"(sum));
  return found;
}
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
static inline uint add_bytes(const uint word, const uint sum) {
  const uint halves = (word & 0x00ff00ffu) + ((word >> 8) & 0x00ff00ffu);
  return sum + (halves & 0xffffu) + (halves >> 16);
}
#endif
#define MIN_LOCAL(place, value) atomic_min(place, value)
#define MIN_GLOBAL(place, value) atomic_min(place, value)
#define MAX_GLOBAL(place, value) atomic_max(place, value)
#define OR_LOCAL(place, value) atomic_or(place, value)
#define OR_GLOBAL(place, value) atomic_or(place, value)
#define LEADING_ZEROS(bits) ((bits) == 0u ? 32 : (int)clz(bits))
#define COUNT_BITS(bits) popcount(bits)
#define POSITIVE(value) ((value) > 0.0f ? (value) : 0.0f)
#define FLOOR_CODE(value) ((uint)(value))
#ifdef __NV_CL_C_VERSION
static inline uint ROUNDED_CODE(const float value) {
  float code;
  asm("add.rm.f32 %0, %1, %2;" : "=f"(code) : "f"(value), "f"(32768.5f));
  return as_uint(code);
}
#else
#define ROUNDED_CODE(value) (FLOOR_CODE((value) + 0.49999997f) << 8)
#endif
#define ROTATE(value, bits) rotate(value, (uint)(bits))
#define FLOAT_BITS(value) as_uint(value)
// The 32 bits from bit `shift` < 32 on of the 64 whose low word comes first.
#define SHIFTED_WORD(low, high, shift) ((uint)(((ulong)(high) << 32 | (low)) >> (shift)))
#define BITS_FLOAT(bits) as_float(bits)
// Values in local memory by which neighbours read one another's columns.
#define EXCHANGED(count) (count)
// Groups take one way: not every compiler keeps barriers behind a condition in step.
#define INTERIOR(test) 0
#ifdef __NV_CL_C_VERSION
static inline uint permuted_bytes(const uint a, const uint b, const uint places) {
  uint found;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(found) : "r"(a), "r"(b), "r"(places));
  return found;
}
#define BYTE_LANES(a, b, k) permuted_bytes(a, b, (k) * 0x1111u + 0x4400u)
#define ODD_BYTES(a) permuted_bytes(a, 0u, 0x4341u)
#define CHOSEN_BYTES(a, places) permuted_bytes(a, 0u, places)
#define LOW_LANE(a) as_float(permuted_bytes(a, 0x4b000000u, 0x7410u))
#define HIGH_LANE(a) as_float(permuted_bytes(a, 0x4b000000u, 0x7432u))
#define BYTE_OF(word, k) permuted_bytes(word, 0u, 0x4440u + (k))
#define LOW_BYTES(a, b) permuted_bytes(a, b, 0x6240u)
#define HIGH_BYTES(a, b) permuted_bytes(a, b, 0x7351u)
#define FIRST_BYTES(b)                                                       \
  permuted_bytes(permuted_bytes((b)[0], (b)[1], 0x0040u),                    \
                 permuted_bytes((b)[2], (b)[3], 0x0040u), 0x5410u)
#define SECOND_BYTES(b)                                                      \
  permuted_bytes(permuted_bytes((b)[0], (b)[1], 0x0051u),                    \
                 permuted_bytes((b)[2], (b)[3], 0x0051u), 0x5410u)
#define LOW_HALVES(a, b) permuted_bytes(a, b, 0x5410u)
#define HIGH_HALVES(a, b) permuted_bytes(a, b, 0x7632u)
#define DOUBLE_OF_CODE(code) (as_double(0x4330000000000000l | (long)(code)) - 4503599627370496.0)
static inline uint rounded_code(const double v, const int most) {
  const int2 words = as_int2(v);
  const double inside = as_double((int2)(words.x, max(min(words.y, most), 0)));
  double sum;
  asm("add.rm.f64 %0, %1, %2;" : "=d"(sum) : "d"(inside), "d"(17592186044416.5));
  return v == v ? (uint)as_int2(sum).x >> 8 : 0u;
}
#define CODE_OF_DOUBLE(v, largest, most) rounded_code(v, most)
#else
#define DOUBLE_OF_CODE(code) ((double)(code))
#define CODE_OF_DOUBLE(v, largest, most) ((uint)to_code_double(v, largest))
#define BYTE_LANES(a, b, k) ((((a) >> (8 * (k))) & 255u) | ((((b) >> (8 * (k))) & 255u) << 16))
#define ODD_BYTES(a) (((a) >> 8) & 0xff00ffu)
static inline uint CHOSEN_BYTES(const uint a, const uint places) {
  uint chosen = 0;
  for (int k = 0; k < 4; ++k) {
    chosen |= ((a >> (8 * ((places >> (4 * k)) & 3u))) & 255u) << (8 * k);
  }
  return chosen;
}
#define LOW_LANE(a) as_float(0x4b000000u | ((a) & 0xffffu))
#define HIGH_LANE(a) as_float(0x4b000000u | ((a) >> 16))
#define BYTE_OF(word, k) (((word) >> (8 * (k))) & 255u)
#define LOW_BYTES(a, b) (((a) & 0xff00ffu) | (((b) & 0xff00ffu) << 8))
#define HIGH_BYTES(a, b) ((((a) >> 8) & 0xff00ffu) | ((b) & 0xff00ff00u))
#define FIRST_BYTES(b)                                                         \
  (((uint)(b)[0] & 255u) | (((uint)(b)[1] & 255u) << 8) |                      \
   (((uint)(b)[2] & 255u) << 16) | ((uint)(b)[3] << 24))
#define SECOND_BYTES(b)                                                        \
  ((((b)[0] >> 8) & 255u) | ((b)[1] & 0xff00u) | (((b)[2] & 0xff00u) << 8) |   \
   (((b)[3] & 0xff00u) << 16))
#define LOW_HALVES(a, b) (((a) & 0xffffu) | ((b) << 16))
#define HIGH_HALVES(a, b) (((a) >> 16) | ((b) & 0xffff0000u))
#endif
static inline uint smaller_lanes(const uint a, const uint b) {
  return as_uint(min(as_ushort2(a), as_ushort2(b)));
}
static inline uint larger_lanes(const uint a, const uint b) {
  return as_uint(max(as_ushort2(a), as_ushort2(b)));
}
FUNCTION void store_4_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  if (test) *(GLOBAL uint*)to = from[0];
}
FUNCTION void store_8_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  if (test) *(GLOBAL uint2*)to = (uint2)(from[0], from[1]);
}
FUNCTION void store_16_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  if (test) *(GLOBAL uint4*)to = (uint4)(from[0], from[1], from[2], from[3]);
}
#define root_of_whole(x) sqrt(x)
#ifdef __NV_CL_C_VERSION
static inline uint rounded_root(const float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return ROUNDED_CODE(fmin(root, 255.0f));
}
#else
#define rounded_root(x) ROUNDED_CODE(fmin(sqrt(x), 255.0f))
#endif
)";

constexpr const char* cuda_words = R"(
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define FUNCTION static __device__ __forceinline__
#define FUNCTION_APART FUNCTION
#define KERNEL(items) extern "C" __global__ __launch_bounds__(items)
#define KERNEL_DENSE(items, groups) extern "C" __global__ __launch_bounds__(items, groups)
#define PARAMETERS const __grid_constant__ struct Parameters all_parameters
#define GLOBAL
#define LOCAL __shared__
#define IN_LOCAL
#define DYNAMIC_LOCAL(type, name, count) extern __shared__ type name[]
#define RESTRICT __restrict__
#define GROUP_X ((int)blockIdx.x)
#define GROUP_Y ((int)blockIdx.y)
#define GROUP_Z ((long)blockIdx.z)
#define GROUPS_X ((int)gridDim.x)
#define GROUPS_Y ((int)gridDim.y)
#define ITEM ((int)threadIdx.x)
#define BARRIER __syncthreads()
#define GLOBAL_BARRIER __syncthreads()
#define FENCE __threadfence()
#define add_bytes(word, sum) __dp4a(word, 0x1010101u, sum)
#define ADD_LOCAL(place, value) atomicAdd(place, value)
#define ADD_GLOBAL(place, value) atomicAdd(place, value)
#define MIN_LOCAL(place, value) atomicMin(place, value)
#define MIN_GLOBAL(place, value) atomicMin(place, value)
#define MAX_GLOBAL(place, value) atomicMax(place, value)
#define OR_LOCAL(place, value) atomicOr(place, value)
#define OR_GLOBAL(place, value) atomicOr(place, value)
#define LEADING_ZEROS(bits) __clz((int)(bits))
#define COUNT_BITS(bits) ((uint)__popc(bits))
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define POSITIVE(value) fmaxf(value, 0.0f)
// Rounded down to a whole number in the mantissa: cheaper than a conversion.
#define FLOOR_CODE(value) (__float_as_uint(__fadd_rd(value, 8388608.0f)) & 0x7fffffu)
#define ROUNDED_CODE(value) __float_as_uint(__fadd_rd(value, 32768.5f))
#define ROTATE(value, bits) __funnelshift_l(value, value, bits)
#define FLOAT_BITS(value) __float_as_uint(value)
#define SHIFTED_WORD(low, high, shift) __funnelshift_r(low, high, shift)
#define BITS_FLOAT(bits) __uint_as_float(bits)
// Work-items of a wave read one another's registers.
#define EXCHANGED(count) 0
#define INTERIOR(test) (test)
#define BYTE_LANES(a, b, k) __byte_perm(a, b, (k) * 0x1111u + 0x4400u)
#define ODD_BYTES(a) __byte_perm(a, 0u, 0x4341u)
#define CHOSEN_BYTES(a, places) __byte_perm(a, 0u, places)
#define LOW_LANE(a) __uint_as_float(__byte_perm(a, bits_of_2_23(), 0x7410u))
#define HIGH_LANE(a) __uint_as_float(__byte_perm(a, bits_of_2_23(), 0x7432u))
// The bits of 2^23, without the assembler's knowledge: of two constants in an instruction it loads
// one anew each time.
static __device__ __forceinline__ uint bits_of_2_23() {
  uint bits;
  asm("{ .reg .u32 t; mov.u32 t, %%tid.x; shr.u32 t, t, 12; add.u32 %0, t, 0x4b000000; }"
      : "=r"(bits));
  return bits;
}
#define BYTE_OF(word, k) __byte_perm(word, 0u, 0x4440u + (k))
#define LOW_BYTES(a, b) __byte_perm(a, b, 0x6240u)
#define HIGH_BYTES(a, b) __byte_perm(a, b, 0x7351u)
#define FIRST_BYTES(b)                                                         \
  __byte_perm(__byte_perm((b)[0], (b)[1], 0x0040u),                            \
              __byte_perm((b)[2], (b)[3], 0x0040u), 0x5410u)
#define SECOND_BYTES(b)                                                        \
  __byte_perm(__byte_perm((b)[0], (b)[1], 0x0051u),                            \
              __byte_perm((b)[2], (b)[3], 0x0051u), 0x5410u)
#define LOW_HALVES(a, b) __byte_perm(a, b, 0x5410u)
#define HIGH_HALVES(a, b) __byte_perm(a, b, 0x7632u)
#define smaller_lanes(a, b) __vminu2(a, b)
#define larger_lanes(a, b) __vmaxu2(a, b)
#define DOUBLE_OF_CODE(code) (__hiloint2double(0x43300000, (int)(code)) - 4503599627370496.0)
FUNCTION uint rounded_code(const double v, const int most) {
  const int high = __double2hiint(v), low = high < most ? high : most;
  const double inside = __hiloint2double(low > 0 ? low : 0, __double2loint(v));
  const uint sum = (uint)__double2loint(__dadd_rd(inside, 17592186044416.5));
  return v == v ? sum >> 8 : 0u;
}
#define CODE_OF_DOUBLE(v, largest, most) rounded_code(v, most)
// sqrt(x), correctly rounded, of a whole number below 2^24: an estimate and one step of Newton's,
// as sqrtf does it where x is no exception. The smallest addend is there for x = 0.
FUNCTION float root_of_whole(const float x) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x + 1e-30f));
  const float root = x * inverse;
  return __fmaf_rn(__fmaf_rn(-root, root, x), 0.5f * inverse, root);
}
FUNCTION uint rounded_root(const float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return ROUNDED_CODE(fminf(root, 255.0f));
}
// Predicated: branches would keep the compiler from ordering the work of all rows.
FUNCTION void store_4_bytes_if(const int test, uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.u32 [%1], %2; }"
               :: "r"(test), "l"(to), "r"(from[0]));
}
FUNCTION void store_8_bytes_if(const int test, uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3}; }"
               :: "r"(test), "l"(to), "r"(from[0]), "r"(from[1]));
}
FUNCTION void store_16_bytes_if(const int test, uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v4.u32 [%1], {%2, %3, %4, %5}; }"
               :: "r"(test), "l"(to), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
}
)";

// DOUBLE_OF_CODE and CODE_OF_DOUBLE do without conversions, of which a processor makes few at once.
// A code in the low word of 2^52 is 2^52 + code. Back: a double's high word orders it, so that the
// high word `most` of the largest code limits it; 2^44 has eight bits behind the point, and with the
// sum rounded down those above them are floor(v + 0.5), exactly. What is negative becomes less than
// the smallest normal number; NaN is 0.

// Lanes: the 16-bit halves of a word, each with a byte of a pixel in its low half (the high half is
// unspecified or 0; order holds). BYTE_LANES: byte k of a and byte k of b; CLEAN_LANES: with zeros
// in the high halves. LOW_BYTES: of the two lanes of a and b, in turn; HIGH_BYTES: of the lanes'
// high halves. smaller_lanes, larger_lanes: lane by lane. ROUNDED_CODE: of [0, 255], in the second byte. rounded_root: the same of a root, at
// most 255, of a whole number. That is at least 0.0004 away from k + 0.5, much more than an
// estimate's error. LOW_LANE, HIGH_LANE: 2^23 more than a lane, as a float. CHOSEN_BYTES: byte k is
// that of a which hexadecimal digit k of `places` names.

// `real(0.5)` is a cast: a macro with parameters leaves the type `real` alone. A word means the
// function of REAL, the type of the body it stands in.
constexpr const char* body_words = R"(
#define real(value) ((real)(value))
#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define WORD(name) PASTE(name, REAL)
#undef abs
#undef min
#undef max
#undef clamp
#define abs(a) fabs(a)
#define min(a, b) WORD(min_)(a, b)
#define max(a, b) WORD(max_)(a, b)
#define clamp(x, low, high) WORD(clamp_)(x, low, high)
#define round_away(x) WORD(round_away_)(x)
#define over(a, b) WORD(over_)(a, b)
#define to_code(x, largest) WORD(to_code_)(x, largest)
)";

// How values become pixels: rounded half away from zero, saturated, NaN is 0.
constexpr const char* class_words = R"(
FUNCTION uchar logical_from_float(const float v) { return v != 0.0f ? 1 : 0; }
FUNCTION uchar logical_from_double(const double v) { return v != 0.0 ? 1 : 0; }
// round_away of what is not negative: the largest float below a half takes exactly the halves up.
FUNCTION uint code_from_float(const float v, const float largest) {
  return FLOOR_CODE(fmin(POSITIVE(v), largest) + 0.49999997f);
}
FUNCTION uchar uint8_from_float(const float v) { return (uchar)code_from_float(v, 255.0f); }
FUNCTION uchar uint8_from_double(const double v) {
  return (uchar)CODE_OF_DOUBLE(v, 255.0, 0x406fe000);
}
FUNCTION ushort uint16_from_float(const float v) { return (ushort)code_from_float(v, 65535.0f); }
FUNCTION ushort uint16_from_double(const double v) {
  return (ushort)CODE_OF_DOUBLE(v, 65535.0, 0x40efffe0);
}
FUNCTION float single_from_float(const float v) { return v; }
FUNCTION float single_from_double(const double v) { return (float)v; }

// Whether this group is the last one of its image to come here; it then sees what the others wrote
// before. By all work-items of a group together.
FUNCTION int is_last_group(GLOBAL uint* ticket, const int groups, IN_LOCAL int* shared) {
  FENCE;
  BARRIER;
  if (ITEM == 0) {
    *shared = ADD_GLOBAL(ticket, 1u) == (uint)groups - 1u;
    if (*shared) *ticket = 0;
  }
  BARRIER;
  const int last = *shared;
  if (last) FENCE;
  return last;
}

// What quotients by one reciprocal have met: the least magnitude, as twice its bits less one, so
// that 0 is none; and a number that stays 0 until a result is no finite number.
struct Quotients {
  uint least;
  float sum;
};
// a / b, correctly rounded (Markstein; Brisebarre, Muller and Raina 2004) for every a while b is
// between 2^-20 and 2^20, the result finite, and a is 0 or not so small that the rest is inexact.
FUNCTION float quick_over(struct Quotients* met, const float a, const float b) {
  const float reciprocal = 1.0f / b, rough = a * reciprocal;
  const float result = fma(-fma(rough, b, -a), reciprocal, rough);
  const float nothing = b >= 9.5367431640625e-7f && b <= 1048576.0f ? 0.0f : NAN;
  const uint size = 2u * FLOAT_BITS(a) - 1u;
  met->least = size < met->least ? size : met->least;
  met->sum = fma(result, nothing, met->sum);
  return result;
}
FUNCTION int all_exact(const struct Quotients* met) {
  // 2^-80
  return met->least >= 2u * 0x17800000u - 1u && met->sum == 0.0f;
}

FUNCTION void order_int(int* a, int* b) {
  const int low = *a < *b ? *a : *b;
  *b = *a < *b ? *b : *a;
  *a = low;
}
FUNCTION void order_float(float* a, float* b) {
  const float low = fmin(*a, *b);
  *b = fmax(*a, *b);
  *a = low;
}
FUNCTION void order_lanes(uint* a, uint* b) {
  const uint low = smaller_lanes(*a, *b);
  *b = larger_lanes(*a, *b);
  *a = low;
}
// An instruction finds the smallest of three; the middle one is what the others leave.
FUNCTION void order_three_lanes(uint* a, uint* b, uint* c) {
  const uint low = smaller_lanes(smaller_lanes(*a, *b), *c);
  const uint high = larger_lanes(larger_lanes(*a, *b), *c);
  *b = *a ^ *b ^ *c ^ low ^ high;
  *a = low;
  *c = high;
}
FUNCTION uint mean_lanes(const uint a, const uint b) {
  return ((a & 0xff00ffu) + (b & 0xff00ffu) + 0x10001u) >> 1;
}
#define CLEAN_LANES(a, b, k) \
  ((k) % 2 == 0 ? WHICH_HALVES(a, b, k) & 0xff00ffu : ODD_BYTES(WHICH_HALVES(a, b, k)))
#define WHICH_HALVES(a, b, k) ((k) < 2 ? LOW_HALVES(a, b) : HIGH_HALVES(a, b))
// Four pixels of two rows from their lanes.
FUNCTION void rows_of_lanes(const uint* from, uint* upper, uint* lower) {
  const uint a = LOW_BYTES(from[0], from[1]), b = LOW_BYTES(from[2], from[3]);
  *upper = LOW_HALVES(a, b);
  *lower = HIGH_HALVES(a, b);
}
// Ones where the four bytes at place `at` of a row of `count` bytes are inside.
FUNCTION uint bytes_inside(const int at, const int count) {
  return at < 0 || at >= count ? 0u
         : count - at >= 4     ? 0xffffffffu
                               : (1u << (8 * (count - at))) - 1u;
}
// CHOSEN_BYTES of the word at place `at`, or of the word inside a row of `count` bytes that is
// nearest to it, where the first and the last byte are repeated outside.
FUNCTION uint places_repeated(const int at, const int count) {
  const int last = (count - 1) % 4;
  return at < 0                   ? 0u
         : at + 4 <= count        ? 0x3210u
         : at >= count            ? 0x1111u * (uint)last
         : last == 2              ? 0x2210u
                                  : 0x1110u * (uint)last;
}
FUNCTION float smaller_float(const float a, const float b) { return fmin(a, b); }
FUNCTION float larger_float(const float a, const float b) { return fmax(a, b); }
FUNCTION float mean_float(const float a, const float b) { return (a + b) / 2.0f; }
FUNCTION int mean_int(const int a, const int b) { return (a + b + 1) / 2; }
FUNCTION int smaller(const int a, const int b) { return a < b ? a : b; }
FUNCTION int larger(const int a, const int b) { return a > b ? a : b; }
// Where a place outside [0, n) is read.
FUNCTION int replicate(const int i, const int n) { return i < 0 ? 0 : i < n ? i : n - 1; }
FUNCTION int circular(const int i, const int n) {
  const int rest = i % n;
  return rest < 0 ? rest + n : rest;
}
FUNCTION int symmetric(const int i, const int n) {
  if (i >= 0 && i < n) return i;
  const int rest = circular(i, 2 * n);
  return rest < n ? rest : 2 * n - 1 - rest;
}
// Unsigned keys in the order of the values; NaN is the last.
FUNCTION uint key_of_single(const float v) {
  const uint bits = FLOAT_BITS(v);
  return v != v ? 0xffffffffu : (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
FUNCTION float single_of_key(const uint key) {
  return BITS_FLOAT((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}
)";

// wide: `left` columns of the work-item to the left, four of its own, `right` ones of the work-item
// to the right. By all work-items of a group together. The first and the last of a wave get some
// values or other on their outer sides.
constexpr const char* opencl_exchange = R"(
FUNCTION void exchange_columns(float* wide, const int left, const int right,
                               IN_LOCAL float* exchange) {
  BARRIER;
  for (int k = 0; k < 4; ++k) exchange[4 * ITEM + k] = wide[left + k];
  BARRIER;
  const int before = ITEM % 32 == 0 ? ITEM : ITEM - 1, after = ITEM % 32 == 31 ? ITEM : ITEM + 1;
  for (int k = 0; k < left; ++k) wide[k] = exchange[4 * before + 4 - left + k];
  for (int k = 0; k < right; ++k) wide[left + 4 + k] = exchange[4 * after + k];
}
)";
constexpr const char* cuda_exchange = R"(
FUNCTION void exchange_columns(float* wide, const int left, const int right, float*) {
#pragma unroll
  for (int k = 0; k < left; ++k) wide[k] = __shfl_up_sync(0xffffffffu, wide[4 + k], 1);
#pragma unroll
  for (int k = 0; k < right; ++k) {
    wide[left + 4 + k] = __shfl_down_sync(0xffffffffu, wide[left + k], 1);
  }
}
)";

}  // namespace

std::string type_of(PixelClass cls) {
  return cls == PixelClass::single ? "float" : cls == PixelClass::uint16 ? "ushort" : "uchar";
}

std::string body_function(const std::string& name, const std::string& real,
                          const std::string& first, const std::vector<std::string>& parameters,
                          const std::string& body) {
  std::vector<std::string> typed;
  if (!first.empty()) typed.push_back(first);
  for (const std::string& p : parameters) typed.push_back("const " + real + " " + p);
  std::string inside = body;
  // The braces of the body itself go.
  const std::size_t open = inside.find('{'), close = inside.rfind('}');
  if (open != std::string::npos) inside = inside.substr(open + 1, close - open - 1);
  const std::size_t from = inside.find_first_not_of(' ');
  const std::size_t to = inside.find_last_not_of(' ');
  inside = from == std::string::npos ? "" : inside.substr(from, to - from + 1);
  return "#undef REAL\n#define REAL " + real + "\nFUNCTION " + real + " " + name + "(" +
         joined(typed) + ") " + formatted("{ typedef " + real + " real; " + inside + " }") + "\n";
}

std::string prelude(Dialect dialect) {
  std::string text = dialect == Dialect::opencl ? opencl_words : cuda_words;
  text += body_words;
  for (const std::string real : {"float", "double"}) {
    for (const ComposedWord& word : composed_words) {
      text += body_function(std::string(word.name) + "_" + real, real, "",
                            names_in(word.parameters), word.text);
    }
  }
  return text + class_words + wide_access_functions() +
         (dialect == Dialect::opencl ? opencl_exchange : cuda_exchange);
}

std::vector<std::string> compiler_options(Dialect dialect) {
  if (dialect == Dialect::opencl) {
    return {"-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"};
  }
  return {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"};
}

}  // namespace impipe::jit
