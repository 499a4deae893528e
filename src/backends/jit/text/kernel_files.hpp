// The kernel files, which are part of the program: each lies next to its writer, in the folder of
// its family, and the dialects' headers lie in kernels/.
//
// A kernel file is OpenCL C that an editor can read and that compiles alone, behind a dialect's
// prelude (tests/unit/jit_kernel_files_test.cpp). $name stands for what a writer puts there; alone
// it is a parameter of the kernel, or what the file defines it as. What the writers ask for are its
// parts:
//
//   // -- part: NAME     at the beginning of a line: until the next one
//     // -- part: NAME   further in: until `// -- end`. In the text around it stands $NAME instead.
//
// A part begins with one comment, which says what it does. Of a kernel the writers take what stands
// between its braces, since its parameters are the buffers that it turns out to read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace impipe::jit {

struct KernelFile {
  std::string_view name;  // "label.cl"
  std::string_view text;
};

// One a file, named as it is: label for label.cl. CMake writes the list from the folders.
namespace kernels {
#include "backends/jit/text/kernel_names.inc"
}  // namespace kernels

std::span<const KernelFile> all_kernel_files();

// The text of a part. Throws std::logic_error where the file has none of that name.
std::string part(const KernelFile& file, std::string_view name);

// A header without the comment that it opens with.
std::string header(const KernelFile& file);

// The names of a file's parts, in their order.
std::vector<std::string> parts_of(const KernelFile& file);

}  // namespace impipe::jit
