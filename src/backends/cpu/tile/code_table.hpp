// Tables over all codes of an integer class: what a point operator with one integer input is.
#pragma once

#include <optional>
#include <vector>

#include "backends/cpu/tile/arguments.hpp"
#include "backends/cpu/tile/tile_image.hpp"

namespace impipe::cpu {

// A code of 8 or 16 bits from one: slope * code + offset, a fused multiplication in float32 or in
// double, without its fraction, saturated.
struct CodeLine {
  double slope = 0, offset = 0;
  bool in_double = false;
};

// From the codes of `from` to values of `to`.
struct CodeTable {
  PixelClass from = PixelClass::uint8;
  PixelClass to = PixelClass::uint8;
  std::vector<std::byte> values;
  // Of a table of bytes, or of codes of 16 bits, for integers that has two values: the last code of
  // the first; look_for_step.
  std::optional<int> last_before_step;
  std::optional<CodeLine> line;  // gives the same values; take_line
};

std::int64_t codes_of(PixelClass cls);
// How many values a table has room for: all that the bits of a pixel can hold.
std::size_t table_values(PixelClass cls);

// second after first; second.from is first.to, an integer class.
CodeTable composed(const CodeTable& first, const CodeTable& second);

// Whether the table only compares with a code, which apply_table then does; once for all rows.
void look_for_step(CodeTable& table);

// Takes a line, if it makes the table's values, which apply_table then computes where that is
// faster than looking them up.
bool take_line(CodeTable& table, const CodeLine& line, CpuLevel level);

// n pixels.
void apply_table(const CodeTable& table, std::byte* out, const std::byte* in, std::int64_t n,
                 CpuLevel level);

}  // namespace impipe::cpu
