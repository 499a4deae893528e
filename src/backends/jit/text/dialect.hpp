// What stands above every kernel: the dialect's own words, the vocabulary of bodies, the classes.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace impipe::jit
