// Reads bodies, { const real NAME = VALUE; ... return VALUE; }, prints them and looks at them.
#include "core/body_tree.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>

#include "core/text.hpp"

namespace impipe {
namespace {

using Kind = BodyTree::Kind;

// Each function reads as much as it can; `good_` says whether that was all right.
class Reader {
 public:
  // all: of all kinds; else of those up to Kind::choice.
  Reader(std::string_view text, bool all) : text_(text), all_(all) {}

  std::optional<BodyTrees> body() {
    BodyTrees trees;
    expect("{");
    while (good_ && take("const")) {
      if (!(all_ && (take("bool") || take("int")))) expect("real");
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
    BodyTree left = either_bit();
    while (good_ && take("&&")) left = of(Kind::both, {std::move(left), either_bit()});
    return left;
  }
  BodyTree either_bit() {
    BodyTree left = both_bits();
    while (good_ && all_ && !rest().starts_with("||") && take("|")) {
      left = of(Kind::either_bit, {std::move(left), both_bits()});
    }
    return left;
  }
  BodyTree both_bits() {
    BodyTree left = equality();
    while (good_ && all_ && !rest().starts_with("&&") && take("&")) {
      left = of(Kind::both_bits, {std::move(left), equality()});
    }
    return left;
  }
  BodyTree equality() {
    BodyTree left = relation();
    if (take("==")) return of(Kind::equal, {std::move(left), relation()});
    if (all_ && take("!=")) return of(Kind::unequal, {std::move(left), relation()});
    return left;
  }
  BodyTree relation() {
    BodyTree left = sum();
    const bool at_least = take(">="), at_most = !at_least && take("<=");
    good_ = good_ && (all_ || !(at_least || at_most));
    if (at_least) return of(Kind::at_least, {std::move(left), sum()});
    if (!at_most && take(">")) return of(Kind::greater, {std::move(left), sum()});
    if (!at_most && !take("<")) return left;
    BodyTree right = sum();
    return of(at_most ? Kind::at_least : Kind::greater, {std::move(right), std::move(left)});
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
    while (good_) {
      if (take("*"))
        left = of(Kind::product, {std::move(left), primary()});
      else if (all_ && take("/"))
        left = of(Kind::quotient, {std::move(left), primary()});
      else
        break;
    }
    return left;
  }
  BodyTree primary() {
    BodyTree tree;
    const std::string_view begin = rest();
    const auto written = [&] { return std::string(begin.substr(0, begin.size() - text_.size())); };
    if (!good_ || ++depth_ > 200) {
      good_ = false;
    } else if (take("(")) {
      tree = choice();
      expect(")");
    } else if (all_ && take("-")) {
      tree = of(Kind::negative, {primary()});
    } else if (take("real")) {
      expect("(");
      const double sign = all_ && take("-") ? -1 : 1;
      tree.number = sign * number();
      while (all_ && take("/")) tree.number /= number();  // of doubles: "real(1.0 / 2.4)"
      expect(")");
      tree.name = written();
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
      tree.name = written();
    } else {
      tree.kind = Kind::name;
      tree.name = word();
      if (all_ && take("(")) call(tree);
    }
    return tree;
  }
  // The parts of a call, behind its bracket.
  void call(BodyTree& tree) {
    tree.kind = Kind::call;
    do tree.parts.push_back(choice());
    while (good_ && take(","));
    expect(")");
  }

  std::string_view text_;
  bool all_;
  bool good_ = true;
  int depth_ = 0;
};

// How strongly an operation binds, as C has it, and its sign between two parts.
struct Binding {
  int strength;
  const char* sign;
};
Binding binding_of(Kind kind) {
  switch (kind) {
    case Kind::choice: return {0, ""};
    case Kind::either: return {1, " || "};
    case Kind::both: return {2, " && "};
    case Kind::either_bit: return {3, " | "};
    case Kind::both_bits: return {4, " & "};
    case Kind::equal: return {5, " == "};
    case Kind::unequal: return {5, " != "};
    case Kind::greater: return {6, " > "};
    case Kind::at_least: return {6, " >= "};
    case Kind::sum: return {7, " + "};
    case Kind::difference: return {7, " - "};
    case Kind::product: return {8, " * "};
    case Kind::quotient: return {8, " / "};
    case Kind::negative: return {9, ""};
    default: return {10, ""};
  }
}

int steps_in(const BodyTree& tree) {
  int steps = tree.parts.empty() ? 0 : 1;
  for (const BodyTree& part : tree.parts) steps += steps_in(part);
  return steps;
}

void look_at(const BodyTree& tree, BodyTraits& traits) {
  const bool over = tree.kind == Kind::call && tree.name == "over";
  traits.powers = traits.powers || (tree.kind == Kind::call && tree.name == "pow");
  constexpr std::string_view functions[] = {"pow", "exp", "log", "cube_root",
                                            "sin", "cos", "tan", "atan2"};
  traits.functions =
      traits.functions || (tree.kind == Kind::call && std::ranges::count(functions, tree.name) > 0);
  const bool moderate = tree.kind == Kind::call && tree.name == "quotient";
  traits.quotients = traits.quotients || over || moderate || tree.kind == Kind::quotient;
  traits.differences =
      traits.differences || tree.kind == Kind::difference || tree.kind == Kind::negative;
  traits.divides_by_uniform = traits.divides_by_uniform || over;
  for (const BodyTree& part : tree.parts) look_at(part, traits);
}

// Weights of the inputs, and behind them what is added.
using Linear = std::optional<std::vector<double>>;
using LinearNames = std::vector<std::pair<std::string, std::vector<double>>>;

bool is_constant(const std::vector<double>& sum) {
  return std::all_of(sum.begin(), sum.end() - 1, [](double weight) { return weight == 0; });
}

Linear scaled(std::vector<double> sum, const std::function<double(double)>& by) {
  for (double& weight : sum) weight = by(weight);
  return sum;
}

Linear linear_of(const BodyTree& tree, const LinearNames& known, std::size_t inputs) {
  if (tree.kind == Kind::number) {
    std::vector<double> sum(inputs + 1);
    sum.back() = tree.number;
    return sum;
  }
  if (tree.kind == Kind::name) {
    for (const auto& [name, sum] : known) {
      if (name == tree.name) return sum;
    }
    return std::nullopt;
  }
  const bool over = tree.kind == Kind::call && tree.name == "over";
  const bool two = tree.kind == Kind::sum || tree.kind == Kind::difference ||
                   tree.kind == Kind::product || tree.kind == Kind::quotient || over;
  if (!two || tree.parts.size() != 2) return std::nullopt;
  Linear a = linear_of(tree.parts[0], known, inputs), b = linear_of(tree.parts[1], known, inputs);
  if (!a || !b) return std::nullopt;
  if (tree.kind == Kind::sum || tree.kind == Kind::difference) {
    const double sign = tree.kind == Kind::sum ? 1 : -1;
    for (std::size_t i = 0; i < a->size(); ++i) (*a)[i] += sign * (*b)[i];
    return a;
  }
  if (tree.kind == Kind::product && is_constant(*a)) std::swap(a, b);
  if (!is_constant(*b)) return std::nullopt;
  const double by = b->back();
  if (tree.kind == Kind::product) return scaled(*a, [by](double w) { return w * by; });
  return by == 0 ? std::nullopt : scaled(*a, [by](double w) { return w / by; });
}

// Bodies last as long as the program, and kernels ask about them at every run.
const std::optional<BodyTrees>& trees_of(const PointBody& body) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<BodyTrees>, std::less<>> known;
  std::lock_guard lock(mutex);
  const auto found = known.find(std::string_view(body.text));
  if (found != known.end()) return found->second;
  return known.emplace(body.text, whole_body(body.text)).first->second;
}

}  // namespace

std::optional<BodyTrees> parsed_body(std::string_view text) { return Reader(text, false).body(); }
std::optional<BodyTrees> whole_body(std::string_view text) { return Reader(text, true).body(); }

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  std::string last;
  for (std::size_t i = 0; i < list.size();) {
    const std::size_t length = name_length(list.substr(i));
    if (length > 0) last = list.substr(i, length);
    if ((list[i] == ',' || list[i] == ')') && !last.empty()) {
      names.push_back(last);
      last.clear();
    }
    i += length > 0 ? length : 1;
  }
  return names;
}

std::string tree_text(const BodyTree& tree, const PartText& other) {
  if (std::string text = other(tree); !text.empty()) return text;
  // In brackets where it binds less strongly than `least`.
  const auto part = [&](std::size_t i, int least) {
    const std::string text = tree_text(tree.parts[i], other);
    return binding_of(tree.parts[i].kind).strength < least ? "(" + text + ")" : text;
  };
  const int own = binding_of(tree.kind).strength;
  switch (tree.kind) {
    case Kind::number:
    case Kind::name: return tree.name;
    case Kind::tap: return "at(" + std::to_string(tree.dx) + ", " + std::to_string(tree.dy) + ")";
    case Kind::root: return "sqrt(" + part(0, 0) + ")";
    case Kind::negative: return "-" + part(0, own);
    case Kind::choice: return part(0, 1) + " ? " + part(1, 0) + " : " + part(2, 0);
    case Kind::call: {
      std::string text = tree.name + "(";
      for (std::size_t i = 0; i < tree.parts.size(); ++i) text += (i > 0 ? ", " : "") + part(i, 0);
      return text + ")";
    }
    case Kind::equal:
    case Kind::unequal:
    case Kind::either_bit:
    case Kind::both_bits: {
      // Readers and compilers want brackets that C does not.
      const int least = binding_of(Kind::sum).strength;
      return part(0, least) + binding_of(tree.kind).sign + part(1, least);
    }
    default: return part(0, own) + binding_of(tree.kind).sign + part(1, own + 1);
  }
}

std::string body_text(const BodyTrees& body, const PartText& other) {
  std::string text = "{ ";
  for (const auto& [name, tree] : body.locals) {
    text += "const real " + name + " = " + tree_text(tree, other) + "; ";
  }
  return text + "return " + tree_text(body.result, other) + "; }";
}

int steps_of(const BodyTrees& body) {
  int steps = steps_in(body.result);
  for (const auto& [name, tree] : body.locals) steps += steps_in(tree);
  return steps;
}

BodyTraits traits_of(const PointBody& body) {
  BodyTraits traits;
  const std::optional<BodyTrees>& trees = trees_of(body);
  traits.functions = !trees;  // who knows
  if (!trees) return traits;
  for (const auto& [name, tree] : trees->locals) look_at(tree, traits);
  look_at(trees->result, traits);
  const std::vector<std::string> inputs = names_in(body.input_names);
  const auto copied = std::find(inputs.begin(), inputs.end(), trees->result.name);
  if (trees->result.kind == BodyTree::Kind::name && copied != inputs.end()) {
    traits.copied = static_cast<int>(copied - inputs.begin());
  }
  return traits;
}

std::optional<std::vector<double>> linear_weights(const PointBody& body,
                                                  std::span<const double> parameters) {
  const std::optional<BodyTrees>& trees = trees_of(body);
  if (!trees) return std::nullopt;
  const std::vector<std::string> inputs = names_in(body.input_names);
  LinearNames known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    known.emplace_back(inputs[i], std::vector<double>(inputs.size() + 1)).second[i] = 1;
  }
  const std::vector<std::string> labels = names_in(body.parameter_names);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    known.emplace_back(labels[i], std::vector<double>(inputs.size() + 1)).second.back() =
        parameters[i];
  }
  for (const auto& [name, tree] : trees->locals) {
    Linear sum = linear_of(tree, known, inputs.size());
    if (sum) known.emplace_back(name, std::move(*sum));
  }
  return linear_of(trees->result, known, inputs.size());
}

}  // namespace impipe
