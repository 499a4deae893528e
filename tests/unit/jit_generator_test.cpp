// The generator's text: every primitive is in the table, and every kernel of it can be read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "backends/jit/generator.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/renaming.hpp"
#include "backends/jit/text/text.hpp"
#include "core/error.hpp"
#include "core/primitive_facts.hpp"
#include "pipeline/binder.hpp"
#include "pipeline/fuse.hpp"
#include "pipeline/lower.hpp"
#include "pipeline/parser.hpp"
#include "support/kernel_specs.hpp"
#include "support/masks.hpp"
#include "support/program_of.hpp"
#include "support/tiled_specs.hpp"

IMPIPE_POINT_BODY(generator_point, (x), (), { return x + real(1); })

namespace impipe::testing {
namespace {

TEST(KernelTable, HasEveryPrimitiveWithEveryClassAndBorder) {
  EXPECT_LE(kernel_specs().size(), 410u);
  std::set<std::string> primitives, keys, class_and_channels;
  std::set<Border> borders;
  int chains = 0;
  for (const SpecCase& c : kernel_specs()) {
    chains += c.name.starts_with("chain") ? 1 : 0;
    EXPECT_TRUE(keys.insert(c.spec.key()).second) << c.name << " is there twice";
    for (const Node& node : c.spec.nodes) {
      const std::string name(name_of(node.primitive));
      primitives.insert(name);
      if (node.images.empty()) continue;
      const KernelInput& input = c.spec.inputs.front();
      class_and_channels.insert(name + " " + std::string(name_of(input.cls)) + " x" +
                                std::to_string(input.channels));
      if (const auto* s = std::get_if<Stencil>(&node.primitive)) borders.insert(s->border);
    }
  }
  EXPECT_EQ(primitives,
            (std::set<std::string>{
                "point",       "permute",        "stencil", "separable", "extremum", "rank",
                "reduce",      "histogram",      "select",  "scalar",    "distance", "project",
                "backproject", "diffuse",        "label",   "resample",  "window",   "morph",
                "objects",     "between_tables", "fourier", "moments"}));
  EXPECT_GE(chains, 20);
  EXPECT_EQ(borders.size(), 4u);
  for (const char* primitive :
       {"point", "permute", "stencil", "separable", "extremum", "rank", "reduce", "histogram"}) {
    for (const char* type : {"logical", "uint8", "uint16", "single"}) {
      for (const char* channels : {" x1", " x3"}) {
        const std::string wanted = std::string(primitive) + " " + type + channels;
        EXPECT_TRUE(class_and_channels.contains(wanted)) << wanted;
      }
    }
  }
}

TEST(KernelTable, EveryPrimitiveIsAmongTheChosen) {
  std::set<std::string> primitives;
  for (const SpecCase& c : chosen_specs()) {
    for (const Node& node : c.spec.nodes) primitives.insert(std::string(name_of(node.primitive)));
  }
  EXPECT_EQ(primitives.size(), 22u);
}

TEST(Generator, HeadsTheTextWithThePlan) {
  const SpecCase& c = kernel_specs().front();
  const jit::Program program = program_of(c.spec, jit::Dialect::opencl, {});
  const std::string head =
      "// impipe: generated from the plan\n//\n// in0: logical x1\n"
      "// n0: point table_adjust (in0) [c, c, c] -> logical x1\n// out: n0\n";
  EXPECT_EQ(program.source.substr(0, head.size()), head);
  // A body stands on lines of its own.
  const std::string body =
      "{\n  typedef double real;\n  const real v = clamp(x / white, low, high);\n"
      "  return (v - low) / (high - low) * white;\n}\n";
  EXPECT_NE(program.source.find(body), std::string::npos) << program.source;
  EXPECT_EQ(program.entries, (std::vector<std::string>{"store_n0"}));
}

TEST(Generator, MakesAChainOfNeighbourhoodsInOneKernel) {
  const auto entries = [](const SpecCase& c) {
    const jit::Tuning tuning = jit::tuning_for("NVIDIA", jit::Dialect::cuda);
    return program_of(c.spec, jit::Dialect::cuda, tuning).entries;
  };
  for (const SpecCase& c : chained_specs()) {
    const std::string last = "store_n" + std::to_string(c.spec.outputs[0]);
    EXPECT_EQ(entries(c), std::vector<std::string>{last}) << c.name;
  }
}

// Kernels that a launch of this size has.
int launches(const SpecCase& c, jit::Dialect dialect, const char* vendor, Size size) {
  const jit::Program program = program_of(c.spec, dialect, jit::tuning_for(vendor, dialect));
  const auto shape = [&](PixelClass cls, int channels) {
    const std::int64_t stride = jit::row_bytes(cls, size);
    return jit::ValueShape{size, stride, stride * size.height, channels};
  };
  const PlaneKernel planes = plane_kernel(c.spec);
  std::vector<jit::ValueShape> inputs, outputs;
  for (const int i : planes.inputs) {
    const KernelInput& input = c.spec.inputs[static_cast<std::size_t>(i)];
    inputs.push_back(shape(input.cls, input.channels));
  }
  const Node& last = c.spec.nodes.back();
  outputs.resize(planes.outputs.size(), shape(last.cls, last.channels));
  int count = 0;
  for (const jit::Pass& pass :
       program.launch({&planes.spec, inputs, outputs, planes.spec.planes}).passes) {
    count += pass.shape.groups[0] > 0 ? 1 : 0;
  }
  return count;
}

TEST(Generator, MakesPointsWithTheNeighbourhoodThatReadsThem) {
  const auto expect = [](const std::vector<SpecCase>& specs, int wanted) {
    for (const SpecCase& c : specs) {
      // Many cells of 16 bits are ordered two to a word, which a plane has. Masks of many runs go
      // by the runs of their rows, of a plane, but where tiles of local memory are faster.
      const bool ordered = c.name.find("rank disk uint16") != std::string::npos;
      const bool many_runs = c.name.find("many runs") != std::string::npos;
      const auto launched = [&](const std::string& vendor) {
        return ordered || (many_runs && vendor != "nvidia") ? 2 : wanted;
      };
      for (const Size size : {Size{130, 67}, Size{4099, 4300}}) {
        for (const std::string vendor : {"generic", "amd", "intel", "nvidia"}) {
          EXPECT_EQ(launches(c, jit::Dialect::opencl, vendor.c_str(), size), launched(vendor))
              << c.name << " " << vendor;
        }
        for (const jit::Dialect dialect : {jit::Dialect::cuda, jit::Dialect::opencl_nvidia}) {
          EXPECT_EQ(launches(c, dialect, "nvidia", size), launched("nvidia")) << c.name;
        }
      }
    }
  };
  expect(pointed_specs(), 1);
  expect(stored_point_specs(), 2);
}

TEST(Generator, StoresTheNeighbourhoodThatAMeasurementReads) {
  const PixelClass cls = PixelClass::uint8;
  const Node around{.primitive = Rank{.mask = rectangle(3, 3), .rank = 4},
                    .images = {{true, 0}},
                    .cls = cls,
                    .white = 255};
  Node point = around, sum = around;
  point.primitive = Point{.body = &bodies::generator_point};
  sum.primitive = Reduce{.kind = ReduceKind::sum};
  sum.images = {{false, 0}};
  sum.is_measure = true;
  sum.values = 1;
  const auto entries = [&](const Node& before) {
    const SpecCase c{"", {{{.cls = cls, .channels = 1, .white = 255}}, {before, sum}, {1}}, 1};
    return program_of(c.spec, jit::Dialect::cuda, jit::tuning_for("nvidia", jit::Dialect::cuda))
        .entries;
  };
  const std::vector<std::string> of_around = entries(around), of_point = entries(point);
  EXPECT_TRUE(std::find(of_around.begin(), of_around.end(), "store_n0") != of_around.end());
  EXPECT_TRUE(std::find(of_point.begin(), of_point.end(), "store_n0") == of_point.end());
}

TEST(Generator, MakesTheSameTextForEqualKeys) {
  SpecCase c = kernel_specs().front();
  const std::string before = program_of(c.spec, jit::Dialect::cuda, {}).source;
  c.spec.nodes[0].arguments[0].value = 0.375;
  EXPECT_EQ(program_of(c.spec, jit::Dialect::cuda, {}).source, before);
}

// Groups of 128 work-items, five of which fit on a processor of 65,536 registers.
TEST(Generator, LimitsTheRegistersOfNvidiasOpenCl) {
  const SpecCase c = chained_specs().front();
  const auto program = [&](jit::Dialect dialect) {
    return program_of(c.spec, dialect, jit::tuning_for("NVIDIA", dialect));
  };
  EXPECT_EQ(program(jit::Dialect::opencl_nvidia).max_registers, 96);
  EXPECT_EQ(program(jit::Dialect::opencl).max_registers, 0);
  EXPECT_EQ(program(jit::Dialect::cuda).max_registers, 0);
}

// 65,536 counters are 134 KB, in 128 rows of 267 words.
TEST(Generator, CountsWideCodesInSlicesThatLocalMemoryHolds) {
  const SpecCase c = spec_named("histogram of pairs");
  const auto text = [&](std::int64_t bytes) {
    jit::Tuning tuning = jit::tuning_for("NVIDIA", jit::Dialect::cuda);
    tuning.max_local_bytes = bytes;
    return program_of(c.spec, jit::Dialect::cuda, tuning).source;
  };
  EXPECT_NE(text(227 << 10).find("n1_words, 34176)"), std::string::npos);
  EXPECT_NE(text(99 << 10).find("n1_words, " + std::to_string(267 * 64) + ")"), std::string::npos);
  EXPECT_NE(text(48 << 10).find("n1_words, " + std::to_string(267 * 43) + ")"), std::string::npos);
  EXPECT_NE(text(32 << 10).find("n1_words, " + std::to_string(267 * 26) + ")"), std::string::npos);
  EXPECT_EQ(text(16 << 10).find("n1_words"), std::string::npos);
}

// PoCL takes half a minute to compile the kernels that raise.
TEST(Generator, RaisesTilesWithNvidiasCompilers) {
  const auto has = [](const char* name, jit::Dialect dialect, const std::string& word) {
    const jit::Program program =
        program_of(spec_named(name).spec, dialect, jit::tuning_for("NVIDIA", dialect));
    return program.source.find(word) != std::string::npos;
  };
  for (const jit::Dialect dialect : {jit::Dialect::cuda, jit::Dialect::opencl_nvidia}) {
    EXPECT_TRUE(has("label 5 conn 8 single", dialect, "void n0_raise("));
  }
  EXPECT_FALSE(has("label 5 conn 8 single", jit::Dialect::opencl, "void n0_raise("));
}

TEST(Generator, HasInstructionsOfAVendorOnlyInItsDialect) {
  const auto text = [&](jit::Dialect dialect) {
    return program_of(chained_specs().front().spec, dialect, jit::tuning_for("NVIDIA", dialect))
        .source;
  };
  EXPECT_EQ(text(jit::Dialect::opencl).find("asm"), std::string::npos);
  EXPECT_NE(text(jit::Dialect::opencl_nvidia).find("shfl.sync.up.b32"), std::string::npos);
  EXPECT_EQ(text(jit::Dialect::opencl_nvidia).find("__byte_perm"), std::string::npos);
}

TEST(Generator, HasOnlyThePreludeThatAProgramUses) {
  const auto text = [&](const SpecCase& c) {
    return program_of(c.spec, jit::Dialect::cuda, jit::tuning_for("NVIDIA", jit::Dialect::cuda))
        .source;
  };
  const std::string point = text(kernel_specs().front()), chain = text(chained_specs().front());
  for (const char* part : {"is_last_group", "order_packed", "load_16_float", "BESIDE"}) {
    EXPECT_EQ(point.find(part), point.npos) << part;
  }
  // A body says clamp, which is clamp_double there.
  EXPECT_NE(point.find("FUNCTION double clamp_double("), point.npos);
  EXPECT_NE(chain.find("BESIDE(beside_float, float)\n"), chain.npos);
  EXPECT_EQ(chain.find("BESIDE(beside_double, double)\n"), chain.npos);
}

// The names of a struct's members; empty when the program has none.
std::vector<std::string> members_of(const std::string& source, const std::string& name) {
  std::vector<std::string> members;
  const std::size_t begin = source.find("\nstruct " + name + " {\n");
  if (begin == std::string::npos) return members;
  std::istringstream lines(source.substr(begin + 1, source.find("\n};", begin) - begin));
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);) {
    const std::string declared = line.substr(0, line.find_first_of("[;"));
    members.push_back(declared.substr(declared.find_last_of(" *") + 1));
  }
  return members;
}

TEST(Generator, HasOnlyTheParametersAndBuffersThatItsTextUses) {
  for (const SpecCase& c : kernel_specs()) {
    for (const auto& [vendor, dialect] :
         {std::pair{"NVIDIA", jit::Dialect::cuda}, std::pair{"generic", jit::Dialect::opencl}}) {
      const std::string source =
          program_of(c.spec, dialect, jit::tuning_for(vendor, dialect)).source;
      const jit::Code code = jit::code_of(source);
      for (const std::string& name : members_of(source, "Parameters")) {
        if (name == "padding" || name == "unused") continue;
        EXPECT_TRUE(code.parameters.contains(name)) << name << " of " << c.name;
      }
      for (const std::string& name : members_of(source, "Buffers")) {
        EXPECT_TRUE(code.buffers.contains(name)) << name << " of " << c.name;
      }
    }
  }
}

// The colours of a picture with alpha: weighted, filtered and divided by the filtered alpha, each
// from a plane of its own.
TEST(Generator, WritesTheKernelOfThreeChannelsOnce) {
  const ImageType type{.cls = PixelClass::uint8, .channels = 3, .alpha = true, .white = 255};
  const Plan plan =
      pipeline::fuse(pipeline::lower(pipeline::bind(pipeline::parse("imgaussfilt 0.5")), type, {}));
  const PlaneKernel planes = plane_kernel(plan.steps.back().kernel);
  for (const jit::Dialect dialect : {jit::Dialect::cuda, jit::Dialect::opencl}) {
    const jit::Program program =
        jit::generate(planes.spec, dialect, jit::tuning_for("NVIDIA", dialect));
    const Size size{70, 50};
    std::vector<jit::ValueShape> inputs, outputs;
    for (const KernelInput& input : planes.spec.inputs) {
      const std::int64_t stride = jit::row_bytes(input.cls, size);
      inputs.push_back({size, stride, stride * size.height, 3});
    }
    const std::int64_t stride = jit::row_bytes(type.cls, size);
    outputs.assign(3, {size, stride, stride * size.height, 3});
    const jit::LaunchPlan launch = program.launch({&planes.spec, inputs, outputs});
    std::vector<jit::Pass> stores;
    for (const jit::Pass& pass : launch.passes) {
      const auto written = [](const jit::Buffer& b) { return b.kind == jit::Buffer::Kind::output; };
      if (std::any_of(pass.buffers.begin(), pass.buffers.end(), written)) stores.push_back(pass);
    }
    ASSERT_EQ(stores.size(), 3u);
    const jit::Pass &red = stores[0], &green = stores[1], &blue = stores[2];
    EXPECT_EQ(red.entry, green.entry);
    EXPECT_EQ(red.entry, blue.entry);
    // Each has its own image to write, in its place.
    EXPECT_NE(red.buffers, green.buffers);
    EXPECT_NE(green.buffers, blue.buffers);
    EXPECT_EQ(launch.parameters_of(red).size(), launch.parameters_of(blue).size());
    EXPECT_NE(launch.parameters_of(red), launch.parameters_of(green));
    EXPECT_NE(launch.parameters_of(green), launch.parameters_of(blue));
    EXPECT_LE(program.entries.size() + 2, launch.passes.size());
  }
}

TEST(Renaming, IsOneToOneOfTheNumbersOfNodesAndInputs) {
  using jit::Renaming;
  Renaming channels;
  EXPECT_TRUE(
      channels.match("a_n8[k] = n0 * in0_width + f(n8);", "a_n13[k] = n0 * in2_width + f(n13);"));
  EXPECT_EQ(channels.of("a_n8"), "a_n13");
  EXPECT_EQ(channels.of("n0"), "n0");
  EXPECT_EQ(channels.of("f"), "f");
  EXPECT_TRUE(channels.match("in0_width", "in2_width"));
  const auto differ = [](const char* a, const char* b) {
    return !Renaming().match(a, b) && !Renaming().match(b, a);
  };
  EXPECT_TRUE(differ("smaller(n1)", "larger(n1)"));
  EXPECT_TRUE(differ("n1 + n1", "n1 + n2"));
  EXPECT_TRUE(differ("n1 + n2", "n3 + n3"));
  EXPECT_TRUE(differ("n1", "in1 + 0"));
  EXPECT_TRUE(differ("n1_rows", "n1_row"));
  EXPECT_TRUE(differ("n1 + 2", "n1 + 3"));
  EXPECT_TRUE(differ("n1 + 2", "n1 + 2;"));
  EXPECT_TRUE(differ("fn1", "fn2"));
}

TEST(Code, KnowsWhatItsTextUses) {
  const jit::Code code = jit::code_of(
      "  out(buffers->n0[y * params->n0_stride + x]) = n1(ARGS, x, y) + params->low;\n"
      "  for (;;) break;  // buffers and given by themselves\n");
  EXPECT_EQ(code.buffers, (std::set<std::string>{"n0"}));
  EXPECT_EQ(code.parameters, (std::set<std::string>{"n0_stride", "low"}));
  EXPECT_TRUE(code.calls.contains("n1"));
  EXPECT_FALSE(code.calls.contains("x"));
  EXPECT_TRUE(jit::code_of("").buffers.empty());
  const jit::Code functions = jit::code_of(
      "FUNCTION float n1_sum(const float a) {\n  return real(a);\n}\n\n"
      "FUNCTION void store(GLOBAL uchar* to) {\n  *to = n1_sum(1);\n}\n");
  EXPECT_EQ(functions.defines, (std::set<std::string>{"n1_sum", "store"}));
  EXPECT_EQ(functions.calls, (std::set<std::string>{"real", "n1_sum"}));
}

TEST(Definitions, AreThoseThatAProgramUses) {
  const std::string all =
      "// Of one.\n#define ONE(a) a##_\n#undef TWO\n#define TWO 2  // not THREE\n"
      "#define THREE \\\n  FOUR\n#if X\n#define FOUR 4\n#else\n#define FOUR 5\n#endif\n"
      "struct Pair {\n  int a;\n};\nFUNCTION int sum(const int a,\n                const int b) {\n"
      "  return a + TWO;\n}\nFUNCTION int of_float(int f) { return 0; }\n#pragma STAYS\n"
      "MAKES(made, int)\n";
  const std::vector<jit::Definition> found = jit::definitions_in(all);
  const auto used = [&](std::string_view program) { return jit::used_of(found, program); };
  EXPECT_EQ(used(""), "#pragma STAYS\n");
  EXPECT_EQ(used("ONE // TWO"), "// Of one.\n#define ONE(a) a##_\n#pragma STAYS\n");
  EXPECT_EQ(used("THREE"),
            "#define THREE \\\n  FOUR\n#if X\n#define FOUR 4\n#else\n#define FOUR 5\n#endif\n"
            "#pragma STAYS\n");
  EXPECT_EQ(used("sum()"),
            "#undef TWO\n#define TWO 2  // not THREE\nFUNCTION int sum(const int a,\n"
            "                const int b) {\n  return a + TWO;\n}\n#pragma STAYS\n");
  EXPECT_EQ(used("WORD(of_)"), "FUNCTION int of_float(int f) { return 0; }\n#pragma STAYS\n");
  EXPECT_EQ(used("Pair made"), "struct Pair {\n  int a;\n};\n#pragma STAYS\nMAKES(made, int)\n");
}

TEST(Text, IsIndentedByItsBraces) {
  EXPECT_EQ(
      jit::indented(
          "int f(a,\nb) {\n      // Why.\nfor (;;)\n#pragma x\ng(\n1);\nif (x)\ny = 1\n+ 2;\n}\n"),
      "int f(a,\n    b) {\n  // Why.\n  for (;;)\n#pragma x\n    g(\n      1);\n  if (x)\n    y = "
      "1\n"
      "      + 2;\n}\n");
  const std::string many =
      "a" + std::string(60, 'b') + "(c); { const int d = e; f" + std::string(40, 'g') + "(d); }";
  EXPECT_EQ(jit::indented(many + "\n"), "a" + std::string(60, 'b') +
                                            "(c);\n{\n  const int d = e;\n  f" +
                                            std::string(40, 'g') + "(d);\n}\n");
}

// IMPIPE_VENDOR for the length of a test, whatever it was before.
class Vendor {
 public:
  explicit Vendor(const char* name) {
    if (const char* before = std::getenv("IMPIPE_VENDOR")) before_ = before;
    set(name);
  }
  ~Vendor() { set(before_.empty() ? nullptr : before_.c_str()); }
  static void set(const char* name) {
    name != nullptr ? setenv("IMPIPE_VENDOR", name, 1) : unsetenv("IMPIPE_VENDOR");
  }

 private:
  std::string before_;
};

TEST(Templates, AreFilledWithJustTheWordsTheyHave) {
  EXPECT_EQ(jit::filled("a$b = $a_b;$a\n", {{"a", "$b + 1"}, {"b", "2"}, {"a_b", "3"}}),
            "a2 = 3;2 + 1\n");
  int asked = 0;
  const jit::Substitutions words({{"twice", [] { return "$one + $one"; }},
                                  {"one", [&asked] { return std::to_string(++asked); }}});
  EXPECT_EQ(words.filled("$x $twice", {{"x", "0"}}), "0 1 + 2");
  EXPECT_EQ(words.filled("$twice", {{"one", "3"}}), "3 + 3");
  EXPECT_EQ(asked, 2);
  EXPECT_THROW(words.filled("$two", {}), std::logic_error);
}

TEST(Tuning, IsARowAVendor) {
  const Vendor none(nullptr);
  const auto vendor = [](std::string_view name) {
    return std::string(jit::tuning_for(name, jit::Dialect::opencl).vendor);
  };
  EXPECT_EQ(vendor("NVIDIA Corporation"), "nvidia");
  EXPECT_EQ(vendor("Advanced Micro Devices, Inc."), "amd");
  EXPECT_EQ(vendor("Intel(R) Corporation"), "intel");
  EXPECT_EQ(vendor("The pocl project"), "generic");
  for (const char* name : {"amd", "intel", "nvidia", "generic"}) {
    Vendor::set(name);
    EXPECT_EQ(vendor("The pocl project"), name);
  }
  Vendor::set("amdd");
  try {
    vendor("The pocl project");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "IMPIPE_VENDOR: 'amdd' is none of generic, nvidia, amd, intel, cpu");
  }
}

}  // namespace
}  // namespace impipe::testing
