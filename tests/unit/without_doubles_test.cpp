// Kernel text for devices without double precision. What its functions compute: binary64_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/jit/codec/codec.hpp"
#include "backends/jit/gather.hpp"
#include "backends/jit/text/tokens.hpp"
#include "backends/jit/text/without_doubles.hpp"
#include "support/program_of.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

// Behind the functions that it calls.
std::string translated(const std::string& text) {
  const std::string all = jit::without_doubles(text);
  const std::size_t last = all.rfind("\n}\n", all.size() - 4);
  return last == all.npos ? all : all.substr(last + 3);
}

TEST(WithoutDoubles, CallsAFunctionForEachOperation) {
  EXPECT_EQ(translated("double f(const double a, const int n, __global double* to) {\n"
                       "  double s = 0.5, t[2] = {1.0, 2};\n"
                       "  s += a * n;\n"
                       "  if (s) to[n] = -s / t[n / 2];\n"
                       "  return n > 1 && s <= a ? s : 1;\n"
                       "}\n"),
            "binary64 f(const binary64 a, const int n, __global binary64* to) {\n"
            "  binary64 s = binary64_of(0x3fe0000000000000ul), t[2] = {{0x3ff0000000000000ul}, "
            "{0x4000000000000000ul}};\n"
            "  s = binary64_add(s, binary64_multiply(a, binary64_from(n)));\n"
            "  if (binary64_is_true(s))\n"
            "    to[n] = binary64_divide(binary64_negate(s), t[n / 2]);\n"
            "  return n > 1 && binary64_less_equal(s, a) ? s : binary64_of(0x3ff0000000000000ul);\n"
            "}\n");
}

TEST(WithoutDoubles, ConvertsWhereCDoes) {
  EXPECT_EQ(translated("struct S { double x; float y; };\n"
                       "int g(const double v, float f);\n"
                       "float f(struct S* s, const double2 p, const uint n) {\n"
                       "  s->y = p.x;\n"
                       "  int i = g(s->y, floor(s->x));\n"
                       "  const uchar c = fma(p.y, i, 2);\n"
                       "  return 0.5f * (float)(c + n * s->x) + (double)3.0f;\n"
                       "}\n"),
            "struct S {\n"
            "  binary64 x;\n"
            "  float y;\n"
            "};\n"
            "int g(const binary64 v, float f);\n"
            "float f(struct S* s, const binary64_pair p, const uint n) {\n"
            "  s->y = binary64_to_float(p.x);\n"
            "  int i = g(binary64_from(s->y), binary64_to_float(binary64_floor(s->x)));\n"
            "  const uchar c = (uchar)binary64_to_int(binary64_fma(p.y, binary64_from(i), "
            "binary64_of(0x4000000000000000ul)));\n"
            "  return binary64_to_float(binary64_add(binary64_from(0.5f * "
            "binary64_to_float((binary64_add(binary64_from(c), binary64_multiply(binary64_from(n), "
            "s->x))))), binary64_from(3.0f)));\n"
            "}\n");
}

TEST(WithoutDoubles, ExpandsMacros) {
  EXPECT_EQ(
      translated("#define PASTE2(a, b) a##b\n"
                 "#define PASTE(a, b) PASTE2(a, b)\n"
                 "#define REAL double\n"
                 "#define real(value) ((real)(value))\n"
                 "#define twice(x) PASTE(twice_, REAL)(x)\n"
                 "#if 0\nnothing\n#else\n"
                 "REAL twice_double(const REAL x) { typedef double real; return x * real(2); }\n"
                 "#endif\n"
                 "REAL f(REAL x) { return twice(\n  x); }\n"),
      "binary64 f(binary64 x) {\n"
      "  return twice_double(x);\n"
      "}\n");
}

TEST(WithoutDoubles, LeavesOtherTextAsItIs) {
  const std::string text =
      "#pragma OPENCL FP_CONTRACT OFF\n#define REAL double\nfloat f(float x) { return x * 0.5f; "
      "}\n";
  EXPECT_EQ(jit::without_doubles("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + text), text);
}

TEST(WithoutDoubles, SaysWhatItCannotTranslate) {
  const std::pair<const char*, const char*> wrong[] = {
      {"double f(double a) {\n  return a % 2;\n}\n",
       "kernel text, line 2 at ';': doubles have no '%'"},
      {"double f(double a) {\n  a++;\n}\n", "kernel text, line 2 at '++': doubles have no '++'"},
      {"double f(double* a, int i) {\n  a[i++] += 1;\n}\n",
       "kernel text, line 2 at ';': what is assigned to changes something"},
      {"double f(double a) {\n  return sin(a);\n}\n",
       "kernel text, line 2 at ';': doubles have no 'sin'"},
      {"double f(double* a) {\n  return a;\n}\n",
       "kernel text, line 2 at ';': a pointer becomes a double"},
      {"double f(double a) {\n  unknown = a;\n}\n",
       "kernel text, line 2 at ';': a double becomes ''"},
      {"double f(double a) {\n  return a;\n", "kernel text, line 2 at '': a block does not end"},
      {"#include <x>\ndouble f();\n", "line 1: kernel text has no directive '#include <x>'"},
  };
  for (const auto& [text, message] : wrong) {
    try {
      jit::without_doubles(text);
      ADD_FAILURE() << text;
    } catch (const std::logic_error& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

// Whether the compiler would still see a double: its name, or a number that is one.
bool has_double(const std::string& text) {
  const std::vector<jit::Token> tokens = jit::preprocessed(text);
  return std::any_of(tokens.begin(), tokens.end(), [](const jit::Token& token) {
    const std::string& word = token.text;
    const bool is_number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    const bool is_hexadecimal = word.starts_with("0x");
    return word.starts_with("double") ||
           (is_number && word.back() != 'f' &&
            word.find_first_of(is_hexadecimal ? "p" : ".e") != word.npos);
  });
}

void expect_translation(const jit::Program& program, const std::string& name) {
  try {
    const std::string text = jit::without_doubles(program.source);
    EXPECT_FALSE(has_double(text)) << name;
    EXPECT_EQ(text.find("cl_khr_fp64"), text.npos) << name;
    for (const std::string& entry : program.entries) {
      EXPECT_NE(text.find(" " + entry + "("), text.npos) << name << ": " << entry;
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << name << ": " << error.what();
  }
}

TEST(WithoutDoubles, TranslatesEveryProgram) {
  const auto dialect = jit::Dialect::opencl;
  for (const char* vendor : {"generic", "intel"}) {
    const jit::Tuning tuning = jit::tuning_for(vendor, dialect);
    for (const SpecCase& c : all_specs()) {
      expect_translation(program_of(c.spec, dialect, tuning), c.name);
    }
    for (const SpecCase& c : spectral_specs()) {
      expect_translation(program_of(c.spec, dialect, tuning), c.name);
    }
  }
  expect_translation(jit::jpeg_decoder(dialect), "JPEG decoder");
  expect_translation(jit::jpeg_encoder(dialect), "JPEG encoder");
  expect_translation(jit::unpacker(dialect), "unpacker");
  expect_translation(jit::gather(dialect), "gather");
  expect_translation(jit::one_nan(dialect), "one NaN");
  expect_translation(jit::bandwidth_baseline(Baseline::read, dialect), "read");
}

}  // namespace
}  // namespace impipe::testing
