// What stands above every kernel: the dialect's own words, the vocabulary of bodies, the classes.
#include "backends/jit/text/dialect.hpp"

#include <array>

#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"
#include "core/vocabulary.hpp"

namespace impipe::jit {
std::string type_of(PixelClass cls) {
  return cls == PixelClass::single ? "float" : cls == PixelClass::uint16 ? "ushort" : "uchar";
}

std::string body_function(const std::string& name, const std::string& real,
                          const std::string& first, const std::vector<std::string>& parameters,
                          const std::string& body, const std::string& result) {
  std::vector<std::string> typed;
  if (!first.empty()) typed.push_back(first);
  for (const std::string& p : parameters) typed.push_back("const " + real + " " + p);
  std::string inside = body;
  // The braces of the body itself go.
  const std::size_t open = inside.find('{'), close = inside.rfind('}');
  if (open != std::string::npos) inside = inside.substr(open + 1, close - open - 1);
  const std::size_t from = inside.find_first_not_of(' ');
  const std::size_t to = inside.find_last_not_of(' ');
  inside = from == std::string::npos ? "" : inside.substr(from, to - from + 1);
  return "#undef REAL\n#define REAL " + real + "\nFUNCTION " + (result.empty() ? real : result) +
         " " + name + "(" + joined(typed) + ") " +
         formatted("{ typedef " + real + " real; " + inside + " }") + "\n";
}

std::string prelude(Dialect dialect) {
  std::string text;
  switch (dialect) {
    case Dialect::opencl: text = header(kernels::opencl) + header(kernels::opencl_plain); break;
    case Dialect::opencl_nvidia:
      text = header(kernels::opencl) + header(kernels::opencl_nvidia) + header(kernels::nvidia);
      break;
    case Dialect::cuda: text = header(kernels::cuda) + header(kernels::nvidia); break;
  }
  text += header(kernels::functions) + header(kernels::bodies);
  for (const std::string real : {"float", "double"}) {
    for (const ComposedWord& word : composed_words) {
      text += body_function(std::string(word.name) + "_" + real, real, "",
                            names_in(word.parameters), word.text);
    }
  }
  return text + header(kernels::common) + header(kernels::wide_access);
}

std::string prelude_of(Dialect dialect, std::string_view program) {
  static const std::array<std::vector<Definition>, 3> all = {
      definitions_in(prelude(Dialect::opencl)), definitions_in(prelude(Dialect::opencl_nvidia)),
      definitions_in(prelude(Dialect::cuda))};
  return used_of(all[static_cast<std::size_t>(dialect)], program);
}

}  // namespace impipe::jit
