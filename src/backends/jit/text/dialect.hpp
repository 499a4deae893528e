// What stands above every kernel: the dialect's own words, the vocabulary of bodies, the classes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/jit/program/program.hpp"

namespace impipe::jit {

// All of it; and what of it a program uses.
std::string prelude(Dialect dialect);
std::string prelude_of(Dialect dialect, std::string_view program);

// "uchar", "ushort", "float": a pixel of the class in memory.
std::string type_of(PixelClass cls);

// static inline REAL NAME(FIRST, const REAL a, ...) { typedef REAL real; BODY }. `first`: the
// parameters before those of type `real`; may be empty. `result`: its type, where it is not `real`.
std::string body_function(const std::string& name, const std::string& real,
                          const std::string& first, const std::vector<std::string>& parameters,
                          const std::string& body, const std::string& result = "");

// A macro, function or type of kernel text with the comment above it, which a program has where it
// uses it. Nothing uses what has no names: it stays.
struct Definition {
  std::string text;
  std::vector<std::string> names, words;  // that it defines; that it has in it
};

std::vector<Definition> definitions_in(std::string_view text);

// The text of those that `program` uses, and of those that they use, in their order.
std::string used_of(const std::vector<Definition>& definitions, std::string_view program);

}  // namespace impipe::jit
