// Calls NVRTC.
#include "backends/cuda/compile.hpp"

#include <algorithm>

#include "backends/cuda/api.hpp"
#include "core/error.hpp"

namespace impipe::cuda {
namespace {

// Whether NVRTC is of those that are known to compile kernels of one program at once.
bool is_parallel() {
  int major = 0, minor = 0;
  return compiler().api.version(&major, &minor) == 0 && major >= 13;
}

// A program of the compiler, destroyed when it goes.
class Compilation {
 public:
  explicit Compilation(const std::string& source) {
    check(compiler().api.create(&program_, source.c_str(), "impipe.cu", 0, nullptr, nullptr));
  }
  ~Compilation() { compiler().api.destroy(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::vector<std::byte> run(const std::vector<std::string>& options) {
    const CompilerApi& api = compiler().api;
    std::vector<const char*> words;
    bool machine_code = true;
    for (const std::string& option : options) {
      words.push_back(option.c_str());
      if (option.starts_with("-arch=compute_")) machine_code = false;
    }
    // The kernels of a program side by side, on all processors.
    if (is_parallel()) words.push_back("--split-compile=0");
    if (api.compile(program_, static_cast<int>(words.size()), words.data()) != 0) {
      throw Error("cuda: a kernel does not compile\n" + log(), ExitCode::backend);
    }
    std::size_t bytes = 0;
    check((machine_code ? api.cubin_size : api.ptx_size)(program_, &bytes));
    std::vector<std::byte> made(bytes);
    check((machine_code ? api.cubin : api.ptx)(program_, reinterpret_cast<char*>(made.data())));
    return made;
  }

 private:
  static void check(Result result) {
    if (result != 0) {
      throw Error("cuda: NVRTC failed with error " + std::to_string(result), ExitCode::backend);
    }
  }
  std::string log() {
    std::size_t bytes = 0;
    if (compiler().api.log_size(program_, &bytes) != 0) return "";
    std::string text(bytes, '\0');
    if (compiler().api.log(program_, text.data()) != 0) return "";
    return text.substr(0, text.find('\0'));
  }

  CompilerProgram program_ = nullptr;
};

}  // namespace

std::string arch_option(int capability) {
  int count = 0;
  if (compiler().found && compiler().api.arch_count(&count) == 0 && count > 0) {
    std::vector<int> known(static_cast<std::size_t>(count));
    if (compiler().api.archs(known.data()) == 0 &&
        std::find(known.begin(), known.end(), capability) == known.end()) {
      std::sort(known.begin(), known.end());
      const auto above = std::upper_bound(known.begin(), known.end(), capability);
      if (above != known.begin()) return "-arch=compute_" + std::to_string(*std::prev(above));
    }
  }
  return "-arch=sm_" + std::to_string(capability);
}

std::vector<std::byte> compile(const std::string& source, const std::vector<std::string>& options) {
  if (!compiler().found) {
    throw Error("cuda: a kernel is not in the cache and can't be compiled: " + compiler().why_not,
                ExitCode::backend);
  }
  return Compilation(source).run(options);
}

}  // namespace impipe::cuda
