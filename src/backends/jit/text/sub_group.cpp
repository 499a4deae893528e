// Substitutions for the work-items of a sub-group, which run together and exchange values, as
// kernel text.
#include "backends/jit/text/sub_group.hpp"

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
int max_sub_groups(Dialect dialect) { return dialect == Dialect::cuda ? 8 : 1; }

std::string sub_group_words(Dialect dialect) {
  const bool cuda = dialect == Dialect::cuda;
  const KernelFile& file = cuda ? kernels::sub_group_cuda : kernels::sub_group_opencl;
  const Part& least = part(file, "least");
  std::string text = filled(part(file, "words"));
  text += cuda ? filled(part(file, "min_int")) : filled(least, {{"type", "int"}});
  for (const char* type : {"long", "double"}) text += filled(least, {{"type", type}});
  return text;
}

}  // namespace impipe::jit
