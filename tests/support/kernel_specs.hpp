// A table of kernels: every primitive with every class, 1 and 3 channels and every border, and
// fused chains. Backends are compared over it, and compilers are fed with it.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_spec.hpp"

namespace impipe::testing {

struct SpecCase {
  std::string name;
  KernelSpec spec;
  // The smallest width and height that it makes sense for (valid convolutions need some).
  int least = 1;
  // The largest of them that devices take; others are left to the CPU.
  int most = 1 << 20;
};

// At most 380.
const std::vector<SpecCase>& kernel_specs();

// The part with windows, flips and resampled images.
std::vector<SpecCase> geometry_specs();

// Those that a test with a slow compiler takes: a few of every primitive. IMPIPE_TEST_TABLE=all
// takes all of them, IMPIPE_TEST_TABLE=few a quarter of those; IMPIPE_TEST_SPEC=TEXT those with the
// text in their names, and IMPIPE_TEST_PART=I/N one of N parts of what is chosen (none is left out:
// for several processes beside each other).
std::vector<SpecCase> chosen_specs();
// Whether IMPIPE_TEST_TABLE=all asks for all of them.
bool is_whole_table();
// One of `step` of what slow compilers take; all for the whole table.
template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t step) {
  if (is_whole_table()) step = 1;
  std::vector<T> out;
  for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
  return out;
}
// Throws std::runtime_error when there is none.
const SpecCase& spec_named(const std::string& name);

}  // namespace impipe::testing
