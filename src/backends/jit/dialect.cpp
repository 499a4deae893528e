// What stands above every kernel: the dialect's own words, the vocabulary of bodies, the classes.
#include "backends/jit/dialect.hpp"

#include "backends/jit/dialect_words.hpp"
#include "backends/jit/text.hpp"
#include "backends/jit/wide_access.hpp"
#include "core/vocabulary.hpp"

namespace impipe::jit {
namespace {

using namespace dialect_words;

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
// The same of codes by white, in double, where nothing leaves the range.
FUNCTION double code_over_white(const double code, const double white, const double reciprocal) {
  const double rough = code * reciprocal;
  return fma(-fma(rough, white, -code), reciprocal, rough);
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
  std::string text;
  switch (dialect) {
    case Dialect::opencl: text = std::string(opencl_words) + opencl_plain_words; break;
    case Dialect::opencl_nvidia:
      text = std::string(opencl_words) + opencl_nvidia_words + nvidia_words;
      break;
    case Dialect::cuda: text = std::string(cuda_words) + nvidia_words; break;
  }
  text += body_words;
  for (const std::string real : {"float", "double"}) {
    for (const ComposedWord& word : composed_words) {
      text += body_function(std::string(word.name) + "_" + real, real, "",
                            names_in(word.parameters), word.text);
    }
  }
  return text + class_words + wide_access_functions();
}

std::vector<std::string> compiler_options(Dialect dialect) {
  if (dialect != Dialect::cuda) {
    return {"-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"};
  }
  return {"--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false"};
}

}  // namespace impipe::jit
