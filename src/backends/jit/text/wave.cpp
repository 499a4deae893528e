// Words for the work-items of a wave, which run together and exchange values, as kernel text.
#include "backends/jit/text/wave.hpp"

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {
int most_waves(Dialect dialect) { return dialect == Dialect::cuda ? 8 : 1; }

std::string wave_words(Dialect dialect) {
  const bool cuda = dialect == Dialect::cuda;
  const KernelFile& file = cuda ? kernels::sub_group_cuda : kernels::sub_group_opencl;
  const std::string least = part(file, "least");
  std::string text = part(file, "words");
  text += cuda ? part(file, "least_int") : filled(least, {{"type", "int"}});
  for (const char* type : {"long", "double"}) text += filled(least, {{"type", type}});
  return text;
}

}  // namespace impipe::jit
