#include "cli/warning_kinds.hpp"

#include "core/text.hpp"

namespace impipe::cli {
namespace {

constexpr std::string_view dots = "…", two_of_them = "…, …";
// What a damaged or hostile folder may bring; further kinds are one.
constexpr std::size_t most_kinds = 1000;

bool is_in_word(std::string_view text, std::size_t at) {
  return at > 0 && (is_name_char(text[at - 1]) || text[at - 1] == '-');
}

// The end of a name in quotes or parentheses that begins at `at`; npos where none does. Names may
// hold anything, so that the last quote closes.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  if (text[at] == '(') return text.rfind(')');
  if (text[at] != '\'' || is_in_word(text, at)) return text.npos;
  return text.rfind('\'');
}

}  // namespace

std::string kind_of(std::string_view warning) {
  std::string kind;
  for (std::size_t at = 0; at < warning.size();) {
    const std::size_t end = end_of_name(warning, at);
    const std::size_t sign = warning[at] == '-' ? 1 : 0;
    const std::size_t digits =
        is_in_word(warning, at) ? 0 : number_length(warning.substr(at + sign));
    if (end != warning.npos && end > at) {
      kind.append(1, warning[at]).append(dots).append(1, warning[end]);
      at = end + 1;
    } else if (digits > 0) {
      kind += dots;
      if (kind.ends_with(two_of_them)) kind.resize(kind.size() - two_of_them.size() + dots.size());
      at += sign + digits;
    } else {
      kind += warning[at++];
    }
  }
  return kind;
}

bool WarningKinds::add(std::string_view warning, std::int64_t file) {
  std::string kind = kind_of(warning);
  if (files_.size() >= most_kinds && !files_.contains(kind)) kind = "other warnings";
  const auto [last, is_new] = last_.try_emplace(kind, file);
  if (is_new || last->second != file) ++files_[kind];
  last->second = file;
  return is_new;
}

}  // namespace impipe::cli
