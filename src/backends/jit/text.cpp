// Small tools for kernel text: templates, lists of names, and bodies on lines of their own.
#include "backends/jit/text.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/text.hpp"

namespace impipe::jit {

std::string filled(std::string_view text, Replacements replacements) {
  return Words({}).filled(text, replacements);
}

std::string Words::filled(std::string_view text, Replacements own) const {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    const std::string_view name = text.substr(i + 1, name_length(text.substr(i + 1)));
    i += 1 + name.size();
    const auto* const known = std::find_if(own.begin(), own.end(),
                                           [name](const auto& word) { return word.first == name; });
    if (known != own.end()) {
      out += filled(known->second, own);
      continue;
    }
    const auto shared = words_.find(name);
    if (shared == words_.end()) {
      throw std::logic_error("a kernel's text has no $" + std::string(name));
    }
    out += filled(shared->second(), own);
  }
  return out;
}

std::string with_lines(std::string text, std::string_view marker, bool stay) {
  for (std::size_t at; (at = text.find(marker)) != std::string::npos;) {
    text.erase(at, stay ? marker.size() : text.find('\n', at) + 1 - at);
  }
  return text;
}

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  std::string last;
  for (std::size_t i = 0; i < list.size();) {
    const std::size_t length = name_length(list.substr(i));
    if (length > 0) last = list.substr(i, length);
    if ((list[i] == ',' || list[i] == ')') && !last.empty()) {
      names.push_back(last);
      last.clear();
    }
    i += length > 0 ? length : 1;
  }
  return names;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string formatted(std::string_view text) {
  std::string out;
  int depth = 0, round = 0;
  const auto new_line = [&] {
    out += "\n" + std::string(static_cast<std::size_t>(2 * depth), ' ');
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') ++round;
    if (c == ')') --round;
    if (c == '{') ++depth;
    if (c == '}') {
      --depth;
      if (out.size() > 1 && out.ends_with("  ")) out.resize(out.size() - 2);
    }
    out += c;
    if ((c == ';' && round == 0) || c == '{' || c == '}') {
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
      const bool then_else = c == '}' && text.substr(i + 1).starts_with("else");
      if (then_else) {
        out += ' ';
      } else if (i + 1 < text.size()) {
        new_line();
      }
    }
  }
  return out;
}

std::string commented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += "// " + std::string(text.substr(0, end)) + "\n";
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

}  // namespace impipe::jit
