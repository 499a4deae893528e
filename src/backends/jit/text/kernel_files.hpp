// The kernel files, which are part of the program: each lies next to its writer, in the folder of
// its family, and the dialects' headers lie in kernels/.
//
// A kernel file is OpenCL C in parts, which writers fill (text.hpp):
//
//   // -- part: NAME(PARAMETERS)     at the beginning of a line: until the next one
//     // -- part: NAME(PARAMETERS)   further in: until `// -- end`. In the text around it stands
//                                    $NAME instead, and so it may in other parts.
//
// A parameter is TYPE NAME, and $NAME in the part's text is what a writer gives for it:
//
//   bool     0 or 1, which `#if $NAME` may ask
//   int      a decimal number
//   type     a type
//   name     an identifier, or a piece of one
//   buffer   a pointer to device memory
//   expr     an expression
//   list     more parameters or arguments, or none
//   stmt     statements, declarations, a pragma, or nothing
//   const    what the head says, as in `const head = 3`: no writer gives it
//
// In a file a name has one type. Each file compiles alone, behind a dialect's prelude
// (tests/unit/jit_kernel_files_test.cpp): every parameter is then a sample of its type, or the one
// that TYPE NAME = SAMPLE says. $name in the head of a file says what the parameter means there.
//
// A part begins with one comment, which says what it does. Of a kernel the writers take what stands
// between its braces, since its parameters are the buffers that it turns out to read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace impipe::jit {

struct KernelFile {
  std::string_view name;  // "label.cl"
  std::string_view text;
};

struct Parameter {
  std::string_view type, name;
  std::optional<std::string_view>
      sample;  // in place of the type's, where the file is compiled alone
};

struct Part {
  const KernelFile* file;
  std::string name, text;
  std::vector<Parameter> parameters;
  std::vector<std::string_view> inner;  // parts within it

  // Null where it declares none of that name.
  const Parameter* parameter(std::string_view wanted) const;
  // Whether it, or a part within it, declares the name, or a part within it has it.
  bool takes(std::string_view wanted) const;
  // Throws std::logic_error where the text is not one of the parameter's type.
  void check(std::string_view wanted, std::string_view given) const;
  [[noreturn]] void fail(const std::string& why) const;
};

// One a file, named as it is: label for label.cl. CMake writes the list from the folders.
namespace kernels {
#include "backends/jit/text/kernel_names.inc"
}  // namespace kernels

std::span<const KernelFile> all_kernel_files();

// Throws std::logic_error where the file has no part of that name.
const Part& part(const KernelFile& file, std::string_view name);
// Null there.
const Part* find_part(const KernelFile& file, std::string_view name);

// A header without the comment that it opens with.
std::string header(const KernelFile& file);

// The names of a file's parts, in their order.
std::vector<std::string> parts_of(const KernelFile& file);

}  // namespace impipe::jit
