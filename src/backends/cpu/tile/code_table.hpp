// Tables over all codes of an integer class: what a point operator with one integer input is.
#pragma once

#include <optional>
#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// From the codes of `from` to values of `to`.
struct CodeTable {
  PixelClass from = PixelClass::uint8;
  PixelClass to = PixelClass::uint8;
  std::vector<std::byte> values;
  // Of a table of bytes for bytes that has two values: the last code of the first; look_for_step.
  std::optional<int> last_before_step;
};

std::int64_t codes_of(PixelClass cls);
// How many values a table has room for: all that the bits of a pixel can hold.
std::size_t table_values(PixelClass cls);

// second after first; second.from is first.to, an integer class.
CodeTable composed(const CodeTable& first, const CodeTable& second);

// Whether the table only compares with a code, which apply_table then does; once for all rows.
void look_for_step(CodeTable& table);

// n pixels.
void apply_table(const CodeTable& table, std::byte* out, const std::byte* in, std::int64_t n,
                 CpuLevel level);

}  // namespace impipe::cpu
