// Translates the C of kernel texts, as far as it computes in double.
#include "backends/jit/text/without_doubles.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/tokens.hpp"

namespace impipe::jit {
namespace {

// name: "double", "struct Buffers", or nothing where it does not matter: not a double for sure.
struct Type {
  std::string name;
  int depth = 0;  // levels of pointers and arrays
  bool is_double() const { return depth == 0 && name == "double"; }
};

struct Value {
  std::string text;
  Type type;
  std::optional<double> number;  // of a literal
};

struct Function {
  Type result;
  std::vector<Type> parameters;
};

struct Declarator {
  std::string name, text;
  Type type;
  bool is_function = false;
  std::vector<std::pair<std::string, Type>> parameters;
};

using Members = std::vector<std::pair<std::string, Type>>;

template <std::size_t n>
bool one_of(std::string_view text, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

constexpr std::string_view qualifiers[] = {"const",   "volatile",  "restrict",  "static",
                                           "inline",  "typedef",   "__kernel",  "__global",
                                           "__local", "__private", "__constant"};
constexpr std::string_view scalars[] = {"char",   "uchar", "short", "ushort", "int",
                                        "uint",   "long",  "ulong", "float",  "double",
                                        "size_t", "bool",  "void",  "signed", "unsigned"};
// Functions of OpenCL, of doubles to a double.
constexpr std::string_view functions[] = {"ceil", "fabs", "floor", "fma",  "fmax",
                                          "fmin", "rint", "sqrt",  "trunc"};

std::string_view without_digits(std::string_view name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) {
    name.remove_suffix(1);
  }
  return name;
}

bool is_floating(std::string_view number) {
  const bool hexadecimal = number.starts_with("0x");
  return number.find_first_of(hexadecimal ? ".pP" : ".eE") != number.npos;
}

bool is_double_literal(std::string_view number) {
  return (number[0] == '.' || std::isdigit(static_cast<unsigned char>(number[0])) != 0) &&
         is_floating(number) && number.back() != 'f';
}

std::string bits_of(double number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llxul",
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number)));
  return text;
}

Value literal(double number) {
  return {"binary64_of(" + bits_of(number) + ")", {"double"}, number};
}

class Translator {
 public:
  explicit Translator(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    tokens_.push_back({"", tokens_.empty() ? 1 : tokens_.back().line});
  }

  std::string run() {
    while (!now().empty()) {
      if (now()[0] == '#') {
        pragma();
      } else if (!take(";")) {
        declaration();
      }
    }
    return std::move(out_);
  }

 private:
  using Scope = std::map<std::string, Type, std::less<>>;

  // -- tokens

  const std::string& now() const { return tokens_[at_].text; }
  const std::string& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)].text; }
  bool take(std::string_view text) {
    if (now() != text) return false;
    ++at_;
    return true;
  }
  std::string taken() {
    if (now().empty()) fail("it ends too early");
    return tokens_[at_++].text;
  }
  void need(std::string_view text) {
    if (!take(text)) fail("there is no '" + std::string(text) + "'");
  }
  std::string name() {
    if (now().empty() || !is_name(tokens_[at_])) fail("there is no name");
    return taken();
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::logic_error("kernel text, line " + std::to_string(tokens_[at_].line) + " at '" +
                           now() + "': " + why);
  }
  void line(const std::string& text) {
    out_ += std::string(static_cast<std::size_t>(2 * indent_), ' ') + text + "\n";
  }
  void pragma() {
    if (now().find("OPENCL") == std::string::npos) out_ += now() + "\n";  // the prelude has those
    ++at_;
  }

  // -- types

  const Type* find(std::string_view wanted, const std::vector<Scope>& scopes) const {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
      if (const auto found = scope->find(wanted); found != scope->end()) return &found->second;
    }
    return nullptr;
  }

  bool begins_type(std::string_view word) const {
    if (word.empty()) return false;
    return one_of(word, qualifiers) || word == "struct" || word == "__attribute__" ||
           one_of(without_digits(word), scalars) || find(word, types_) != nullptr;
  }

  std::string in_parentheses() {
    std::string text;
    int depth = 0;
    do {
      const std::string word = taken();
      depth += word == "(" ? 1 : word == ")" ? -1 : 0;
      text += (text.empty() || text.back() == '(' ? "" : " ") + word;
    } while (depth > 0);
    return text;
  }

  // What a declaration begins with, its spelling behind `text`.
  Type specifiers(std::string& text) {
    Type type;
    const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
    while (begins_type(now())) {
      const std::string word = taken();
      if (word == "__attribute__") {
        add(word + in_parentheses());
      } else if (word == "struct") {
        type.name = "struct " + name();
        add(type.name);
        if (take("{")) text += members(type.name);
      } else if (word == "double" || word == "double2") {
        type.name = word;
        add(word == "double" ? "binary64" : "binary64_pair");
      } else {
        if (one_of(without_digits(word), scalars)) {
          type.name = type.name == "unsigned" ? "u" + word : word;
        } else if (const Type* known = find(word, types_)) {
          type = *known;
        }
        add(word);
      }
    }
    return type;
  }

  // Stars, and their qualifiers.
  std::string pointers(Type& type) {
    std::string text;
    while (now() == "*" || one_of(now(), qualifiers)) {
      type.depth += now() == "*" ? 1 : 0;
      text += now() == "*" ? "*" : " " + now();
      ++at_;
    }
    return text;
  }

  Type type_name(std::string& text) {
    Type type = specifiers(text);
    text += pointers(type);
    return type;
  }

  std::string members(const std::string& of) {
    std::string text = " {";
    Members& all = members_[of];
    while (!take("}")) {
      std::string base_text;
      const Type base = specifiers(base_text);
      do {
        const Declarator member = declarator(base);
        all.emplace_back(member.name, member.type);
        text += "\n  " + base_text + member.text + ";";
      } while (take(","));
      need(";");
    }
    return text + "\n}";
  }

  Declarator declarator(Type type) {
    Declarator made;
    made.text = pointers(type) + " ";
    made.name = name();
    made.text += made.name;
    if (take("(")) {
      made.is_function = true;
      made.text += "(" + parameters(made.parameters) + ")";
    }
    while (take("[")) {
      ++type.depth;
      made.text += "[" + (now() == "]" ? "" : assignment().text) + "]";
      need("]");
    }
    made.type = type;
    return made;
  }

  std::string parameters(Members& out) {
    std::string text;
    while (!take(")")) {
      if (now() == "void" && next() == ")") {
        text += taken();
        continue;
      }
      std::string own;
      const Type base = specifiers(own);
      const Declarator parameter = declarator(base);
      out.emplace_back(parameter.name, parameter.type);
      text += (text.empty() ? "" : ", ") + own + parameter.text;
      if (now() != ")") need(",");
    }
    return text;
  }

  // -- declarations

  void declaration() {
    std::string base_text;
    const bool is_type = now() == "typedef";
    if (!begins_type(now())) fail("there is no declaration");
    const Type base = specifiers(base_text);
    if (take(";")) return line(base_text + ";");
    std::string text = base_text;
    for (bool first = true; first || take(","); first = false) {
      const Declarator made = declarator(base);
      if (made.is_function) return function(base_text, made);
      (is_type ? types_ : scopes_).back()[made.name] = made.type;
      text += (first ? "" : ",") + made.text;
      if (take("=")) text += " = " + initializer(made.type);
    }
    need(";");
    line(text + ";");
  }

  void function(const std::string& base_text, const Declarator& made) {
    Function& known = functions_[made.name];
    known = {made.type, {}};
    for (const auto& [parameter, type] : made.parameters) known.parameters.push_back(type);
    if (take(";")) return line(base_text + made.text + ";");
    line(base_text + made.text + " {");
    enter();
    for (const auto& [parameter, type] : made.parameters) scopes_.back()[parameter] = type;
    result_ = made.type;
    need("{");
    block();
    leave();
    line("}");
  }

  std::string initializer(const Type& type) {
    if (!take("{")) return converted(assignment(), type);
    const auto known = members_.find(type.name);
    std::string text = "{";
    for (std::size_t k = 0; !take("}"); ++k) {
      Type own{type.name, type.depth - 1};
      if (type.depth == 0) {
        own =
            known != members_.end() && k < known->second.size() ? known->second[k].second : Type();
      }
      text += k > 0 ? ", " : "";
      if (now() == "{") {
        text += initializer(own);
      } else {
        const Value value = assignment();
        // A constant expression, which a call is not.
        text += own.is_double() && value.number ? "{" + bits_of(*value.number) + "}"
                                                : converted(value, own);
      }
      if (now() != "}") need(",");
    }
    return text + "}";
  }

  // -- statements

  void enter() {
    scopes_.emplace_back();
    types_.emplace_back();
    ++indent_;
  }
  void leave() {
    scopes_.pop_back();
    types_.pop_back();
    --indent_;
  }

  void block() {
    while (!take("}")) statement();
  }

  // A statement that another one governs.
  void inner() {
    enter();
    statement();
    leave();
  }

  void statement() {
    if (now().empty()) fail("a block does not end");
    if (now()[0] == '#') return pragma();
    if (take("_Pragma")) return line("_Pragma" + in_parentheses());
    if (take("{")) {
      line("{");
      enter();
      block();
      leave();
      return line("}");
    }
    if (take(";")) return line(";");
    if (begins_type(now())) return declaration();
    if (now() == "if" || now() == "while" || now() == "switch") return governed();
    if (take("for")) return for_loop();
    if (take("do")) return do_loop();
    if (take("else")) {
      line("else");
      return inner();
    }
    if (now() == "case" || now() == "default") {
      const std::string word = taken();
      line(word == "case" ? "case " + conditional().text + ":" : word + ":");
      return need(":");
    }
    std::string text = now() == "break" || now() == "continue" ? taken() : "";
    if (take("return")) {
      text = now() == ";" ? "return" : "return " + converted(comma(), result_);
    } else if (text.empty()) {
      text = comma().text;
    }
    need(";");
    line(text + ";");
  }

  void governed() {
    const std::string word = taken();
    need("(");
    line(word + " (" + truth(comma()) + ")");
    need(")");
    inner();
  }

  void for_loop() {
    need("(");
    enter();
    const std::size_t before = out_.size();
    statement();
    std::string head = out_.substr(before);
    out_.resize(before);
    head = head.substr(head.find_first_not_of(' '));
    head.pop_back();
    const std::string condition = now() == ";" ? "" : truth(comma());
    need(";");
    const std::string step = now() == ")" ? "" : comma().text;
    need(")");
    --indent_;
    line("for (" + head + " " + condition + "; " + step + ")");
    ++indent_;
    statement();
    leave();
  }

  void do_loop() {
    line("do");
    inner();
    need("while");
    need("(");
    line("while (" + truth(comma()) + ");");
    need(")");
    need(";");
  }

  // -- conversions

  std::string converted(const Value& value, const Type& to) const {
    if (to.is_double()) {
      if (value.type.is_double()) return value.text;
      if (value.type.depth > 0) fail("a pointer becomes a double");
      return value.number ? literal(*value.number).text : "binary64_from(" + value.text + ")";
    }
    if (!value.type.is_double()) return value.text;
    static constexpr std::string_view directly[] = {"int", "uint", "long", "ulong", "float"};
    static constexpr std::string_view small[] = {"char", "uchar", "short", "ushort"};
    if (to.depth == 0 && one_of(to.name, directly)) {
      return "binary64_to_" + to.name + "(" + value.text + ")";
    }
    if (to.depth == 0 && one_of(to.name, small)) {
      return "(" + to.name + ")binary64_to_int(" + value.text + ")";
    }
    if (to.depth == 0 && to.name == "bool") return truth(value);
    fail("a double becomes '" + to.name + "'");
  }

  static std::string truth(const Value& value) {
    return value.type.is_double() ? "binary64_is_true(" + value.text + ")" : value.text;
  }

  // -- expressions

  Value comma() {
    Value value = assignment();
    while (take(",")) {
      const Value last = assignment();
      value = {value.text + ", " + last.text, last.type, {}};
    }
    return value;
  }

  Value assignment() {
    static constexpr std::string_view operators[] = {
        "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
    const int before = effects_;
    const Value left = conditional();
    if (!one_of(now(), operators)) return left;
    const std::string word = taken();
    const bool twice = word != "=" && effects_ != before;
    const Value right = assignment();
    ++effects_;
    if (word == "=") {
      return {left.text + " = " + converted(right, left.type), left.type, {}};
    }
    if (!left.type.is_double() && !right.type.is_double()) {
      return {left.text + " " + word + " " + right.text, left.type, {}};
    }
    if (twice) fail("what is assigned to changes something");
    const Value made = operation(word.substr(0, word.size() - 1), left, right);
    return {left.text + " = " + converted(made, left.type), left.type, {}};
  }

  Value conditional() {
    const Value asked = binary(1);
    if (!take("?")) return asked;
    const Value yes = comma();
    need(":");
    const Value no = conditional();
    Type type = yes.type.depth > 0 ? yes.type : no.type;
    if (yes.type.is_double() || no.type.is_double()) type = {"double"};
    return {truth(asked) + " ? " + converted(yes, type) + " : " + converted(no, type), type, {}};
  }

  static int precedence(std::string_view word) {
    static constexpr std::string_view levels[] = {"||",    "&&",        "|",     "^",   "&",
                                                  "== !=", "< > <= >=", "<< >>", "+ -", "* / %"};
    for (int level = 1; level <= 10; ++level) {
      const std::string known = " " + std::string(levels[level - 1]) + " ";
      if (known.find(" " + std::string(word) + " ") != known.npos) return level;
    }
    return 0;
  }

  Value binary(int least) {
    Value left = unary();
    for (int level; (level = precedence(now())) >= least;) {
      const std::string word = taken();
      left = operation(word, left, binary(level + 1));
    }
    return left;
  }

  Value operation(const std::string& word, const Value& left, const Value& right) const {
    static constexpr std::pair<std::string_view, std::string_view> named[] = {
        {"+", "add"},    {"-", "subtract"},  {"*", "multiply"},    {"/", "divide"},
        {"<", "less"},   {">", "greater"},   {"<=", "less_equal"}, {">=", "greater_equal"},
        {"==", "equal"}, {"!=", "not_equal"}};
    const bool logical = word == "&&" || word == "||";
    if (logical || !(left.type.is_double() || right.type.is_double())) {
      const bool compares = logical || (precedence(word) >= 6 && precedence(word) <= 7);
      Type type = left.type.depth > 0 ? left.type : right.type;
      if (word == "-" && right.type.depth > 0) type = {"long"};
      if (type.depth == 0 && left.type.name != right.type.name) type = {};
      return {truth(left) + " " + word + " " + truth(right), compares ? Type{"int"} : type, {}};
    }
    for (const auto& [symbol, name] : named) {
      if (symbol != word) continue;
      return {"binary64_" + std::string(name) + "(" + converted(left, {"double"}) + ", " +
                  converted(right, {"double"}) + ")",
              {precedence(word) > 8 ? "double" : "int"},
              {}};
    }
    fail("doubles have no '" + word + "'");
  }

  Value unary() {
    static constexpr std::string_view operators[] = {"-", "+", "!", "~", "*", "&", "++", "--"};
    if (now() == "(" && begins_type(next())) return cast();
    if (!one_of(now(), operators)) return postfix();
    const std::string word = taken();
    Value value = unary();
    if (word == "++" || word == "--") ++effects_;
    if (word == "*") --value.type.depth;
    if (word == "&") ++value.type.depth;
    if (value.type.is_double() && word != "*" && word != "+") {
      if (word == "!") return {"!" + truth(value), {"int"}, {}};
      if (word != "-") fail("doubles have no '" + word + "'");
      if (value.number) return literal(-*value.number);
      return {"binary64_negate(" + value.text + ")", value.type, {}};
    }
    const std::string space = value.text[0] == word[0] ? " " : "";
    std::optional<double> number;
    if (word == "-" && value.number && value.type.name == "int") number = 0.0 - *value.number;
    return {word + space + value.text, value.type, number};
  }

  Value cast() {
    need("(");
    std::string text;
    const Type type = type_name(text);
    need(")");
    const Value value = unary();
    if (type.is_double() && value.number) return literal(*value.number);
    if (type.is_double() || value.type.is_double()) {
      if (type.name == "void") return value;
      return {converted(value, type), type, {}};
    }
    return {"(" + text + ")" + value.text, type, {}};
  }

  Value postfix() {
    Value value = primary();
    for (;;) {
      if (take("[")) {
        value = {value.text + "[" + comma().text + "]",
                 {value.type.name, std::max(value.type.depth - 1, 0)},
                 {}};
        need("]");
      } else if (now() == "." || now() == "->") {
        const std::string word = taken(), member = name();
        value = {value.text + word + member, member_type(value.type, member), {}};
      } else if (now() == "++" || now() == "--") {
        if (value.type.is_double()) fail("doubles have no '" + now() + "'");
        ++effects_;
        value = {value.text + taken(), value.type, {}};
      } else {
        return value;
      }
    }
  }

  Type member_type(const Type& of, const std::string& member) const {
    if (const auto known = members_.find(of.name); known != members_.end()) {
      for (const auto& [own, type] : known->second) {
        if (own == member) return type;
      }
    }
    return member.size() == 1 ? Type{std::string(without_digits(of.name))} : Type();
  }

  Value primary() {
    if (take("(")) {
      Value value = comma();
      need(")");
      value.text = "(" + value.text + ")";
      return value;
    }
    if (!now().empty() && is_name(tokens_[at_])) {
      const std::string word = taken();
      if (take("(")) return call(word);
      const Type* type = find(word, scopes_);
      return {word, type != nullptr ? *type : Type(), {}};
    }
    const std::string word = taken();
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0 && word[0] != '.') {
      --at_;
      fail("there is no expression");
    }
    if (is_double_literal(word)) return literal(std::strtod(word.c_str(), nullptr));
    if (is_floating(word)) return {word, {"float"}, {}};
    const bool is_int = std::isalpha(static_cast<unsigned char>(word.back())) == 0;
    return {
        word, {is_int ? "int" : ""}, static_cast<double>(std::strtoull(word.c_str(), nullptr, 0))};
  }

  Value call(const std::string& word) {
    std::vector<Value> values;
    while (!take(")")) {
      values.push_back(assignment());
      if (now() != ")") need(",");
    }
    const auto known = functions_.find(word);
    const bool computes = std::any_of(values.begin(), values.end(),
                                      [](const Value& v) { return v.type.is_double(); });
    if (word == "as_double") return {"binary64_of(" + values.at(0).text + ")", {"double"}, {}};
    if (word == "as_ulong" && computes) return {"(" + values.at(0).text + ").bits", {"ulong"}, {}};
    if (known == functions_.end() && computes && !one_of(word, functions)) {
      fail("doubles have no '" + word + "'");
    }
    if (known != functions_.end()) ++effects_;
    const bool translated = known == functions_.end() && computes;
    std::string text = (translated ? "binary64_" : "") + word + "(";
    for (std::size_t i = 0; i < values.size(); ++i) {
      Type type = translated ? Type{"double"} : values[i].type;
      if (known != functions_.end() && i < known->second.parameters.size()) {
        type = known->second.parameters[i];
      }
      text += (i > 0 ? ", " : "") + converted(values[i], type);
    }
    if (known != functions_.end()) return {text + ")", known->second.result, {}};
    return {text + ")", translated ? Type{"double"} : Type(), {}};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::string out_;
  int indent_ = 0;
  int effects_ = 0;  // assignments and calls so far
  std::vector<Scope> scopes_{1}, types_{1};
  std::map<std::string, Members, std::less<>> members_{
      {"double2", {{"x", {"double"}}, {"y", {"double"}}}}};
  std::map<std::string, Function, std::less<>> functions_;
  Type result_;  // of the function
};

std::string without_pragma(std::string text) {
  const std::string_view pragma = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  const std::size_t at = text.find(pragma);
  return at == text.npos ? text : text.erase(at, pragma.size());
}

// What the translated text needs of OpenCL's prelude and of kernels/binary64.clh.
std::string prelude_without_doubles(const std::string& program) {
  static const std::vector<Definition> all = [] {
    return definitions_in(without_pragma(header(kernels::opencl)) + header(kernels::binary64));
  }();
  std::string names;  // what else the text needs it has
  for (const Token& token : preprocessed(program)) {
    if (token.text.starts_with("binary64")) names += token.text + "\n";
  }
  return used_of(all, names);
}

}  // namespace

std::string without_doubles(const std::string& text) {
  std::vector<Token> tokens = preprocessed(text);
  const auto is_of_double = [](const Token& token) {
    return without_digits(token.text) == "double" || is_double_literal(token.text);
  };
  if (std::none_of(tokens.begin(), tokens.end(), is_of_double)) return without_pragma(text);
  const std::string program = Translator(std::move(tokens)).run();
  return prelude_without_doubles(program) + program;
}

}  // namespace impipe::jit
