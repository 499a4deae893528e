// Kernel files: each compiles alone with the definitions it has for that, with an OpenCL compiler
// and with NVRTC, and every part of them is in some program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/cuda/api.hpp"
#include "backends/cuda/compile.hpp"
#include "backends/jit/codec/codec.hpp"
#include "backends/jit/gather.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/sub_group.hpp"
#include "backends/jit/text/text.hpp"
#include "backends/jit/text/without_doubles.hpp"
#include "backends/opencl/loader.hpp"
#include "bench/variants.hpp"
#include "core/text.hpp"
#include "support/kernel_specs.hpp"
#include "support/program_of.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

using jit::Dialect;
using jit::KernelFile;

bool is_header(const KernelFile& file) { return file.name.ends_with(".clh"); }

// Of sub-groups that exchange registers, for which OpenCL 1.2 has no words.
bool needs_registers(const KernelFile& file) {
  return file.name.ends_with("_sub_groups.cl") || file.name == "strip.cl";
}

// What stands for a parameter where no writer gives a text. A name or a buffer stays as it is: of
// the kernel's own parameters, or of a variable around the part.
std::string sample_of(const jit::Parameter& parameter) {
  if (parameter.sample) return std::string(*parameter.sample);
  if (parameter.type == "bool") return "1";
  if (parameter.type == "int") return "4";
  if (parameter.type == "type") return "float";
  if (parameter.type == "expr") return "0";
  if (parameter.type == "list" || parameter.type == "stmt") return "";
  return "$" + std::string(parameter.name);
}

// By name.
using Samples = std::map<std::string, std::string, std::less<>>;

// Those of the first part that declares a name; a part is one where another has its name.
Samples samples_of(const KernelFile& file) {
  Samples samples;
  const std::vector<std::string> parts = jit::parts_of(file);
  for (const std::string& name : parts) {
    for (const jit::Parameter& p : jit::part(file, name).parameters) {
      samples.emplace(p.name, sample_of(p));
    }
  }
  for (const std::string& name : parts) samples.emplace(name, jit::part(file, name).text);
  return samples;
}

Samples with_own_samples(Samples samples, const jit::Part& part) {
  for (const jit::Parameter& p : part.parameters) {
    if (p.sample) samples[std::string(p.name)] = *p.sample;
  }
  return samples;
}

std::string with_samples(std::string_view text, const Samples& samples) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('$'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const std::string_view name = text.substr(0, 1 + name_length(text.substr(1)));
    const auto sample = samples.find(name.substr(1));
    const bool stays = sample == samples.end() || sample->second == name;
    out += stays ? std::string(name) : with_samples(sample->second, samples);
    text.remove_prefix(name.size());
  }
  return out;
}

// The file, which knows nothing of its writers, as a compiler gets it.
std::string alone(const KernelFile& file, Dialect dialect) {
  const Samples of_file = samples_of(file);
  std::vector<Samples> parts = {of_file};
  std::string text = jit::prelude(dialect) + jit::sub_group_words(dialect) +
                     "#define PARAMS const int params\n#define ARGS 0\n#line 1 \"" +
                     std::string(file.name) + "\"\n";
  std::istringstream lines{std::string(file.text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.find("// -- part: ");
    if (mark == 0) parts.resize(1);
    if (mark != line.npos) {
      std::string name = line.substr(mark + 12);
      name.resize(name_length(name));
      parts.push_back(with_own_samples(of_file, jit::part(file, name)));
    } else if (line.ends_with("// -- end")) {
      parts.pop_back();
    }
    text += with_samples(line, parts.back()) + "\n";
  }
  return text;
}

// OpenCL of any vendor; the compiler's log where it refuses a text.
class OpenClCompiler {
 public:
  OpenClCompiler() {
    cl_platform_id platform = nullptr;
    if (opencl::calls() == nullptr) return;
    if (opencl::calls()->clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return;
    if (opencl::calls()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) !=
        CL_SUCCESS) {
      return;
    }
    context_ = opencl::calls()->clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
  }
  ~OpenClCompiler() {
    if (context_ != nullptr) opencl::calls()->clReleaseContext(context_);
  }
  OpenClCompiler(const OpenClCompiler&) = delete;
  OpenClCompiler& operator=(const OpenClCompiler&) = delete;

  bool found() const { return context_ != nullptr; }

  std::string log_of(const std::string& source) const {
    const opencl::Calls& cl = *opencl::calls();
    const char* text = source.c_str();
    const cl_program program = cl.clCreateProgramWithSource(context_, 1, &text, nullptr, nullptr);
    std::string options, log;
    for (const std::string& option : jit::compiler_options(Dialect::opencl))
      options += option + " ";
    if (cl.clBuildProgram(program, 1, &device_, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      std::size_t size = 0;
      cl.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
      log.resize(size);
      cl.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
      log = log.c_str() + std::string("it does not compile");
    }
    cl.clReleaseProgram(program);
    return log;
  }

 private:
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
};

TEST(KernelFiles, CompileAloneAsOpenCl) {
  const OpenClCompiler compiler;
  if (!compiler.found()) GTEST_SKIP() << "no OpenCL device";
  for (const KernelFile& file : jit::all_kernel_files()) {
    if (is_header(file) || needs_registers(file)) continue;
    EXPECT_EQ(compiler.log_of(alone(file, Dialect::opencl)), "") << file.name;
  }
}

TEST(KernelFiles, CompileAloneAsCuda) {
  if (!cuda::compiler().found) {
    ASSERT_EQ(std::getenv("IMPIPE_REQUIRE_NVRTC"), nullptr) << cuda::compiler().why_not;
    GTEST_SKIP() << "no NVRTC: " << cuda::compiler().why_not;
  }
  std::vector<std::string> options = jit::compiler_options(Dialect::cuda);
  options.push_back("-arch=sm_90");
  for (const KernelFile& file : jit::all_kernel_files()) {
    if (is_header(file)) continue;
    std::string text = alone(file, Dialect::cuda);
    // NVRTC knows no $ in names.
    for (std::size_t at; (at = text.find('$')) != text.npos;) text.replace(at, 1, "t_");
    try {
      EXPECT_FALSE(cuda::compile(text, options).empty());
    } catch (const std::exception& e) {
      ADD_FAILURE() << file.name << ": " << e.what();
    }
  }
}

PackedForm packed_form(PackedForm::Filter filter) {
  PackedForm form;
  form.size = form.chunk = {10, 10};
  form.packing = PackedForm::Packing::zlib;
  form.filter = filter;
  form.channel_of = {0};
  return form;
}

// Programs of every dialect, of vendors with and without groups that wait, joined.
std::string all_programs() {
  std::string text;
  std::vector<SpecCase> specs = kernel_specs();
  for (const auto& more : {tiled_specs(), measured_specs(), moved_specs(), byte_specs(),
                           pointed_specs(), chained_specs(), spectral_specs()}) {
    specs.insert(specs.end(), more.begin(), more.end());
  }
  const auto add = [&](const SpecCase& c, Dialect dialect, const char* vendor) {
    text += program_of(c.spec, dialect, jit::tuning_for(vendor, dialect)).source;
  };
  const auto add_variants = [&](const SpecCase& c) {
    const jit::Tuning tuning = jit::tuning_for("NVIDIA", Dialect::cuda);
    for (const char* variant : {"local", "tagged"}) {
      text += program_of(c.spec, Dialect::cuda,
                         jit::with_variant(tuning, bench::parse_variant(variant)))
                  .source;
    }
  };
  for (const SpecCase& c : specs) {
    add_variants(c);
    add(c, Dialect::opencl, "generic");
    add(c, Dialect::cuda, "NVIDIA");
    add(c, Dialect::opencl_nvidia, "NVIDIA");
  }
  for (const Baseline kind : {Baseline::copy, Baseline::read}) {
    text += jit::bandwidth_baseline(kind, Dialect::opencl).source;
  }
  for (const PackedForm::Filter filter : {PackedForm::Filter::png, PackedForm::Filter::exr}) {
    text += jit::packer(Dialect::opencl, packed_form(filter), DeflateEffort::copies).source;
  }
  for (const auto packing : {PackedForm::Packing::none, PackedForm::Packing::lzw}) {
    PackedForm form = packed_form(PackedForm::Filter::none);
    form.packing = packing;
    text += jit::packer(Dialect::opencl, form, DeflateEffort::codes).source;
  }
  PackedForm carried = packed_form(PackedForm::Filter::exr);
  carried.order = PackedForm::Order::by_row;
  carried.carried = 4;
  carried.carried_before = {0};
  carried.cls = PixelClass::single;
  carried.sample = PackedForm::Sample::half;
  carried.bits = 16;
  text += jit::packer(Dialect::opencl, carried, DeflateEffort::codes).source;
  text += jit::one_nan(Dialect::opencl).source + jit::gather(Dialect::opencl).source;
  text += jit::without_doubles(jit::jpeg_decoder(Dialect::opencl).source);
  return text + jit::jpeg_decoder(Dialect::opencl).source +
         jit::jpeg_encoder(Dialect::opencl).source + jit::unpacker(Dialect::opencl).source;
}

TEST(KernelFiles, HaveNoPartThatNoProgramHas) {
  const std::string programs = all_programs();
  for (const KernelFile& file : jit::all_kernel_files()) {
    const std::vector<std::string> parts = jit::parts_of(file);
    EXPECT_EQ(parts.empty(), is_header(file) && !file.name.starts_with("sub_group_")) << file.name;
    for (const std::string& name : parts) {
      std::string text = jit::part(file, name).text;
      text.erase(0, text.find_first_not_of(" \n"));
      const std::string comment = text.substr(0, text.find('\n'));
      EXPECT_TRUE(comment.starts_with("// ")) << file.name << ": " << name << " has no comment";
      EXPECT_NE(programs.find(comment), programs.npos) << file.name << ": " << name;
    }
    if (!parts.empty()) continue;
    const std::string text = jit::header(file);
    const std::string line = text.substr(1, text.find('\n', 1));
    EXPECT_NE(programs.find(line), programs.npos) << file.name;
  }
}

// The names of a part's text that stand for something.
std::set<std::string, std::less<>> names_in(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (std::size_t at = 0; (at = text.find('$', at)) != text.npos; ++at) {
    names.emplace(text.substr(at + 1, name_length(text.substr(at + 1))));
  }
  return names;
}

TEST(KernelFiles, DeclareWhatTheirPartsTake) {
  for (const KernelFile& file : jit::all_kernel_files()) {
    std::map<std::string_view, std::string_view> types;  // a name has one in a file
    std::map<std::string_view, std::string> constants;
    for (const std::string& name : jit::parts_of(file)) {
      const jit::Part& part = jit::part(file, name);
      const std::string where = std::string(file.name) + ": " + name + ": ";
      const auto names = names_in(part.text);
      for (const jit::Parameter& p : part.parameters) {
        EXPECT_TRUE(names.contains(p.name)) << where << p.name << " is not used";
        EXPECT_EQ(types.emplace(p.name, p.type).first->second, p.type) << where << p.name;
        if (p.type == "const") {
          EXPECT_EQ(constants.emplace(p.name, sample_of(p)).first->second, sample_of(p)) << where;
        }
        const bool asked =
            part.text.find("#if $" + std::string(p.name) + "\n") != std::string::npos;
        EXPECT_TRUE(!asked || p.type == "bool") << where << p.name;
      }
      for (const std::string& used : names) {
        EXPECT_TRUE(part.parameter(used) != nullptr || jit::find_part(file, used) != nullptr)
            << where << used << " is not declared";
      }
    }
  }
}

// A work-item reads what others have measured before a barrier: `restrict` would let a compiler
// load it earlier.
TEST(Kernels, DoNotRestrictWhatTheyMeasure) {
  const std::string programs = all_programs();
  EXPECT_NE(programs.find("GLOBAL double* n"), programs.npos);
  EXPECT_EQ(programs.find("GLOBAL double* RESTRICT"), programs.npos);
}

constexpr KernelFile file = {"a.cl",
                             "// What it is for.\n"
                             "FUNCTION int alone() { return 0; }\n"
                             "\n"
                             "// -- part: function(name n = x,\n"
                             "//    type t)\n"
                             "// Says so.\n"
                             "FUNCTION $t f_$n() { return 1; }\n"
                             "\n"
                             "// -- part: kernel(int least)\n"
                             "// Does so.\n"
                             "KERNEL(64) void kernel(GLOBAL int* $to,\n"
                             "                       const int x) {\n"
                             "  if (x > $least) {\n"
                             "    // -- part: inner(buffer to, expr value = f(1, 2))\n"
                             "    // Within.\n"
                             "    $to[x] = $value;\n"
                             "    // -- end\n"
                             "  }\n"
                             "}\n"};

// What the function throws as std::logic_error.
template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(KernelFiles, HaveParts) {
  EXPECT_EQ(jit::parts_of(file), (std::vector<std::string>{"function", "kernel", "inner"}));
  EXPECT_EQ(jit::part(file, "function").text, "\n// Says so.\nFUNCTION $t f_$n() { return 1; }\n");
  EXPECT_EQ(jit::part(file, "kernel").text, "// Does so.\n  if (x > $least) {\n    $inner\n  }\n");
  EXPECT_EQ(jit::part(file, "inner").text, "    // Within.\n    $to[x] = $value;\n");
  EXPECT_EQ(error_of([] { jit::part(file, "kernels"); }), "a.cl has no part 'kernels'");
}

TEST(KernelFiles, FillPartsWithWhatTheyDeclare) {
  EXPECT_EQ(jit::filled(jit::part(file, "function"), {{"n", "1"}, {"t", "int"}}),
            "\n// Says so.\nFUNCTION int f_1() { return 1; }\n");
  // A part within it, with a text of its own or by the parameters of both.
  const jit::Part& kernel = jit::part(file, "kernel");
  EXPECT_EQ(jit::filled(kernel, {{"least", "0"}, {"inner", "x = 1;"}}),
            "// Does so.\n  if (x > 0) {\n    x = 1;\n  }\n");
  EXPECT_EQ(jit::filled(kernel, {{"least", "0"}, {"to", "a"}, {"value", "2"}}),
            "// Does so.\n  if (x > 0) {\n    // Within.\n    a[x] = 2;\n  }\n");
  EXPECT_EQ(error_of([&] {
              jit::filled(kernel, {{"inner", ""}});
            }),
            "a.cl: part 'kernel' is not given 'least'");
  EXPECT_EQ(error_of([&] {
              jit::filled(kernel, {{"least", "0"}, {"most", "1"}, {"inner", ""}});
            }),
            "a.cl: part 'kernel' has no parameter 'most'");
  EXPECT_EQ(error_of([&] {
              jit::filled(kernel, {{"least", "x"}, {"inner", ""}});
            }),
            "a.cl: part 'kernel' is given 'x' for 'int least'");
  constexpr KernelFile unknown = {"b.cl", "// -- part: p(number n)\n// Says so.\n$n\n"};
  EXPECT_EQ(error_of([&] { jit::part(unknown, "p"); }),
            "a kernel file has the parameter 'number n'");
}

TEST(Templates, KeepOrDropLinesByConditions) {
  const std::string text =
      "#if $a\none\n#if $b\ntwo\n#else\nthree\n#endif\n#ifdef C\nfour\n#else\nfive\n#endif\n#else\n"
      "six\n#endif\nseven\n";
  const auto made = [&](const char* a, const char* b) {
    return jit::filled(text, {{"a", a}, {"b", b}});
  };
  const std::string own = "#ifdef C\nfour\n#else\nfive\n#endif\n";
  EXPECT_EQ(made("1", "1"), "one\ntwo\n" + own + "seven\n");
  EXPECT_EQ(made("1", "0"), "one\nthree\n" + own + "seven\n");
  EXPECT_EQ(made("0", "1"), "six\nseven\n");
  EXPECT_THROW(made("yes", "1"), std::logic_error);
  EXPECT_THROW(jit::filled("#if $a\n", {{"a", "1"}}), std::logic_error);
  EXPECT_THROW(jit::filled("#endif\n", {}), std::logic_error);
}

TEST(Templates, PutWholeLinesInPlaceOfANameThatIsALine) {
  EXPECT_EQ(jit::filled("a\n  $b\nc\n", {{"b", ""}}), "a\nc\n");
  EXPECT_EQ(jit::filled("a\n  $b\nc\n", {{"b", "#pragma b\n"}}), "a\n#pragma b\nc\n");
  EXPECT_EQ(jit::filled("a\n  $b\nc\n", {{"b", "b;"}}), "a\n  b;\nc\n");
}

}  // namespace
}  // namespace impipe::testing
