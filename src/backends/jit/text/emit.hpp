// Statements, blocks and functions as kernel text, for what is as long as a mask or a list says.
//
// Here alone C++ writes braces and line ends; all else that is more than an expression stands in
// kernels/ (scripts/check_kernel_text.py). What is opened is closed by the same call, and nothing
// is indented: a program is as a whole (`indented`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace impipe::jit {

// "STATEMENT;"
inline std::string statement(std::string_view text) { return std::string(text) + ";\n"; }
// "PLACE = VALUE;"
inline std::string assigned(std::string_view place, std::string_view value) {
  return statement(std::string(place) + " = " + std::string(value));
}
// "TYPE NAME = VALUE;"
inline std::string declared(std::string_view type, std::string_view name, std::string_view value) {
  return assigned(std::string(type) + " " + std::string(name), value);
}
// "TYPE NAME[COUNT];"
inline std::string array_of(std::string_view type, std::string_view name, std::string_view count) {
  return statement(std::string(type) + " " + std::string(name) + "[" + std::string(count) + "]");
}
inline std::string array_of(std::string_view type, std::string_view name, std::int64_t count) {
  return array_of(type, name, std::to_string(count));
}
// "return VALUE;"
inline std::string returned(std::string_view value) {
  return statement("return " + std::string(value));
}

// "{VALUES}", of an array or struct.
inline std::string listed(std::string_view values) { return "{" + std::string(values) + "}"; }

// "{ STATEMENTS }"
inline std::string braced(std::string_view statements) {
  const bool ends = statements.empty() || statements.ends_with('\n');
  return "{\n" + std::string(statements) + (ends ? "}\n" : "\n}\n");
}
// "if (TEST) { STATEMENTS }"
inline std::string when(std::string_view test, std::string_view statements) {
  return "if (" + std::string(test) + ") " + braced(statements);
}
// "struct NAME { MEMBERS };"
inline std::string struct_of(std::string_view name, std::string_view members) {
  return "struct " + std::string(name) + " {\n" + std::string(members) + "};\n";
}
// A function of the kernels.
inline std::string function_of(std::string_view type, std::string_view name,
                               std::string_view parameters, std::string_view statements) {
  return "FUNCTION " + std::string(type) + " " + std::string(name) + "(" + std::string(parameters) +
         ") " + braced(statements);
}
// One that makes the pixel at x, y.
inline std::string pixel_function(std::string_view type, std::string_view name,
                                  std::string_view statements) {
  return function_of(type, name, "PARAMS, const int x, const int y", statements);
}

// "#define HEAD TEXT", of one line; and its end.
inline std::string defined(std::string_view head, std::string_view text) {
  return "#define " + std::string(head) + " " + std::string(text) + "\n";
}
inline std::string undefined(std::string_view name) { return "#undef " + std::string(name) + "\n"; }

// What stands before a loop of which so many iterations are unrolled; 0: all of them.
inline std::string unroll_pragma(int iterations) {
  return iterations == 0 ? "#pragma unroll\n"
                         : "#pragma unroll " + std::to_string(iterations) + "\n";
}

// What parts of a text are set apart by, where no template has them as lines of its own.
inline std::string after_line(std::string_view text) { return "\n" + std::string(text); }

}  // namespace impipe::jit
