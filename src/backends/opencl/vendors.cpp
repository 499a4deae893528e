// Which OpenCL drivers are installed, read from the loader's list without loading them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "backends/opencl/device.hpp"

namespace impipe::opencl {

bool may_have_gpu() {
  // The loader takes another list, or a single driver, from these; then it has to be asked.
  for (const char* name : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", none)) {
    if (entry.path().extension() != ".icd") continue;
    std::string library;
    std::getline(std::ifstream(entry.path()) >> std::ws, library);
    if (library.find("pocl") == std::string::npos) return true;
  }
  return false;
}

}  // namespace impipe::opencl
