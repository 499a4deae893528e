// Lists of definitions in kernel text, of which a program has those that it uses.
#include "backends/jit/text/dialect.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "core/text.hpp"

namespace impipe::jit {
namespace {

// The first line of the text, with its end; it is taken off.
std::string_view take_line(std::string_view& text) {
  const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(length);
  return line;
}

// The names in a text, but for those in comments.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    line = line.substr(0, line.find("//"));
    while (!line.empty()) {
      const std::size_t length = name_length(line);
      if (length > 0) words.emplace_back(line.substr(0, length));
      // Of a number like 0u the letter is none.
      std::size_t next = std::max<std::size_t>(length, 1);
      while (length == 0 && std::isdigit(static_cast<unsigned char>(line[0])) != 0 &&
             next < line.size() && std::isalnum(static_cast<unsigned char>(line[next])) != 0) {
        ++next;
      }
      line.remove_prefix(next);
    }
  }
  return words;
}

// What the definition that begins with this line defines.
std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  if (text.starts_with("#if")) {
    for (std::size_t at; (at = text.find("#define ")) != text.npos;) {
      text.remove_prefix(at + 8);
      names.emplace_back(text.substr(0, name_length(text)));
    }
    return names;
  }
  const std::vector<std::string> words = words_in(text.substr(0, text.find_first_of("({\n")));
  if (text.starts_with("#define ")) return {words.at(1)};
  if (text.starts_with("struct ")) return {words.at(1)};
  // A macro that writes a function is told its name.
  if (words.size() == 1) return {words_in(text).at(1)};
  return {words.back()};
}

// Whether the lines so far are all of a definition.
bool complete(std::string_view text) {
  if (text.starts_with("#if")) {
    const auto count = [&](std::string_view word) {
      int found = 0;
      for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
      return found;
    };
    return count("\n#if") + 1 == count("\n#endif");
  }
  if (text.starts_with('#')) return !text.ends_with("\\\n");
  const auto opened = [&](char open, char close) {
    return std::count(text.begin(), text.end(), open) !=
           std::count(text.begin(), text.end(), close);
  };
  return !opened('(', ')') && !opened('{', '}') && !text.ends_with(",\n");
}

}  // namespace

std::vector<Definition> definitions_in(std::string_view text) {
  std::vector<Definition> out;
  std::string before;  // its comment, and the macros that are taken back for it
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line == "\n" || line.starts_with("//") || line.starts_with("#undef ") ||
        line.starts_with("#define REAL ")) {
      before += line == "\n" ? "" : line;
      continue;
    }
    std::string own(line);
    while (!complete(own) && !text.empty()) own += take_line(text);
    const bool stays = own.starts_with("#pragma");
    out.push_back(
        {before + own, stays ? std::vector<std::string>() : names_of(own), words_in(own)});
    before.clear();
  }
  return out;
}

std::string used_of(const std::vector<Definition>& definitions, std::string_view program) {
  std::set<std::string> known;
  std::vector<std::string> open = words_in(program);
  std::vector<bool> used(definitions.size());
  const auto is_word = [](const std::string& word, const std::string& name) {
    // What is put before a type: WORD(min_).
    return word == name || (word.ends_with('_') && name.starts_with(word));
  };
  while (!open.empty()) {
    const std::string word = open.back();
    open.pop_back();
    if (!known.insert(word).second) continue;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      const Definition& d = definitions[i];
      if (used[i] || std::none_of(d.names.begin(), d.names.end(),
                                  [&](const std::string& name) { return is_word(word, name); })) {
        continue;
      }
      used[i] = true;
      open.insert(open.end(), d.words.begin(), d.words.end());
    }
  }
  std::string text;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (used[i] || definitions[i].names.empty()) text += definitions[i].text;
  }
  return text;
}

}  // namespace impipe::jit
