// The catalogue of operators, and errors about one use of an operator.
#include "core/operator.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace impipe {
namespace {

std::vector<Operator>& registered() {
  static std::vector<Operator> list;
  return list;
}

[[noreturn]] void our_mistake(std::string_view name, const char* what, std::string_view detail) {
  std::fprintf(stderr, "impipe: operator '%.*s': %s '%.*s'\n", static_cast<int>(name.size()),
               name.data(), what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void check(const Operator& op) {
  for (size_t i = 0; i < op.parameters.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Parameter& a = op.parameters[i];
      const Parameter& b = op.parameters[j];
      if (a.name == b.name) our_mistake(op.name, "two parameters named", a.name);
      if (a.letter != 0 && a.letter == b.letter) {
        our_mistake(op.name, "two parameters with the letter", std::string_view(&a.letter, 1));
      }
    }
  }
}

std::vector<Operator> sorted_and_checked() {
  std::vector<Operator> list = registered();
  std::sort(list.begin(), list.end(),
            [](const Operator& a, const Operator& b) { return a.name < b.name; });
  for (size_t i = 0; i < list.size(); ++i) {
    check(list[i]);
    if (i > 0 && list[i].name == list[i - 1].name)
      our_mistake(list[i].name, "registered twice", "");
  }
  return list;
}

}  // namespace

std::string text_of(const NotFinite& not_finite) {
  using Rule = NotFinite::Rule;
  std::string out;
  switch (not_finite.rule) {
    case Rule::unsaid:
    case Rule::none:
    case Rule::other: break;
    case Rule::moved: out = "values like others"; break;
    case Rule::propagated:
      out = "each pixel by its formula: NaN stays NaN, and is 0 in integer and logical results";
      break;
    case Rule::spread: out = "NaN makes NaN of every pixel whose window reads it"; break;
    case Rule::left_out: out = "NaN is left out"; break;
    case Rule::last: out = "NaN is ordered behind all numbers, Inf too"; break;
    case Rule::zero: out = "NaN counts as 0"; break;
    case Rule::object: out = "not 0, as objects are"; break;
  }
  if (!not_finite.text.empty()) out += (out.empty() ? "" : "; ") + std::string(not_finite.text);
  return out;
}

RegisterOperator::RegisterOperator(Operator op, std::string_view file) {
  if (op.category.empty()) {
    const std::string_view folder = file.substr(0, file.rfind('/'));
    op.category = folder.substr(folder.rfind('/') + 1);
  }
  registered().push_back(std::move(op));
}

const std::vector<Operator>& catalogue() {
  static const std::vector<Operator> list = sorted_and_checked();
  return list;
}

const Operator* find_operator(std::string_view written) {
  std::string name(written);
  for (char& c : name) c = 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto& all = catalogue();
  const auto it =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Operator& op, std::string_view n) { return op.name < n; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

bool Classes::has(PixelClass c) const {
  switch (c) {
    case PixelClass::logical: return logical;
    case PixelClass::uint8: return uint8;
    case PixelClass::uint16: return uint16;
    case PixelClass::single: return single;
  }
  return false;
}

const ParameterValue& Call::value(std::string_view parameter) const {
  static const ParameterValue unset;
  const auto it = values_.find(parameter);
  return it == values_.end() ? unset : it->second;
}

bool Call::has(std::string_view parameter) const { return values_.contains(parameter); }

void Call::fail(std::string_view message) const {
  throw error_at(text_, span_, std::string(op_->name) + ": " + std::string(message), origin_);
}

void Call::fail(std::string_view parameter, std::string_view message) const {
  const ParameterValue& v = value(parameter);
  throw error_at(text_, v.given ? v.span : span_,
                 std::string(op_->name) + ": " + std::string(message), origin_);
}

}  // namespace impipe
