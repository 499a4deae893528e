// Bodies as trees: for generators that compute them in other numbers than floats or print a part of
// them in another way, and for what a backend asks about a body.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/body.hpp"

namespace impipe {

struct BodyTree {
  enum class Kind {
    number,  // name: as it is written, "real(0.5)"
    name,    // of an input, a parameter or an earlier local
    tap,     // at(dx, dy)
    sum,     // of two parts, as those below
    difference,
    product,
    greater,  // the first part > the second
    equal,
    either,
    both,
    root,    // of its only part
    choice,  // parts: condition, value if it holds, value if not
    // Those that sums in whole numbers have no use for: parsed_body knows none of them.
    quotient,
    at_least,  // the first part >= the second
    unequal,
    negative,  // of its only part
    either_bit,
    both_bits,
    call,  // of the word `name` with the parts
  };
  Kind kind = Kind::number;
  double number = 0;
  std::string name;
  int dx = 0, dy = 0;
  std::vector<BodyTree> parts;
};

struct BodyTrees {
  std::vector<std::pair<std::string, BodyTree>> locals;  // in their order
  BodyTree result;
};

// Nothing for a body with more in it than the kinds up to `choice`.
std::optional<BodyTrees> parsed_body(std::string_view text);
// Of all kinds. Nothing for a body with statements besides constants and a result.
std::optional<BodyTrees> whole_body(std::string_view text);

// "(a, b)" or "(real a, real b)" -> {"a", "b"}
std::vector<std::string> names_in(std::string_view list);

// A part of a tree in C that is not to be printed as it is; empty for others.
using PartText = std::function<std::string(const BodyTree& part)>;
// A tree, and a body, in C, in the order of its operations.
std::string tree_text(const BodyTree& tree, const PartText& other);
std::string body_text(const BodyTrees& body, const PartText& other);

// Operations of a body, each counted where it stands.
int steps_of(const BodyTrees& body);

// What backends ask about a point's body, whatever operator it is of.
struct BodyTraits {
  bool powers = false;              // it calls pow
  bool functions = false;           // it calls pow, exp, log or an angle's function
  bool quotients = false;           // it divides
  bool differences = false;         // it subtracts
  bool divides_by_uniform = false;  // by what is the same for every pixel: the word `over`
  int copied = -1;                  // the input that is its result; -1: none is
};
BodyTraits traits_of(const PointBody& body);

// The body as a weighted sum of its inputs, given its parameters' values: one weight an input, and
// behind them what is added. In the body itself each operation is rounded. Nothing for others.
std::optional<std::vector<double>> linear_weights(const PointBody& body,
                                                  std::span<const double> parameters);

}  // namespace impipe
