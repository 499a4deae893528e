// Takes kernel text apart: what a preprocessor of C does, as far as kernel texts need it.
#include "backends/jit/text/tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

namespace impipe::jit {
namespace {

using Tokens = std::vector<Token>;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Characters of the number, the name, the string or the operator that the text begins with.
std::size_t token_length(std::string_view text) {
  const auto length_of = [&](auto&& belongs) {
    std::size_t length = 1;
    while (length < text.size() && belongs(text[length - 1], text[length])) ++length;
    return length;
  };
  if (is_letter(text[0])) {
    return length_of([](char, char c) { return is_letter(c) || is_decimal(c); });
  }
  if (is_decimal(text[0]) || (text[0] == '.' && text.size() > 1 && is_decimal(text[1]))) {
    const bool hexadecimal = text.starts_with("0x");
    return length_of([&](char before, char c) {
      const std::string_view exponents = hexadecimal ? "pP" : "eE";
      const bool is_sign = (c == '+' || c == '-') && exponents.find(before) != exponents.npos;
      return is_letter(c) || is_decimal(c) || c == '.' || is_sign;
    });
  }
  if (text[0] == '"') return text.find('"', 1) + 1;
  static constexpr std::array<std::string_view, 23> operators = {
      "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
      "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", "..."};
  for (const std::string_view known : operators) {
    if (text.starts_with(known)) return known.size();
  }
  return 1;
}

class Preprocessor {
 public:
  explicit Preprocessor(std::string_view text) : rest_(text) {}

  Tokens run() {
    while (!rest_.empty()) {
      const std::string line = logical_line();
      const std::size_t first = line.find_first_not_of(" \t");
      if (first == line.npos) continue;
      if (line[first] == '#') {
        flush();
        directive(tokens_in(std::string_view(line).substr(first + 1)), line);
      } else if (skipped_ == 0) {
        for (Token& token : tokens_in(line)) pending_.push_back(std::move(token));
      }
    }
    flush();
    return std::move(out_);
  }

 private:
  struct Macro {
    bool has_parameters = false;
    std::vector<std::string> parameters;
    Tokens body;
  };

  [[noreturn]] void fail(const std::string& why) const {
    throw std::logic_error("line " + std::to_string(line_) + ": " + why);
  }

  // A line with those that a backslash continues.
  std::string logical_line() {
    std::string line;
    for (bool goes_on = true; goes_on && !rest_.empty(); ++next_line_) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      goes_on = end > 0 && rest_[end - 1] == '\\';
      line += rest_.substr(0, goes_on ? end - 1 : end);
      if (line.empty() || !goes_on) line_ = next_line_;
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    return line;
  }

  Tokens tokens_in(std::string_view text) const {
    Tokens tokens;
    while (!text.empty() && !text.starts_with("//")) {
      const std::size_t length = text[0] == ' ' || text[0] == '\t' ? 0 : token_length(text);
      if (length > 0) tokens.push_back({std::string(text.substr(0, length)), line_});
      text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return tokens;
  }

  void directive(const Tokens& words, const std::string& line) {
    const std::string name = words.empty() ? "" : words[0].text;
    if (name == "endif") {
      skipped_ -= skipped_ > 0 ? 1 : 0;
    } else if (name == "else") {
      if (skipped_ <= 1) skipped_ = 1 - skipped_;
    } else if (name == "if" || name == "ifdef" || name == "ifndef") {
      if (skipped_ > 0 || !holds(words)) ++skipped_;
    } else if (skipped_ > 0) {
      return;
    } else if (name == "define") {
      define(words, line);
    } else if (name == "undef") {
      macros_.erase(words.at(1).text);
    } else if (name == "pragma") {
      out_.push_back({line, line_});
    } else {
      fail("kernel text has no directive '" + line + "'");
    }
  }

  bool holds(const Tokens& words) const {
    if (words[0].text != "if") {
      return (macros_.count(words.at(1).text) != 0) == (words[0].text == "ifdef");
    }
    bool value = true;
    for (const Token& word : words) {
      if (word.text == "!") value = !value;
      if (word.text == "0") value = !value;
      if (&word != &words[0] && word.text != "!" && word.text != "0" && word.text != "1") {
        fail("'#if' asks for '" + word.text + "'");
      }
    }
    return value;
  }

  void define(const Tokens& words, const std::string& line) {
    Macro macro;
    const std::string& name = words.at(1).text;
    std::size_t at = 2;
    const std::size_t behind = line.find(name, line.find("define") + 6) + name.size();
    if (behind < line.size() && line[behind] == '(') {
      macro.has_parameters = true;
      for (at = 3; words.at(at).text != ")"; ++at) {
        if (words[at].text != ",") macro.parameters.push_back(words[at].text);
      }
      ++at;
    }
    macro.body.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    macros_[name] = macro;
  }

  void flush() {
    for (Token& token : expanded(pending_, {})) out_.push_back(std::move(token));
    pending_.clear();
  }

  // active: macros whose bodies these are, which stay as they are.
  Tokens expanded(const Tokens& tokens, const std::set<std::string>& active) const {
    Tokens out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto found = macros_.find(tokens[i].text);
      const bool called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
      if (found == macros_.end() || active.count(found->first) != 0 ||
          (found->second.has_parameters && !called)) {
        out.push_back(tokens[i]);
        continue;
      }
      const int line = tokens[i].line;
      const std::vector<Tokens> arguments =
          found->second.has_parameters ? arguments_at(tokens, ++i) : std::vector<Tokens>();
      std::set<std::string> inside = active;
      inside.insert(found->first);
      for (Token& token : expanded(substituted(found->second, arguments, active), inside)) {
        out.push_back({std::move(token.text), line});
      }
    }
    return out;
  }

  // at: of the opening parenthesis, then of the closing one.
  std::vector<Tokens> arguments_at(const Tokens& tokens, std::size_t& at) const {
    std::vector<Tokens> arguments(1);
    int depth = 0;
    for (; at < tokens.size(); ++at) {
      const std::string& text = tokens[at].text;
      if (text == ")" && --depth == 0) return arguments;
      if (text == "," && depth == 1) {
        arguments.emplace_back();
      } else if (depth > 0) {
        arguments.back().push_back(tokens[at]);
      }
      if (text == "(") ++depth;
    }
    fail("a macro's call does not end");
  }

  Tokens substituted(const Macro& macro, const std::vector<Tokens>& arguments,
                     const std::set<std::string>& active) const {
    if (macro.has_parameters && arguments.size() < macro.parameters.size()) {
      fail("a macro has " + std::to_string(macro.parameters.size()) + " parameters");
    }
    Tokens out;
    const auto pastes = [&](std::size_t k) {
      return k < macro.body.size() && macro.body[k].text == "##";
    };
    for (std::size_t k = 0; k < macro.body.size(); ++k) {
      if (pastes(k)) continue;
      const bool pasted = k > 0 && pastes(k - 1);
      Tokens words = {macro.body[k]};
      for (std::size_t p = 0; p < macro.parameters.size(); ++p) {
        if (macro.parameters[p] != macro.body[k].text) continue;
        words = pasted || pastes(k + 1) ? arguments[p] : expanded(arguments[p], active);
      }
      if (pasted && !words.empty() && !out.empty()) {
        out.back().text += words.front().text;
        words.erase(words.begin());
      }
      out.insert(out.end(), words.begin(), words.end());
    }
    return out;
  }

  std::string_view rest_;
  int line_ = 1, next_line_ = 1;
  int skipped_ = 0;  // conditions around that don't hold
  std::map<std::string, Macro> macros_;
  Tokens pending_;  // since the last directive: a macro's call may have several lines
  Tokens out_;
};

}  // namespace

bool is_name(const Token& token) { return is_letter(token.text[0]); }

Tokens preprocessed(std::string_view text) { return Preprocessor(text).run(); }

}  // namespace impipe::jit
