// Takes kernel files apart.
#include "backends/jit/text/kernel_files.hpp"

#include <functional>
#include <map>
#include <mutex>
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

using Parts = std::map<std::string, std::string, std::less<>>;

// All parts of a file.
Parts parts_in(std::string_view file) {
  Parts parts;
  std::vector<std::string> outermost;
  each_line(file, [&](std::string_view line, bool begins, const auto& open) {
    if (open.empty()) return;
    if (begins) {
      const std::string indent(line.size() - trimmed(line).size(), ' ');
      if (open.size() > 1) {
        parts[std::string(open[open.size() - 2])] += indent + "$" + std::string(open.back()) + "\n";
      }
      parts[std::string(open.back())];
      if (open.size() == 1 && indent.empty()) outermost.emplace_back(open.back());
    } else {
      parts[std::string(open.back())] += std::string(line) + "\n";
    }
  });
  for (auto& [name, text] : parts) {
    while (text.ends_with("\n\n")) text.pop_back();
  }
  for (const std::string& name : outermost) {
    std::string& text = parts[name];
    const std::size_t kernel = text.starts_with("KERNEL(") ? 0 : text.find("\nKERNEL(") + 1;
    text =
        kernel != 0 || text.starts_with("KERNEL(") ? without_signature(text, kernel) : "\n" + text;
  }
  return parts;
}

// Each file is taken apart once.
const Parts& known_parts(const KernelFile& file) {
  static std::mutex mutex;
  static std::map<const char*, Parts> known;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(file.text.data());
  if (is_new) place->second = parts_in(file.text);
  return place->second;
}

}  // namespace

std::string part(const KernelFile& file, std::string_view name) {
  const Parts& parts = known_parts(file);
  const auto found = parts.find(name);
  if (found == parts.end()) {
    throw std::logic_error(std::string(file.name) + " has no part '" + std::string(name) + "'");
  }
  return found->second;
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
