// Kernel text to machine code, with NVRTC.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace impipe::cuda {

// What NVRTC is told to compile for: machine code of the device, or, when this NVRTC does not know
// the device yet, PTX of the newest it knows, which the driver translates.
// capability: 90 for compute capability 9.0.
std::string arch_option(int capability);

// Any thread. Throws Error (backend) with the compiler's log, and when there is no compiler.
std::vector<std::byte> compile(const std::string& source, const std::vector<std::string>& options);

}  // namespace impipe::cuda
