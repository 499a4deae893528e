// How planes lie in a device's memory.
#include "backends/jit/program/program.hpp"

namespace impipe::jit {

std::int64_t row_bytes(PixelClass cls, Size size) {
  const std::int64_t bytes = size.width * bytes_of(cls);
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

}  // namespace impipe::jit
