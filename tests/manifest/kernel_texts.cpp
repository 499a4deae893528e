// Keeps the kernels' text across changes of what writes it: a line for every program of the tables
// of kernels, with hashes of its tokens and of its launches.
//
//   kernel_texts                 NAME, device and both hashes, with tabs between them
//   kernel_texts DIR [TEXT]      also writes the tokens of programs with TEXT in their line to DIR,
//                                their sources, and those of OpenCL for devices without doubles
//
// Tokens are the source without comments, blanks and line ends; lines of the preprocessor stay
// lines. Two builds make the same kernels if this prints the same for both.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "backends/jit/text/without_doubles.hpp"
#include "core/error.hpp"
#include "core/primitive_facts.hpp"
#include "support/program_of.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

std::string hash_of(const std::string& text) {  // FNV-1a, 64 bits
  std::uint64_t state = 0xcbf29ce484222325u;
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  std::ostringstream out;
  out << std::hex << state;
  return out.str();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_comments(const std::string& source) {
  std::string out;
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find("//")) + "\n";
  return out;
}

// One token a line, but for those of the preprocessor's lines.
std::string tokens_of(const std::string& source) {
  std::string text = without_comments(source), out;
  for (std::size_t at; (at = text.find("\\\n")) != text.npos;) text.replace(at, 2, " ");
  bool directive = false;
  const auto end_line = [&] {
    if (!out.empty() && out.back() != '\n') out += '\n';
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\n') {
      if (directive) end_line();
      directive = false;
      ++i;
      continue;
    }
    if (c == ' ') {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (is_word(c) && end < text.size() && is_word(text[end])) ++end;
    if (c == '#' && !directive) {
      end_line();
      directive = true;
    }
    // A macro's parameters follow its name at once.
    const bool glued = directive && c == '(' && i > 0 && text[i - 1] != ' ';
    if (!directive) {
      end_line();
    } else if (c != '#' && !glued) {
      out += ' ';
    }
    out += text.substr(i, end - i);
    i = end;
  }
  end_line();
  return out;
}

// The launch of an image of this size as text: parameters, memory, and what each pass has.
std::string launch_text(const PlaneKernel& kernel, const jit::Program& program, Size size,
                        int stack) {
  const KernelSpec& spec = kernel.spec;
  const auto shape = [](PixelClass cls, Size s, int channels) {
    const std::int64_t stride = jit::row_bytes(cls, s);
    return jit::ValueShape{s, stride, stride * s.height, channels};
  };
  const auto measure = [](std::int64_t values) {
    return jit::ValueShape{{}, 0, values * static_cast<std::int64_t>(sizeof(double)), 1};
  };
  std::vector<jit::ValueShape> inputs, outputs;
  Size first;
  for (const KernelInput& input : spec.inputs) {
    inputs.push_back(input.is_measure ? measure(input.values)
                                      : shape(input.cls, size, std::max(input.channels, 1)));
    if (!input.is_measure && first.pixels() == 0) first = size;
  }
  std::vector<Size> sizes;
  for (const Node& node : spec.nodes) {
    const Size from = node.images.empty()       ? first
                      : node.images[0].external ? size
                                                : sizes[node.images[0].index];
    sizes.push_back(node.images.empty() ? first : result_size(node, from));
  }
  for (const int n : spec.outputs) {
    const Node& node = spec.nodes[static_cast<std::size_t>(n)];
    outputs.push_back(node.is_measure ? measure(node.values)
                                      : shape(node.cls, sizes[static_cast<std::size_t>(n)], 1));
  }
  const jit::LaunchPlan plan = program.launch({&spec, inputs, outputs, spec.planes * stack});
  std::ostringstream out;
  const auto bytes = [&](const std::vector<std::byte>& from) {
    for (const std::byte b : from) out << std::to_integer<int>(b) << ' ';
    out << '\n';
  };
  bytes(plan.parameters);
  for (const jit::Scratch& s : plan.scratch) {
    out << "scratch " << s.bytes << s.cleared << s.kept << ' ';
    bytes(s.contents);
  }
  for (const jit::Pass& pass : plan.passes) {
    out << "pass " << pass.entry;
    for (int i = 0; i < 3; ++i) out << ' ' << pass.shape.groups[i] << '/' << pass.shape.group[i];
    for (const jit::Buffer& b : pass.buffers) out << ' ' << static_cast<int>(b.kind) << b.index;
    out << '\n';
    bytes(pass.parameters);
  }
  return out.str();
}

struct Target {
  const char* name;
  const char* vendor;
  jit::Dialect dialect;
  bool fast, stacked;
};
constexpr Target targets[] = {
    {"cuda", "nvidia", jit::Dialect::cuda, true, false},
    {"cuda stacked", "nvidia", jit::Dialect::cuda, true, true},
    {"cuda staged", "nvidia", jit::Dialect::cuda, false, false},
    {"opencl nvidia", "nvidia", jit::Dialect::opencl_nvidia, true, false},
    {"opencl as nvidia", "nvidia", jit::Dialect::opencl, true, false},
    {"opencl generic", "generic", jit::Dialect::opencl, true, false},
    {"opencl generic stacked", "generic", jit::Dialect::opencl, true, true},
    {"opencl generic staged", "generic", jit::Dialect::opencl, false, false},
    {"opencl amd", "amd", jit::Dialect::opencl, true, false},
    {"opencl intel", "intel", jit::Dialect::opencl, true, false},
};

void print_program(const SpecCase& c, const Target& target, const std::string& folder,
                   const std::string& wanted) {
  const PlaneKernel kernel = plane_kernel(c.spec);
  for (const Node& node : kernel.spec.nodes) {
    if (target.stacked && stands_alone(node.primitive)) return;
  }
  jit::Tuning tuning = jit::tuning_for(target.vendor, target.dialect);
  tuning.fast = target.fast;
  tuning.stacked = target.stacked || kernel.spec.planes > 1;
  const jit::Program program = jit::generate(kernel.spec, target.dialect, tuning);
  std::string launches;
  for (const Size size : {Size{130, 67}, Size{1021, 2053}, Size{c.least, c.least}}) {
    try {
      launches += launch_text(kernel, program, size, target.stacked ? 3 : 1);
    } catch (const Error& error) {  // some operators refuse large images
      launches += error.what();
    }
  }
  for (const std::string& entry : program.entries) launches += entry + "\n";
  for (const int bytes : program.local_bytes) launches += std::to_string(bytes) + "\n";
  launches += std::to_string(program.max_registers);
  const std::string tokens = tokens_of(program.source);
  const std::string line =
      c.name + "\t" + target.name + "\t" + hash_of(tokens) + "\t" + hash_of(launches);
  std::cout << line << "\n";
  if (folder.empty() || line.find(wanted) == line.npos) return;
  std::string name = c.name + " " + target.name;
  std::replace_if(
      name.begin(), name.end(), [](char ch) { return !is_word(ch); }, '_');
  name = folder + "/" + name + "_" + hash_of(c.spec.key());
  std::ofstream(name + ".tokens") << tokens;
  std::ofstream(name + ".source") << program.source;
  std::ofstream(name + ".launches") << launches;
  if (target.dialect == jit::Dialect::opencl) {
    std::ofstream(name + ".integers") << jit::without_doubles(program.source);
  }
}

}  // namespace
}  // namespace impipe::testing

int main(int argc, char** argv) {
  using namespace impipe::testing;
  const std::string folder = argc > 1 ? argv[1] : "", wanted = argc > 2 ? argv[2] : "";
  if (folder.rfind('-', 0) == 0 || argc > 3) {
    std::cerr << "usage: kernel_texts [DIR [TEXT]]\n";
    return 2;
  }
  try {
    if (!folder.empty()) std::filesystem::create_directories(folder);
    for (const SpecCase& c : all_specs()) {
      for (const Target& target : targets) print_program(c, target, folder, wanted);
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
