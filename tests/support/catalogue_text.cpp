// Random texts from the operators' descriptions.
#include "support/catalogue_text.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace impipe::test {

std::string CatalogueText::number(const Parameter& p) {
  static constexpr const char* strange[] = {"1e308",  "-1e308", "1e-308", "9007199254740993",
                                            "1e18",   "-1",     "0",      "65536",
                                            "100000", "1e-9",   "0.5",    "4294967296"};
  static constexpr const char* ranges[] = {"0:179",    "0:1e-9:180", "0:0.002:180", "1:3",
                                           "180:-1:0", "0:1:1e300",  "-1e300:1e300"};
  if (below(12) == 0) return pick(strange);
  if (below(20) == 0) return pick(ranges);
  const double low = std::isfinite(p.numbers.low) ? p.numbers.low : -10,
               high = std::isfinite(p.numbers.high) ? p.numbers.high : 10;
  double v = low;
  switch (below(4)) {
    case 0: v = below(2) == 0 ? p.numbers.low : p.numbers.high; break;
    case 1: v = low + std::min(high - low, 9.0) * below(1000) / 1000; break;
    default: v = low + (high - low) * std::pow(below(1001) / 1000.0, 4); break;
  }
  if (!std::isfinite(v)) v = below(20) - 10;
  if (p.numbers.integer) v = std::round(v);
  if (p.numbers.odd && std::fmod(std::fabs(v), 2) != 1) v += v + 1 <= high ? 1 : -1;
  return number_text(v) + (below(30) == 0 ? "%" : "");
}

std::string CatalogueText::matrix(bool element) {
  // Now and then long enough to meet the limits of the plan.
  const int longest = below(50) == 0 ? 1200 : below(8) == 0 ? 40 : 6;
  const int rows = 1 + below(longest > 40 ? 3 : longest), columns = 1 + below(longest);
  std::string out = "[";
  for (int i = 0; i < rows; ++i) {
    if (i > 0) out += ";";
    for (int j = 0; j < columns; ++j) {
      out += (j > 0 ? " " : "") + std::to_string(element ? below(2) : below(9) - 3);
    }
  }
  return out + (element || below(3) > 0 ? "]" : "]/7");
}

std::string CatalogueText::shape(const Parameter& p) {
  static constexpr const char* files[] = {"@/dev/null", "@.", "@/dev/zero", "@/nowhere", "@''"};
  static constexpr const char* kernels[] = {"gaussian", "average", "log",       "disk",   "motion",
                                            "unsharp",  "sobel",   "laplacian", "prewitt"};
  static constexpr const char* elements[] = {"disk", "square",  "rectangle", "line",
                                             "pair", "diamond", "octagon",   "periodicline"};
  const bool element = p.takes == Takes::element;
  if (below(30) == 0) return pick(files);
  if (below(3) == 0) return matrix(element);
  std::string out = element ? pick(elements) : "fspecial:" + pick(kernels);
  const Parameter size{
      .name = "", .numbers = {.integer = true, .low = 0, .high = below(6) == 0 ? 2000.0 : 30.0}};
  for (int n = below(4); n > 0; --n) out += "," + number(size);
  return out;
}

std::string CatalogueText::value(const Parameter& p) {
  static constexpr const char* operands[] = {":a", ":b", ":a :b", "$a", ":a,:b"};
  static constexpr const char* expressions[] = {"'x + 1'",
                                                "'at(1,0) - at(-100,100)'",
                                                "'max(acc, x)'",
                                                "'x ? a : b'",
                                                "'pow(x, row) / col'",
                                                "'white - x'",
                                                "'((((((x))))))'",
                                                "'r + g + b'"};
  if (p.takes == Takes::operand || p.takes == Takes::operands) return pick(operands);
  if (p.takes == Takes::expression) return pick(expressions);
  if (!p.words.empty() && (p.numbers.max_count == 0 || below(2) == 0)) {
    return std::string(p.words[static_cast<std::size_t>(below(static_cast<int>(p.words.size())))]);
  }
  if (p.takes == Takes::kernel || p.takes == Takes::element) return shape(p);
  std::string out;
  const int most = std::max(std::min(p.numbers.max_count, below(10) == 0 ? 70 : 4), 1);
  for (int n = 1 + below(most); n > 0; --n) out += (out.empty() ? "" : ",") + number(p);
  return out;
}

std::string CatalogueText::stage() {
  static constexpr const char* keeping[] = {"as a", "as b", "save x.png", "save '{stem}_1.tif'"};
  if (below(12) == 0) return pick(keeping);
  const Operator& op =
      catalogue()[static_cast<std::size_t>(below(static_cast<int>(catalogue().size())))];
  std::string out(op.name);
  for (const Parameter& p : op.parameters) {
    if (!p.required && below(3) != 0) continue;
    const std::string key =
        below(8) == 0 && p.letter != 0 ? std::string(1, p.letter) : std::string(p.name);
    out += " " + (below(3) == 0 ? "" : key + "=") + value(p);
  }
  return out;
}

std::string CatalogueText::pipeline() {
  std::string out = stage();
  for (int n = below(4) == 0 ? below(12) : below(3); n > 0; --n) out += " | " + stage();
  // A chain that grows with every stage, or as long as the language allows.
  if (below(200) == 0) {
    const std::string again = " | " + stage();
    for (int n = below(1100); n > 0 && out.size() < 200'000; --n) out += again;
  }
  return out;
}

void CatalogueText::mutate(std::string& text) {
  for (int n = 1 + below(3); n > 0; --n) {
    const auto at = static_cast<std::size_t>(below(static_cast<int>(text.size()) + 1));
    switch (below(4)) {
      case 0: text.insert(at, 1, static_cast<char>(below(256))); break;
      case 1: text.erase(at, 1 + static_cast<std::size_t>(below(5))); break;
      case 2: text.insert(at, text.substr(at / 2, static_cast<std::size_t>(below(20)))); break;
      default: text.insert(at, plain_.token_soup().substr(0, 12)); break;
    }
  }
}

std::string CatalogueText::any() {
  switch (below(10)) {
    case 0: return plain_.any();
    case 1: {
      std::string noise(static_cast<std::size_t>(below(60)), '\0');
      for (char& c : noise) c = static_cast<char>(below(256));
      return noise;
    }
    case 2:
    case 3:
    case 4: {
      std::string text = pipeline();
      mutate(text);
      return text;
    }
    default: return pipeline();
  }
}

}  // namespace impipe::test
