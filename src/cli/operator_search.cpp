// Looks for words in what the catalogue says of each operator.
#include "cli/operator_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/hints.hpp"

namespace impipe::cli {
namespace {

// As words are compared: in small letters, and in one spelling.
std::string normalised(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> spellings = {
      {{"color", "colour"}, {"grey", "gray"}, {"center", "centre"}}};
  std::string out(text);
  for (char& c : out) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [from, to] : spellings) {
    for (std::size_t at = 0; (at = out.find(from, at)) != out.npos; at += to.size()) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

// Whether a hint, "`imgaussfilt 2 | edge` …", has the operator in a pipeline.
bool names(std::string_view hint, std::string_view op) {
  bool quoted = false;
  for (std::size_t begin = 0; begin < hint.size();) {
    const std::size_t end = std::min(hint.find_first_of("` |", begin), hint.size());
    if (quoted && hint.substr(begin, end - begin) == op) return true;
    if (end < hint.size() && hint[end] == '`') quoted = !quoted;
    begin = end + 1;
  }
  return false;
}

std::string details_of(const Operator& op) {
  std::string text;
  const auto add = [&](std::string_view part) { text += std::string(part) + "\n"; };
  for (const std::string_view part : {op.category, op.details, op.matlab}) add(part);
  for (const Parameter& p : op.parameters) {
    add(p.name);
    add(p.help);
    for (const std::string_view word : p.words) add(word);
  }
  return text;
}

}  // namespace

FoundOperators search_operators(std::span<const std::string> words) {
  std::string phrase;
  for (const std::string& word : words) phrase += (phrase.empty() ? "" : " ") + word;
  const std::string hint = pipeline::hint_for(phrase);
  FoundOperators found, by_details, some;
  std::size_t most = 1;  // of `some`: a word in name and help counts twice
  for (const Operator& op : catalogue()) {
    const std::string head = normalised(std::string(op.name) + "\n" + std::string(op.help));
    const std::string details = normalised(details_of(op));
    const auto in = [](const std::string& text, const std::string& word) {
      return text.find(normalised(word)) != text.npos;
    };
    std::size_t in_head = 0, in_any = 0;
    for (const std::string& word : words) {
      const bool is_in_head = in(head, word) || names(pipeline::hint_for(word), op.name);
      in_head += is_in_head ? 1 : 0;
      in_any += is_in_head || in(details, word) ? 1 : 0;
    }
    if (in_head == words.size() || names(hint, op.name)) found.operators.push_back(&op);
    if (in_any == words.size()) by_details.operators.push_back(&op);
    if (in_head + in_any > most) some.operators.clear();
    most = std::max(most, in_head + in_any);
    if (in_head + in_any == most) some.operators.push_back(&op);
  }
  some.has_all = false;
  if (!found.operators.empty()) return found;
  return by_details.operators.empty() ? some : by_details;
}

}  // namespace impipe::cli
