// Variants of GPU kernels by name, as --variant and the suites say them.
#pragma once

#include <string>
#include <vector>

#include "core/kernel_variant.hpp"

namespace impipe::bench {

inline constexpr const char* no_variants = "none";

// "local+unrolled", "pixels=4". Throws Error with the nearest word.
KernelVariant parse_variant(const std::string& text);

// The names in a list, each checked: "naive,local+unrolled", "pixels=1,2,4" for three of them.
// "none" alone is an empty list. Throws Error.
std::vector<std::string> parse_variants(const std::string& list);

}  // namespace impipe::bench
