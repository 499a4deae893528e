// Takes kernel files apart.
#include "backends/jit/text/kernel_files.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
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

// The name and the parameters that stand behind a mark which begins a part, in one line or several.
std::string_view head_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  int depth = 0;
  for (std::size_t i = line.find('('); i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(0, i + 1);
  }
  return line;
}

std::string_view name_of_head(std::string_view head) { return head.substr(0, head.find('(')); }

constexpr std::string_view types[] = {"bool", "int",  "type", "name", "buffer",
                                      "expr", "list", "stmt", "const"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_of_type(std::string_view text, std::string_view type) {
  const auto all = [&](auto&& is_it) { return std::all_of(text.begin(), text.end(), is_it); };
  if (type == "bool") return text == "0" || text == "1";
  if (type == "int") {
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && all([](char c) { return c >= '0' && c <= '9'; });
  }
  if (type == "name") return all(is_word);
  if (type == "type") return !text.empty() && all([](char c) { return is_word(c) || c == ' '; });
  if (type == "list" || type == "stmt") return true;
  return !text.empty() && text.find(';') == text.npos;
}

// "TYPE NAME" or "TYPE NAME = SAMPLE", perhaps at the beginning of a line of a comment.
Parameter parameter_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n/"), text.size()));
  const std::size_t space = text.find(' '), equals = text.find(" =");
  if (std::find(std::begin(types), std::end(types), text.substr(0, space)) == std::end(types)) {
    throw std::logic_error("a kernel file has the parameter '" + std::string(text) + "'");
  }
  Parameter parameter{text.substr(0, space), text.substr(0, equals).substr(space + 1), {}};
  if (equals != text.npos) parameter.sample = trimmed(text.substr(equals + 2));
  return parameter;
}

std::vector<Parameter> parameters_of(std::string_view head) {
  std::vector<Parameter> parameters;
  const std::size_t open = head.find('(');
  if (open == head.npos) return parameters;
  std::string_view rest = head.substr(open + 1, head.size() - open - 2);
  while (!rest.empty()) {
    std::size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) {
      const std::string_view brackets = "([{)]}";
      const std::size_t which = brackets.find(rest[end]);
      if (which != brackets.npos) depth += which < 3 ? 1 : -1;
    }
    parameters.push_back(parameter_of(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return parameters;
}

// Calls `visit` with each line and the heads of the parts that it is in, the innermost last. A line
// that begins a part is in it, one that ends it is not.
void each_line(std::string_view text,
               const std::function<void(std::string_view line, bool begins,
                                        const std::vector<std::string_view>& heads)>& visit) {
  std::vector<std::string_view> heads;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end), rest = trimmed(line);
    if (rest.starts_with(begin_mark)) {
      if (rest.size() == line.size()) heads.clear();
      const std::size_t mark = line.size() - rest.size() + begin_mark.size();
      heads.push_back(head_of(text.substr(mark)));
      visit(line, true, heads);
      end = text.find('\n', mark + heads.back().size());
    } else if (rest == end_mark) {
      if (heads.empty()) throw std::logic_error("a kernel file ends a part that does not begin");
      heads.pop_back();
    } else {
      visit(line, false, heads);
    }
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
}

// The comment, and what stands between the braces of the kernel.
std::string without_signature(const std::string& text, std::size_t kernel) {
  const std::size_t open = text.find(" {\n", kernel), close = text.rfind("}\n");
  if (text.substr(0, open).ends_with("PARAMETERS)")) return "\n" + text;  // they are the program's
  return text.substr(0, kernel) + text.substr(open + 3, close - open - 3);
}

using Parts = std::map<std::string, Part, std::less<>>;

// All parts of a file.
Parts parts_in(const KernelFile& file) {
  Parts parts;
  std::vector<std::string> outermost;
  each_line(file.text, [&](std::string_view line, bool begins, const auto& heads) {
    if (heads.empty()) return;
    const std::string name(name_of_head(heads.back()));
    if (!begins) {
      parts[name].text += std::string(line) + "\n";
      return;
    }
    const std::string indent(line.size() - trimmed(line).size(), ' ');
    if (heads.size() > 1) {
      const std::string around(name_of_head(heads[heads.size() - 2]));
      parts[around].text += indent + "$" + name + "\n";
      parts[around].inner.push_back(name_of_head(heads.back()));
    }
    Part& part = parts[name];
    part.file = &file;
    part.name = name;
    part.parameters = parameters_of(heads.back());
    if (heads.size() == 1 && indent.empty()) outermost.push_back(name);
  });
  for (auto& [name, part] : parts) {
    while (part.text.ends_with("\n\n")) part.text.pop_back();
    // Parts of other parts that it has too.
    for (const auto& [other, unused] : parts) {
      if (part.text.find("$" + other + "\n") != std::string::npos && !part.parameter(other) &&
          std::ranges::find(part.inner, other) == part.inner.end()) {
        part.inner.push_back(other);
      }
    }
  }
  for (const std::string& name : outermost) {
    std::string& text = parts[name].text;
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
  if (is_new) place->second = parts_in(file);
  return place->second;
}

}  // namespace

const Parameter* Part::parameter(std::string_view wanted) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

bool Part::takes(std::string_view wanted) const {
  const Parameter* const own = parameter(wanted);
  return (own != nullptr && own->type != "const") ||
         std::any_of(inner.begin(), inner.end(), [&](std::string_view within) {
           return within == wanted || part(*file, within).takes(wanted);
         });
}

void Part::check(std::string_view wanted, std::string_view given) const {
  const Parameter* const found = parameter(wanted);
  if (found != nullptr && !is_of_type(given, found->type)) {
    fail("is given '" + std::string(given) + "' for '" + std::string(found->type) + " " +
         std::string(wanted) + "'");
  }
}

void Part::fail(const std::string& why) const {
  throw std::logic_error(std::string(file->name) + ": part '" + name + "' " + why);
}

const Part* find_part(const KernelFile& file, std::string_view name) {
  const Parts& parts = known_parts(file);
  const auto found = parts.find(name);
  return found == parts.end() ? nullptr : &found->second;
}

const Part& part(const KernelFile& file, std::string_view name) {
  const Part* const found = find_part(file, name);
  if (found == nullptr) {
    throw std::logic_error(std::string(file.name) + " has no part '" + std::string(name) + "'");
  }
  return *found;
}

std::string header(const KernelFile& file) {
  return std::string(file.text.substr(file.text.find("\n\n") + 1));
}

std::vector<std::string> parts_of(const KernelFile& file) {
  std::vector<std::string> names;
  each_line(file.text, [&](std::string_view, bool begins, const auto& parts) {
    if (begins) names.emplace_back(name_of_head(parts.back()));
  });
  return names;
}

}  // namespace impipe::jit
