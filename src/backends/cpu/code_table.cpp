// Tables over all codes of an integer class, and their application to rows.
#include "backends/cpu/code_table.hpp"

#include <cstring>

namespace impipe::cpu {
namespace {

template <class In, class Out>
void look_up(std::byte* out, const std::byte* in, const std::byte* table, std::int64_t first,
             std::int64_t step, std::int64_t n) {
  const In* __restrict a = reinterpret_cast<const In*>(in);
  const Out* __restrict t = reinterpret_cast<const Out*>(table);
  Out* __restrict b = reinterpret_cast<Out*>(out);
  for (std::int64_t i = first; i < n; i += step) b[i] = t[a[i]];
}

using LookUp = void (*)(std::byte*, const std::byte*, const std::byte*, std::int64_t, std::int64_t,
                        std::int64_t);

LookUp look_up_of(PixelClass from, PixelClass to) {
  static constexpr LookUp functions[2][3] = {
      {look_up<std::uint8_t, std::uint8_t>, look_up<std::uint8_t, std::uint16_t>,
       look_up<std::uint8_t, float>},
      {look_up<std::uint16_t, std::uint8_t>, look_up<std::uint16_t, std::uint16_t>,
       look_up<std::uint16_t, float>}};
  const int bytes = bytes_of(to);
  return functions[bytes_of(from) - 1][bytes == 4 ? 2 : bytes - 1];
}

}  // namespace

std::int64_t codes_of(PixelClass cls) { return static_cast<std::int64_t>(class_max(cls)) + 1; }

CodeTable composed(const CodeTable& first, const CodeTable& second) {
  CodeTable out{first.from, second.to, {}};
  const std::int64_t n = codes_of(first.from);
  const std::size_t tables = std::max(first.channels.size(), second.channels.size());
  for (std::size_t c = 0; c < tables; ++c) {
    std::vector<std::byte>& table = out.channels.emplace_back(n * bytes_of(second.to));
    look_up_of(first.to, second.to)(table.data(), first.of(static_cast<int>(c)),
                                    second.of(static_cast<int>(c)), 0, 1, n);
  }
  return out;
}

void apply_table(const CodeTable& table, std::byte* out, const std::byte* in, int channels,
                 std::int64_t n, CpuLevel level) {
  (void)level;
  const LookUp function = look_up_of(table.from, table.to);
  if (table.channels.size() == 1) {
    function(out, in, table.of(0), 0, 1, n);
  } else {
    for (int c = 0; c < channels; ++c) function(out, in, table.of(c), c, channels, n);
  }
}

}  // namespace impipe::cpu
