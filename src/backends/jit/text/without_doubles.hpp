// Kernel text for devices without double precision.
#pragma once

#include <string>

namespace impipe::jit {

// The same program in which each double is a struct of 64 bits, and each operation on doubles a
// call of a function of kernels/binary64.clh, whose results have the same bits: a text of
// Dialect::opencl. An expression that was not translated does not compile. Throws std::logic_error,
// with the line, where the text is none that it can translate.
std::string without_doubles(const std::string& text);

}  // namespace impipe::jit
