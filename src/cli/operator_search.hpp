// Finds operators by words of what they do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/operator.hpp"

namespace impipe::cli {

// The operators whose names, descriptions, or hints for other names have all the words, by name;
// where there are none, those whose parameters, details or MATLAB functions have them. Letters may
// be small or capital, and spelled as in Britain or America.
std::vector<const Operator*> search_operators(std::span<const std::string> words);

}  // namespace impipe::cli
