// What a program is put together from, as a Builder collects it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/jit/text/launch_context.hpp"
#include "backends/jit/text/renaming.hpp"

namespace impipe::jit {

// Element `element` of a parameter.
using ParameterValue = std::function<double(const LaunchContext&, int element)>;
using TableValues = std::function<std::vector<double>(const LaunchContext&)>;

enum class ParameterType { int64, float64, float32, int32 };
int bytes_of(ParameterType type);
const char* name_of(ParameterType type);
// The type of a `real`, which is float or double.
inline ParameterType type_of_real(const std::string& real) {
  return real == "float" ? ParameterType::float32 : ParameterType::float64;
}

struct ProgramParts {
  // A parameter, or an array of them.
  struct Field {
    ParameterType type;
    std::string name;
    int count;
    ParameterValue value;
  };
  struct NamedBuffer {
    std::string name, type;
    Buffer place;
    bool written;
    std::size_t number;  // of those that were added before
    int local = 0;       // elements, in a kernel's local memory
  };
  struct ScratchPlan {
    LaunchNumber bytes;
    bool cleared = false;
    bool kept = false;
    bool of_all = false;                          // there once for all planes of a stack
    ParameterType type = ParameterType::float32;  // of contents
    int count = 0;
    ParameterValue contents = {};
    TableValues table = {};
    // From plane to plane of a stack; 0 of what is there once for all of them.
    std::int64_t step(const LaunchContext& at) const;
  };
  // A part of the source: functions, or a kernel with its head.
  struct Piece {
    Code code;
    std::string function = {};                         // that it is
    std::string entry = {}, head = {};                 // of a kernel
    std::map<std::string, std::string> pointers = {};  // buffer -> its pointer in the kernel
    std::size_t buffers = 0;                           // that there were then
    std::string arrays = {};                           // of a kernel, in local memory
    int local_bytes = 0;                               // of a kernel: see Program
  };
  struct PassPlan {
    int entry;  // its kernel's number
    ShapeFunction shape;
    std::vector<Buffer> buffers;
    std::vector<Field> fields = {};  // in place of the program's, where there are any
  };

  std::shared_ptr<const KernelSpec> spec;
  Dialect dialect;
  std::vector<Field> fields = {};
  std::vector<NamedBuffer> buffers = {};
  std::vector<ScratchPlan> scratches = {};
  std::vector<Piece> pieces = {};  // a function comes before those that call it
  std::vector<PassPlan> passes = {};
  int max_registers = 0;
};

// A kernel that is another one but for the numbers of nodes and inputs, as those of the channels of
// a picture are, is launched as that one with its own buffers and parameters.
void fold_kernels(ProgramParts& parts);

// The program that the parts are, without what no kernel uses.
Program assembled(ProgramParts parts);

}  // namespace impipe::jit
