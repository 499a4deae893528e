// Kernel text with what it uses.
#include "backends/jit/text/renaming.hpp"

#include <string_view>

#include "core/text.hpp"

namespace impipe::jit {

Code code_of(std::string text) {
  Code code;
  std::string_view rest = text, before;  // the word before `->`
  bool head = false;                     // of a function, before its name
  while (!rest.empty()) {
    const std::size_t length = name_length(rest);
    if (length == 0) {
      rest.remove_prefix(1);
      continue;
    }
    const std::string_view word = rest.substr(0, length);
    rest.remove_prefix(length);
    if (before == "buffers") code.buffers.emplace(word);
    if (before == "params") code.parameters.emplace(word);
    if (rest.starts_with("(")) {
      (head ? code.defines : code.calls).emplace(word);
      head = false;
    }
    head = head || word == "FUNCTION";
    before = rest.starts_with("->") ? word : std::string_view();
  }
  code.text = std::move(text);
  return code;
}

}  // namespace impipe::jit
