// What generated kernels call a device's words by, in each dialect.
//
// A dialect's words: opencl_words and opencl_plain_words; opencl_words, opencl_nvidia_words and
// nvidia_words; cuda_words and nvidia_words.
#pragma once

namespace impipe::jit::dialect_words {

inline constexpr const char* opencl_words = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define FUNCTION static inline
// Not inlined: PoCL 3.1 loses a function's atomic operations in its loops over work-items.
#define FUNCTION_APART
#define KERNEL(items) __kernel __attribute__((reqd_work_group_size(items, 1, 1)))
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
#define MIN_LOCAL(place, value) atomic_min(place, value)
#define MIN_GLOBAL(place, value) atomic_min(place, value)
#define MAX_GLOBAL(place, value) atomic_max(place, value)
#define OR_LOCAL(place, value) atomic_or(place, value)
#define OR_GLOBAL(place, value) atomic_or(place, value)
#define LEADING_ZEROS(bits) ((bits) == 0u ? 32 : (int)clz(bits))
#define COUNT_BITS(bits) popcount(bits)
#define ROTATE(value, bits) rotate(value, (uint)(bits))
#define FLOAT_BITS(value) as_uint(value)
#define BITS_FLOAT(bits) as_float(bits)
)";

// Of no vendor's.
inline constexpr const char* opencl_plain_words = R"(
#define KERNEL_DENSE(items, groups) KERNEL(items)
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
// A word that other groups change meanwhile: OpenCL 1.2 has no other way to read or write it.
#define LOAD_GLOBAL(place) atomic_or(place, 0u)
#define STORE_GLOBAL(place, value) atomic_xchg(place, value)
// The same where what the word once held does as well.
#define LOAD_OLD(place) LOAD_GLOBAL(place)
static inline uint add_bytes(const uint word, const uint sum) {
  const uint halves = (word & 0x00ff00ffu) + ((word >> 8) & 0x00ff00ffu);
  return sum + (halves & 0xffffu) + (halves >> 16);
}
#define POSITIVE(value) ((value) > 0.0f ? (value) : 0.0f)
#define FLOOR_CODE(value) ((uint)(value))
#define ROUNDED_CODE(value) (FLOOR_CODE((value) + 0.49999997f) << 8)
// The 32 bits from bit `shift` < 32 on of the 64 whose low word comes first.
#define SHIFTED_WORD(low, high, shift) ((uint)(((ulong)(high) << 32 | (low)) >> (shift)))
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
#define times_byte(word, k, times, plus) (BYTE_OF(word, k) * (times) + (plus))
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
FUNCTION int floor_inside(const double v, double* floored) {
  *floored = floor(v);
  return (int)*floored;
}
#define load_words_once(from) (*(GLOBAL const uint4*)(from))
#define root_of_whole(x) sqrt(x)
#define rounded_root(x) ROUNDED_CODE(fmin(sqrt(x), 255.0f))
)";

// Instructions of NVIDIA's for which OpenCL has no words. The compiler is told CAPABILITY, the
// device's compute capability times ten.
inline constexpr const char* opencl_nvidia_words = R"(
// The program's limit of registers is for kernels that don't say how many work-items they have.
#define KERNEL_DENSE(items, groups) __kernel
#define FENCE asm volatile("membar.gl;" ::: "memory")
FUNCTION uint add_bytes(const uint word, const uint sum) {
  uint found;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(found) : "r"(word), "r"(0x1010101u), "r"(sum));
  return found;
}
FUNCTION uint times_byte(const uint word, const int k, const uint times, const uint plus) {
  uint found;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(found) : "r"(word), "r"(times << (8 * k)), "r"(plus));
  return found;
}
#define load_words_once(from) (*(GLOBAL const uint4*)(from))
FUNCTION int all_of_wave(const int test) {
  int all;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.sync.all.pred p, p, -1; "
               "selp.s32 %0, 1, 0, p; }"
               : "=r"(all) : "r"(test));
  return all;
}
FUNCTION uint permuted_bytes(const uint a, const uint b, const uint places) {
  uint found;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(found) : "r"(a), "r"(b), "r"(places));
  return found;
}
FUNCTION uint SHIFTED_WORD(const uint low, const uint high, const uint shift) {
  uint found;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(found) : "r"(low), "r"(high), "r"(shift));
  return found;
}
#if CAPABILITY >= 90
#define OF_LANES(word, found, a, b) asm(#word ".u16x2 %0, %1, %2;" : "=r"(found) : "r"(a), "r"(b))
#else
#define OF_LANES(word, found, a, b) \
  asm("v" #word "2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(found) : "r"(a), "r"(b), "r"(0u))
#endif
FUNCTION uint smaller_lanes(const uint a, const uint b) {
  uint found;
  OF_LANES(min, found, a, b);
  return found;
}
FUNCTION uint larger_lanes(const uint a, const uint b) {
  uint found;
  OF_LANES(max, found, a, b);
  return found;
}
FUNCTION float sum_down_float(const float a, const float b) {
  float sum;
  asm("add.rm.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
  return sum;
}
FUNCTION double sum_down_double(const double a, const double b) {
  double sum;
  asm("add.rm.f64 %0, %1, %2;" : "=d"(sum) : "d"(a), "d"(b));
  return sum;
}
#define LOW_WORD(value) as_int2(value).x
#define HIGH_WORD(value) as_int2(value).y
#define WORDS_DOUBLE(high, low) as_double((int2)(low, high))
FUNCTION uint beside_uint(const uint v, const int by) {
  uint found;
  if (by < 0) {
    asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, -1;" : "=r"(found) : "r"(v), "r"(-by));
  } else {
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, -1;" : "=r"(found) : "r"(v), "r"(by));
  }
  return found;
}
FUNCTION int beside_int(const int v, const int by) { return as_int(beside_uint(as_uint(v), by)); }
FUNCTION float beside_float(const float v, const int by) {
  return as_float(beside_uint(as_uint(v), by));
}
FUNCTION long beside_long(const long v, const int by) {
  const uint2 words = as_uint2(v);
  return as_long((uint2)(beside_uint(words.x, by), beside_uint(words.y, by)));
}
FUNCTION double beside_double(const double v, const int by) {
  return as_double(beside_long(as_long(v), by));
}
)";

inline constexpr const char* cuda_words = R"(
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
#define times_byte(word, k, times, plus) __dp4a(word, (times) << (8 * (k)), plus)
#define all_of_wave(test) __all_sync(0xffffffffu, test)
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
#define ROTATE(value, bits) __funnelshift_l(value, value, bits)
#define FLOAT_BITS(value) __float_as_uint(value)
#define SHIFTED_WORD(low, high, shift) __funnelshift_r(low, high, shift)
#define BITS_FLOAT(bits) __uint_as_float(bits)
#define permuted_bytes(a, b, places) __byte_perm(a, b, places)
#define smaller_lanes(a, b) __vminu2(a, b)
#define larger_lanes(a, b) __vmaxu2(a, b)
#define sum_down_float(a, b) __fadd_rd(a, b)
#define sum_down_double(a, b) __dadd_rd(a, b)
#define LOW_WORD(value) __double2loint(value)
#define HIGH_WORD(value) __double2hiint(value)
#define WORDS_DOUBLE(high, low) __hiloint2double(high, low)
#define BESIDE(type)                                            \
  FUNCTION type beside_##type(const type v, const int by) {     \
    return by < 0 ? __shfl_up_sync(0xffffffffu, v, (uint)-by)   \
                  : __shfl_down_sync(0xffffffffu, v, (uint)by); \
  }
// Sixteen bytes that no other work-item reads: the first cache keeps none of them.
#if __CUDA_ARCH__ >= 700
#define LOAD_ONCE "ld.global.nc.L1::no_allocate.v4"
#else
#define LOAD_ONCE "ld.global.nc.v4"
#endif
FUNCTION void load_16_once_float(const float* from, float* to) {
  asm(LOAD_ONCE ".f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3]) : "l"(from));
}
FUNCTION uint4 load_words_once(const void* from) {
  uint4 v;
  asm(LOAD_ONCE ".u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
  return v;
}
BESIDE(int)
BESIDE(uint)
BESIDE(long)
BESIDE(float)
BESIDE(double)
)";

// What CUDA and NVIDIA's OpenCL share, in the words above.
inline constexpr const char* nvidia_words = R"(
// What PTX calls volatile is relaxed to its memory model, which is what a word needs that other
// groups change meanwhile.
#define LOAD_GLOBAL(place) (*(GLOBAL volatile uint*)(place))
#define STORE_GLOBAL(place, value) *(GLOBAL volatile uint*)(place) = value
// The first cache may answer.
#define LOAD_OLD(place) (*(place))
#define POSITIVE(value) fmax(value, 0.0f)
// Rounded down to a whole number in the mantissa: cheaper than a conversion.
#define FLOOR_CODE(value) (FLOAT_BITS(sum_down_float(value, 8388608.0f)) & 0x7fffffu)
#define ROUNDED_CODE(value) FLOAT_BITS(sum_down_float(value, 32768.5f))
// What a table of floats in local memory has for byte k of a word.
#define OF_BYTE(table, word, k) \
  *(IN_LOCAL const float*)((IN_LOCAL const char*)(table) + times_byte(word, k, 4u, 0u))
#define BYTE_LANES(a, b, k) permuted_bytes(a, b, (k) * 0x1111u + 0x4400u)
#define ODD_BYTES(a) permuted_bytes(a, 0u, 0x4341u)
#define CHOSEN_BYTES(a, places) permuted_bytes(a, 0u, places)
#define LOW_LANE(a) BITS_FLOAT(permuted_bytes(a, bits_of_2_23(), 0x7410u))
#define HIGH_LANE(a) BITS_FLOAT(permuted_bytes(a, bits_of_2_23(), 0x7432u))
// The bits of 2^23, without the assembler's knowledge: of two constants in an instruction it loads
// one anew each time.
FUNCTION uint bits_of_2_23() {
  uint bits;
  asm("{ .reg .u32 t; mov.u32 t, %%tid.x; shr.u32 t, t, 12; add.u32 %0, t, 0x4b000000; }"
      : "=r"(bits));
  return bits;
}
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
#define DOUBLE_OF_CODE(code) (WORDS_DOUBLE(0x43300000, (int)(code)) - 4503599627370496.0)
FUNCTION uint rounded_code(const double v, const int most) {
  const int high = HIGH_WORD(v), low = high < most ? high : most;
  const double inside = WORDS_DOUBLE(low > 0 ? low : 0, LOW_WORD(v));
  const uint sum = (uint)LOW_WORD(sum_down_double(inside, 17592186044416.5));
  return v == v ? sum >> 8 : 0u;
}
#define CODE_OF_DOUBLE(v, largest, most) rounded_code(v, most)
// Of [0, 2^31): the sum with 2^52 rounds down, and has the whole number in its low word.
FUNCTION int floor_inside(const double v, double* floored) {
  const double sum = sum_down_double(v, 4503599627370496.0);
  *floored = sum - 4503599627370496.0;
  return LOW_WORD(sum);
}
// sqrt(x), correctly rounded, of a whole number below 2^24: an estimate and one step of Newton's,
// as the compilers do it where x is no exception. The smallest addend is there for x = 0.
FUNCTION float root_of_whole(const float x) {
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x + 1e-30f));
  const float root = x * inverse;
  return fma(fma(-root, root, x), 0.5f * inverse, root);
}
FUNCTION uint rounded_root(const float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return ROUNDED_CODE(fmin(root, 255.0f));
}
// Predicated: branches would keep the compiler from ordering the work of all rows.
FUNCTION void store_4_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.u32 [%1], %2; }"
               : : "r"(test), "l"((ulong)to), "r"(from[0]));
}
FUNCTION void store_8_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3}; }"
               : : "r"(test), "l"((ulong)to), "r"(from[0]), "r"(from[1]));
}
FUNCTION void store_16_bytes_if(const int test, GLOBAL uchar* to, const uint* from) {
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %0, 0; @p st.global.v4.u32 [%1], {%2, %3, %4, %5}; }"
               : : "r"(test), "l"((ulong)to), "r"(from[0]), "r"(from[1]), "r"(from[2]),
                   "r"(from[3]));
}
// wide: `left` columns of the work-item to the left, four of its own, `right` ones of the work-item
// to the right. By all work-items of a wave together: the first and the last get some values or
// other on their outer sides.
FUNCTION void exchange_columns(float* wide, const int left, const int right) {
#pragma unroll
  for (int k = 0; k < left; ++k) wide[k] = beside_float(wide[4 + k], -1);
#pragma unroll
  for (int k = 0; k < right; ++k) wide[left + 4 + k] = beside_float(wide[left + k], 1);
}
)";

// DOUBLE_OF_CODE and CODE_OF_DOUBLE do without conversions, of which a processor makes few at once.
// A code in the low word of 2^52 is 2^52 + code. Back: a double's high word orders it, so that the
// high word `most` of the largest code limits it; 2^44 has eight bits behind the point, and with
// the sum rounded down those above them are floor(v + 0.5), exactly. What is negative becomes less
// than the smallest normal number; NaN is 0.

// Lanes: the 16-bit halves of a word, each with a byte of a pixel in its low half (the high half is
// unspecified or 0; order holds). BYTE_LANES: byte k of a and byte k of b; CLEAN_LANES: with zeros
// in the high halves. LOW_BYTES: of the two lanes of a and b, in turn; HIGH_BYTES: of the lanes'
// high halves. smaller_lanes, larger_lanes: lane by lane. ROUNDED_CODE: of [0, 255], in the second
// byte. rounded_root: the same of a root, at most 255, of a whole number. That is at least 0.0004
// away from k + 0.5, much more than an estimate's error. LOW_LANE, HIGH_LANE: 2^23 more than a
// lane, as a float. CHOSEN_BYTES: byte k is that of a which hexadecimal digit k of `places` names.

// times_byte: `times` (less than 256) what byte k of a word is, and `plus`.

// beside_TYPE (CUDA and NVIDIA's OpenCL): `v` of the work-item that is `by` further in a wave of
// 32, or one's own where there is none. By all work-items of a wave together.

}  // namespace impipe::jit::dialect_words
