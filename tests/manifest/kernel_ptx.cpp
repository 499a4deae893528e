// Writes what NVRTC makes of the kernels of pipelines, for scripts/kernel_registers.py. It needs no
// GPU.
//
//   kernel_ptx DIR CLASS CHANNELS < PIPELINES    a pipeline a line
//
// DIR/N.K.ptx and DIR/N.K.cu are step K of line N, counted from 0. Lines that are refused are told
// on stderr.
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/program_of.hpp"

namespace impipe::testing {
namespace {

void write_steps(const std::string& text, const ImageType& type, const std::string& path) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text));
  const Plan plan = pipeline::fuse(pipeline::lower(pipeline, type, {}));
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back("-arch=compute_90");
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const jit::Program program = program_of(plan.steps[k].kernel, jit::Dialect::cuda,
                                            jit::tuning_for("NVIDIA", jit::Dialect::cuda));
    const std::vector<std::byte> ptx = cuda::compile(program.source, options);
    const std::string step = path + "." + std::to_string(k);
    std::ofstream(step + ".cu") << program.source;
    // Without the 0 at its end.
    std::ofstream(step + ".ptx")
        .write(reinterpret_cast<const char*>(ptx.data()),
               static_cast<std::streamsize>(ptx.size()) - 1);
  }
}

int run(const std::filesystem::path& dir, const std::string& cls, int channels) {
  ImageType type{.channels = channels};
  for (const PixelClass c :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    if (name_of(c) == cls) type.cls = c;
  }
  type.white = static_cast<float>(class_max(type.cls));
  int line = 0;
  for (std::string text; std::getline(std::cin, text); ++line) {
    try {
      write_steps(text, type, dir / std::to_string(line));
    } catch (const std::exception& e) {
      std::cerr << line << ": " << text << ": " << e.what() << "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace impipe::testing

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "kernel_ptx DIR CLASS CHANNELS < PIPELINES\n";
    return 2;
  }
  return impipe::testing::run(argv[1], argv[2], std::atoi(argv[3]));
}
