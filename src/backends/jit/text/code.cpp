// Kernel text with what it uses.
#include "backends/jit/text/code.hpp"

#include <string_view>

#include "core/text.hpp"

namespace impipe::jit {

Code code_of(std::string text) {
  Code code;
  std::string_view rest = text, before;  // the word before `->`
  while (!rest.empty()) {
    const std::size_t length = name_length(rest);
    if (length == 0) {
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length);
    if (before == "buffers") code.buffers.emplace(word);
    if (before == "given") code.parameters.emplace(word);
    if (rest.starts_with("(")) code.calls.emplace(word);
    before = rest.starts_with("->") ? word : std::string_view();
  }
  code.text = std::move(text);
  return code;
}

}  // namespace impipe::jit
