// libFuzzer target: any bytes as a pipeline and as an expression; the laws must hold.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/language_laws.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& verdict :
       {impipe::test::judge_pipeline(text), impipe::test::judge_expression(text)}) {
    if (verdict.broken_law.empty()) continue;
    std::fprintf(stderr, "broken law: %s\n", verdict.broken_law.c_str());
    std::abort();
  }
  return 0;
}
