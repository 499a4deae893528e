// Texts that differ in the names of nodes and inputs alone.
#include "backends/jit/text/renaming.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace impipe::jit {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether a part of a name is a node or an input: `n12`, `in0`.
bool is_numbered(std::string_view part) {
  const std::size_t letters = part.starts_with("in") ? 2 : part.starts_with("n") ? 1 : 0;
  return letters > 0 && part.size() > letters &&
         std::all_of(part.begin() + static_cast<std::ptrdiff_t>(letters), part.end(), is_digit);
}

// The name with each such part as `#`; the same text where it has none.
std::string without_numbers(std::string_view name) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(name.find('_'), name.size());
    const std::string_view part = name.substr(0, end);
    out += is_numbered(part) ? "#" : part;
    if (end == name.size()) return out;
    out += '_';
    name.remove_prefix(end + 1);
  }
}

}  // namespace

std::string Renaming::of(std::string_view name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? std::string(name) : known->second;
}

bool Renaming::match_names(std::string_view from, std::string_view to) {
  const auto known = names_.find(from);
  if (known != names_.end()) return known->second == to;
  const std::string plain = without_numbers(from);
  if (plain == from) return from == to;
  if (plain != without_numbers(to) || back_.contains(to)) return false;
  names_.emplace(from, to);
  back_.emplace(to, from);
  return true;
}

bool Renaming::match(std::string_view from, std::string_view to) {
  while (!from.empty() && !to.empty()) {
    const std::size_t a = name_length(from), b = name_length(to);
    if (a == 0 || b == 0) {
      if (from[0] != to[0]) return false;
      from.remove_prefix(1);
      to.remove_prefix(1);
      continue;
    }
    if (!match_names(from.substr(0, a), to.substr(0, b))) return false;
    from.remove_prefix(a);
    to.remove_prefix(b);
  }
  return from.empty() && to.empty();
}

}  // namespace impipe::jit
