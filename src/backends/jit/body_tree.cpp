// Reads bodies: { const real NAME = VALUE; ... return VALUE; }
#include "backends/jit/body_tree.hpp"

#include <cctype>
#include <cstdlib>

namespace impipe::jit {
namespace {

using Kind = BodyTree::Kind;

// Each function reads as much as it can; `good_` says whether that was all right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<BodyTrees> body() {
    BodyTrees trees;
    expect("{");
    while (good_ && take("const")) {
      expect("real");
      const std::string name = word();
      expect("=");
      trees.locals.emplace_back(name, choice());
      expect(";");
    }
    expect("return");
    trees.result = choice();
    expect(";");
    expect("}");
    return good_ && rest().empty() ? std::optional(std::move(trees)) : std::nullopt;
  }

 private:
  std::string_view rest() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front())) != 0) {
      text_.remove_prefix(1);
    }
    return text_;
  }

  static bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  bool take(std::string_view token) {
    const std::string_view left = rest();
    if (!left.starts_with(token)) return false;
    const bool whole =
        !in_word(token.back()) || left.size() == token.size() || !in_word(left[token.size()]);
    if (whole) text_.remove_prefix(token.size());
    return whole;
  }
  void expect(std::string_view token) { good_ = good_ && take(token); }

  std::string word() {
    const std::string_view left = rest();
    std::size_t length = 0;
    while (length < left.size() && in_word(left[length])) ++length;
    good_ = good_ && length > 0 && std::isdigit(static_cast<unsigned char>(left[0])) == 0;
    text_.remove_prefix(length);
    return std::string(left.substr(0, length));
  }

  double number() {
    const std::string left(rest().substr(0, 40));
    char* end = nullptr;
    const double value = std::strtod(left.c_str(), &end);
    const auto length = static_cast<std::size_t>(end - left.c_str());
    good_ = good_ && length > 0 && std::isdigit(static_cast<unsigned char>(left[0])) != 0;
    text_.remove_prefix(length);
    return value;
  }

  int offset() {
    const int sign = take("-") ? -1 : 1;
    return sign * static_cast<int>(number());
  }

  static BodyTree of(Kind kind, std::vector<BodyTree> parts) {
    return {.kind = kind, .name = "", .parts = std::move(parts)};
  }

  BodyTree choice() {
    BodyTree condition = either();
    if (!take("?")) return condition;
    BodyTree yes = choice();
    expect(":");
    return of(Kind::choice, {std::move(condition), std::move(yes), choice()});
  }
  BodyTree either() {
    BodyTree left = both();
    while (good_ && take("||")) left = of(Kind::either, {std::move(left), both()});
    return left;
  }
  BodyTree both() {
    BodyTree left = relation();
    while (good_ && take("&&")) left = of(Kind::both, {std::move(left), relation()});
    return left;
  }
  BodyTree relation() {
    BodyTree left = sum();
    if (take(">=") || take("<=")) good_ = false;
    if (take(">")) return of(Kind::greater, {std::move(left), sum()});
    if (take("==")) return of(Kind::equal, {std::move(left), sum()});
    if (take("<")) {
      BodyTree right = sum();
      return of(Kind::greater, {std::move(right), std::move(left)});
    }
    return left;
  }
  BodyTree sum() {
    BodyTree left = product();
    while (good_) {
      if (take("+"))
        left = of(Kind::sum, {std::move(left), product()});
      else if (take("-"))
        left = of(Kind::difference, {std::move(left), product()});
      else
        break;
    }
    return left;
  }
  BodyTree product() {
    BodyTree left = primary();
    while (good_ && take("*")) left = of(Kind::product, {std::move(left), primary()});
    return left;
  }
  BodyTree primary() {
    BodyTree tree;
    if (!good_ || ++depth_ > 200) {
      good_ = false;
    } else if (take("(")) {
      tree = choice();
      expect(")");
    } else if (take("real")) {
      expect("(");
      tree.number = number();
      expect(")");
    } else if (take("at")) {
      tree.kind = Kind::tap;
      expect("(");
      tree.dx = offset();
      expect(",");
      tree.dy = offset();
      expect(")");
    } else if (take("sqrt")) {
      expect("(");
      tree = of(Kind::root, {choice()});
      expect(")");
    } else if (!rest().empty() && std::isdigit(static_cast<unsigned char>(rest()[0])) != 0) {
      tree.number = number();
    } else {
      tree.kind = Kind::name;
      tree.name = word();
    }
    return tree;
  }

  std::string_view text_;
  bool good_ = true;
  int depth_ = 0;
};

}  // namespace

std::optional<BodyTrees> parsed_body(std::string_view text) { return Reader(text).body(); }

}  // namespace impipe::jit
