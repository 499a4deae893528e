// Small tools for kernel text: templates, lists of names, and bodies on lines of their own.
#include "backends/jit/text/text.hpp"

#include <algorithm>
#include <stdexcept>

#include "backends/jit/text/kernel_files.hpp"
#include "core/text.hpp"

namespace impipe::jit {
namespace {

// The name of a line that has nothing but "$name"; else nothing.
std::string_view name_alone(std::string_view line) {
  if (!line.starts_with('$')) return {};
  const std::string_view name = line.substr(1, name_length(line.substr(1)));
  return line.substr(1 + name.size()) == "\n" ? name : std::string_view();
}

// Whether a line is several statements, and nothing that must stay on it.
bool is_list(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != line.npos; };
  return has("; ") && !has("//") && !has("= {") && !has("\"");
}

}  // namespace

std::string filled(std::string_view text, Replacements replacements) {
  return Substitutions({}).filled(text, replacements);
}

std::string filled(const Part& part, Replacements parameters) {
  return Substitutions({}).filled(part, parameters);
}

// The words of one text, which come before those that all texts share.
struct Substitutions::Values {
  Replacements own;
  const Part* part = nullptr;  // that the text is

  // Null where `name` is not among its own.
  const std::string_view* find(std::string_view name) const {
    const auto* const found = std::find_if(own.begin(), own.end(),
                                           [name](const auto& word) { return word.first == name; });
    return found == own.end() ? nullptr : &found->second;
  }
};

std::string Substitutions::value(std::string_view name, const Values& values) const {
  const Parameter* const declared = values.part == nullptr ? nullptr : values.part->parameter(name);
  if (declared != nullptr && declared->type == "const") return std::string(*declared->sample);
  const std::string_view* const own = values.find(name);
  const auto shared = words_.find(name);
  if (own == nullptr && shared == words_.end()) {
    const Part* const inner =
        values.part == nullptr ? nullptr : find_part(*values.part->file, name);
    if (inner == nullptr) {
      throw std::logic_error("a kernel's text has no $" + std::string(name));
    }
    return filled_text(inner->text, {values.own, inner});
  }
  const std::string text =
      filled_text(own != nullptr ? std::string(*own) : shared->second.text(), values);
  if (values.part != nullptr) values.part->check(name, text);
  return text;
}

bool Substitutions::holds(std::string_view name, const Values& values) const {
  const std::string text = value(name, values);
  if (text != "0" && text != "1") {
    throw std::logic_error("#if $" + std::string(name) + " of a kernel's text is '" + text + "'");
  }
  return text == "1";
}

std::string Substitutions::filled_line(std::string_view line, const Values& values) const {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view alone = name_alone(line.substr(first));
  if (!alone.empty()) {
    const std::string text = value(alone, values);
    if (text.empty() || text.ends_with('\n')) return text;
  }
  std::string out;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] != '$') {
      out += line[i++];
      continue;
    }
    const std::string_view name = line.substr(i + 1, name_length(line.substr(i + 1)));
    i += 1 + name.size();
    out += value(name, values);
  }
  return out;
}

std::string Substitutions::filled(std::string_view text, Replacements own) const {
  return filled_text(text, {own});
}

std::string Substitutions::filled(const Part& part, Replacements own) const {
  const Values values{own, &part};
  for (const auto& [name, text] : own) {
    if (!part.takes(name)) part.fail("has no parameter '" + std::string(name) + "'");
  }
  for (const Parameter& parameter : part.parameters) {
    if (parameter.type != "const" && values.find(parameter.name) == nullptr &&
        !words_.contains(parameter.name)) {
      part.fail("is not given '" + std::string(parameter.name) + "'");
    }
  }
  return filled_text(part.text, values);
}

std::string Substitutions::filled_text(std::string_view text, const Values& values) const {
  // Of each #if that the text is in: whether it asks for a $name, and whether its lines stay.
  struct Condition {
    bool own, stays;
  };
  std::vector<Condition> conditions;
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    const bool stays = conditions.empty() || conditions.back().stays;
    const bool in_own = !conditions.empty() && conditions.back().own;
    if (line.starts_with("#if $")) {
      conditions.push_back({true, stays && holds(name_alone(line.substr(4)), values)});
      continue;
    }
    if (in_own && line == "#else\n") {
      const bool around = conditions.size() == 1 || conditions[conditions.size() - 2].stays;
      conditions.back().stays = around && !stays;
      continue;
    }
    if (line.starts_with("#if")) conditions.push_back({false, stays});
    if (line.starts_with("#endif")) {
      if (conditions.empty()) throw std::logic_error("a kernel's text has an #endif too many");
      conditions.pop_back();
      if (in_own) continue;
    }
    if (stays) out += filled_line(line, values);
  }
  if (!conditions.empty()) throw std::logic_error("a kernel's text has an #if without an #endif");
  return out;
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

std::string indented(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string out;
  int depth = 0, round = 0;
  int hangs = 0;          // steps further in, of the rest of a statement
  bool in_macro = false;  // whose lines are left as they are
  const auto add = [&](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    const std::string_view code = line.substr(0, line.find("//"));
    const bool closes = code.starts_with('}');
    if (!line.empty()) {
      const int steps = depth - (closes ? 1 : 0) + (round > 0 ? 2 : hangs);
      out += std::string(static_cast<std::size_t>(2 * std::max(steps, 0)), ' ');
    }
    out += std::string(line) + "\n";
    bool in_text = false;
    for (const char c : code) {
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      round += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    if (code.find_first_not_of(' ') != code.npos) {
      const char last = code[code.find_last_not_of(' ')];
      const std::string_view word = code.substr(0, code.find_first_of(" ("));
      const bool heads = word == "if" || word == "for" || word == "while" || code == "else";
      hangs = last == ';' || last == '{' || last == '}' ? 0 : heads && round == 0 ? 1 : 2;
    }
  };
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(std::min(length + 1, text.size()));
    const std::string_view rest = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (in_macro || rest.starts_with('#')) {
      out += std::string(in_macro ? line : rest) + "\n";
      in_macro = line.ends_with('\\');
    } else if (line.size() > longest && is_list(line)) {
      std::string lines = formatted(line);
      for (std::size_t at = 0; at <= lines.size();) {
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        const std::string_view one = std::string_view(lines).substr(at, end - at);
        if (one.find_first_not_of(' ') != one.npos) add(one);
        at = end + 1;
      }
    } else {
      add(line);
    }
  }
  return out;
}

std::size_t comment_length(std::string_view text) {
  std::size_t length = 0;
  while (text.substr(length).starts_with("// ")) {
    length = std::min(text.find('\n', length), text.size() - 1) + 1;
  }
  return length;
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
