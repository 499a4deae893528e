// Lists of definitions in kernel text, of which a program has those that it uses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace impipe::jit {

// A macro, function or type with the comment above it. Nothing uses what has no names: it stays.
struct Definition {
  std::string text;
  std::vector<std::string> names, words;  // that it defines; that it has in it
};

std::vector<Definition> definitions_in(std::string_view text);

// The text of those that `program` uses, and of those that they use, in their order.
std::string used_of(const std::vector<Definition>& definitions, std::string_view program);

}  // namespace impipe::jit
