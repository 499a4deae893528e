// Writes the kernels of pipelines for compilers that need no GPU: scripts/kernel_registers.py and
// scripts/vendors.py.
//
//   kernel_sources DIR CLASS CHANNELS VENDOR [NAME=NUMBER...] < PIPELINES    a pipeline a line
//
// VENDOR names a row of tuning numbers; NAME=NUMBER changes one of them: group, local_bytes (the
// most that a kernel may ask for too), unroll, load_bytes, sub_group, histogram_items, strip_rows,
// sums_rows, column_words or column_blocks. For nvidia DIR/N.K.cu and DIR/N.K.ptx are step K of
// line N, counted from 0, and what NVRTC makes of it; for others DIR/N.K.cl, and DIR/N.K.integers
// for devices without double precision. Lines that are refused are reported on stderr.
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/compile.hpp"
#include "backends/jit/generator.hpp"
#include "backends/jit/text/without_doubles.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/program_of.hpp"

namespace impipe::testing {
namespace {

void write_ptx(const std::string& source, const std::string& path) {
  std::vector<std::string> options = jit::compiler_options(jit::Dialect::cuda);
  options.push_back("-arch=compute_90");
  const std::vector<std::byte> ptx = cuda::compile(source, options);
  // Without the 0 at its end.
  std::ofstream(path + ".ptx")
      .write(reinterpret_cast<const char*>(ptx.data()),
             static_cast<std::streamsize>(ptx.size()) - 1);
}

void write_steps(const std::string& text, const ImageType& type, const jit::Tuning& tuning,
                 jit::Dialect dialect, const std::string& path) {
  const pipeline::Pipeline pipeline = pipeline::bind(pipeline::parse(text));
  const Plan plan = pipeline::fuse(pipeline::lower(pipeline, type, {}));
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const jit::Program program = program_of(plan.steps[k].kernel, dialect, tuning);
    const std::string step = path + "." + std::to_string(k);
    const bool cuda = dialect == jit::Dialect::cuda;
    std::ofstream(step + (cuda ? ".cu" : ".cl")) << program.source;
    if (cuda) write_ptx(program.source, step);
    if (!cuda) std::ofstream(step + ".integers") << jit::without_doubles(program.source);
  }
}

void set_number(jit::Tuning& tuning, const std::string& text) {
  const std::map<std::string, int jit::Tuning::*> numbers = {
      {"group", &jit::Tuning::group},
      {"load_bytes", &jit::Tuning::load_bytes},
      {"sub_group", &jit::Tuning::sub_group},
      {"histogram_items", &jit::Tuning::histogram_items},
      {"strip_rows", &jit::Tuning::strip_rows},
      {"sums_rows", &jit::Tuning::sums_rows},
      {"column_words", &jit::Tuning::column_words},
      {"column_blocks", &jit::Tuning::column_blocks}};
  const std::size_t at = text.find('=');
  const std::string name = text.substr(0, at);
  const int number = at == text.npos ? 0 : std::atoi(text.c_str() + at + 1);
  if (name == "local_bytes") {
    tuning.local_bytes = tuning.max_local_bytes = number;
    tuning.fused_bytes = std::min(tuning.fused_bytes, tuning.local_bytes);
  } else if (name == "unroll") {
    tuning.unroll = number != 0;
  } else if (const auto found = numbers.find(name); found != numbers.end()) {
    tuning.*found->second = number;
  } else {
    throw std::runtime_error("no number of a tuning row: " + text);
  }
}

int run(std::span<char*> arguments) {
  const std::string cls = arguments[1], vendor = arguments[3];
  ImageType type{.channels = std::atoi(arguments[2])};
  for (const PixelClass c :
       {PixelClass::logical, PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
    if (name_of(c) == cls) type.cls = c;
  }
  type.white = static_cast<float>(class_max(type.cls));
  const auto dialect = vendor == "nvidia" ? jit::Dialect::cuda : jit::Dialect::opencl;
  jit::Tuning tuning = jit::tuning_for(vendor, dialect);
  for (const char* text : arguments.subspan(4)) set_number(tuning, text);
  int line = 0;
  for (std::string text; std::getline(std::cin, text); ++line) {
    try {
      write_steps(text, type, tuning, dialect,
                  std::filesystem::path(arguments[0]) / std::to_string(line));
    } catch (const std::exception& e) {
      std::cerr << line << ": " << text << ": " << e.what() << "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace impipe::testing

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "kernel_sources DIR CLASS CHANNELS VENDOR [NAME=NUMBER...] < PIPELINES\n";
    return 2;
  }
  try {
    return impipe::testing::run(std::span(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 2;
  }
}
