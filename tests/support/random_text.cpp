// Random texts of the pipeline language: valid pipelines, their mutations, and token soup.
#include "support/random_text.hpp"

namespace impipe::test {
namespace {

constexpr const char* tokens[] = {"|",
                                  ",",
                                  "=",
                                  ":",
                                  "'",
                                  "\"",
                                  "''",
                                  "[",
                                  "]",
                                  ";",
                                  "/",
                                  "@",
                                  "$",
                                  "#",
                                  "(",
                                  ")",
                                  "{",
                                  "}",
                                  "%",
                                  "~",
                                  " ",
                                  "  ",
                                  "\n",
                                  "\t",
                                  "\r\n",
                                  "-",
                                  "+",
                                  ".",
                                  "e",
                                  "k7",
                                  "r-1",
                                  "0.5",
                                  "10%",
                                  "1e3",
                                  "1e999",
                                  "inf",
                                  "nan",
                                  "as a",
                                  ":a",
                                  "$b",
                                  "edge",
                                  "prewitt",
                                  "k=",
                                  "in=",
                                  "1:2:9",
                                  "9:0",
                                  "[1 2;3]",
                                  "[1 2]/0",
                                  "@f",
                                  "x + 1",
                                  "'x*2'",
                                  "at(1,0)",
                                  "min(",
                                  "?",
                                  "&&",
                                  "~=",
                                  ".^",
                                  "é",
                                  "€",
                                  "\xC3",
                                  "\x80",
                                  "\x01",
                                  "\x7F",
                                  "\\",
                                  "&",
                                  "<",
                                  ">",
                                  "^",
                                  "!",
                                  "map '",
                                  "{index:05}",
                                  "save out/{stem}.png",
                                  "fspecial:gaussian,5,1.2"};

}  // namespace

std::string RandomText::name() {
  static constexpr const char* names[] = {"a", "b_2", "imadjust", "edge", "conv2", "K", "_", "k7"};
  return pick(names);
}

std::string RandomText::number() {
  static constexpr const char* numbers[] = {
      "0",      "1",   "-1",    "+2",     "0.5", ".25",    "3.", "1e3",          "2e-5",
      "-1.5E2", "007", "1e300", "1e-320", "0.1", "100000", "-0", "123456789.123"};
  return pick(numbers);
}

std::string RandomText::matrix() {
  const int rows = 1 + below(3), columns = 1 + below(3);
  std::string out = "[";
  for (int row = 0; row < rows; ++row) {
    if (row > 0) out += below(4) == 0 ? "\n" : below(2) == 0 ? ";" : " ; ";
    for (int column = 0; column < columns; ++column) {
      if (column > 0) out += below(2) == 0 ? " " : below(2) == 0 ? "," : " , ";
      out += number();
    }
  }
  out += "]";
  return below(3) == 0 ? out + "/10" : out;
}

std::string RandomText::expression(int depth) {
  static constexpr const char* leaves[] = {"x",       "y",         "2",  "0.5", "white",
                                           "at(1,0)", "at(-1, 2)", "pi", "1e3"};
  static constexpr const char* between[] = {
      "+",  "-",  "*",  "/",  "^",  "<",  "<=", ">", ">=", "==",
      "!=", "&&", "||", "~=", ".*", "./", ".^", "&", "|"};
  static constexpr const char* functions[] = {"abs", "sqrt", "floor", "round", "exp", "sin"};
  if (depth == 0) return pick(leaves);
  switch (below(8)) {
    case 0: return pick(leaves);
    case 1: return "(" + expression(depth - 1) + ")";
    case 2: return (below(2) == 0 ? "-" : "!") + expression(depth - 1);
    case 3: return pick(functions) + "(" + expression(depth - 1) + ")";
    case 4: return "min(" + expression(depth - 1) + ", " + expression(depth - 1) + ", x)";
    case 5:
      return expression(depth - 1) + " ? " + expression(depth - 1) + " : " + expression(depth - 1);
    default: return expression(depth - 1) + " " + pick(between) + " " + expression(depth - 1);
  }
}

std::string RandomText::item(int depth) {
  static constexpr const char* words[] = {"prewitt",     "out/{stem}_{index:05}.png",
                                          "in.%04d.exr", "floyd-steinberg",
                                          "größe",       "inf",
                                          "k7abc",       "~/x",
                                          "5px",         "*",
                                          "-o"};
  static constexpr const char* ranges[] = {"1:4", "0:0.5:179.5", "5:-1:0", "-1:1", "2:2"};
  static constexpr const char* aliases[] = {"k7", "r-1", "t0.1", "a01", "s1e-3"};
  static constexpr const char* files[] = {"@kernel.txt", "@'my kernel.txt'", "@a/b=c:d", "@\"q\""};
  static constexpr const char* quotes[] = {"'it''s'", "''", "'a | b, c=d'", "\"x \"\" y\"",
                                           "'# no comment'"};
  switch (below(11)) {
    case 0: return number();
    case 1: return number() + "%";
    case 2: return pick(ranges);
    case 3: return pick(words);
    case 4: return depth > 3 ? pick(words) : name() + ":" + item(depth + 1);
    case 5: return pick(quotes);
    case 6: return matrix();
    case 7: return pick(files);
    case 8: return (below(2) == 0 ? ":" : "$") + name();
    case 9: return pick(aliases);
    default: return "'" + expression(3) + "'";
  }
}

std::string RandomText::stage() {
  std::string out = name();
  const int arguments = below(4);
  for (int i = 0; i < arguments; ++i) {
    out += below(8) == 0 ? "\n  " : " ";
    if (below(3) == 0) out += "key" + std::to_string(i) + "=";
    out += item(0);
    while (below(3) == 0) out += (below(2) == 0 ? "," : ", ") + item(0);
  }
  return out;
}

std::string RandomText::valid_pipeline() {
  std::string out = stage();
  while (below(3) != 0) out += (below(2) == 0 ? "|" : " | ") + stage();
  return out;
}

std::string RandomText::mutated_pipeline() {
  std::string out = valid_pipeline();
  for (int changes = 1 + below(3); changes > 0; --changes) {
    const auto at = static_cast<std::size_t>(below(static_cast<int>(out.size()) + 1));
    switch (below(5)) {
      case 0: out.insert(at, pick(tokens)); break;
      case 1: out.erase(at, 1 + static_cast<std::size_t>(below(4))); break;
      case 2: out.insert(at, 1, static_cast<char>(below(256))); break;
      case 3:
        out.insert(at, out.substr(static_cast<std::size_t>(below(static_cast<int>(at) + 1)),
                                  static_cast<std::size_t>(below(20))));
        break;
      default:
        if (at < out.size()) out[at] = static_cast<char>(out[at] ^ (1 << below(8)));
    }
  }
  return out;
}

std::string RandomText::token_soup() {
  std::string out;
  for (int i = below(16); i >= 0; --i) {
    out += pick(tokens);
    if (below(3) == 0) out += ' ';
  }
  return out;
}

std::string RandomText::any() {
  switch (below(4)) {
    case 0: return valid_pipeline();
    case 1: return token_soup();
    default: return mutated_pipeline();
  }
}

}  // namespace impipe::test
