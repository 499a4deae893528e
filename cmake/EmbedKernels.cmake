# Writes a C++ file with the texts of kernel files; run by the build with -P.
#   OUT: the file to write   FILES: a list of kernel files, each a KernelFile named as its stem

set(constants "")
set(names "")
foreach(path IN LISTS FILES)
  get_filename_component(stem ${path} NAME_WE)
  get_filename_component(name ${path} NAME)
  file(READ ${path} text)
  string(APPEND constants "const KernelFile ${stem} = {\"${name}\", R\"kernel(${text})kernel\"};\n")
  list(APPEND names kernels::${stem})
endforeach()
list(JOIN names ",\n    " names)
file(WRITE ${OUT} "// Made from the kernel files by cmake/EmbedKernels.cmake.
#include \"backends/jit/text/kernel_files.hpp\"

namespace impipe::jit {
namespace kernels {
${constants}}  // namespace kernels

std::span<const KernelFile> all_kernel_files() {
  static const KernelFile all[] = {${names}};
  return all;
}

}  // namespace impipe::jit
")
