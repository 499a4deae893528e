// The kernel plans of the table of kernels as text: kernel_plans.txt has those that are right. A
// decision that changes shows here, whatever text it is written by. IMPIPE_UPDATE_GOLDEN=1 writes
// the file anew.
#include "backends/jit/choose/choose.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "backends/jit/generator.hpp"
#include "core/plane_kernel.hpp"
#include "support/kernel_specs.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {
namespace {

// By the specs' names, each with the key of its planes' kernel.
std::vector<SpecCase> planned_specs() {
  std::vector<SpecCase> all;
  std::set<std::string> known;
  for (const std::vector<SpecCase>& part :
       {kernel_specs(), tiled_specs(), measured_specs(), chained_specs(), pointed_specs(),
        stored_point_specs(), moved_specs(), byte_specs()}) {
    for (const SpecCase& c : part) {
      const PlaneKernel planes = plane_kernel(c.spec);
      if (known.insert(planes.spec.key()).second) all.push_back({c.name, planes.spec});
    }
  }
  return all;
}

jit::KernelPlan plan_of(const KernelSpec& spec, const char* vendor, jit::Dialect dialect) {
  jit::Tuning tuning = jit::tuning_for(vendor, dialect);
  tuning.fast = true;
  tuning.stacked = spec.planes > 1;
  return jit::choose(spec, tuning, dialect);
}

std::string forms_of(const jit::KernelPlan& plan) {
  std::string text;
  for (const jit::NodePlan& node : plan.nodes) text += jit::describe(node) + "\n";
  return text;
}

// The plans of a spec under its name: those for any device only where forms differ from NVIDIA's.
std::string section_of(const KernelSpec& spec) {
  const jit::KernelPlan nvidia = plan_of(spec, "nvidia", jit::Dialect::cuda);
  const jit::KernelPlan generic = plan_of(spec, "generic", jit::Dialect::opencl);
  const std::string text = jit::to_text(nvidia, spec);
  if (forms_of(nvidia) == forms_of(generic)) return "any device\n" + text;
  return "nvidia\n" + text + "generic\n" + jit::to_text(generic, spec);
}

// {"== NAME": the lines below it}
std::map<std::string, std::string> sections_of(std::istream& file) {
  std::map<std::string, std::string> sections;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      name = line;
    } else {
      sections[name] += line + "\n";
    }
  }
  return sections;
}

TEST(KernelPlan, IsTheGoldenOneForEverySpecOfTheTable) {
  // What people set for their runs is no part of the table.
  if (std::getenv("IMPIPE_VENDOR") != nullptr) GTEST_SKIP() << "IMPIPE_VENDOR is set";
  std::ostringstream made;
  std::map<std::string, int> times;
  for (const SpecCase& c : planned_specs()) {
    const int time = ++times[c.name];
    made << "== " << c.name << (time > 1 ? " (" + std::to_string(time) + ")" : "") << "\n"
         << section_of(c.spec);
  }
  if (std::getenv("IMPIPE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(IMPIPE_GOLDEN_PLANS) << made.str();
  }
  std::ifstream golden(IMPIPE_GOLDEN_PLANS);
  ASSERT_TRUE(golden) << IMPIPE_GOLDEN_PLANS;
  std::istringstream made_text(made.str());
  const std::map<std::string, std::string> expected = sections_of(golden);
  const std::map<std::string, std::string> found = sections_of(made_text);
  EXPECT_GT(found.size(), 300u);
  for (const auto& [name, text] : found) {
    const auto known = expected.find(name);
    EXPECT_EQ(known == expected.end() ? "no such section" : known->second, text) << name;
  }
  EXPECT_EQ(expected.size(), found.size()) << "sections of specs that are gone";
}

TEST(KernelPlan, IsTheHeadOfNoSource) {
  const SpecCase& c = kernel_specs().front();
  const jit::Program program =
      jit::generate(c.spec, jit::Dialect::cuda, jit::tuning_for("nvidia", jit::Dialect::cuda));
  EXPECT_FALSE(program.plan.empty());
  EXPECT_EQ(program.source.find(program.plan), std::string::npos);
}

}  // namespace
}  // namespace impipe::testing
