// Kernel text with what it uses, as a value.
#pragma once

#include <set>
#include <string>

namespace impipe::jit {

// The text of functions or of a kernel's body. Buffers and launch parameters are named in it as
// `buffers->NAME` and `params->NAME`, so that whatever text is put together uses what its parts
// use.
struct Code {
  std::string text;
  std::set<std::string> buffers, parameters;
  std::set<std::string> calls;    // names before a bracket
  std::set<std::string> defines;  // the functions in it
};
Code code_of(std::string text);

}  // namespace impipe::jit
