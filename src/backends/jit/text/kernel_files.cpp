// Takes kernel files apart.
#include "backends/jit/text/kernel_files.hpp"

#include <functional>
#include <stdexcept>

namespace impipe::jit {
namespace {

constexpr std::string_view begin_mark = "// -- part: ", end_mark = "// -- end";

std::string_view trimmed(std::string_view line) {
  const std::size_t from = line.find_first_not_of(' ');
  return from == line.npos ? std::string_view() : line.substr(from);
}

// Whether the line says what a name with a $ in it is where the file is compiled alone.
bool only_alone(std::string_view line) {
  for (const std::string_view word : {"#define ", "#undef "}) {
    if (!line.starts_with(word)) continue;
    line.remove_prefix(word.size());
    return line.substr(0, line.find_first_of(" (")).find('$') != line.npos;
  }
  return false;
}

// Calls `visit` with each line and the parts that it is in, the innermost last. A line that begins
// a part is in it, one that ends it is not.
void each_line(std::string_view text,
               const std::function<void(std::string_view line, bool begins,
                                        const std::vector<std::string_view>& parts)>& visit) {
  std::vector<std::string_view> parts;
  bool continued = false;  // the last line was of no part, and goes on in this one
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end), rest = trimmed(line);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (continued || only_alone(line)) {
      continued = line.ends_with('\\');
    } else if (rest.starts_with(begin_mark)) {
      if (rest.size() == line.size()) parts.clear();
      parts.push_back(rest.substr(begin_mark.size()));
      visit(line, true, parts);
    } else if (rest == end_mark) {
      if (parts.empty()) throw std::logic_error("a kernel file ends a part that does not begin");
      parts.pop_back();
    } else {
      visit(line, false, parts);
    }
  }
}

// The comment, and what stands between the braces of the kernel.
std::string without_signature(const std::string& text, std::size_t kernel) {
  const std::size_t open = text.find(" {\n", kernel), close = text.rfind("}\n");
  if (text.substr(0, open).ends_with("PARAMETERS)")) return "\n" + text;  // they are the program's
  return text.substr(0, kernel) + text.substr(open + 3, close - open - 3);
}

}  // namespace

std::string part(const KernelFile& file, std::string_view name) {
  std::string text;
  bool found = false, outermost = false;
  each_line(file.text, [&](std::string_view line, bool begins, const auto& parts) {
    const bool own = !parts.empty() && parts.back() == name;
    if (begins && own) {
      found = true;
      outermost = parts.size() == 1 && line.starts_with(begin_mark);
    } else if (begins && parts.size() > 1 && parts[parts.size() - 2] == name) {
      text += std::string(line.size() - trimmed(line).size(), ' ') + "$" +
              std::string(parts.back()) + "\n";
    } else if (own && !begins) {
      text += std::string(line) + "\n";
    }
  });
  if (!found) {
    throw std::logic_error(std::string(file.name) + " has no part '" + std::string(name) + "'");
  }
  while (text.ends_with("\n\n")) text.pop_back();
  if (!outermost) return text;
  const std::size_t kernel = text.starts_with("KERNEL(") ? 0 : text.find("\nKERNEL(") + 1;
  return kernel != 0 || text.starts_with("KERNEL(") ? without_signature(text, kernel) : "\n" + text;
}

std::string header(const KernelFile& file) {
  return std::string(file.text.substr(file.text.find("\n\n") + 1));
}

std::vector<std::string> parts_of(const KernelFile& file) {
  std::vector<std::string> names;
  each_line(file.text, [&](std::string_view, bool begins, const auto& parts) {
    if (begins) names.emplace_back(parts.back());
  });
  return names;
}

}  // namespace impipe::jit
