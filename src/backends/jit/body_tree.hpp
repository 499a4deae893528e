// Bodies as trees, for generators that compute them in other numbers than floats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace impipe::jit {

struct BodyTree {
  enum class Kind {
    number,
    name,  // of an input, a parameter or an earlier local
    tap,   // at(dx, dy)
    sum,   // of two parts, as those below
    difference,
    product,
    greater,  // the first part > the second
    equal,
    either,
    both,
    root,    // of its only part
    choice,  // parts: condition, value if it holds, value if not
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

// Nothing for a body with more in it than the kinds above.
std::optional<BodyTrees> parsed_body(std::string_view text);

}  // namespace impipe::jit
